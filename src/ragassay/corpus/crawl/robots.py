"""What a site's robots.txt allows, how slowly it wants to be asked, and which sitemaps it names (RFC 9309)."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from protego import Protego

from ragassay.corpus.crawl.ask import Asker, SiteDown, follow
from ragassay.corpus.crawl.fetch import Fault, Unwanted

MAX_BYTES = 512 * 1024
"""What stands after these bytes of a robots.txt is not read."""
MOST_WILDCARDS = 2_000
"""Rules with a wildcard are held against every address one by one; with more of them a site is not crawled."""
KEPT_S = 24 * 3600
"""A robots.txt is asked for again when a crawl is resumed after so long."""
_WITH_VALUES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_TOKEN = re.compile(r"[A-Za-z_-]+")


class RobotsFile(msgspec.Struct, frozen=True, tag="robots", kw_only=True):
    """What was read: the rules (empty where there are none, which allows everything), and what to say of it."""

    text: str
    note: str
    at: int


async def fetch_robots(asker: Asker, origin: str, *, now: int) -> RobotsFile:
    """Return a site's rules; a 4xx allows everything.

    Raises `SiteDown` where they cannot be read for another reason: that counts as a prohibition.
    """
    url = f"{origin}/robots.txt"
    try:
        reply = await follow(asker, url, cap=MAX_BYTES, cut=True)
    except Unwanted as unwanted:
        if unwanted.reason == "redirect" and unwanted.status is not None:
            return RobotsFile(text="", note=f"robots.txt leads nowhere ({unwanted.detail}): all is allowed", at=now)
        raise SiteDown(_unread(url, unwanted.detail)) from unwanted
    except Fault as fault:
        raise SiteDown(_unread(url, fault.detail)) from fault
    if 400 <= reply.status < 500:
        return RobotsFile(text="", note=f"no robots.txt (status {reply.status}): all is allowed", at=now)
    if reply.status not in (200, 203, 204):
        raise SiteDown(_unread(url, f"status {reply.status}"))
    whole = len(reply.data) < MAX_BYTES
    data = reply.data if whole else reply.data[: max(reply.data.rfind(b"\n"), reply.data.rfind(b"\r")) + 1]
    if not whole and not data:
        raise SiteDown(_unread(url, f"its first line has more than {MAX_BYTES:,} bytes"))
    if data.count(b"*") > MOST_WILDCARDS:
        raise SiteDown(_unread(url, f"it has more than {MOST_WILDCARDS:,} wildcards"))
    note = "robots.txt is obeyed" + ("" if whole else f", its first {MAX_BYTES:,} bytes")
    return RobotsFile(text=data.decode("utf-8-sig", "replace"), note=note, at=now)


def _unread(url: str, why: str) -> str:
    return f"{url} cannot be read ({why}), which counts as a prohibition"


class Robots:
    """The rules of a robots.txt for one agent."""

    def __init__(self, file: RobotsFile, agent: str) -> None:
        self._rules = Protego.parse(file.text)
        self._agent = token_of(agent)
        self.sitemaps = tuple(dict.fromkeys(self._rules.sitemaps))
        self.note = file.note

    def allows(self, url: str) -> bool:
        """Return whether an address may be asked for."""
        return bool(self._rules.can_fetch(url, self._agent))

    @property
    def interval_s(self) -> float:
        """Seconds that are to lie between two requests; 0 where nothing is said."""
        rate = self._rules.request_rate(self._agent)
        by_rate = rate.seconds / rate.requests if rate is not None and rate.requests else 0.0
        return max(self._rules.crawl_delay(self._agent) or 0.0, by_rate)


def token_of(agent: str) -> str:
    """Return the name by which robots.txt knows an agent: what stands before the version."""
    found = _TOKEN.match(agent.strip())
    return found.group() if found else agent.strip()


def header_rules(values: Iterable[str], agent: str) -> set[str]:
    """Return the rules of X-Robots-Tag headers, one text each, that are for everybody or for this agent."""
    rules: set[str] = set()
    for value in values:
        name, colon, rest = value.lower().partition(":")
        if colon and "," not in name and name.strip() not in _WITH_VALUES:
            if name.strip() != token_of(agent).lower():
                continue
            value = rest
        rules.update(part.strip() for part in value.lower().split(","))
    return rules | {"noindex", "nofollow"} if "none" in rules else rules
