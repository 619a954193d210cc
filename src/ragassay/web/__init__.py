"""The local app: pages for a person at this machine, served on 127.0.0.1 alone.

It needs the extra `web`. `app` joins pages into one application, `guard` lets nobody else in, `server` runs it; each
page is a module of its own that returns a `Page`.
"""
