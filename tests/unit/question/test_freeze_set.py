"""A reviewed set becomes a frozen file and its manifest, or every reason why it does not is named at once."""

from __future__ import annotations

import msgspec
import pytest

from frozen_lab import NOW, SIGNER, WRITTEN, checked, docs, frozen, page, question, review, small_set
from ragassay.manifest.item_set import decode_items, pages_digest
from ragassay.question import parse_benchmark
from ragassay.question.freezing import Signing, Standing, waiver_line
from ragassay.question.reviews import material
from ragassay.question.versions import raised, version_problem
from ragassay.question.waivers import Waiver, parse_waivers
from ragassay.records import Provenance
from ragassay.run.question_sets.freeze_set import seal_set


def test_the_material_of_a_question_is_what_a_review_is_about() -> None:
    """The manifest and a review file name a question's words by the same digest, whatever its provenance is."""
    assert question(1).material() == material(question(1))
    assert question(1).material() == question(1, provenance=None).material()
    assert question(1).material() != question(1, topic="weights").material()


def test_the_file_is_the_full_form_and_the_manifest_names_every_item() -> None:
    """A frozen file is the canonical full form, and each item says what it is, who made it and where it stands."""
    data, envelope = frozen(small_set(), [review(question(0)), review(question(2), at=NOW - 5)])
    read = parse_benchmark(data, name="x", suffix=".json")
    p = decode_items(envelope).predicate
    assert read.full_form() == data
    assert p.benchmark.digest.sha256 == read.digest()
    assert [item.id for item in p.items] == ["q-0", "q-1", "q-2", "q-3"]
    assert [(item.reviewer, item.reviewed_at) for item in p.items[:3]] == [
        ("B. Reader", NOW - 60),
        (None, None),
        ("B. Reader", NOW - 5),
    ]
    assert (p.review.reviewed, p.review.unreviewed) == (2, 2)
    assert [item.material for item in p.items] == [one.material() for one in read.questions]
    assert {item.page: item.page_sha256 for item in p.items} == {
        f"page-{n}.md": page(n).source_sha256 for n in range(4)
    }
    assert p.declaration.holds
    assert p.declaration.by_signer == 0


def test_the_same_input_and_key_give_the_same_bytes() -> None:
    """Nothing but the time and the key shapes a frozen set."""
    assert frozen() == frozen()


def test_every_reason_is_named_at_once() -> None:
    """Missing author, unknown derivation, lost and missing evidence, a broken rule, a stale and a rejected review."""
    spoilt = small_set(
        question(0, provenance=Provenance(derived_from_system=False)),
        question(1, provenance=Provenance(author="A. Writer")),
        question(2, evidence=("The crane of Acme weighs 9 tons.",)),
        question(3, evidence=()),
        question(4, target="It is heavy."),
        question(5),
        question(6),
    )
    lines = [review(question(5, topic="old")), review(question(6), "reject")]
    problems = "\n".join(checked(spoilt, lines).problems)
    for word in ("author of 1 question: q-0", "source of 1 question: q-1", "nowhere in the corpus, of 1 question: q-2"):
        assert word in problems
    assert "no evidence for 1 question: q-3" in problems
    assert "target-fails: q-4" in problems
    assert "other words than 1 question: q-5" in problems
    assert "rejected 1 question: q-6" in problems


def test_problems_forbid_a_signature() -> None:
    """What cannot be frozen cannot be signed either."""
    with pytest.raises(ValueError, match="problems"):
        seal_set(checked(small_set(question(0, evidence=()))), "1.0.0", SIGNER, now=NOW)


def test_the_signer_declares_what_the_file_leaves_open() -> None:
    """--author and --not-derived fill in what is absent, and the manifest says that this is their word."""
    silent = small_set(question(0, provenance=None), question(1))
    found = checked(silent, signing=Signing(author="C. Signer", not_derived=True))
    data, envelope = seal_set(found, "1.0.0", SIGNER, now=NOW)
    p = decode_items(envelope).predicate
    assert [item.author for item in p.items] == ["C. Signer", "A. Writer"]
    assert p.declaration.by_signer == 1
    assert b'"derivedFromSystem":false' in data


def test_one_derived_item_and_nothing_is_declared() -> None:
    """An item that was derived stays so whatever the signer says, and the declaration no longer holds."""
    derived = question(0, provenance=msgspec.structs.replace(WRITTEN, derived_from_system=True))
    found = checked(small_set(derived, question(1)), signing=Signing(not_derived=True))
    p = decode_items(seal_set(found, "1.0.0", SIGNER, now=NOW)[1]).predicate
    assert (p.declaration.holds, p.declaration.derived) == (False, 1)


def test_rejected_items_are_dropped_where_that_is_asked_for_and_named() -> None:
    """A dropped question is neither in the file nor forgotten."""
    found = checked(small_set(), [review(question(1), "reject")], signing=Signing(drop_rejected=True))
    p = decode_items(seal_set(found, "1.0.0", SIGNER, now=NOW)[1]).predicate
    assert p.review.dropped == ("q-1",)
    assert [item.id for item in p.items] == ["q-0", "q-2", "q-3"]


