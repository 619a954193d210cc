"""Checkpoints and cosignatures: what is signed, whose signature counts, and which form is read."""

from __future__ import annotations

import base64

import pytest

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.checkpoint import Checkpoint, cosign, parse_checkpoint, sign_checkpoint
from ragassay.manifest.note import NoteKey, NoteSignature, add_signatures, note_key, parse_note, signature_line
from ragassay.manifest.sign import check_signature
from ragassay.testing.signed_run import public_signer

LOG, WITNESS = public_signer("log"), public_signer("witness")
ORIGIN = "log.example/1"
LOG_KEY = note_key(ORIGIN, "log", LOG.x)
WITNESS_KEY = note_key("w.example", "witness", WITNESS.x)
CHECKPOINT = Checkpoint(ORIGIN, 7, bytes(range(32)))
SIGNED = sign_checkpoint(CHECKPOINT, LOG)
TIME = 1_790_000_000

# The example of the specification of cosignatures.
EXAMPLE = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xe"
    "McTOAYQ8=\n"
    "— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+"
    "mbIUBkBIfZ+qnA==\n"
).encode()


def test_the_example_of_the_specification_is_read() -> None:
    """Origin, size, root and the cosignature's time come out as the specification says."""
    signed = parse_checkpoint(EXAMPLE)
    assert (signed.origin, signed.size) == ("example.com/behind-the-sofa", 20852163)
    assert base64.b64encode(signed.root) == b"CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    assert int.from_bytes(signed.signatures[1].signature[:8]) == 1679315147


def test_a_signed_checkpoint_is_read_as_it_was() -> None:
    """What is signed is origin, size and root, and the log's own key alone vouches for it."""
    signed = parse_checkpoint(SIGNED)
    assert signed.checkpoint == CHECKPOINT
    assert SIGNED.startswith(f"{ORIGIN}\n7\n{base64.b64encode(CHECKPOINT.root).decode()}\n\n— {ORIGIN} ".encode())
    assert signed.signed_by(LOG_KEY)
    assert not signed.signed_by(note_key(ORIGIN, "log", WITNESS.x))
    assert not signed.signed_by(note_key("other.example", "log", LOG.x))
    assert not signed.signed_by(note_key(ORIGIN, "witness", LOG.x))


def test_a_key_of_another_name_does_not_vouch_for_an_origin() -> None:
    """A log's signature under its own name on another log's checkpoint counts for nothing."""
    other = note_key("other.example", "log", LOG.x)
    text = CHECKPOINT.text()
    data = add_signatures(SIGNED, [NoteSignature(other.name, other.key_id, LOG.sign(text.encode()))])
    assert not parse_checkpoint(data).signed_by(other)
    assert parse_checkpoint(data).signed_by(LOG_KEY)


def test_a_cosignature_signs_its_time_and_the_whole_text() -> None:
    """The bytes that a witness signs are those of cosignature/v1, and its time is read back."""
    data = cosign(SIGNED, WITNESS, "w.example", TIME)
    assert data.startswith(SIGNED)
    signed = parse_checkpoint(data)
    assert signed.witnessed([WITNESS_KEY]) == {WITNESS_KEY: TIME}
    value = parse_note(data).by(WITNESS_KEY)
    assert value is not None
    message = f"cosignature/v1\ntime {TIME}\n{CHECKPOINT.text()}".encode()
    assert check_signature(WITNESS.x, value[8:], message)


def test_only_cosignatures_that_hold_are_counted() -> None:
    """A cosignature with another time, by another key, of another text or another length counts for nothing."""
    data = cosign(SIGNED, WITNESS, "w.example", TIME)
    value = parse_note(data).by(WITNESS_KEY)
    assert value is not None
    moved = (TIME - 100).to_bytes(8) + value[8:]
    for forged in (moved, value + b"\0", value[:-1], bytes(8) + value[8:], value[8:]):
        line = NoteSignature(WITNESS_KEY.name, WITNESS_KEY.key_id, forged)
        assert parse_checkpoint(add_signatures(SIGNED, [line])).witnessed([WITNESS_KEY]) == {}
    other = sign_checkpoint(Checkpoint(ORIGIN, 8, CHECKPOINT.root), LOG)
    line = NoteSignature(WITNESS_KEY.name, WITNESS_KEY.key_id, value)
    assert parse_checkpoint(add_signatures(other, [line])).witnessed([WITNESS_KEY]) == {}
    same_name = note_key("w.example", "witness", LOG.x)
    assert parse_checkpoint(data).witnessed([same_name, LOG_KEY]) == {}


