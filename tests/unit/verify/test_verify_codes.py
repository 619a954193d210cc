"""The table of reason codes: every code that is used stands in it, and in the documentation, with its severity."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragassay.verify import CODES, severity

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [*(ROOT / "src/ragassay/manifest").glob("*.py"), *(ROOT / "src/ragassay/verify").glob("*.py")]
RERUN = ROOT / "src/ragassay/cli/rerun.py"
"""The one code that needs more than bytes is found there."""
ROW = re.compile(r"^\| `([A-Z_]+)` \| (\w+) \| (\w+) \| (.+?) \| (.+) \|$", re.MULTILINE)


def documented() -> dict[str, tuple[str, str, str, str]]:
    """Return code → (plain, strict, meaning, what to do) of the documentation's tables."""
    text = (ROOT / "docs/explain/reason-codes.md").read_text(encoding="utf-8")
    rows = ROW.findall(text)
    assert len(rows) == len({row[0] for row in rows})
    return {code: (plain, strict, meaning, action) for code, plain, strict, meaning, action in rows}


def test_the_documentation_is_the_table() -> None:
    """Codes, severities and sentences of the page are those of the code, in the same order."""
    table = {code: (reason.plain, reason.strict, reason.meaning) for code, reason in CODES.items()}
    page = {code: row[:3] for code, row in documented().items()}
    assert page == table
    assert list(page) == list(table)


def test_every_code_says_what_to_do() -> None:
    """No reason is left without an action."""
    assert [code for code, row in documented().items() if len(row[3]) < 10] == []


def test_every_code_in_the_sources_is_in_the_table() -> None:
    """No finding can carry a code that the table lacks, and no code of the table is dead."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES if path.name != "codes.py")
    quoted = set(re.findall(r'"([A-Z][A-Z_]{3,})"', text))
    assert {code for code in quoted if "_" in code} <= set(CODES)
    assert set(CODES) - quoted == {"RERUN_DIFFERS"}
    assert "RERUN_DIFFERS" in RERUN.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", CODES)
def test_strict_is_never_milder(code: str) -> None:
    """What fails plainly fails under strict; only a withheld text stays a warning."""
    if severity(code, strict=False) == "fail":
        assert severity(code, strict=True) == "fail"
    assert (severity(code, strict=True) == "warn") == (code == "TEXT_WITHHELD")
