"""What is published of a run with texts withheld: which texts change, which entries say so, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import decode_run
from ragassay.manifest.files import (
    BESIDE,
    INTENT_PROOF,
    MANIFEST,
    OUTPUTS,
    PUBLIC_OUTPUTS,
    PUBLIC_TELEMETRY,
    REDACTION,
    TELEMETRY,
    WITHHELD,
    is_redacted,
)
from ragassay.manifest.redaction import (
    CUT,
    GONE,
    Withholding,
    build_redaction,
    decode_redaction,
    decode_withheld,
    salted_digest,
    salts_from,
    sign_redaction,
)
from ragassay.manifest.skeleton import line_leaf
from ragassay.manifest.tiles import MAX_ENTRY_BYTES
from ragassay.testing.logged_run import OTHER, OURS, Story, tell
from ragassay.testing.republished_run import republished_files
from ragassay.testing.signed_run import STARTED, open_run, public_signer, resigned, signed_run

SALTS = salts_from(b"a secret of tests", "0" * 32)
FILES = tell(Story()).files


def built(*withhold: Withholding, files: dict[str, bytes] = FILES) -> dict[str, bytes]:
    """Return what is published of a run without these texts."""
    return build_redaction(files, withhold, salts=SALTS, signer=OURS, created=STARTED + 100)


def one(field: str, *spans: tuple[int, int], name: str = "q-001", reason: str = "why not") -> Withholding:
    """Return the decision on one text."""
    return Withholding(id=name, field=field, reason=reason, spans=spans or None)


def rows_of(files: dict[str, bytes], name: str = PUBLIC_OUTPUTS) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in files[name].splitlines()]


def test_the_files_of_a_copy() -> None:
    """The public rows, the list and the statement stand in the place of the rows; everything beside the run stays."""
    files = built(one("answer"))
    beside = {name for name in BESIDE if name in FILES}
    assert set(files) == {
        MANIFEST, "config.json", "benchmark.json", TELEMETRY, PUBLIC_OUTPUTS, WITHHELD, REDACTION, *beside,
    }  # fmt: skip
    assert INTENT_PROOF in beside
    assert files[MANIFEST] == FILES[MANIFEST]
    assert is_redacted(files)
    assert not is_redacted(FILES)


def test_telemetry_has_a_public_form_only_where_a_text_of_it_is_withheld() -> None:
    """Then it stands in the place of the signed one, and the rows of outputs stay as they are."""
    files = built(one("telemetry/judgeReplies/0/text"))
    assert TELEMETRY not in files
    assert rows_of(files, PUBLIC_TELEMETRY)[0]["judgeReplies"][0]["text"] == GONE
    assert files[PUBLIC_OUTPUTS] == FILES[OUTPUTS]
    [entry] = decode_withheld(files[WITHHELD])
    assert entry.line is None
    assert entry.telemetry_line == line_leaf(FILES[TELEMETRY].splitlines()[0]).hex()


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ([(0, 9)], f"{CUT} listens on port 8001 over TCP."),
        ([(0, 4), (2, 9)], f"{CUT} listens on port 8001 over TCP."),
        ([(26, 30), (0, 9)], f"{CUT} listens on port {CUT} over TCP."),
        ([(0, 40)], CUT),
        ([(0, 4), (4, 9)], f"{CUT}{CUT} listens on port 8001 over TCP."),
    ],
    ids=["one", "overlapping", "unordered", "all of it", "adjacent"],
)
def test_words_are_taken_out(spans: list[tuple[int, int]], text: str) -> None:
    """Each span becomes one mark; overlapping ones become one."""
    assert FILES[OUTPUTS].startswith(b'{"answer":"Service 1 listens on port 8001 over TCP."')
    assert rows_of(built(one("answer", *spans)))[0]["answer"] == text


def test_offsets_are_characters() -> None:
    """A span counts code points, so characters outside of the plane of UTF-16 count once."""

    def change(run: Any) -> None:
        run.outputs[2]["answer"] = "🙂🙂 8003, TCP"

    files = resigned(signed_run(), change)
    assert rows_of(built(one("answer", (1, 2), name="q-003"), files=files))[2]["answer"] == f"🙂{CUT} 8003, TCP"


def test_a_chunk_is_withheld_whole() -> None:
    """Its text is null, with spans or without: its digest stands beside it."""
    for withhold in (one("chunks/1/text"), one("chunks/1/text", (0, 3))):
        [chunk] = rows_of(built(withhold))[0]["chunks"]
        assert chunk["text"] is None


def test_an_entry_names_the_signed_line_and_shows_the_text_with_its_salt() -> None:
    """With the salt the publisher can show later which text it was."""
    entries = decode_withheld(built(one("claims/2/reason", reason="a name"))[WITHHELD])
    [entry] = entries
    assert entry.line == line_leaf(FILES[OUTPUTS].splitlines()[0]).hex()
    [text] = entry.texts
    assert (text.field, text.reason) == ("claims/2/reason", "a name")
    assert text.salted_sha256 == salted_digest(SALTS("q-001", "claims/2/reason"), "it stands there")
    assert text.salted_sha256 != canon.sha256(b"it stands there")


def test_salts_differ_by_run_question_and_field() -> None:
    """One secret gives each text a salt of 16 bytes of its own."""
    secret = b"s"
    salts = {salts_from(secret, run)(name, field) for run in "ab" for name in "cd" for field in "ef"}
    assert len(salts) == 8
    assert {len(salt) for salt in salts} == {16}
    assert salts_from(b"t", "a")("c", "e") not in salts


@pytest.mark.parametrize("size", [0, 15, 17])
def test_a_salt_of_another_length_is_refused(size: int) -> None:
    """Where a salt may have any length one digest is that of several texts: of salt "ab" and "c", of "a" and "bc"."""
    with pytest.raises(ValueError, match="a salt has 16 bytes"):
        salted_digest(b"s" * size, "a text")
    with pytest.raises(ValueError, match="a salt has 16 bytes"):
        build_redaction(FILES, [one("answer")], salts=lambda _, __: b"s" * size, signer=OURS, created=STARTED)


def test_a_statement_that_no_log_takes_is_not_signed() -> None:
    """An entry of a log has at most 65,535 bytes, and a signer may have a long name."""
    signer = public_signer("n" * 50_000)
    with pytest.raises(ValueError, match="a log takes 65535"):
        build_redaction(FILES, [one("answer")], salts=SALTS, signer=signer, created=STARTED)


def test_texts_that_would_pass_for_withheld_ones_are_listed_too() -> None:
    """In a row that loses a text, a chunk that the run withholds and an answer that holds the mark get an entry."""

    def change(run: Any) -> None:
        run.outputs[0]["chunks"][0]["text"] = None
        run.outputs[0]["answer"] += f" {CUT}"
        run.outputs[1]["answer"] += f" {CUT}"

    files = built(one("claims/1/reason"), files=resigned(signed_run(), change))
    [entry] = decode_withheld(files[WITHHELD])
    reasons = {text.field: text.reason for text in entry.texts}
    assert set(reasons) == {"answer", "chunks/1/text", "claims/1/reason"}
    assert "holds the words" in reasons["answer"]
    assert "run itself" in reasons["chunks/1/text"]
    assert rows_of(files)[0]["answer"].endswith(f" {CUT}")


def test_the_copy_decodes_as_a_run() -> None:
    """`decode_run` gives the public rows their types."""
    document = decode_run(built(one("answer"), one("telemetry/judgeReplies/0/text")))
    assert document.outputs[0].answer == GONE
    assert document.telemetry[0].judge_replies[0].text == GONE
    assert document.predicate == decode_run(FILES).predicate


def test_the_same_input_gives_the_same_bytes() -> None:
    """So a redaction that was made before can be made again."""
    assert built(one("answer")) == built(one("answer"))


def test_ten_thousand_texts_fit_into_a_log() -> None:
    """The list stands in a file of its own, so the statement is as small for many texts as for one."""
    files = signed_run(items=2000)
    fields = ("answer", "chunks/1/text", "claims/1/reason", "claims/2/reason", "claims/1/quote")
    withhold = [one(field, name=f"q-{at:03d}") for at in range(1, 2001) for field in fields]
    found = built(*withhold, files=files)
    assert len(found[REDACTION]) < MAX_ENTRY_BYTES // 10
    assert decode_redaction(found[REDACTION]).predicate.withheld.texts == 10_000


@pytest.mark.parametrize(
    ("withhold", "said"),
    [
        ([], "nothing to withhold"),
        ([one("answer"), one("answer")], "decided twice"),
        ([one("answer", name="q-999")], "'q-999', answer: there is no such text"),
        ([one("question")], "there is no such text"),
        ([one("claims/1/text")], "there is no such text"),
        ([one("claims/9/quote")], "there is no such text"),
        ([one("failure/message")], "there is no such text"),
        ([one("telemetry/judgeReplies/1/text")], "there is no such text"),
        ([one("telemetry/judgeReplies/0/problem")], "there is no such text"),
        ([one("answer", reason=" ")], "a reason of 1 to 2000 characters"),
        ([one("answer", reason="x" * 2001)], "a reason of 1 to 2000 characters"),
        ([one("answer", (3, 3))], "a span lies inside"),
        ([one("answer", (0, 41))], "a span lies inside"),
        ([one("answer", (-1, 2))], "a span lies inside"),
        ([Withholding(id="q-001", field="answer", reason="x", spans=())], "a span lies inside"),
    ],
)
def test_what_cannot_be_withheld(withhold: list[Withholding], said: str) -> None:
    """The error names question and field, and what is wrong."""
    with pytest.raises(ValueError, match=said):
        built(*withhold)


def test_all_that_is_wrong_is_said_at_once() -> None:
    """One error for every decision that cannot be carried out."""
    with pytest.raises(ValueError, match="there is no such text") as raised:
        built(one("question"), one("answer", (7, 3)), one("nothing", name="q-002"))
    assert str(raised.value).count("q-0") == 3


def test_runs_of_which_nothing_can_be_withheld() -> None:
    """A run of version v0.1 binds no row by itself, and a copy is not withheld from twice."""

    def older(run: Any) -> None:
        run.statement["predicateType"] = run.statement["predicateType"].replace("v0.2", "v0.1")
        for name in ("verdicts", "lines", "figures"):
            run.predicate.pop(name)

    old = tell(Story(claim=older)).files
    with pytest.raises(ValueError, match=r"version v0\.1"):
        built(one("answer"), files=old)
    with pytest.raises(ValueError, match="withheld already"):
        built(one("answer"), files=built(one("answer")))
    with pytest.raises(VerifyError):
        built(one("answer"), files={**FILES, OUTPUTS: b"{}\n"})


def test_a_republished_run_can_be_withheld_from() -> None:
    """It has neither configuration nor telemetry, and its answers are texts as well."""
    files = republished_files()
    name = json.loads(files[OUTPUTS].splitlines()[0])["id"]
    assert json.loads(files[OUTPUTS].splitlines()[0])["answer"] is not None
    found = built(one("answer", name=name), files=files)
    assert rows_of(found)[0]["answer"] == GONE
    assert TELEMETRY not in found


# --- the statement --------------------------------------------------------------------------------------------------


def changed(**members: Any) -> bytes:
    """Return the signed redaction with other members of its predicate; raises where no reader would accept it."""
    predicate = decode_redaction(built(one("answer"))[REDACTION]).predicate
    return sign_redaction(msgspec.structs.replace(predicate, **members), OURS)


def test_the_statement_is_read_back() -> None:
    """It names run, files and counts, has a digest, and is signed by its key and no other."""
    files = built(one("answer"), one("chunks/1/text"))
    signed = decode_redaction(files[REDACTION])
    said = signed.predicate
    assert said.of.sha256 == canon.sha256(FILES[MANIFEST])
    assert said.outputs.sha256 == canon.sha256(files[PUBLIC_OUTPUTS])
    assert said.telemetry is None
    assert said.withheld.digest.sha256 == canon.sha256(files[WITHHELD])
    assert (said.withheld.rows, said.withheld.texts) == (1, 2)
    assert signed.digest == canon.sha256(files[REDACTION])
    assert signed.signed_by(OURS.x)
    assert not signed.signed_by(OTHER.x)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"run_id": "0" * 31}, "32 lower-case hex"),
        ({"created": -1}, "no time"),
    ],
)
def test_a_statement_that_no_reader_accepts_is_not_signed(members: dict[str, Any], said: str) -> None:
    """The signer meets the reader's rules."""
    with pytest.raises(ValueError, match=said):
        changed(**members)


