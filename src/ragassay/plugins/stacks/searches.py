"""What the settings of a stack that searches by vectors, by words or by both share."""

from __future__ import annotations

import msgspec

SEARCHES = ("vector", "text", "hybrid")


class Searches(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one row, which of `SEARCHES` it asks among them."""

    search: str

    @property
    def vectors(self) -> bool:
        """True where vectors are searched."""
        return self.search != "text"

    @property
    def texts(self) -> bool:
        """True where words are searched."""
        return self.search != "vector"
