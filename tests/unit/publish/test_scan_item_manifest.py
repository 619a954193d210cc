"""What the item manifest of a frozen set says becomes public beside a run, so it is scanned, and never redacted."""

from __future__ import annotations

from scan_lab import made

from frozen_lab import NOW, SIGNER, checked, question, review, small_set
from ragassay.publish.deciding import possible
from ragassay.publish.said import anew
from ragassay.publish.scan import scan
from ragassay.publish.texts import ITEMS, public_texts
from ragassay.question.freezing import Signing
from ragassay.question.waivers import Waiver
from ragassay.run.question_sets.freeze_set import seal_set
from ragassay.site.loaded import LoadedRun

REASON = "asked by jane.roe@acme-mail.org"
DROPPED = "jim.doe@acme-mail.org"


def published() -> LoadedRun:
    """Return a run whose frozen set has a waiver with an address in its reason, and a dropped question named so."""
    given = small_set(question(0, page="page-9.md"), question(1), question(2, id=DROPPED))
    waiver = Waiver(rule="evidence-elsewhere", questions=("q-0",), reason=REASON)
    lines = [review(question(1)), review(given.questions[2], "reject")]
    found = checked(given, lines, signing=Signing(drop_rejected=True), waivers=[waiver])
    assert found.problems == ()
    return LoadedRun(id="r" * 8, files={}, checks=(), items=seal_set(found, "1.0.0", SIGNER, now=NOW)[1])


def test_every_word_of_the_manifest_is_looked_at() -> None:
    """Reasons of waivers, reviewers and ids of dropped questions are texts, out of the signed payload."""
    texts = {one.text for one in public_texts(published()) if one.file == ITEMS}
    assert {REASON, DROPPED, "B. Reader", "A. Writer", "Acme handbook"} <= texts


def test_what_is_found_there_can_be_allowed_or_written_anew() -> None:
    """The manifest is signed, so nothing of it is redacted: whoever froze the set makes the next version."""
    found = scan(public_texts(published()), made()).findings
    assert {one.text for one in found} == {"jane.roe@acme-mail.org", DROPPED}
    assert {possible(one) for one in found} == {("allow",)}
    assert all("questions bump" in (anew(one) or "") for one in found)
