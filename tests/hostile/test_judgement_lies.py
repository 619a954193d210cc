"""Judgements that lie, signed all the same: each lie has its reason code, and no bytes make the verifier fall."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay import canon
from ragassay.manifest import MANIFEST, Signer, decode_run, sign_payload
from ragassay.manifest.judgement import JUDGE, JUDGEMENT, REPLIES, VERDICTS, build_judgement
from ragassay.manifest.reask import reask_order
from ragassay.records import Failure, JudgementReplies, JudgementRow, JudgeReply
from ragassay.testing.signed_run import open_run, public_signer, resigned, signed_run
from ragassay.verify import PinnedKey, Report, Unpinned
from ragassay.verify.judgement import verify_judgement

SIGNER = public_signer()
NOW = 1_790_001_000
RUN = signed_run(items=6, failed=(4,))
OTHER = signed_run(items=6, failed=(4,), run_id="f" * 32)
PANEL: dict[str, Any] = {"kind": "llm", "id": "judge-2", "describe": {"kind": "llm"}}
OWN: dict[str, Any] = json.loads(RUN["config.json"])["measure"]["judge"]
FAILED = Failure(kind="no_answer", message="the run has no answer to this question")
NOT_DRAWN = Failure(kind="not_drawn", message="not among those drawn for asking again")


def judgement(run_files: dict[str, bytes] = RUN, **changes: Any) -> dict[str, bytes]:
    """Return an honest panel judgement that says what the run's own judge said."""
    run = decode_run(run_files)
    rows = [
        JudgementRow(
            id=row.id,
            status="judged" if row.verdict else "not_judged",
            claims=row.claims,
            verdict=row.verdict,
            score=row.score,
            failure=None if row.verdict else FAILED,
        )
        for row in run.outputs
    ]
    reply = (JudgeReply(nonce="0" * 32, text="{}", problem=None),)
    replies = [
        JudgementReplies(id=row.id, judge_attempts=1, judge_replies=reply)
        if row.status == "judged"
        else JudgementReplies(id=row.id)
        for row in rows
    ]
    honest: dict[str, Any] = {
        "of": canon.sha256(run_files[MANIFEST]),
        "run": run.predicate,
        "judge": PANEL,
        "purpose": "panel",
        "rows": rows,
        "replies": replies,
        "created": NOW - 10,
        "signer": SIGNER,
    }
    return build_judgement(**{**honest, **changes})


def report(files: dict[str, bytes], run_files: dict[str, bytes] = RUN, signer: Signer = SIGNER) -> Report:
    """Return the report on a judgement by the pinned key."""
    return verify_judgement(files, run_files=run_files, policy=PinnedKey(signer.public), now=NOW)


class Opened:
    """A judgement as plain JSON values that a liar may change."""

    def __init__(self, files: dict[str, bytes]) -> None:
        envelope = msgspec.json.decode(files[JUDGEMENT])
        self.statement: dict[str, Any] = msgspec.json.decode(base64.b64decode(envelope["payload"]))
        self.predicate: dict[str, Any] = self.statement["predicate"]
        self.rows: list[dict[str, Any]] = [msgspec.json.decode(line) for line in files[VERDICTS].splitlines()]
        self.replies: list[dict[str, Any]] = [msgspec.json.decode(line) for line in files[REPLIES].splitlines()]
        self.judge: dict[str, Any] = msgspec.json.decode(files[JUDGE])

    def sealed(self, change: Callable[[Opened], object]) -> dict[str, bytes]:
        """Change, put every digest right, and sign."""
        change(self)
        files = {
            VERDICTS: b"".join(canon.canonical(row) + b"\n" for row in self.rows),
            REPLIES: b"".join(canon.canonical(row) + b"\n" for row in self.replies),
            JUDGE: canon.canonical(self.judge),
        }
        digests = {name: {"sha256": canon.sha256(data)} for name, data in files.items()}
        self.predicate.update(verdicts=digests[VERDICTS], replies=digests[REPLIES])
        self.predicate["judge"]["digest"] = digests[JUDGE]
        self.statement["subject"][0]["digest"] = digests[VERDICTS]
        return {JUDGEMENT: sign_payload(canon.canonical(self.statement), SIGNER), **files}


