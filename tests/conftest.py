"""Shared fixtures: the optional data folder, and where the project's own files are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora and question sets beside the checkout; skips where it is absent."""
    folder = Path(os.environ.get("RAGASSAY_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the shared data folder ({folder} is absent)")
    return folder
