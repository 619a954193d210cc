"""`ragassay serve` from the command line, and that the gate takes what was signed on its page."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parent))
import review_lab as lab

from ragassay.cli.serve import command
from ragassay.errors import InputError
from ragassay.publish.release import Wanted, look
from ragassay.publish.signoffs import ReviewFile
from ragassay.run.workspace import Workspace
from ragassay.web.snapshot import stamp_of

SECONDS = 1_800_000_000


def codes(workspace: Path) -> set[str]:
    """Return the codes for which the gate refuses the runs of a workspace."""
    found = look(Workspace(workspace), None, Wanted(), [lab.Mails()], now=SECONDS)
    return {refusal.code for verdict in found.verdicts for refusal in verdict.refusals}


def test_the_gate_takes_what_was_signed_on_the_page(tmp_path: Path) -> None:
    """Before it refuses for findings and reading, after it for neither; a changed decision makes it refuse again."""
    lab.write(tmp_path)
    assert {"undecided", "not-signed-off"} <= codes(tmp_path)
    ann = lab.open_review(tmp_path)
    ann.reads_all()
    (found,) = ann.get("/review/findings").json["findings"]
    ann.sends("decide", finding=found["id"], action="redact")
    assert "undecided" not in codes(tmp_path)
    assert "not-signed-off" in codes(tmp_path)
    assert ann.signs().status == 200
    assert codes(tmp_path) & {"undecided", "not-signed-off"} == set()
    ann.sends("decide", finding=found["id"], action="withhold")
    assert "not-signed-off" in codes(tmp_path)


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    """The token is printed once, on standard error; Ctrl-C ends it with 0, and nothing was written."""
    lab.write(tmp_path / ".ragassay")
    before = stamp_of(tmp_path)
    arguments = [sys.executable, "-m", "ragassay", "serve", str(tmp_path / ".ragassay"), "--reader", "ann"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(5)]
        host, _, path = next(line for line in lines if "token=" in line).strip().removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.request("GET", f"/{path}")
        assert connection.getresponse().status == 303
        connection.close()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
    said = "".join(lines) + errors
    assert lines[0] == "4 runs of 2 rows are up for publishing, 6 different outputs to read.\n"
    assert len(re.findall(r"http://127\.0\.0\.1:\d+/\?token=\S+", said)) == 1
    assert (process.returncode, rest) == (0, "")
    assert stamp_of(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--reader", "a\u202eb"], "a reader's name holds characters that cannot be seen"),
        (["--reader", " "], "a reader needs a name"),
        (["--run", "nothing"], "no runs have an id that begins with 'nothing'"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_served(
    tmp_path: Path, options: list[str], problem: str
) -> None:
    """An unusable name or run is an error of the input."""
    lab.write(tmp_path, passes=1)
    result = CliRunner().invoke(command, [str(tmp_path), *options])
    assert isinstance(result.exception, InputError)
    assert problem in str(result.exception)


def test_a_folder_without_a_workspace_is_no_board(tmp_path: Path) -> None:
    """It says what to do."""
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert "ragassay init" in str(result.exception)


def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    """Where starlette is not installed the error says what to install; in a process of its own."""
    lab.write(tmp_path, passes=1)
    code = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "starlette":
            raise ModuleNotFoundError(f"No module named {name!r}", name="starlette")

sys.meta_path.insert(0, Absent())
from ragassay.cli import main
main()
"""
    words = [sys.executable, "-c", code, "serve", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3
    assert "the app needs starlette: pip install 'ragassay[run,web]'" in done.stderr


def test_an_empty_workspace_is_served(tmp_path: Path) -> None:
    """There is nothing to read and nothing to sign, and the page can be opened before the first run."""
    ann = lab.open_review(tmp_path)
    state = ann.state()
    assert (state["rows"], state["units"], state["refused"]) == ([], [], [])
    assert state["scan"]["problem"] is None
    lab.write(tmp_path, passes=1)
    assert len(ann.state()["units"]) == 6


@pytest.mark.parametrize("defect", ["renamed", "runs is a file", "runs is a loop"])
def test_a_workspace_that_is_gone_is_not_an_empty_one(tmp_path: Path, defect: str) -> None:
    """The page says so instead of saying that there is nothing to read; once it is back everything is there."""
    workspace = tmp_path / ".ragassay"
    lab.write(workspace, passes=1)
    ann = lab.open_review(workspace)
    ann.reads_all()
    place = workspace if defect == "renamed" else workspace / "runs"
    place.rename(tmp_path / "elsewhere")
    if defect == "runs is a file":
        place.write_bytes(b"")
    elif defect == "runs is a loop":
        place.symlink_to(place)
    reply = ann.get("/review/state?reader=ann")
    assert (reply.status, str(place) in reply.json["problem"]) == (422, True)
    assert ann.sends("place", unit="u").status == 422
    assert workspace.exists() == (defect != "renamed")
    if defect != "renamed":
        place.unlink()
    (tmp_path / "elsewhere").rename(place)
    assert len(ann.state()["seen"]) == 6


def test_the_stamp_sees_every_change(tmp_path: Path) -> None:
    """Other bytes of the same size, a file more, a file fewer; folders of other use are not looked at."""
    lab.write(tmp_path, passes=1)
    seen = [stamp_of(tmp_path)]
    path = next((tmp_path / "runs").iterdir()) / "config.json"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b" ")
    seen.append(stamp_of(tmp_path))
    (path.parent / "more").write_bytes(b"")
    seen.append(stamp_of(tmp_path))
    (path.parent / "more").unlink()
    (tmp_path / "policy.json").write_bytes(b"{}")
    seen.append(stamp_of(tmp_path))
    assert len(set(seen)) == 4
    for name in ("passes", "cache", "review", "calibration"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x")
    assert stamp_of(tmp_path) == seen[-1]


def test_a_line_of_the_sign_offs_that_is_none_stops_the_page(tmp_path: Path) -> None:
    """It is named, and no further one is written."""
    lab.write(tmp_path, passes=1)
    ann = lab.open_review(tmp_path)
    ann.reads_all()
    path = tmp_path / "review" / "signoffs.jsonl"
    path.write_bytes(msgspec.json.encode({"run": "x"}) + b"\n")
    assert ann.get("/review/state?reader=ann").status == 422
    with pytest.raises(InputError, match="line 1"):
        ReviewFile(tmp_path).sign_offs()
