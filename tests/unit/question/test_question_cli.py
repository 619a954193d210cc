"""`ragassay questions` prints what it found and says yes or no by its exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from frozen_lab import NOW, SIGNER, checked, docs, question, small_set
from ragassay import canon
from ragassay.cli import main
from ragassay.question import Waiver
from ragassay.records import Question
from ragassay.run.question_sets.freeze_set import seal_set

BOARD = """
name = "b"
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two pages, a sound question file on them and a board."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "net.md").write_text("# Net\n\nThe server\nlistens on port 8080.\n", encoding="utf-8")
    (tmp_path / "docs" / "log.md").write_text("# Log\n\nIt logs to `server.log`.\n", encoding="utf-8")
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    write(tmp_path, net(), log())
    return tmp_path


ORIGIN = {"author": "A. Writer", "created": "2026-11-30", "reviewedBy": "B. Reader", "derivedFromSystem": False}


def net(**other: Any) -> dict[str, Any]:
    """Return the question about the port with some keys changed."""
    claims = [{"text": "Port 8080.", "central": True, "must": [["8080"]]}]
    sound = {"id": "net", "page": "net.md", "input": "Which port has Acme?", "target": "Port 8080.", "claims": claims}
    return {**sound, "evidence": "The server listens on port 8080.", "provenance": ORIGIN, **other}


def log(**other: Any) -> dict[str, Any]:
    """Return the question about the log with some keys changed."""
    claims = [{"text": "server.log", "central": True, "must": [["server.log"]]}]
    sound = {"id": "log", "page": "log.md", "input": "Where does Acme log?", "target": "server.log", "claims": claims}
    return {**sound, "evidence": "It logs to `server.log`.", "provenance": ORIGIN, **other}


