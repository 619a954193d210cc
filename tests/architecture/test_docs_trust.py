"""Pages about trust in step with the code: reason codes, the threat table and the pack of cases, the policy file."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path

import msgspec
import pytest

from ragassay.verify import CODES
from ragassay.verify.policy_file import PolicyFile

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CASES = ROOT / "conformance" / "cases"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"])
TABLE = DOCS / "explain" / "threat-table.md"
OTHER_WORDS = re.compile(r"(?:MLFLOW|OTEL|RAGASSAY|UV|XDG)_[A-Z_]+|JUDGE_KEY|KID_OR_NAME|RUN_ID")
"""What pages quote in capitals that is no reason code: variables, and words of a usage line."""
CODE = re.compile(r"`([A-Z]+(?:_[A-Z]+)+|COUNTS|STATUS|STUB|FILLED|UNTIMED|UNWITNESSED|REPUBLISHED|WINDOW)`")
KINDS = ("attack", "bundle", "honest", "golden")
"""How the names of cases begin."""


def rows() -> list[list[str]]:
    """Return the cells of each row of the threat table: what they do, what stops it, codes, cases."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "what they do"]


def named(text: str) -> list[str]:
    """Return the cases, by name or pattern, that a text quotes."""
    return re.findall(rf"`((?:{'|'.join(KINDS)})-[a-z0-9.*-]+)`", text)


def matching(pattern: str) -> list[str]:
    """Return the names of the pack's cases that a pattern names."""
    return fnmatch.filter((path.name for path in CASES.iterdir()), pattern)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_reason_code_that_a_page_quotes_is_one(path: Path) -> None:
    """No page names a reason code that the verifier does not have."""
    quoted = {code for code in CODE.findall(path.read_text(encoding="utf-8")) if not OTHER_WORDS.fullmatch(code)}
    assert sorted(quoted - set(CODES)) == []


def test_each_row_of_the_threat_table_is_whole() -> None:
    """Every attack has what stops it, and is held by a case of the pack or by a test that is there."""
    table = rows()
    assert len(table) > 60
    for row in table:
        assert len(row) == 4, row
        tests = re.findall(r"`(tests/[\w/.]+)`", row[3])
        assert row[1], row
        assert named(row[3]) or tests, row
        assert [test for test in tests if not (ROOT / test).is_file()] == []


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:60])
def test_the_pack_answers_each_attack_of_the_threat_table_by_its_codes(row: list[str]) -> None:
    """Each case named in a row is in the pack and says one of the row's codes; each code is said by one of them."""
    codes = set(CODE.findall(row[2]))
    assert codes <= set(CODES)
    said: set[str] = set()
    for pattern in named(row[3]):
        cases = matching(pattern)
        assert cases, pattern
        for case in cases:
            found = set(json.loads((CASES / case / "case.json").read_text(encoding="utf-8"))["codes"])
            assert codes & found, case
            said |= found
    if named(row[3]) and "tests/" not in row[3]:
        assert codes <= said


def test_no_attack_of_the_pack_is_left_out_of_the_threat_table() -> None:
    """Every attack and every damaged bundle of the pack is named on the page, by itself or by a pattern."""
    patterns = named(TABLE.read_text(encoding="utf-8"))
    cases = {path.name for path in CASES.iterdir() if path.name.startswith(("attack-", "bundle-"))}
    assert sorted(case for case in cases if not any(fnmatch.fnmatch(case, pattern) for pattern in patterns)) == []


def test_each_reason_code_stands_in_the_threat_table_or_is_explained_elsewhere() -> None:
    """The codes that no attack of the table needs are few and known."""
    text = "".join(row[2] for row in rows())
    without = {"FILLED", "MISSING_ITEMS", "ROW_MALFORMED", "SIGNER_UNPINNED", "TEXT_WITHHELD", "RERUN_DIFFERS"}
    assert set(CODES) - set(CODE.findall(text)) <= without


def test_each_member_of_the_policy_file_is_described() -> None:
    """Every member that a policy file may have stands on its page."""
    page = (DOCS / "reference" / "policy-file.md").read_text(encoding="utf-8")
    members = [field.encode_name for field in msgspec.structs.fields(PolicyFile)]
    assert [member for member in members if f"`{member}`" not in page] == []
