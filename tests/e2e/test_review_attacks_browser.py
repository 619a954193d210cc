"""A page of the board that a run broke out of, inside the app: nothing runs, nothing is fetched, nothing is signed."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "web"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import review_lab as lab
from app_driver import running
from test_review_browser import Reader

from ragassay.web.app import create_app
from ragassay.web.guard import App, Message, Receive, Send, Session
from ragassay.web.guard import Scope as Asked
from ragassay.web.preview import Scope, preview_page
from ragassay.web.review import review_page
from ragassay.web.server import listening, server
from ragassay.web.sites import sites_of
from ragassay.web.snapshot import Snapshot, Snapshots

STEALS = (
    "document.title='stolen';"
    "fetch('/review/unread',{method:'POST',headers:{'content-type':'application/json'},body:'{}'})"
)
ATTACKS = {
    "script": f"<script>{STEALS}</script>",
    "module": '<script type="module">import "/review/review_keys.js"</script>',
    "script of the app": '<script src="/review/review_keys.js"></script>',
    "data script": "<script nonce='' src=\"data:text/javascript,document.title='stolen'\"></script>",
    "handler": f'<img src=x onerror="{STEALS}">',
    "svg": f'<svg onload="{STEALS}"><a xlink:href="javascript:{STEALS}" id=go><text>x</text></a></svg>',
    "javascript link": f'<a id=go href="javascript:{STEALS}">x</a>',
    "form": '<form action=/review/unread method=post enctype=text/plain><input name=\'{"reader":"ann","unit":"\' '
    "value='\"}'><button id=go>x</button></form>",
    "frame": '<iframe src="/review"></iframe><object data="/review"></object><embed src="/review">',
    "frame with a script": f'<iframe srcdoc="<script>parent.{STEALS}</script>"></iframe>',
    "image of the app": '<img src="/review/state?reader=spy"><video src="/review/begin"></video>',
    "style": '<link rel=stylesheet href="/review/review.css"><style>@import "/app.css";</style>',
    "prefetch": '<link rel=prefetch href="/review/findings"><link rel=preload as=fetch href="/review/findings">',
    "ping": '<a id=go ping="/review/unread" href="#x">x</a>',
}
"""By its name what a run would have smuggled into a page; what has the id `go` is clicked."""
FILES = {
    "svg": f"<svg xmlns='http://www.w3.org/2000/svg'><script>{STEALS}</script></svg>",
    "xml": f"<html xmlns='http://www.w3.org/1999/xhtml'><script>{STEALS}</script></html>",
    "json": ATTACKS["script"],
    "md": ATTACKS["script"],
}


class Attacked:
    """The app over a workspace, on a port of this machine; `asked` holds every request but those of the board.

    A `bare` board states no policy in its pages.
    """

    def __init__(self, workspace: Path, port: int) -> None:
        self.session = Session(port)
        self.asked: list[tuple[str, str]] = []
        self.bare = False
        self._site_of = sites_of(workspace)
        snapshots = Snapshots(workspace, lambda: None, lambda: (lab.Mails(),))
        self._app: App = create_app([review_page(snapshots), preview_page(snapshots, self._broken)], self.session)

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        """Note a request and pass it on."""

        async def sending(message: Message) -> None:
            await send(message)

        if not str(scope.get("path", "")).startswith("/board/preview/"):
            self.asked.append((scope["method"], scope["path"]))
        await self._app(scope, receive, sending)

    def _broken(self, snapshot: Snapshot, scope: Scope) -> Mapping[str, bytes]:
        files = dict(self._site_of(snapshot, scope))
        home = files["index.html"].decode()
        if self.bare:
            home = re.sub("<meta http-equiv=[^>]*>", "", home)
        begin = '<main id="main">'
        assert begin in home
        for name, words in ATTACKS.items():
            files[f"{name}.html"] = home.replace(begin, begin + words, 1).encode()
        return files | {f"attack.{kind}": words.encode() for kind, words in FILES.items()}


@pytest.fixture
def attacked(tmp_path: Path) -> Iterator[Attacked]:
    """A server whose board has a page for each attack."""
    lab.write(tmp_path)
    with listening(0) as listener:
        app = Attacked(tmp_path, listener.getsockname()[1])
        running = server(app)
        thread = threading.Thread(target=lambda: running.run(sockets=[listener]))
        thread.start()
        yield app
        running.should_exit = True
        thread.join(10)


def _works(browser: Any, attacked: Attacked, paths: Sequence[str], *, within_s: float = 0.1) -> set[str]:
    """Return the paths whose pages did something: changed the title, or made the browser ask the app for anything."""
    reader = Reader(browser, attacked.session.address)
    reader.page.wait_for_load_state("networkidle")  # what it asks for itself is no attack
    base = attacked.session.address.partition("?")[0] + "board/preview/"
    found = set()
    for path in paths:
        attacked.asked.clear()
        assert reader.page.goto(base + path).status == 200
        reader.page.evaluate("document.querySelector('#go')?.dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        until = time.monotonic() + within_s
        while path not in found and time.monotonic() < until:
            reader.page.wait_for_timeout(100)
            if attacked.asked or "stolen" in reader.page.title():
                found.add(path)
    return found


def test_a_page_of_the_board_cannot_use_the_app(browser: Any, attacked: Attacked) -> None:
    """Though it is of the same origin: no attack runs, and none makes the browser ask the app for anything."""
    paths = [*(f"{name}.html" for name in ATTACKS), *(f"attack.{kind}" for kind in FILES)]
    assert _works(browser, attacked, paths) == set()


def test_the_header_alone_keeps_a_page_that_states_no_policy(browser: Any, attacked: Attacked) -> None:
    """What stands in the page is a second lock, not the only one."""
    attacked.bare = True
    assert _works(browser, attacked, [f"{name}.html" for name in ATTACKS]) == set()


def test_the_attacks_are_attacks(browser: Any, attacked: Attacked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither the page nor the server states a policy each of them does something."""
    attacked.bare = True
    monkeypatch.setattr("ragassay.web.preview.policy_of", lambda _: "default-src * 'unsafe-inline' data: blob:")
    pages = [f"{name}.html" for name in ATTACKS]
    assert _works(browser, attacked, pages, within_s=20) == set(pages)


