"""Shared fixtures: the optional data folder, a real browser, and where the project's own files are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from browser_driver import open_browser
from postgres_server import PostgresServer, open_postgres

ROOT = Path(__file__).resolve().parent.parent

# The same examples every time, however slow the machine is just now: what a change breaks fails with it, and nothing
# else does. `pytest --hypothesis-profile=search` looks for examples that nobody has tried.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def own_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A passphrase for the keys that tests make, a state folder of their own, and no key of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGASSAY_PASSPHRASE", "tests only: everybody knows this passphrase")
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        for name in ("ROOT_PASSPHRASE", "RUN_KEY", "LOG_KEY", "ROOT_KEY", "WITNESS_KEY"):
            patch.delenv(f"RAGASSAY_{name}", raising=False)
        yield


@pytest.fixture(autouse=True)
def _short_pauses(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the run inside a contract suite ask a stack again at once."""
    if "contract" in request.path.parts:
        monkeypatch.setattr("ragassay.run.passes.FIRST_PAUSE_S", 0.02)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora and question sets beside the checkout; skips where it is absent."""
    folder = Path(os.environ.get("RAGASSAY_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the shared data folder ({folder} is absent)")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium for the tests of one file, closed behind them: while it is open `asyncio.run` is refused."""
    with open_browser() as found:
        yield found


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL with pgvector, started once; a test that stops it starts it again."""
    with open_postgres() as found:
        yield found
