"""A two-machine Ray cluster and a board whose model counts its calls, for tests that kill what runs on them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RAGASSAY = [sys.executable, "-m", "ragassay"]
WORKER = "ray::Asker"
"""How the process of a worker is called."""


NAMED = "RAGASSAY_TEST_CLUSTER"
"""The variable by which the processes of one cluster are told from those of others."""


class Nodes:
    """A running cluster: its address, the surroundings of its processes, and how to take its second machine away."""

    def __init__(self, process: subprocess.Popen[str], address: str, env: dict[str, str], folder: Path) -> None:
        self._process = process
        self.folder = folder
        """Where the cluster keeps its logs, and its workers what they are sent."""
        self.address = address
        self.env = env

    def remove_second(self) -> None:
        """Take the second machine away, with everything on it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("remove\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline().strip() == "removed"

    def workers(self) -> list[int]:
        """Return the processes of the workers that live on this cluster."""
        return [
            pid
            for pid in _processes(WORKER)
            if _variable(pid, "RAGASSAY_TEST_CLUSTER") == self.env["RAGASSAY_TEST_CLUSTER"]
        ]


@contextmanager
def two_nodes() -> Iterator[Nodes]:
    """Start a cluster of two machines with one CPU each, and end it."""
    folder = Path(tempfile.mkdtemp(prefix="rr-", dir="/tmp"))
    home = folder / "home"
    home.mkdir()
    env = {
        **os.environ,
        "HOME": str(home),
        "RAY_USAGE_STATS_ENABLED": "0",
        NAMED: folder.name,
        "RAGASSAY_CACHE": str(Path.home() / ".cache" / "ragassay" / "weights"),
    }
    env.pop("RAY_ADDRESS", None)
    command = [sys.executable, str(ROOT / "cluster_nodes.py"), str(folder / "ray")]
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, "the cluster did not start"
        yield Nodes(process, json.loads(line)["address"], env, folder)
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def counting_server(log: Path, *options: str) -> Iterator[str]:
    """Run a chat server whose every request is a line of `log`; yield its base URL."""
    command = [sys.executable, "-m", "ragassay.testing.chat_server", "--mode", "counter", "--log", str(log), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def write_board(
    folder: Path, questions: int, *, answer: str = 'kind = "reader"', passes: int = 1, dense: bool = False
) -> None:
    """Write documents, questions and a board of a control row and one or two rows, and make its keys."""
    docs = folder / "docs"
    docs.mkdir()
    samples = []
    for n in range(questions):
        text = f"The part {n} weighs {n + 1000} grams."
        (docs / f"page-{n:03}.md").write_text(f"# Part {n}\n\n{text}\n", encoding="utf-8")
        claim = {"text": f"It weighs {n + 1000} grams.", "central": True, "must": [[str(n + 1000)]]}
        samples.append(
            {
                "id": f"q-{n:03}",
                "input": f"How many grams does the part {n} weigh?",
                "target": f"{n + 1000} grams.",
                "evidence": text,
                "claims": [claim],
            }
        )
    (folder / "questions.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    rows = {"no-retrieval": '{ kind = "none" }', "bm25": '{ kind = "bm25" }'}
    if dense:
        rows |= {"dense": '{ kind = "dense" }', "tantivy": '{ kind = "tantivy" }', "usearch": '{ kind = "usearch" }'}
        rows["both"] = '{ kind = "hybrid", of = [ { kind = "tantivy" }, { kind = "usearch" } ] }'
    board = f'name = "cluster"\npasses = {passes}\n[corpus]\npath = "docs"\n[benchmark]\nfile = "questions.json"\n'
    board += f'[answer]\n{answer}\n[judge]\nkind = "literal"\n'
    board += "".join(f'[[rows]]\nname = "{name}"\ntop_k = 2\nstack = {stack}\n' for name, stack in rows.items())
    (folder / "board.toml").write_text(board, encoding="utf-8")
    subprocess.run([*RAGASSAY, "keys", "init"], cwd=folder, check=True, capture_output=True)


def run(
    folder: Path, nodes: Nodes | None, *options: str, variables: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Begin `ragassay run`, on the cluster where one is given."""
    surroundings = nodes.env if nodes else dict(os.environ)
    where = ["--executor", "ray", "--address", nodes.address] if nodes else []
    return subprocess.Popen(
        [*RAGASSAY, "run", *where, *options],
        cwd=folder,
        env={**surroundings, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait for a run's end with that exit code; return what it said on the standard error."""
    _, said = process.communicate(timeout=180)
    assert process.returncode == code, said
    return said


def answers(folder: Path) -> dict[tuple[str, str], list[str]]:
    """Return the journaled answers by row and question."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in folder.glob(".ragassay/passes/*/*/journal.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            entry = json.loads(line)
            if entry["event"] == "answered":
                found.setdefault((path.parent.parent.name, entry["q"]), []).append(entry["answer"]["text"])
    return found


def calls(log: Path) -> int:
    """Return how many requests a counting server has had."""
    return log.read_bytes().count(b"\n") if log.exists() else 0


def wait_until(happened: Any, process: subprocess.Popen[str], wait_s: float = 120) -> None:
    """Wait until something holds; fails where the run ends first."""
    until = time.monotonic() + wait_s
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def _processes(name: str) -> Sequence[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(name.encode()):
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


def _variable(pid: int, name: str) -> str | None:
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((pair.partition(b"=")[2].decode() for pair in pairs if pair.startswith(name.encode() + b"=")), None)
