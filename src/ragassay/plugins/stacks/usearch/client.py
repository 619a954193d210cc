"""usearch's index, imported in the one order in which it shares a process with onnxruntime.

usearch has a C++ library of its own inside and lends its symbols to what is loaded later. onnxruntime, by which local
embedders run, then ends the process with a fault of memory; loaded first, it keeps to the system's library.
"""

from __future__ import annotations

import contextlib
import sys
from importlib.util import find_spec

from ragassay.errors import PluginError

if "usearch" in sys.modules and "onnxruntime" not in sys.modules and find_spec("onnxruntime") is not None:
    raise PluginError("usearch was imported before onnxruntime, which would now crash; import onnxruntime first")
with contextlib.suppress(ImportError):
    import onnxruntime  # noqa: F401 - only its place before usearch matters
from usearch.index import Index

__all__ = ["Index"]
