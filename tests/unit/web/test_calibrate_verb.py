"""`ragassay calibrate` from the command line: sample, report, export, page; stopped, killed, without its extra."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import calibration_lab as lab
import panel_factory as panel
import pytest
import site_factory as make
from click.testing import CliRunner, Result

from ragassay.cli.calibrate import command
from ragassay.errors import InputError
from ragassay.records.calibration import Rating
from ragassay.site.calibration import load_material, load_report, prepare_sample
from ragassay.site.calibration.files import load_sample
from ragassay.site.calibration.ledger import Ledger
from ragassay.site.calibration.rubric import rubric_digest

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of three rows and six questions."""
    lab.write_board(tmp_path / ".ragassay")
    return tmp_path / ".ragassay"


def call(*words: object) -> Result:
    """Run the verb in this process."""
    return CliRunner().invoke(command, [str(word) for word in words])


def rate_all(workspace: Path, rater: str, most: int = 99) -> list[Rating]:
    """Give every sampled answer the level of the judge."""
    material = load_material(workspace)
    sample, _ = prepare_sample(workspace, material)
    ledger, rubric = Ledger(workspace), rubric_digest()
    items = [material.pool.items[key] for key in sample.items[:most]]
    return [ledger.rate(item, rater, rubric, level=item.first_score, reason=None) for item in items]


def test_the_report_is_printed_and_stored(workspace: Path) -> None:
    """What is printed as JSON is what the board reads."""
    rate_all(workspace, "ann")
    text = call(workspace, "--report")
    assert text.exit_code == 0
    assert "judge-1 (the published judge): too few ratings: 18 of at least 30 rated items" in text.output
    told = json.loads(call(workspace, "--report", "--json").stdout)
    assert told == json.loads((workspace / "calibration" / "report.json").read_bytes())
    stored = load_report(workspace)
    assert stored is not None
    assert (stored.rated, stored.sampled, stored.judges[0].figures.rho) == (18, 18, "1.000000")


def test_no_number_of_the_report_is_fractional(workspace: Path) -> None:
    """Figures are decimal strings."""
    rate_all(workspace, "ann")

    def fractional(text: str) -> None:
        raise AssertionError(text)

    assert call(workspace, "--report").exit_code == 0
    json.loads((workspace / "calibration" / "report.json").read_bytes(), parse_float=fractional)


def test_the_export_holds_each_rating_beside_every_judge(workspace: Path, tmp_path: Path) -> None:
    """One line per rating that stands, with what the judges gave; nothing else is printed or served."""
    rate_all(workspace, "ann")
    target = tmp_path / "ratings.jsonl"
    result = call(workspace, "--export", target)
    assert (result.exit_code, result.stdout) == (0, "")
    lines = [json.loads(line) for line in target.read_bytes().splitlines()]
    assert len(lines) == 18
    for line in lines:
        assert line["notCounted"] is None
        assert line["judges"] == [
            {"judge": "judge-1", "digest": line["judges"][0]["digest"], "score": line["rating"]["level"]}
        ]


def test_each_verified_judgement_of_a_panel_is_held_against_people(workspace: Path) -> None:
    """A second judge that gives everything full marks has figures of its own; asking again and null rows have none."""
    rate_all(workspace, "ann")
    runs = sorted(path.name for path in (workspace / "runs").iterdir())
    for run in runs:
        panel.judge_run(workspace, run, lambda n: "judge_failed" if n == 1 else "supports")
    panel.reask(workspace, runs[0], 6, [], lambda n: "omits", "supports")
    panel.null_row(workspace, runs[0], "empty", "", lambda n: "omits", 1)
    result = call(workspace, "--report")
    assert "judge-2 (panel): too few ratings" in result.output
    report = load_report(workspace)
    assert report is not None
    assert [(one.judge, one.purpose, one.figures.n, one.unjudged) for one in report.judges] == [
        ("judge-1", "published", 18, 0),
        ("judge-2", "panel", 15, 3),
    ]
    assert report.judges[1].figures.rho is None
    assert report.judges[0].figures.rho == "1.000000"


def test_a_judgement_that_was_changed_is_no_judge(workspace: Path) -> None:
    """What cannot be verified is compared with nobody."""
    rate_all(workspace, "ann")
    run = sorted(path.name for path in (workspace / "runs").iterdir())[0]
    folder = panel.judge_run(workspace, run, lambda n: "supports")
    verdicts = folder / "verdicts.jsonl"
    verdicts.write_bytes(verdicts.read_bytes().replace(b'"score":100', b'"score":0'))
    call(workspace, "--report")
    report = load_report(workspace)
    assert report is not None
    assert [one.judge for one in report.judges] == ["judge-1"]


