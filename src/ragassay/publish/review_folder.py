"""Where a workspace keeps what people decided, were shown and signed off. Pure, and imports nothing heavy."""

from __future__ import annotations

FOLDER = "review"
"""The folder of a workspace (`.ragassay`) with these files, each a `ragassay.manifest.append_only.AppendOnlyFile`."""