def test_a_witness_that_cosigns_again_stands_once_with_its_new_time() -> None:
    """Two cosignatures by one key cannot stand in one note; the later replaces the earlier."""
    data = cosign(cosign(SIGNED, WITNESS, "w.example", TIME), WITNESS, "w.example", TIME + 5)
    assert parse_checkpoint(data).witnessed([WITNESS_KEY]) == {WITNESS_KEY: TIME + 5}
    assert len(parse_checkpoint(data).signatures) == 2


@pytest.mark.parametrize("time", [0, -1, 2**53, 2**64])
def test_a_time_that_cannot_be_is_not_signed(time: int) -> None:
    """A cosignature carries whole seconds from 1 to 2^53 - 1."""
    with pytest.raises(ValueError, match="time"):
        cosign(SIGNED, WITNESS, "w.example", time)


def test_a_weak_key_vouches_for_nothing() -> None:
    """A key made by hand from weak bytes is refused where it is used, too."""
    weak = NoteKey(ORIGIN, "log", bytes(32))
    forged = NoteSignature(weak.name, weak.key_id, bytes(64))
    assert not parse_checkpoint(add_signatures(SIGNED, [forged])).signed_by(weak)


def test_an_origin_that_no_note_can_carry_is_not_signed() -> None:
    """The origin is the key's name, so it has to be one."""
    with pytest.raises(InputError, match="cannot name"):
        sign_checkpoint(Checkpoint("a log", 0, bytes(32)), LOG)


ROOT = base64.b64encode(bytes(32)).decode()
BAD: dict[str, str] = {
    "two lines": f"{ORIGIN}\n7\n",
    "an empty origin": f"\n7\n{ROOT}\n",
    "an origin with a space": f"a log\n7\n{ROOT}\n",
    "a leading zero": f"{ORIGIN}\n07\n{ROOT}\n",
    "a sign": f"{ORIGIN}\n+7\n{ROOT}\n",
    "a negative size": f"{ORIGIN}\n-7\n{ROOT}\n",
    "digits of another script": f"{ORIGIN}\n٧\n{ROOT}\n",
    "a size beyond 2^53": f"{ORIGIN}\n9007199254740992\n{ROOT}\n",
    "a huge size": f"{ORIGIN}\n{'9' * 30}\n{ROOT}\n",
    "a short root": f"{ORIGIN}\n7\n{base64.b64encode(bytes(31)).decode()}\n",
    "a long root": f"{ORIGIN}\n7\n{base64.b64encode(bytes(33)).decode()}\n",
    "loose base64": f"{ORIGIN}\n7\n{ROOT[:-2]}B=\n",
    "an empty extension line": f"{ORIGIN}\n7\n{ROOT}\n\nx\n",
    "many extension lines": f"{ORIGIN}\n7\n{ROOT}\n" + "x\n" * 17,
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_checkpoint_of_another_form_is_refused(text: str) -> None:
    """Whatever deviates from the one form is LOG_INCLUSION, whoever signed it."""
    line = signature_line(NoteSignature(ORIGIN, LOG_KEY.key_id, LOG.sign(text.encode())))
    with pytest.raises(VerifyError) as refused:
        parse_checkpoint(f"{text}\n{line}".encode())
    assert refused.value.code == "LOG_INCLUSION"


def test_extension_lines_are_read_and_signed() -> None:
    """Lines after the root belong to the signed text."""
    text = f"{CHECKPOINT.text()}more\n"
    line = signature_line(NoteSignature(ORIGIN, LOG_KEY.key_id, LOG.sign(text.encode())))
    assert parse_checkpoint(f"{text}\n{line}".encode()).signed_by(LOG_KEY)
    line = signature_line(NoteSignature(ORIGIN, LOG_KEY.key_id, LOG.sign(CHECKPOINT.text().encode())))
    assert not parse_checkpoint(f"{text}\n{line}".encode()).signed_by(LOG_KEY)
