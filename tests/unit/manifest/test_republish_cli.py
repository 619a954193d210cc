"""`ragassay import republished`: a signed run, or every problem and nothing written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ragassay import canon
from ragassay.cli import root
from ragassay.cli.import_ import command
from ragassay.errors import InputError
from ragassay.manifest import decode_run, read_run
from ragassay.records import Secret
from ragassay.testing.republished_run import PUBLISHED, lines_of, published_bytes, written
from ragassay.testing.signed_run import public_signer, sample_benchmark
from ragassay.verify import Unpinned, verify


def key_of(name: str) -> dict[str, str]:
    """Return the environment that gives a public test key."""
    pem = public_signer(name).to_pem(Secret("passphrase"))
    return {"RAGASSAY_RUN_KEY": pem.decode(), "RAGASSAY_PASSPHRASE": "passphrase"}


KEY = key_of("a")


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in an empty folder with an item set and a file of scores."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v1.0.0.json").write_bytes(published_bytes())
    (tmp_path / "scores.jsonl").write_bytes(written(lines_of()))


def run(*arguments: str) -> Result:
    """Import, with the run key in the environment; errors raised on purpose come through."""
    result = CliRunner(env=KEY).invoke(command, ["republished", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*arguments: str) -> InputError:
    """Return the error of an import that must write nothing."""
    with pytest.raises(InputError) as caught:
        run(*arguments)
    assert not list(Path(".ragassay/runs").glob("*")) if Path(".ragassay").exists() else True
    return caught.value


def only_run(workspace: Path = Path(".ragassay")) -> dict[str, bytes]:
    """Return the files of the one run of a workspace."""
    (folder,) = (workspace / "runs").iterdir()
    files = read_run(folder).files
    assert decode_run(files).predicate.run_id == folder.name
    return dict(files)


def test_a_run_is_written_and_verifies() -> None:
    """The folder holds a run that verifies; the lines printed say what was signed."""
    result = run("scores.jsonl", "--items", "v1.0.0.json", "--source", "https://example.org/b", "--evaluator", "tool")
    files = only_run()
    assert verify(files, policy=Unpinned(), now=0).ok()
    assert "score 0.5160 (258/500), 5 of 5 scored" in result.output
    assert "scores, republished; computed by: tool\n" in result.output
    assert "source: https://example.org/b" in result.output
    assert f"v1.0.0 0, benchmark.foreign kept byte for byte, sha256 {canon.sha256(published_bytes())}" in result.output
    assert decode_run(files).predicate.row.name == "scores"


def test_names_are_taken_from_options() -> None:
    """Row, set, version, evaluator and workspace are what the options say."""
    options = [
        "--row",
        "board A",
        "--id",
        "ports",
        "--set-version",
        "1.0",
        "--evaluator",
        "t",
        "--evaluator-version",
        "9",
    ]
    run("scores.jsonl", "--items", "v1.0.0.json", *options, "--workspace", "other")
    p = decode_run(only_run(Path("other"))).predicate
    assert (p.row.name, p.benchmark.id, p.benchmark.version) == ("board A", "ports", "1.0")
    assert (p.provenance.evaluator.name, p.provenance.evaluator.version) == ("t", "9")


def test_importing_twice_is_importing_once() -> None:
    """The second time says so and changes nothing; by another key it is refused."""
    run("scores.jsonl", "--items", "v1.0.0.json")
    before = only_run()
    assert run("scores.jsonl", "--items", "v1.0.0.json").output.startswith("imported before")
    assert only_run() == before
    result = CliRunner(env=key_of("b")).invoke(command, ["republished", "scores.jsonl", "--items", "v1.0.0.json"])
    assert isinstance(result.exception, InputError)
    assert "with other bytes" in str(result.exception)
    assert only_run() == before


def test_json() -> None:
    """`--json` prints the predicate, the folder and what was rounded."""
    lines = lines_of(["0.735", "0.5", "0.25", "0", None])
    Path("scores.jsonl").write_bytes(written(lines))
    said = json.loads(run("scores.jsonl", "--items", "v1.0.0.json", "--round", "--json").output)
    assert (said["made"], said["rounded"], said["file"]) == (True, 1, "benchmark.foreign")
    assert said["run"]["provenance"]["sourceKind"] == "republished"
    assert said["run"]["counts"]["unjudged"] == 1
    assert Path(said["path"]).is_dir()


def test_rounding_is_said() -> None:
    """How many scores were rounded is printed, and the metric keeps it."""
    Path("scores.jsonl").write_bytes(written(lines_of(["0.735", "0.333", "0.25", "0", "1"])))
    assert "2 scores rounded half-up to hundredths" in run("scores.jsonl", "--items", "v1.0.0.json", "--round").output
    assert "-rounded-to-hundredths-judged-by-" in decode_run(only_run()).predicate.metric.id


def test_all_problems_at_once_and_nothing_written() -> None:
    """Exit code 2, one list with line numbers, and no run."""
    lines = lines_of()
    lines[0]["score"] = "0.735"
    lines[1]["question"] = "x"
    lines[2]["id"] = "zz"
    lines[4]["judge"] = "other"
    Path("scores.jsonl").write_bytes(written(lines))
    error = refused("scores.jsonl", "--items", "v1.0.0.json")
    assert error.exit_code == 2
    assert error.message.startswith("scores.jsonl: the file of scores has ")
    said = "\n".join(error.problems)
    for part in ("line 1: score", "line 2: question", "line 3: id", "question 'a3' has no line", "JUDGE_MIXED"):
        assert part in said


@pytest.mark.parametrize("name", ["set.csv", "set.jsonl"])
def test_tables_are_kept_byte_for_byte(name: str) -> None:
    """CSV and JSON Lines, with whatever else stands in them, become benchmark.foreign unchanged."""
    samples: list[dict[str, Any]] = PUBLISHED["samples"]
    text = {
        "set.csv": "id,input,difficulty\r\n" + "".join(f"{s['id']},{s['input']},0.5\r\n" for s in samples),
        "set.jsonl": "".join(json.dumps({**s, "difficulty": 0.5}) + "\n" for s in samples),
    }[name]
    Path(name).write_bytes(text.encode())
    run("scores.jsonl", "--items", name)
    files = only_run()
    assert files["benchmark.foreign"] == text.encode()
    ref = decode_run(files).predicate.benchmark
    assert (ref.id, ref.digest.sha256) == ("set", canon.sha256(text.encode()))
    assert verify(files, policy=Unpinned(), now=0).ok()


def test_a_question_file_of_ours_is_kept_in_its_full_form() -> None:
    """It has a name and a version of its own; options that give others are refused."""
    benchmark = sample_benchmark(2)
    Path("ours.json").write_bytes(benchmark.full_form())
    lines = [{"id": q.id, "question": q.input, "answer": None, "score": 1, "judge": "j"} for q in benchmark.questions]
    Path("scores.jsonl").write_bytes(written(lines))
    run("scores.jsonl", "--items", "ours.json")
    files = only_run()
    assert files["benchmark.json"] == benchmark.full_form()
    assert verify(files, policy=Unpinned(), now=0).ok()
    for option in ("--id", "--set-version"):
        result = run("scores.jsonl", "--items", "ours.json", option, "x")
        assert result.exit_code == 2
        assert "has a name and a version of its own" in result.output


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("set.csv", b"id;input\n1;2\n", "cannot be read"),
        ("set.jsonl", b'{"id": 1, "input": "x"}', "cannot be read"),
        ("set.json", b"{}", "samples: is missing"),
        ("set.json", b'[{"id":"a","input":"b"}]', "is a list"),
        ("set.xlsx", b"PK", "a question file ends in"),
    ],
)
def test_item_sets_that_are_refused(name: str, data: bytes, said: str) -> None:
    """What cannot be read is refused by the file's name with the reason."""
    Path(name).write_bytes(data)
    error = refused("scores.jsonl", "--items", name)
    assert str(error).startswith(name)
    assert said in str(error)