def test_the_sample_stays_when_runs_come_and_follows_what_is_asked(workspace: Path) -> None:
    """Everybody rates the same answers; another size or seed is another sample, and the ratings stay."""
    first, drawn = prepare_sample(workspace, load_material(workspace), 6, 7)
    assert (len(first.items), drawn) == (6, True)
    bench = make.benchmark(6)
    make.write_row(workspace, "dense", "dense", bench, lambda n, k: "supports", passes=1, text="another answer")
    again, drawn = prepare_sample(workspace, load_material(workspace))
    assert (again, drawn) == (first, False)
    larger, drawn = prepare_sample(workspace, load_material(workspace), 12)
    assert (len(larger.items), larger.seed, drawn) == (12, "7", True)
    other, drawn = prepare_sample(workspace, load_material(workspace), seed=8)
    assert (len(other.items), other.seed, drawn) == (12, "8", True)


def test_a_sample_that_was_too_small_grows_with_the_runs(workspace: Path) -> None:
    """Where fewer answers were there than asked for, later ones are drawn."""
    first, _ = prepare_sample(workspace, load_material(workspace), 20)
    assert len(first.items) == 18
    make.write_row(
        workspace, "dense", "dense", make.benchmark(6), lambda n, k: "supports", passes=1, text="other words"
    )
    again, drawn = prepare_sample(workspace, load_material(workspace))
    assert (len(again.items), drawn) == (20, True)


def test_other_questions_leave_the_old_ratings_uncounted(tmp_path: Path) -> None:
    """A new reference is another prompt: its ratings begin anew, the old are kept and said."""
    workspace = tmp_path / ".ragassay"
    lab.write_board(workspace, questions=4)
    rate_all(workspace, "ann")
    before = Ledger(workspace).read()
    changed = make.benchmark(4, version="2.0.0", target="Something else.")
    for path in sorted((workspace / "runs").iterdir()):
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    lab.write_board(workspace, bench=changed)
    result = call(workspace, "--report")
    assert "! 12 ratings not counted" in result.output
    report = load_report(workspace)
    assert report is not None
    assert (report.rated, report.judges[0].figures.n) == (0, 0)
    assert Ledger(workspace).read() == before


def test_an_answer_without_a_score_is_rated_by_nobody(tmp_path: Path) -> None:
    """Unjudged answers are not drawn, and their number is said; a missing answer is nothing to rate."""
    workspace = tmp_path / ".ragassay"
    bench = make.benchmark(6)
    grades = ("supports", "judge_failed", "answer_failed", "supports", "omits", "hedges")
    settings = make.config("bm25", "bm25", bench, circumstance_passes=1)
    outcomes = [make.outcome(q, grade, text=f"answer {q.id}") for q, grade in zip(bench.questions, grades, strict=True)]
    make.write_run(workspace / "runs", settings, bench, outcomes)
    material = load_material(workspace)
    assert (len(material.pool.items), material.pool.unjudged, material.pool.without_text) == (5, 1, 1)
    assert len(prepare_sample(workspace, material)[0].items) == 4


def test_where_nothing_can_be_rated_it_says_so(tmp_path: Path) -> None:
    """No run, no judged answer: an error that names what to do, and no page."""
    with pytest.raises(InputError, match="no verified run"):
        load_material(tmp_path)
    bench = make.benchmark(2)
    failed = [make.outcome(q, "judge_failed", text=q.id) for q in bench.questions]
    make.write_run(tmp_path / "runs", make.config("bm25", "bm25", bench), bench, failed)
    with pytest.raises(InputError, match="no answer of these runs was judged"):
        prepare_sample(tmp_path, load_material(tmp_path))


@pytest.mark.parametrize("name", ["sample.json", "report.json"])
@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"size":1}', b"\xff", b'{"size":1.5}'])
def test_a_damaged_file_is_named(workspace: Path, name: str, data: bytes) -> None:
    """A sample or report that cannot be read is an error with its path, not an empty one."""
    path = workspace / "calibration" / name
    path.parent.mkdir()
    path.write_bytes(data)
    load = load_report if name == "report.json" else load_sample
    with pytest.raises(InputError, match=name):
        load(workspace)


def test_a_name_that_cannot_be_used_is_refused_at_once(workspace: Path) -> None:
    """Before the page is served."""
    result = call(workspace, "--rater", "\u202e")
    assert isinstance(result.exception, InputError)


