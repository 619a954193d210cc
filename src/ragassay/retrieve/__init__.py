"""The one checked door between the runner and a stack."""

from __future__ import annotations

from ragassay.retrieve.check import checked
from ragassay.retrieve.door import search

__all__ = ["checked", "search"]
