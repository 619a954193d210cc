"""What a row over usearch is configured with: the graph, the numbers in it, the search, and what is recorded."""

from __future__ import annotations

from importlib.metadata import version

import msgspec

from ragassay.errors import InputError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON

DTYPES = ("f16", "f32", "i8")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What shapes the graph, and the search in it."""

    connectivity: int
    expansion_add: int
    expansion_search: int
    dtype: str
    rescore: bool
    threads: int

    def shape(self) -> JSON:
        """Return what two graphs over the same vectors may differ in."""
        return {
            "connectivity": self.connectivity,
            "expansion_add": self.expansion_add,
            "dtype": self.dtype,
            "threads": self.threads,
            "usearch": version("usearch"),
        }

    def searched(self) -> JSON:
        """Return what two searches of the same graph may differ in."""
        return {"expansion_search": self.expansion_search, "rescore": self.rescore}


def read_settings(read: Parameters) -> Settings:
    """Return the settings; raises `InputError` with everything that is wrong."""
    found = Settings(
        connectivity=read.integer("connectivity", 16, low=2, high=512),
        expansion_add=read.integer("expansion_add", 128, low=4, high=10_000),
        expansion_search=read.integer("expansion_search", 128, low=1, high=10_000),
        dtype=read.choice("dtype", "f16", DTYPES),
        rescore=read.flag("rescore", True),
        threads=read.integer("threads", 1, low=1, high=256),
    )
    read.finish()
    if found.expansion_add < found.connectivity:
        raise InputError(
            "the parameters of 'usearch' cannot be used",
            [
                f"expansion_add = {found.expansion_add} must be at least connectivity = {found.connectivity}, "
                "of which it is the candidates"
            ],
        )
    return found