def test_an_honest_judgement_is_accepted() -> None:
    """Nothing speaks against it, strictly too, and the report says what it claims."""
    found = report(judgement())
    assert found.ok(strict=True), found.findings
    assert found.pinned
    assert (found.row, found.metric) == ("bm25", "factual-consistency/2-judged-by-judge-2")
    assert found.score is not None


def _row(at: int, **members: Any) -> Callable[[Opened], object]:
    return lambda opened: opened.rows[at].update(members)


def _counts(**members: int) -> Callable[[Opened], object]:
    return lambda opened: opened.predicate["counts"].update(members)


def _verdict_word(opened: Opened) -> None:
    opened.rows[1]["claims"][1].update(verdict="SUPPORTS", quote="TCP")


def _false_quote(opened: Opened) -> None:
    opened.rows[0]["claims"][0]["quote"] = "words that nobody wrote"


def _other_claim(opened: Opened) -> None:
    opened.rows[0]["claims"][0]["text"] = "It uses any port."


def _reordered(opened: Opened) -> None:
    opened.rows[0], opened.rows[1] = opened.rows[1], opened.rows[0]
    opened.replies[0], opened.replies[1] = opened.replies[1], opened.replies[0]


def _dropped(opened: Opened) -> None:
    del opened.rows[2], opened.replies[2]
    opened.predicate["counts"].update(asked=5, judged=4)


def _doubled(opened: Opened) -> None:
    opened.rows.insert(1, opened.rows[0])
    opened.replies.insert(1, opened.replies[0])


def _foreign(opened: Opened) -> None:
    opened.rows[0]["id"] = opened.replies[0]["id"] = "q-999"


def _scored_failure(opened: Opened) -> None:
    opened.rows[4]["score"] = 0


def _unscored(opened: Opened) -> None:
    opened.rows[0]["score"] = None


def _judged_nothing(opened: Opened) -> None:
    """An item without an answer, judged."""
    opened.rows[4] = {**opened.rows[0], "id": opened.rows[4]["id"]}
    opened.replies[4] = {**opened.replies[0], "id": opened.rows[4]["id"]}


def _left_out(opened: Opened) -> None:
    """An answered item that the judge disliked, left out as if there were no answer."""
    opened.rows[2].update(status="not_judged", claims=[], verdict=None, score=None)
    opened.rows[2]["failure"] = {"kind": "no_answer", "message": "the run has no answer to this question"}
    opened.replies[2].update(judgeAttempts=0, judgeReplies=[])


def _no_reason(opened: Opened) -> None:
    opened.rows[4]["failure"] = {"kind": "tired", "message": "the judge was tired"}


def _unsaid(opened: Opened) -> None:
    opened.rows[4]["failure"] = None


def _no_reply(opened: Opened) -> None:
    opened.replies[0]["judgeReplies"] = []


def _refused_reply(opened: Opened) -> None:
    opened.replies[0]["judgeReplies"][0]["problem"] = "invalid"


def _negative(opened: Opened) -> None:
    opened.replies[0]["judgeMs"] = -1


def _other_replies(opened: Opened) -> None:
    opened.replies.reverse()


def _another_judge_id(opened: Opened) -> None:
    opened.judge["id"] = "judge-3"


def _own_purpose(opened: Opened) -> None:
    opened.predicate["purpose"] = "reask"


def _total(opened: Opened) -> None:
    opened.predicate["score"] = {"num": 500, "den": 500, "decimal": "1.0000"}


def _other_profile(opened: Opened) -> None:
    opened.predicate["metric"]["id"] = "factual-consistency/1-judged-by-judge-2"


def _insufficient(opened: Opened) -> None:
    opened.rows[0]["verdict"]["referenceInsufficient"] = True
    opened.rows[0]["score"] = 50


def _other_pass(opened: Opened) -> None:
    opened.predicate["pass"]["k"] = 2


