"""A real PostgreSQL with pgvector on 127.0.0.1, in a temporary folder, for tests; its wheel is `pgserver`."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

NEEDS = "pip install 'ragassay[pgvector]' pgserver"
NOBODY = 65534
"""PostgreSQL does not run as root; a test run that is root starts it as this user."""
PASSWORD = "tests only: open sesame"


class PostgresServer:
    """One server: database `docs` with the extension, database `bare` without, a role `guarded` with a password."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder = folder
        self._programs = programs
        self._child: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    def url(self, *, database: str = "docs", user: str = "postgres", port: int | None = None) -> str:
        """Return the address of a database, without a password."""
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{database}?sslmode=disable"

    def run(self, *statements: str, database: str = "docs") -> list[tuple[Any, ...]]:
        """Run statements as the superuser and return the rows of the last one."""
        import psycopg

        with psycopg.connect(self.url(database=database), autocommit=True) as session:
            for statement in statements:
                cursor = session.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def make(self) -> None:
        """Make the cluster, start it and make what is in it."""
        self._program("initdb", "--auth=trust", "--encoding=utf8", "--locale=C.UTF-8", "-U", "postgres", "--no-sync")
        rules = "host all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
        (self._folder / "pg_hba.conf").write_text(rules)
        self.start()
        self.run("CREATE DATABASE docs", "CREATE DATABASE bare", database="postgres")
        self.run("CREATE EXTENSION vector", f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        asked = [str(self._programs / "postgres"), "-D", str(self._folder), "-h", "127.0.0.1", "-p", str(self.port)]
        asked += ["-k", "", "-c", "fsync=off", "-c", "lc_messages=C", "-c", "shared_buffers=32MB"]
        with (self._folder / "log").open("ab") as log:
            self._child = subprocess.Popen(asked, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **_as_nobody())
        ready = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port), "-d", "postgres"]
        for _ in range(600):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            if self._child.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"PostgreSQL did not start: {(self._folder / 'log').read_text()[-2000:]}")

    def stop(self) -> None:
        """End the server and every connection to it, and wait until it is gone."""
        if self._child is not None:
            self._child.send_signal(signal.SIGINT)
            self._child.wait(30)
            self._child = None

    def _program(self, name: str, *given: str) -> None:
        asked = [str(self._programs / name), "-D", str(self._folder), *given]
        done = subprocess.run(asked, check=False, capture_output=True, text=True, **_as_nobody())
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}")


def _as_nobody() -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def _programs() -> Path | None:
    """Return the folder of the server's programs: a named one, that of the wheel, or None."""
    if named := os.environ.get("RAGASSAY_POSTGRES_PROGRAMS"):
        return Path(named)
    found = find_spec("pgserver")
    return Path(found.origin).parent / "pginstall" / "bin" if found and found.origin else None


@contextmanager
def open_postgres() -> Iterator[PostgresServer]:
    """Yield a running server and end it; skips the test where its wheel or the client is absent.

    RAGASSAY_POSTGRES_PROGRAMS names the `bin` folder of another PostgreSQL that has pgvector.
    """
    programs = _programs()
    if programs is None or find_spec("psycopg") is None:
        pytest.skip(f"needs PostgreSQL: {NEEDS}")
    folder = Path(tempfile.mkdtemp(prefix="ragassay-postgres-"))
    try:
        if os.geteuid() == 0:
            readable = subprocess.run([programs / "postgres", "-V"], check=False, capture_output=True, **_as_nobody())
            if readable.returncode:
                pytest.skip("PostgreSQL does not run as root, and no other user may read this environment")
            os.chown(folder, NOBODY, NOBODY)
        server = PostgresServer(folder, programs)
        try:
            server.make()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
