"""What a source holds before any of it is decoded: entries to read, and what was left out with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from ragassay.records import JSON

MIB = 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is read at most; sizes in bytes. What is larger is refused by name, never cut."""

    page_bytes: int = 16 * MIB
    total_bytes: int = 1024 * MIB
    entries: int = 200_000
    pdf_pages: int = 5_000
    """How many pages one PDF file may have."""
    pdf_memory: int = 2048 * MIB
    """Bytes of memory that reading one PDF file may take."""
    pdf_s: float = 300.0


class LeftOut(msgspec.Struct, frozen=True):
    """One file, folder or archive member that is no page, and why."""

    path: str
    reason: str


UNREADABLE = "unreadable"
"""Why a page that was crawled is left out whose bytes are no text in a known encoding, or no whole document."""


class Entry(msgspec.Struct, frozen=True):
    """One page to be: its id and how to get its bytes (at most one more than the cap)."""

    id: str
    read: Callable[[], bytes]
    charset: str | None = None
    """The charset that the server named for it; a byte order mark is stronger."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """All of a source, in page order; `seen` = entries + left out + problems' files."""

    origin: JSON
    """{kind: folder|archive|file|crawl, name, …}: no absolute path and no time."""
    entries: list[Entry]
    left_out: tuple[LeftOut, ...]
    seen: int
    problems: tuple[str, ...] = ()
    names: Mapping[str, str] | None = None
    """Of a crawl, the address of each entry: whoever crawls a site cannot mend it, so that what cannot be read is left
    out under this name. None where an unreadable entry is a problem."""


def too_large(size: int, cap: int) -> str:
    """Return the message for a page above the cap."""
    return f"{size:,} bytes are more than the {cap:,} allowed for one page; split it, or leave it out"


def unreadable(source: JSON) -> int:
    """Return how many crawled pages a corpus of this source lacks because they cannot be read."""
    return sum(str(one["reason"]).startswith(UNREADABLE) for one in source.get("leftOut", []))


def by_kind(reasons: Iterable[str]) -> dict[str, int]:
    """Return how often each kind of reason stands there, the most frequent first; a kind ends at the first colon."""
    return dict(Counter(reason.partition(":")[0] for reason in reasons).most_common())