def test_an_edit_is_applied_and_stands_when_it_is_met_again() -> None:
    """The words that the reviewer took are frozen, and the same line stands for a file that holds them already."""
    edited = question(1, topic="weights", provenance=None)
    line = review(question(1), "edit", edited=edited)
    first = checked(small_set(), [line])
    assert first.benchmark.questions[1].topic == "weights"
    assert "q-1" in first.applied.at
    again = checked(first.benchmark, [line])
    assert again.problems == ()
    assert again.applied.at == first.applied.at


def test_reviews_of_unchanged_items_stand_in_the_next_version_and_others_do_not() -> None:
    """The reviewer of the version before stands where the words are the same; of other words the name is taken out."""
    given = msgspec.structs.replace(WRITTEN, reviewed_by="B. Reader")
    before = {f"q-{n}": Standing(question(n).material(), "B. Reader", NOW - 9) for n in range(2)}
    now = small_set(question(0, provenance=given), question(1, provenance=given, target="1001 g."), question(2))
    found = checked(now, before=before)
    who = [one.provenance.reviewed_by for one in found.benchmark.questions if one.provenance]
    assert who == ["B. Reader", None, None]
    assert found.applied.at == {"q-0": NOW - 9}
    assert found.applied.cleared == ("q-1",)


def test_waived_findings_are_recorded_with_their_reason_and_lost_evidence_is_never_waived() -> None:
    """A waiver lets an error pass and stands in the manifest; none makes evidence appear."""
    shared = small_set(question(0), question(1, page="page-2.md"))
    waivers = [
        Waiver(rule="evidence-elsewhere", questions=("q-1",), reason="moved"),
        Waiver(rule="page-unknown", questions=("q-1",), reason="moved"),
    ]
    found = checked(shared, waivers=waivers)
    p = decode_items(seal_set(found, "1.0.0", SIGNER, now=NOW)[1]).predicate
    assert [(one.rule, one.reason) for one in p.lint.waivers] == [("evidence-elsewhere", "moved")]
    lost = small_set(question(0, evidence=("Nowhere 1000.",)))
    waiver = Waiver(rule="evidence-missing", questions=("q-0",), reason="never mind")
    assert any("no waiver helps" in one for one in checked(lost, waivers=[waiver]).problems)


def test_a_waiver_can_be_written_back() -> None:
    """What the manifest keeps of a waiver is a line that reads as the same waiver, whatever the ids are."""
    for ids in (("q-1",), ("q 1", "#2"), ('say "x"', "back\\slash")):
        problems: list[str] = []
        read = parse_waivers(waiver_line("passage-shared", ids, "one table\nfor both") + "\n", problems)
        assert problems == []
        assert [(one.rule, one.questions, one.reason) for one in read] == [
            ("passage-shared", ids, "one table for both")
        ]


def test_a_waiver_about_the_whole_set_is_written_back_as_one() -> None:
    """The manifest names every question of such a finding; the line that stands for it names none."""
    wide = waiver_line("derived-from-system", ["q-0", "q-1", "q-2", "q-3"], "all were made so")
    assert wide == "derived-from-system *  # all were made so"
    lint = decode_items(frozen_waived()).predicate.lint
    assert [(one.rule, len(one.questions)) for one in lint.waivers] == [("derived-from-system", 4)]
    (line,) = [waiver_line(one.rule, one.questions, one.reason) for one in lint.waivers]
    assert parse_waivers(line, []) == (Waiver(rule="derived-from-system", questions=("*",), reason="so it is", line=1),)


def frozen_waived() -> bytes:
    """Return the manifest of a set of which all questions are derived from a system, and are let be so."""
    derived = Provenance(author="A. Writer", derived_from_system=True)
    asked = small_set(*(question(n, provenance=derived) for n in range(4)))
    waivers = [Waiver(rule="derived-from-system", questions=("*",), reason="so it is")]
    return seal_set(checked(asked, waivers=waivers), "1.0.0", SIGNER, now=NOW)[1]


def test_the_digest_of_pages_does_not_depend_on_their_order() -> None:
    """It is over ids and texts, sorted."""
    pages = [page(0), page(1)]
    assert pages_digest(pages) == pages_digest(pages[::-1]) != pages_digest(docs().pages)


def test_versions() -> None:
    """A frozen version is MAJOR.MINOR.PATCH, not one that is there, and none lower than one."""
    assert version_problem("1.0.0", []) is None
    assert version_problem("1.10.0", ["1.9.0"]) is None
    for bad in ("0", "1", "1.0", "01.0.0", "1.0.0-draft", "0.0.0", "1.0.0 ", ""):
        assert version_problem(bad, []) is not None
    assert "frozen already" in (version_problem("1.0.0", ["1.0.0"]) or "")
    assert "lower than 2.0.0" in (version_problem("1.0.0", ["2.0.0"]) or "")
    assert "lower than 1.2.0" in (version_problem("1.0.0", [], own="1.2.0") or "")
    assert [raised("1.2.3", part) for part in ("major", "minor", "patch")] == ["2.0.0", "1.3.0", "1.2.4"]
    with pytest.raises(ValueError, match="no version"):
        raised("1", "patch")
