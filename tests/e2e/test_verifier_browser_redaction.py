"""verify.html in a real browser: what it says of runs with texts withheld, and that reasons stay text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from verifier_driver import Desk, write_page

from ragassay.manifest.bundle import write_bundle
from ragassay.manifest.redaction import Withholding
from ragassay.testing.attacks import ATTACKS
from ragassay.testing.bundles import POLICIES
from ragassay.testing.logged_run import KEY_POLICY, NOW
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.redactions import HONEST_REDACTIONS

GOOD = redact(Redacting()).files
SAMPLE = (
    "redaction: two verdicts swapped and the total kept",
    "redaction: a row dropped",
    "redaction: a shown answer changed",
    "redaction: tokens of telemetry changed",
    "redaction: of a run of version v0.1",
    "redaction: beside the whole outputs",
    "fill: run and pass rewritten, its time kept",
)


@pytest.fixture
def desk(browser: Any, tmp_path: Path) -> Iterator[Desk]:
    """A fresh page with the publisher, the log and the witness pinned; it asked for itself alone and logged nothing."""
    path = write_page(tmp_path)
    found = Desk(browser, path).open(now=NOW)
    found.pin(KEY_POLICY)
    yield found
    assert set(found.asked) == {path.as_uri()}
    assert found.said == []
    found.close()


def test_a_redacted_run_is_accepted_strictly_and_says_what_is_withheld(desk: Desk) -> None:
    """A yes, with how many texts of how many rows, and why, the most frequent reason first."""
    [shown] = desk.check([("run.zip", write_bundle(GOOD))], strict=True)
    assert shown.verdict == "yes"
    assert set(shown.warns) == {"TEXT_WITHHELD"}
    assert "keeps back 4 texts of 2 questions" in desk.text()
    reasons = desk.page.locator("#result .kept li").all_text_contents()
    assert reasons == ["3 texts, because: it names a person", "1 text, because: the page is licensed"]
    assert "content digest" in " ".join(desk.page.locator("#result li.not_made").all_text_contents())


def test_its_loose_files_are_a_run(desk: Desk) -> None:
    """Dropped one by one they are read as the bundle is."""
    [shown] = desk.check(sorted(GOOD.items()), strict=True)
    assert shown.verdict == "yes"


def test_hostile_reasons_stay_text(desk: Desk) -> None:
    """Markup is shown as the characters that it is, what steers a display by its code point, and nothing runs."""
    case = HONEST_REDACTIONS["a reason that steers a display"]
    [shown] = desk.check([("run.zip", write_bundle(case.build().files))], strict=True)
    assert shown.verdict == "yes"
    [reason] = desk.page.locator("#result .kept li").all_text_contents()
    assert reason == "1 text, because: [U+001B][31m[U+202E]<script>alert(1)</script>"
    assert desk.page.locator("#result script, #result img").count() == 0


def test_long_reasons_fit_a_phone(browser: Any, tmp_path: Path) -> None:
    """Six reasons of two thousand characters without a blank leave no horizontal scroll; five are shown."""
    fields = ("answer", "chunks/1/text", "claims/1/quote", "claims/1/reason", "claims/2/quote", "claims/2/reason")
    withhold = [Withholding(id="q-001", field=field, reason=f"{at}" + "x" * 1999) for at, field in enumerate(fields)]
    phone = Desk(browser, write_page(tmp_path), viewport={"width": 360, "height": 740}).open(now=NOW)
    phone.check([("run.zip", write_bundle(redact(Redacting(withhold=withhold)).files))])
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert phone.page.evaluate(width) <= 0
    assert phone.page.locator("#result .kept li").count() == 6
    assert "and for 1 more reason" in phone.text()
    phone.close()


@pytest.mark.parametrize("name", SAMPLE)
def test_an_attack_is_refused_by_its_codes(desk: Desk, name: str) -> None:
    """No, by the reason codes of the table."""
    case = ATTACKS[name]
    assert POLICIES[case.policy] == KEY_POLICY
    [shown] = desk.check([("run.zip", write_bundle(case.build().files))])
    assert shown.verdict == "no"
    assert case.codes <= shown.codes