def test_another_signer_is_refused() -> None:
    """A statement is signed by the key that it names."""
    predicate = decode_redaction(built(one("answer"))[REDACTION]).predicate
    with pytest.raises(ValueError, match="another key"):
        sign_redaction(predicate, OTHER)


@pytest.mark.parametrize("name", [MANIFEST, "intent.dsse.json", "config.json"])
def test_another_statement_is_no_redaction(name: str) -> None:
    """A run, an announcement and a plain file are refused by their type or form."""
    with pytest.raises(VerifyError) as raised:
        decode_redaction(FILES[name])
    assert raised.value.code in ("TYPE_UNKNOWN", "ENVELOPE_MALFORMED")


@pytest.mark.parametrize("data", [b"{}\n", b"x", b'{"id":"q"}\n', b'{"id": "q"}\n'])
def test_a_list_of_another_form_is_refused(data: bytes) -> None:
    """Each line is the canonical form of its record."""
    with pytest.raises(VerifyError) as raised:
        decode_withheld(data)
    assert raised.value.code == "ROW_MALFORMED"


def test_the_run_itself_is_not_changed() -> None:
    """Building a copy leaves the bytes that it was given."""
    before = dict(FILES)
    built(one("answer"))
    assert before == FILES
    assert open_run(FILES).outputs[0]["answer"].startswith("Service 1")
