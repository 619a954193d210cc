"""The table of attacks and of honest bundles, each with what must come out; a conformance pack is made of the same."""

from __future__ import annotations

import pytest

from ragassay.testing.attacks import ATTACKS
from ragassay.testing.bundles import HONEST, report_on
from ragassay.verify import CODES


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_bundle_is_accepted(name: str) -> None:
    """It has exactly the warnings of the table, and strict accepts it where there is none but a withheld text."""
    case = HONEST[name]
    report = report_on(case)
    assert report.codes == case.codes
    assert (report.ok(), report.ok(strict=True)) == (case.ok, case.strict)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_by_its_reason(name: str) -> None:
    """Its reason codes are among the findings, it is refused where the table says so, and strict never accepts it."""
    case = ATTACKS[name]
    report = report_on(case)
    assert case.codes <= report.codes
    assert report.ok() is case.ok
    assert not report.ok(strict=True)


@pytest.mark.parametrize("name", [*HONEST, *ATTACKS])
def test_each_check_is_on_one_list(name: str) -> None:
    """Whatever is found, a check was made or it was not, once, and each that was not has its reason."""
    report = report_on({**HONEST, **ATTACKS}[name])
    checks = [*report.made, *(item.check for item in report.not_made)]
    assert len(set(checks)) == len(checks)
    assert all(item.why for item in report.not_made)


def test_the_table_is_repeatable() -> None:
    """Building a case twice gives the same bytes, so that a pack made of it can be compared."""
    for case in (*HONEST.values(), *list(ATTACKS.values())[::7]):
        assert case.build() == case.build()


def test_the_table_covers_the_codes() -> None:
    """Every reason code that bytes alone can show has an attack or an honest bundle; the rest are named here."""
    covered = {code for case in (*HONEST.values(), *ATTACKS.values()) for code in case.codes}
    elsewhere = {
        "BUNDLE_DUPLICATE", "BUNDLE_LINK", "BUNDLE_TOO_LARGE", "BUNDLE_DAMAGED",  # how the bytes are carried
        "RERUN_DIFFERS",  # needs the corpus
        "ITEM_MISMATCH", "ITEM_EVIDENCE", "SET_PREVIOUS",  # of question sets, not of runs: test_item_set_attacks.py
    }  # fmt: skip
    assert set(CODES) - covered == elsewhere


def test_strict_accepts_at_least_one_of_each_kind_of_trust() -> None:
    """A yes exists for a pinned key and for the root of a registry, each with log and witness."""
    kinds = {case.policy for case in HONEST.values() if case.strict}
    assert kinds == {"key, log and witness", "root, log and witness"}