LIES: dict[str, tuple[Callable[[Opened], object], str]] = {
    "a verdict made better": (_verdict_word, "ITEM_SCORE"),
    "a score made better": (_row(2, score=100), "ITEM_SCORE"),
    "a score over all bounds": (_row(2, score=1000), "RUN_SCORE"),
    "a quote that the answer lacks": (_false_quote, "QUOTE_NOT_IN_ANSWER"),
    "a claim of one's own": (_other_claim, "ROW_CHANGED"),
    "rows in another order": (_reordered, "ROW_ORDER"),
    "a row dropped": (_dropped, "ROW_MISSING"),
    "a row twice": (_doubled, "ROW_DUPLICATE"),
    "a row of another question": (_foreign, "ROW_UNKNOWN"),
    "a failed item with a score": (_scored_failure, "SCORED_FAILURE"),
    "a judged item without a score": (_unscored, "SCORED_FAILURE"),
    "an item without an answer, judged": (_judged_nothing, "STATUS"),
    "an answered item, left out": (_left_out, "STATUS"),
    "a reason that is none": (_no_reason, "STATUS"),
    "no reason at all": (_unsaid, "STATUS"),
    "a verdict without a reply": (_no_reply, "TELEMETRY_ROWS"),
    "a verdict from a refused reply": (_refused_reply, "TELEMETRY_ROWS"),
    "time that ran backwards": (_negative, "TELEMETRY_ROWS"),
    "replies of other items": (_other_replies, "TELEMETRY_ROWS"),
    "another judge than the described": (_another_judge_id, "CONFIG_MISMATCH"),
    "a metric of the other profile": (_other_profile, "CONFIG_MISMATCH"),
    "another judge passed off as the run's own": (_own_purpose, "JUDGE_MIXED"),
    "wrong counts": (_counts(judged=6, notJudged=0), "COUNTS"),
    "a wrong total": (_total, "RUN_SCORE"),
    "an insufficient reference in profile 2": (_insufficient, "ITEM_SCORE"),
    "another pass of the run": (_other_pass, "ROW_FOREIGN_RUN"),
    "signed before the answers": (lambda o: o.predicate.update(created=1), "WINDOW"),
    "signed in the future": (lambda o: o.predicate.update(created=NOW + 10_000), "WINDOW"),
}


@pytest.mark.parametrize("name", LIES)
def test_each_signed_lie_is_refused_by_its_code(name: str) -> None:
    """Whoever holds the key may sign anything; what does not follow from the run and the verdicts is refused."""
    change, code = LIES[name]
    found = report(Opened(judgement()).sealed(change))
    assert not found.ok()
    assert code in found.codes, found.findings


def test_a_judgement_of_another_run_is_refused() -> None:
    """The same answers in another run are another run: `of` names its bytes."""
    found = report(judgement(OTHER))
    assert "ROW_FOREIGN_RUN" in found.codes
    assert not found.ok()


def test_a_run_that_was_changed_later_is_another_run() -> None:
    """Outputs or manifest of the run changed afterwards: the judgement does not follow it."""
    changed = resigned(RUN, lambda run: run.outputs[0].update(answer="another answer"))
    assert "ROW_FOREIGN_RUN" in report(judgement(), changed).codes
    swapped = {**RUN, "outputs.jsonl": changed["outputs.jsonl"]}
    assert "OUTPUTS_DIGEST" in report(judgement(), swapped).codes
    assert open_run(RUN).outputs[0]["answer"] != "another answer"


def test_a_judgement_signed_by_another_key_is_refused() -> None:
    """A pinned key accepts its holder's judgements alone; without a pin the signature is checked and nobody trusted."""
    other = public_signer("another")
    files = judgement(signer=other)
    assert "KEY_UNKNOWN" in report(files).codes
    unpinned = verify_judgement(files, run_files=RUN, policy=Unpinned(), now=NOW)
    assert unpinned.ok()
    assert unpinned.codes == {"SIGNER_UNPINNED"}