def python(*words: str, code: str = "from ragassay.cli import main; main()") -> list[str]:
    """Return a command line that runs the verb in a process of its own."""
    return [sys.executable, "-c", code, "calibrate", *words]


def test_without_its_extra_it_names_it(workspace: Path) -> None:
    """The page needs starlette, which `ragassay[web]` brings; the report does without."""
    code = "import sys; sys.modules['starlette'] = None; from ragassay.cli import main; main()"
    page = subprocess.run(python(str(workspace), code=code), capture_output=True, text=True, check=False)
    assert page.returncode == 3
    assert "pip install 'ragassay[web]'" in page.stderr
    assert not (workspace / "calibration").exists()
    report = subprocess.run(python(str(workspace), "--report", code=code), capture_output=True, text=True, check=False)
    assert report.returncode == 0


@pytest.mark.parametrize("statement", ["import ragassay.cli", "import ragassay.cli.calibrate", "import ragassay.site"])
def test_the_server_is_loaded_only_to_serve(statement: str) -> None:
    """Nothing but the page itself imports the extra."""
    code = f"import sys; {statement}; print(*sorted({{'starlette', 'uvicorn', 'anyio'}} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_a_port_that_is_taken_is_an_error(workspace: Path) -> None:
    """It names the port and what to do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = call(workspace, "--port", taken.getsockname()[1])
    assert isinstance(result.exception, InputError)
    assert "--port" in str(result.exception)


class Served:
    """A running program, asked as the page asks it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        found = next(found for line in process.stderr if (found := ADDRESS.search(line)))
        self.process = process
        self.port = int(found[1])
        reply = self.ask("GET", f"/?token={found[2]}")
        self.cookie = str(reply.headers["set-cookie"]).partition(";")[0]

    def ask(self, method: str, path: str, sent: Any = None) -> Any:
        """Send one request and return the reply, its body read."""
        host = f"127.0.0.1:{self.port}"
        headers = {
            "Cookie": getattr(self, "cookie", ""),
            "Origin": f"http://{host}",
            "Content-Type": "application/json",
        }
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.request(method, path, None if sent is None else json.dumps(sent), headers)
        reply = connection.getresponse()
        self.body = reply.read()
        connection.close()
        return reply

    def state(self, rater: str) -> Any:
        """Return what a rater has given."""
        assert self.ask("GET", f"/calibrate/state?rater={rater}").status == 200
        return json.loads(self.body)


@contextmanager
def serving(workspace: Path, *words: str) -> Iterator[Served]:
    """Run the program until the block ends, at the latest."""
    with subprocess.Popen(
        python(str(workspace), *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Served(process)
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)


def test_a_killed_program_has_lost_nothing(workspace: Path) -> None:
    """Every confirmed rating is there after kill -9, and the next program shows the same answers in the same order."""
    with serving(workspace) as served:
        before = served.state("ann")
        for key in before["items"][:5]:
            assert served.ask("POST", "/calibrate/rate", {"rater": "ann", "item": key, "level": 25}).status == 200
        os.kill(served.process.pid, signal.SIGKILL)
        served.process.wait()
    with serving(workspace) as served:
        after = served.state("ann")
        assert after["items"] == before["items"]
        assert set(after["ratings"]) == set(before["items"][:5])
        assert after["last"]["item"] == before["items"][4]


def test_ctrl_c_ends_the_page_and_prints_the_report(workspace: Path) -> None:
    """The exit code is 0, the report is on the standard output and stored, the address is not in it."""
    with serving(workspace, "--json") as served:
        key = served.state("ann")["items"][0]
        served.ask("POST", "/calibrate/rate", {"rater": "ann", "item": key, "level": 25})
        os.kill(served.process.pid, signal.SIGINT)
        out, _ = served.process.communicate(timeout=30)
        assert served.process.returncode == 0
    assert json.loads(out)["rated"] == 1
    assert "token" not in out
    assert load_report(workspace) is not None


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's list of sockets")
def test_only_this_machine_is_served(workspace: Path) -> None:
    """The socket is bound to 127.0.0.1 and to no other address."""
    with serving(workspace) as served:
        hexed = f"{served.port:04X}"
        lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        bound = {line.split()[1] for line in lines if line.split()[3] == "0A" and line.split()[1].endswith(f":{hexed}")}
        assert bound == {f"0100007F:{hexed}"}
        reply = served.ask("GET", "/calibrate")
        assert reply.status == 200
        assert reply.headers["server"] is None