def write(folder: Path, *samples: dict[str, Any]) -> Path:
    """Write a question file."""
    path = folder / "questions.json"
    path.write_text(json.dumps({"name": "set", "samples": samples}), encoding="utf-8")
    return path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Run the command line and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["ragassay", "questions", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a sub-verb and return (exit code, standard output, standard error)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run(monkeypatch, *arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_hash_prints_the_item_set_first_and_the_digest_of_our_form(folder: Path, verb: Any) -> None:
    """Both digests are labelled; the JSON form holds the same and what was read."""
    code, out, _ = verb("hash", folder / "questions.json")
    lines = [line.split() for line in out.splitlines()]
    assert (code, [label for label, _ in lines]) == (0, ["itemSet", "digest"])
    code, out, _ = verb("hash", folder / "questions.json", "--json")
    value = json.loads(out)
    assert code == 0
    assert [value["itemSet"], value["digest"]] == [digest for _, digest in lines]
    assert (value["questions"], value["form"], value["canonical"]) == (2, "full", False)


def test_hash_of_a_published_file_is_the_hash_of_its_bytes(folder: Path, verb: Any) -> None:
    """Export writes canonical bytes; their SHA-256 is the item set of the original and the only digest printed."""
    _, out, _ = verb("hash", folder / "questions.json")
    item_set = out.split()[1]
    published = folder / "published.json"
    assert verb("export", folder / "questions.json", "--out", published)[0] == 0
    assert canon.sha256(published.read_bytes()) == item_set
    assert verb("hash", published) == (0, f"itemSet  {item_set}\n", "")
    assert verb("export", published)[1].encode() == published.read_bytes()


def test_export_of_the_full_form_is_what_a_run_stores(folder: Path, verb: Any) -> None:
    """Its SHA-256 is the benchmark's digest, and it reads back to the same digests."""
    full = folder / "full.json"
    assert verb("export", folder / "questions.json", "--form", "full", "--out", full)[0] == 0
    _, out, _ = verb("hash", full)
    assert out == verb("hash", folder / "questions.json")[1]
    assert canon.sha256(full.read_bytes()) == out.split()[3]


def test_export_overwrites_nothing(folder: Path, verb: Any) -> None:
    """An existing file stays as it is."""
    before = (folder / "questions.json").read_bytes()
    code, _, err = verb("export", folder / "questions.json", "--out", folder / "questions.json")
    assert code == 2
    assert "exists already" in err
    assert (folder / "questions.json").read_bytes() == before


@pytest.mark.parametrize("by_board", [False, True])
def test_check_says_yes_of_a_sound_set(folder: Path, verb: Any, by_board: bool) -> None:
    """Exact and folded evidence pass; each stands with page, span and folds. A board names file and corpus."""
    what = [folder / "board.toml"] if by_board else [folder / "questions.json", "--corpus", folder / "docs"]
    code, out, _ = verb("check", *what)
    assert code == 0
    assert "2 evidence texts in 2 pages: 1 exact, 1 folded, 0 missing; 0 questions without evidence" in out
    assert "folded   net  net.md [7, 39) (folds: whitespace)" in out
    assert "exact    log  log.md [7, 31)" in out
    assert "2 questions: 0 errors, 0 warnings" in out


def test_check_says_no_when_evidence_is_missing(folder: Path, verb: Any) -> None:
    """A changed digit gives exit code 1, the finding in words and in JSON."""
    changed = net(evidence="The server listens on port 8081.", target="Port 8081, not 8080.")
    path = write(folder, changed, log())
    code, out, _ = verb("check", path, "--corpus", folder / "docs")
    assert code == 1
    assert "missing  net  declared on net.md" in out
    assert "error  evidence-missing  net: the evidence stands nowhere in the corpus" in out
    code, out, _ = verb("check", path, "--corpus", folder / "docs", "--json")
    value = json.loads(out)
    assert (code, value["ok"]) == (1, False)
    assert value["counts"] == {"exact": 1, "folded": 0, "missing": 1, "none": 0, "pages": 2}
    assert value["evidence"][0]["state"] == "missing"
    rules = {finding["rule"] for finding in value["lint"] if finding["severity"] == "error"}
    assert rules == {"evidence-missing", "key-literal", "target-unfounded"}


def test_check_says_no_when_a_lint_error_stands(folder: Path, verb: Any) -> None:
    """Two questions on one passage are an error although all evidence is found."""
    path = write(
        folder, net(), net(id="again", input="And which port does Acme open first?", evidence="port 8080."), log()
    )
    code, out, _ = verb("check", path, "--corpus", folder / "docs")
    assert code == 1
    assert "error  passage-shared  net, again" in out
    assert out.count("at net.md [") == 2


def test_a_frozen_set_is_held_against_the_waivers_that_were_signed(tmp_path: Path, verb: Any) -> None:
    """No file of waivers stands beside it, and what was let stand is an error no more than when it was frozen."""
    about = claim_beyond()
    waivers = [Waiver(rule="target-unfounded", questions=("q-1",), reason="the page says it elsewhere")]
    data, envelope = seal_set(checked(small_set(question(0), about), waivers=waivers), "1.0.0", SIGNER, now=NOW)
    (tmp_path / "acme-1.0.0.json").write_bytes(data)
    (tmp_path / "acme-1.0.0.items.dsse.json").write_bytes(envelope)
    (tmp_path / "docs").mkdir()
    for one in docs().pages:
        (tmp_path / "docs" / one.id).write_text(one.text, encoding="utf-8")
    for sub in ("check", "lint"):
        code, out, _ = verb(sub, tmp_path / "acme-1.0.0.json", "--corpus", tmp_path / "docs")
        assert "waived: the page says it elsewhere" in out
        assert code == 0
    (tmp_path / "loose.json").write_bytes(data)
    code, out, _ = verb("check", tmp_path / "loose.json", "--corpus", tmp_path / "docs")
    assert "target-unfounded" in out
    assert code == 1


def claim_beyond() -> Question:
    """Return a question whose target says a name that its evidence does not say."""
    asked = question(1)
    return msgspec.structs.replace(asked, target=f"{asked.target[:-1]} by ISO_9000.")


def test_check_reads_a_built_corpus(folder: Path, verb: Any) -> None:
    """A folder that holds a built corpus is loaded and not read again."""
    from ragassay import plugins
    from ragassay.corpus import read_corpus, store_corpus

    corpus = read_corpus(folder / "docs", plugins.load("chunkers", "heading")())
    built = store_corpus(corpus, folder / "built")
    code, out, _ = verb("check", folder / "questions.json", "--corpus", built)
    assert (code, out) == (0, verb("check", folder / "board.toml")[1])


def test_a_board_can_be_checked_against_another_corpus(folder: Path, verb: Any) -> None:
    """With --corpus the board gives the questions alone."""
    (folder / "less").mkdir()
    (folder / "less" / "log.md").write_text("It logs to `server.log`.", encoding="utf-8")
    code, out, _ = verb("check", folder / "board.toml", "--corpus", folder / "less")
    assert code == 1
    assert "page-unknown  net" in out
    assert verb("lint", folder / "board.toml", "--corpus", folder / "less")[0] == 1


def test_a_board_that_is_only_begun_names_documentation_and_questions(folder: Path, verb: Any) -> None:
    """Before there are models and rows, [corpus] and [benchmark] are enough; after that the board is read whole."""
    begun = folder / "begun.toml"
    begun.write_text(BOARD[BOARD.index("[corpus]") : BOARD.index("[answer]")], encoding="utf-8")
    for sub in ("check", "lint"):
        code, out, _ = verb(sub, begun)
        assert code == 0
        assert "2 questions: 0 errors" in out
    assert verb("review", begun, "--list")[0] == 1
    code, out, _ = verb("draft", begun, "--by-hand", "-n", 1, "--out", folder / "new.json")
    assert (code, out.partition(":")[0]) == (1, "2 pages"), "too short to be asked about, yet read"
    begun.write_text(begun.read_text(encoding="utf-8") + '[judge]\nkind = "literal"\n', encoding="utf-8")
    code, _, err = verb("check", begun)
    assert code == 2
    assert "answer: is missing" in err


def test_a_board_may_stand_for_the_corpus(folder: Path, verb: Any) -> None:
    """`--corpus board.toml` is the documentation that the board names; one that names no question file says so."""
    board = folder / "docs.toml"
    board.write_text('[corpus]\npath = "docs"\n', encoding="utf-8")
    code, out, _ = verb("check", folder / "questions.json", "--corpus", board)
    assert code == 0
    assert "2 evidence texts in 2 pages" in out
    code, _, err = verb("check", board)
    assert code == 2
    assert "names no question file" in err
    code, _, err = verb("check", folder / "nowhere.toml")
    assert code == 2
    assert "does not exist" in err


def test_check_needs_a_corpus(folder: Path, verb: Any) -> None:
    """Without one the usage is wrong."""
    code, _, err = verb("check", folder / "questions.json")
    assert code == 2
    assert "--corpus" in err


def test_lint_without_a_corpus_reads_literals_alone(folder: Path, verb: Any) -> None:
    """Warnings leave the exit code 0, an error makes it 1; --corpus adds the evidence."""
    assert verb("lint", folder / "questions.json")[:2] == (0, "2 questions: 0 errors, 0 warnings\n")
    path = write(folder, net(target="Port 80."), log(evidence="It logs to `server.log`, always."))
    code, out, _ = verb("lint", path)
    assert (code, out.count("error  target-fails  net")) == (1, 1)
    assert "evidence-missing" not in out
    code, out, _ = verb("lint", path, "--corpus", folder / "docs", "--json")
    assert code == 1
    errors = {finding["rule"] for finding in json.loads(out)["lint"] if finding["severity"] == "error"}
    assert errors == {"target-unfounded", "target-fails", "evidence-missing"}


def test_a_wrong_waiver_is_said_whatever_rule_is_looked_at(folder: Path, verb: Any) -> None:
    """Whoever tries a waiver with its rule alone hears why it waives nothing."""
    write(folder, net(input="Which port has Acme"), log())
    (folder / "questions.waive").write_text("no-question net\n", encoding="utf-8")
    code, out, _ = verb("lint", folder / "questions.json", "--rule", "no-question")
    assert code == 1
    assert "has no reason" in out
    (folder / "questions.waive").write_text("no-question net  # asked so\n", encoding="utf-8")
    assert verb("lint", folder / "questions.json", "--rule", "no-question")[0] == 0


def test_unsplit_questions_are_said_to_be_so(folder: Path, verb: Any) -> None:
    """A table with input and target passes, and what is not known of it is printed."""
    (folder / "qa.csv").write_text("input,target\nWhich port has Acme?,8080\n", encoding="utf-8")
    code, out, _ = verb("check", folder / "qa.csv", "--corpus", folder / "docs")
    assert code == 0
    assert "0 evidence texts in 2 pages" in out
    assert "1 question without evidence" in out
    assert "1 question (1 unsplit, unreviewed)" in out
    assert "1 of 1 questions have a claim without literals: q-001" in out
    assert "digest" not in verb("hash", folder / "qa.csv")[1]


def test_a_broken_file_is_refused_with_all_problems(folder: Path, verb: Any) -> None:
    """Exit code 2, the file's name, and one line per problem."""
    path = write(folder, net(target=""), net(inptu="x"))
    code, out, err = verb("hash", path)
    assert (code, out) == (2, "")
    assert "questions.json: the question file has 4 problems" in err
    assert err.count("\n  - samples[") == 4