@pytest.mark.parametrize("name", [VERDICTS, REPLIES, JUDGE, JUDGEMENT])
def test_each_changed_byte_of_a_file_is_seen(name: str) -> None:
    """One bit flipped anywhere in the four files is found (every hundredth byte is tried)."""
    files = judgement()
    for at in range(0, len(files[name]), max(1, len(files[name]) // 100)):
        data = bytearray(files[name])
        data[at] ^= 1
        assert not report({**files, name: bytes(data)}).ok(), at


def test_a_missing_and_a_foreign_file_are_told() -> None:
    """The four files of a judgement, and no other."""
    files = judgement()
    assert "BUNDLE_NAME" in report({**files, "notes": b""}).codes
    del files[REPLIES]
    assert "FILE_MISSING" in report(files).codes


def _reask(left: set[str], run_files: dict[str, bytes] = RUN) -> dict[str, bytes]:
    run = decode_run(run_files)
    honest = Opened(judgement(run_files))
    rows = [msgspec.convert(row, JudgementRow) for row in honest.rows]
    kept = [
        JudgementRow(id=row.id, status="not_judged", claims=(), verdict=None, score=None, failure=NOT_DRAWN)
        if row.id in left
        else row
        for row in rows
    ]
    replies = [
        JudgementReplies(id=row.id) if row.id in left else msgspec.convert(took, JudgementReplies)
        for row, took in zip(rows, honest.replies, strict=True)
    ]
    assert run.predicate.run_id
    return judgement(run_files, judge=OWN, purpose="reask", rows=kept, replies=replies)


def test_whoever_chooses_what_is_asked_again_is_seen() -> None:
    """A share is a beginning of the seeded order: leaving out a disliked item and keeping a later one is refused."""
    run = decode_run(RUN)
    pool = [row.id for row in run.outputs if row.verdict is not None]
    order = reask_order(canon.sha256(RUN[MANIFEST]), run.predicate.benchmark.digest.sha256, pool)
    for drawn in range(len(order) + 1):
        assert report(_reask(set(order[drawn:]))).ok(), drawn
    for disliked in order[:-1]:
        found = report(_reask({disliked}))
        assert "STATUS" in found.codes, disliked


def test_the_order_of_a_reask_is_another_for_another_run() -> None:
    """Nobody who signs a run knows a rule by which the same items are drawn everywhere."""
    ids = [f"q-{at}" for at in range(60)]
    first, second = reask_order("a" * 64, "c" * 64, ids), reask_order("b" * 64, "c" * 64, ids)
    assert sorted(first) == sorted(second) == sorted(ids)
    assert first != second
    assert first == reask_order("a" * 64, "c" * 64, reversed(ids))


def test_a_null_row_is_held_against_the_text_that_it_showed() -> None:
    """Quotes are sought in the shown text and not in the answers; an item without an answer is judged too."""
    run = decode_run(RUN)
    files = judgement(judge=OWN, purpose="null-row", null_row="constant", shown="Nothing is said here.")
    found = report(files)
    assert "QUOTE_NOT_IN_ANSWER" in found.codes
    assert "STATUS" in found.codes, "the failed question has a text in a null row, so it cannot have none"
    texts = " ".join(row.answer or "" for row in run.outputs)
    honest = report(judgement(judge=OWN, purpose="null-row", null_row="constant", shown=texts))
    assert honest.codes == {"STATUS"}


def test_profiles_do_not_mix() -> None:
    """A judgement of a run of profile 1 under the words of profile 2 is refused."""
    old = signed_run(items=3, profile="factual-consistency/1")
    found = report(judgement(old), old)
    assert found.ok(), found.findings
    mixed = Opened(judgement(old))

    def kinds(opened: Opened) -> None:
        opened.rows[0]["verdict"]["answerKind"] = "answer"

    assert "ITEM_SCORE" in report(mixed.sealed(kinds), old).codes


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_bytes_make_the_verifier_fall(data: st.DataObject) -> None:
    """Whatever stands in place of any file, the answer is a report that does not say yes."""
    files = judgement()
    name = data.draw(st.sampled_from([JUDGEMENT, VERDICTS, REPLIES, JUDGE]))
    whole = files[name]
    start = data.draw(st.integers(0, len(whole) - 1))
    junk = data.draw(st.binary(min_size=0, max_size=30))
    files[name] = whole[:start] + junk + whole[start + data.draw(st.integers(0, 40)) :]
    found = report(files)
    assert found.ok() == (files[name] == whole)