@pytest.mark.parametrize(
    ("file", "items"), [("no.jsonl", "v1.0.0.json"), ("scores.jsonl", "no.json"), (".", "v1.0.0.json")]
)
def test_files_that_are_not_there(file: str, items: str) -> None:
    """A missing file or a folder is named."""
    assert "cannot be read" in str(refused(file, "--items", items))


def test_no_key() -> None:
    """Without a key nothing is signed, and the message says how to make one."""
    result = CliRunner(env={"RAGASSAY_RUN_KEY": ""}).invoke(
        command, ["republished", "scores.jsonl", "--items", "v1.0.0.json"]
    )
    assert isinstance(result.exception, InputError)
    assert "keys init" in str(result.exception)


def test_the_verb_is_reached_by_its_name() -> None:
    """`import` is a word of Python and a verb of the command line all the same."""
    result = CliRunner().invoke(root, ["import", "republished", "--help"])
    assert result.exit_code == 0
    assert "--items" in result.output


def test_the_host_s_locale_changes_no_byte() -> None:
    """Under a locale of plain ASCII and no UTF-8 mode the very same run comes out."""
    lines = lines_of()
    lines[0]["answer"] = "Größe – 目 – \U0001f600"
    Path("scores.jsonl").write_bytes(written(lines))
    folders = []
    for number, locale in enumerate(["C", "C.UTF-8"]):
        env = {**os.environ, **KEY, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        workspace = f"w{number}"
        arguments = ["scores.jsonl", "--items", "v1.0.0.json", "--workspace", workspace]
        subprocess.run(
            [sys.executable, "-m", "ragassay", "import", "republished", *arguments], env=env, check=True, timeout=60
        )
        folders.append(only_run(Path(workspace)))
    assert folders[0] == folders[1]


def test_the_published_set_of_60(shared_data: Path) -> None:
    """The set of a public board is kept under the digest that it was published with, and its scores are summed."""
    items = shared_data / "sdk-docs-retrieval" / "v1.0.0.json"
    if not items.is_file():
        pytest.skip("needs the published item set")
    samples = json.loads(items.read_bytes())["samples"]
    grades = ["1", "0.75", "0.5", "0.25", "0"]
    lines = [
        {"id": s["id"], "question": s["input"], "answer": s["target"], "score": grades[at % 5], "judge": "judge-x"}
        for at, s in enumerate(samples)
    ]
    lines[7]["score"] = None
    Path("scores.jsonl").write_bytes(written(lines[::-1]))
    run("scores.jsonl", "--items", str(items), "--id", "sdk-docs", "--set-version", "1.0.0")
    files = only_run()
    report = verify(files, policy=Unpinned(), now=0)
    assert report.ok()
    assert not report.ok(strict=True)
    p = decode_run(files).predicate
    published = "04adb10a199b3de662f3a20d9bfc6dabb4686c84c39bcab0e5ee9a129b523bdc"
    assert p.benchmark.item_set.sha256 == p.benchmark.digest.sha256 == published
    assert p.score is not None
    assert (p.score.num, p.score.den, p.counts.unjudged) == (12 * 250 - 50, 5900, 1)