def test_without_scripts_the_page_says_that_it_needs_them(browser: Any, tmp_path: Path) -> None:
    """On both pages that need them; the boards are opened without."""
    lab.write(tmp_path / ".ragassay", passes=1)
    with running("serve", tmp_path / ".ragassay") as (address, _):
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(address)
        for path, words in (("review", "needs scripts"), ("calibrate", "needs scripts"), ("board", "Local preview")):
            page.goto(address.partition("?")[0] + path)
            assert words in page.inner_text("main")


def test_magnified_four_times_a_long_output_is_read_and_gone_on_with(browser: Any, tmp_path: Path) -> None:
    """With the space bar alone; what was read stands in the next browser, and after a kill in the next program."""
    long = "".join(f"{n} is what is said of it\n" for n in range(9_000))
    workspace = tmp_path / ".ragassay"
    lab.write(workspace, questions=1, passes=1, rows=("bm25",), text=lambda *_: long, grade="omits")
    with running("serve", workspace, "--reader", "ann") as (address, process):
        small = Reader(browser, address, viewport={"width": 320, "height": 256}, reduced_motion="reduce")
        small.scanned()
        assert not small.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        small.press("Enter")
        small.shows()
        for _ in range(2_000):
            small.press("Space")
            if small.page.evaluate("state.unit?.page ?? 0") == 1:
                break
        assert _page(small) == [1, 3]
        assert _page(_opened(browser, address)) == [1, 3]
        process.kill()
        process.wait()
        small.until("state.unit !== null")
        small.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        small.until("state.ended")
        small.press("Space")
        small.waits_for("#problem", "The program does not answer")
    with running("serve", workspace, "--reader", "ann") as (address, _):
        assert _page(_opened(browser, address)) == [1, 3]


def _opened(browser: Any, address: str) -> Reader:
    reader = Reader(browser, address)
    reader.scanned()
    reader.press("Enter")
    reader.shows()
    return reader


def _page(reader: Reader) -> Any:
    reader.until("state.unit !== null")
    return reader.page.evaluate("[state.unit.page, state.unit.pages]")
