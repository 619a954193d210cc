"""What this server has sent to whom: without it nothing counts as read."""

from __future__ import annotations

import threading
from collections import OrderedDict

MOST = 4096
"""How many units are remembered, over all readers; one that is forgotten must be sent again."""


class Shown:
    """Pages that were sent, by reader and unit, each with the form in which it was sent last. Kept in memory alone.

    After a restart nothing was sent, so what was not stored as read by then is shown again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: OrderedDict[tuple[str, str], dict[int, str]] = OrderedDict()

    def sent(self, reader: str, unit: str, page: int, form: str) -> None:
        """Note that a page was sent."""
        with self._lock:
            self._sent.setdefault((reader, unit), {})[page] = form
            self._sent.move_to_end((reader, unit))
            while len(self._sent) > MOST:
                self._sent.popitem(last=False)

    def was_sent(self, reader: str, unit: str, page: int, form: str) -> bool:
        """Tell whether a page was sent to a reader, last in this form."""
        with self._lock:
            return self._sent.get((reader, unit), {}).get(page) == form

    def forget(self, reader: str, unit: str) -> None:
        """Forget a unit: every page of it must be sent again."""
        with self._lock:
            self._sent.pop((reader, unit), None)
