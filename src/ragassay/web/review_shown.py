"""What this server has sent to whom, and of which the end was on the screen: without it nothing counts as read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import MutableMapping

MOST = 4096
"""How many units are remembered, over all readers; of one that is forgotten every page must be shown again."""


class Shown:
    """Pages that were sent, by reader and unit, each with the form in which it was sent. Kept in memory alone.

    After a restart nothing was sent, so what was not stored as read by then is shown again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: OrderedDict[tuple[str, str], dict[int, str]] = OrderedDict()
        self._reached: MutableMapping[tuple[str, str], set[int]] = {}

    def sent(self, reader: str, unit: str, page: int, form: str) -> None:
        """Note that a page was sent; in another form than before, its end was not on the screen yet."""
        with self._lock:
            pages = self._sent.setdefault((reader, unit), {})
            if pages.get(page) != form:
                self._reached.get((reader, unit), set()).discard(page)
            pages[page] = form
            self._sent.move_to_end((reader, unit))
            while len(self._sent) > MOST:
                gone, _ = self._sent.popitem(last=False)
                self._reached.pop(gone, None)

    def reached(self, reader: str, unit: str, page: int, form: str) -> bool:
        """Note that the end of a page was on the screen; False where that page was not sent in that form."""
        with self._lock:
            if self._sent.get((reader, unit), {}).get(page) != form:
                return False
            self._reached.setdefault((reader, unit), set()).add(page)
            return True

    def missing(self, reader: str, unit: str, pages: int) -> list[int]:
        """Return which of a unit's pages have not been on the screen to their end."""
        with self._lock:
            reached = self._reached.get((reader, unit), set())
            return [page for page in range(pages) if page not in reached]

    def forget(self, reader: str, unit: str) -> None:
        """Forget a unit: every page of it must be sent and reached again."""
        with self._lock:
            self._sent.pop((reader, unit), None)
            self._reached.pop((reader, unit), None)
