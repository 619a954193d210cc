"""`questions lint`: its options, its waivers, and the repairs that change a text and nothing around it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli import main
from ragassay.question import load_benchmark, parse_benchmark
from ragassay.question.repairs import repaired, repairs
from ragassay.question.rules import RULES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "verbs" / "questions" / "lint.md"
WRITTEN = """{ "name":"set",
  "samples" : [
    {"target": "Port 8080.",   "input": "On which  port does Acme listen",
     "evidence": ["port  8080", "the port\\u0020is 8080"], "claims": [{"text":"Port  8080.","central":true}]},
    {"id":"b","input":"Name the \\u00e9t\\u00e9  of `a  b`:","target":" Caf\\u0065\\u0301 "}
  ]}
"""


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `questions lint` and return (exit code, standard output, standard error)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ragassay", "questions", "lint", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call


def test_the_page_lists_every_rule_as_the_table_has_it() -> None:
    """Name, severity, meaning, and the marks for what a rule needs and what `--fix` mends."""
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `") and "`-" not in line
    ]
    marks = {"": "", "corpus": " *", "embedder": " †"}
    expected = [
        f"| `{rule.name}`{marks[rule.needs]}{' ‡' if rule.fixed else ''} | {rule.severity}"
        f"{f'; warning {rule.mild}' if rule.mild else ''} | {rule.meaning} |"
        for rule in RULES
    ]
    assert rows == expected
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_json_keeps_its_layout_around_the_mended_texts() -> None:
    """Only the two inputs and the target change; escapes stay escapes, evidence and code stay as they are."""
    benchmark = parse_benchmark(WRITTEN.encode(), name="set", suffix=".json")
    wanted = repairs(benchmark)
    made = repaired(WRITTEN.encode(), name="set", suffix=".json", wanted=wanted).decode()
    expected = WRITTEN.replace("which  port does Acme listen", "which port does Acme listen?")
    expected = expected.replace("t\\u00e9  of", "t\\u00e9 of").replace('" Caf\\u0065\\u0301 "', '"Caf\\u00e9"')
    assert made == expected
    assert [(one.question, one.key) for one in wanted] == [("q-001", "input"), ("b", "input"), ("b", "target")]
    assert repairs(parse_benchmark(made.encode(), name="set", suffix=".json")) == []


def test_an_unsplit_claim_follows_its_target() -> None:
    """A claim that is marked as the target itself stays the target."""
    claim = {"text": "a  b", "central": True}
    sample = {"input": "Which Acme?", "target": "a  b", "unsplit": True, "claims": [claim]}
    data = json.dumps({"samples": [sample]}).encode()
    wanted = repairs(parse_benchmark(data, name="set", suffix=".json"))
    made = parse_benchmark(repaired(data, name="set", suffix=".json", wanted=wanted), name="set", suffix=".json")
    assert (made.questions[0].target, made.questions[0].claims[0].text) == ("a b", "a b")


def test_lines_and_tables_are_mended_too() -> None:
    """JSONL keeps blank lines and CRLF; a CSV keeps its cells, a byte order mark stays."""
    lines = b'\xef\xbb\xbf{"input":"Which Acme ","target":"a"}\r\n\r\n{"input":"Who?","target":"b  c"}\r\n'
    wanted = repairs(parse_benchmark(lines, name="s", suffix=".jsonl"))
    expected = lines.replace(b"Acme ", b"Acme?").replace(b"b  c", b"b c")
    assert repaired(lines, name="s", suffix=".jsonl", wanted=wanted) == expected
    table = b'target,input\r\n"a, b","Which  Acme?"\r\n'
    wanted = repairs(parse_benchmark(table, name="s", suffix=".csv"))
    assert repaired(table, name="s", suffix=".csv", wanted=wanted) == b'target,input\r\n"a, b",Which Acme?\r\n'


def test_fix_writes_the_file_once_and_says_what_it_wrote(tmp_path: Path, verb: Any) -> None:
    """A second time there is nothing to mend; the JSON form lists the repairs."""
    path = tmp_path / "set.json"
    path.write_text(WRITTEN, encoding="utf-8")
    code, out, _ = verb(path, "--fix", "--json", "--rule", "untidy")
    value = json.loads(out)
    assert (code, value["lint"], [one["key"] for one in value["fixed"]]) == (0, [], ["input", "input", "target"])
    after = path.read_bytes()
    assert "mended" not in verb(path, "--fix")[1]
    assert path.read_bytes() == after
    assert load_benchmark(path).questions[0].input == "On which port does Acme listen?"
    assert list(tmp_path.iterdir()) == [path]


def test_a_frozen_set_is_not_mended(tmp_path: Path, verb: Any) -> None:
    """An item manifest beside the file refuses every repair; the bytes stay."""
    path = tmp_path / "set-1.0.0.json"
    path.write_text(WRITTEN, encoding="utf-8")
    (tmp_path / "set-1.0.0.items.dsse.json").write_text("{}", encoding="utf-8")
    code, _, err = verb(path, "--fix")
    assert code == 2
    assert "frozen" in err
    assert path.read_text(encoding="utf-8") == WRITTEN


def test_rules_and_severity_narrow_what_is_told(tmp_path: Path, verb: Any) -> None:
    """A rule that there is not is wrong usage with the nearest name; the list of rules needs no file."""
    path = tmp_path / "set.json"
    path.write_text(WRITTEN, encoding="utf-8")
    assert verb(path)[0] == 1
    code, out, _ = verb(path, "--rule", "untidy", "--rule", "unsplit")
    assert code == 0
    assert {line.split()[1] for line in out.splitlines() if line.startswith("  warning")} == {"untidy", "unsplit"}
    assert "warning  " not in verb(path, "--severity", "error")[1]
    code, _, err = verb(path, "--rule", "untidi")
    assert (code, "did you mean 'untidy'?" in err) == (2, True)
    code, out, _ = verb("--list-rules")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, [rule.name for rule in RULES])


def test_waivers_beside_the_file_are_heeded_and_shown(tmp_path: Path, verb: Any) -> None:
    """Waived errors leave the exit code 0 and are printed with their reason; a line that is none gives 2."""
    path = tmp_path / "set.json"
    sample = {"id": "a", "input": "Name Acme.", "target": "Acme Ltd."}
    path.write_text(json.dumps({"name": "set", "samples": [sample]}), encoding="utf-8")
    assert verb(path, "--severity", "error")[0] == 1
    (tmp_path / "set.waive").write_text("no-question a  # an order is asked for\n", encoding="utf-8")
    code, out, _ = verb(path, "--severity", "error")
    assert code == 0
    assert "  waived  no-question  a: " in out
    assert "      waived: an order is asked for" in out
    assert out.splitlines()[-2].endswith("0 errors, 0 warnings, 1 waived")
    (tmp_path / "set.waive").write_text("no-question\n", encoding="utf-8")
    code, _, err = verb(path)
    assert (code, "line 1: 'no-question' is no waiver" in err) == (2, True)


def test_an_embedder_that_there_is_not_is_refused(tmp_path: Path, verb: Any) -> None:
    """The known kinds are named."""
    path = tmp_path / "set.json"
    path.write_text(WRITTEN, encoding="utf-8")
    code, _, err = verb(path, "--embedder", "none-such")
    assert (code, "minilm-l6-v2-int8" in err) == (2, True)


def test_a_link_stays_a_link_and_a_mode_stays(tmp_path: Path, verb: Any) -> None:
    """What the link leads to is mended; a file that nobody may write is refused and stays."""
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text(WRITTEN, encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    verb(link, "--fix")
    assert link.is_symlink()
    assert (real.read_text(encoding="utf-8") != WRITTEN, real.stat().st_mode & 0o777) == (True, 0o640)
    real.write_text(WRITTEN, encoding="utf-8")
    real.chmod(0o440)
    code, _, err = verb(link, "--fix")
    assert (code, "read-only" in err, real.read_text(encoding="utf-8")) == (2, True, WRITTEN)


def test_a_link_to_a_frozen_set_is_not_mended(tmp_path: Path, verb: Any) -> None:
    """The item manifest beside the file that the link leads to counts."""
    real, link = tmp_path / "kept" / "set-1.0.0.json", tmp_path / "link.json"
    real.parent.mkdir()
    real.write_text(WRITTEN, encoding="utf-8")
    real.with_name("set-1.0.0.items.dsse.json").write_text("{}", encoding="utf-8")
    link.symlink_to(real)
    assert verb(link, "--fix")[0] == 2
    assert real.read_text(encoding="utf-8") == WRITTEN


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_folder_in_place_of_a_file_is_wrong_input(name: str, verb: Any) -> None:
    """Also one whose path has no name of its own gives one error and exit code 2."""
    code, _, err = verb(name)
    assert (code, "Traceback" in err) == (2, False)
