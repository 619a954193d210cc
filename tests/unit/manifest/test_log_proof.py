"""Proofs of inclusion as files: one form, and a path that holds for its own entry alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragassay.errors import VerifyError
from ragassay.manifest.proof import HEADER, MAX_HASHES, MAX_PROOF_BYTES, Proof, decode_proof, encode_proof
from ragassay.testing.logged_run import LOG_KEY, MemoryLog

ENTRIES = [f"entry {i}".encode() for i in range(11)]
LOG = MemoryLog(entries=ENTRIES)
DATA = LOG.prove(5, None)


@pytest.mark.parametrize("index", range(11))
def test_a_proof_holds_for_its_entry_alone(index: int) -> None:
    """The path leads from the entry at the index to the root of the signed checkpoint, and from no other entry."""
    proof = decode_proof(LOG.prove(index, None))
    assert proof.index == index
    assert proof.signed().signed_by(LOG_KEY)
    assert [proof.includes(entry) for entry in ENTRIES] == [place == index for place in range(11)]


def test_a_proof_is_written_as_it_is_read() -> None:
    """The bytes are the specification's: header, index, one hash a line, an empty line, the checkpoint as it is."""
    proof = decode_proof(DATA)
    assert encode_proof(proof) == DATA
    assert DATA.startswith(f"{HEADER}\nindex 5\n".encode())
    assert DATA.endswith(b"\n\n" + LOG.checkpoint(None))
    with_extra = Proof(proof.index, proof.hashes, proof.checkpoint, b"anything")
    assert decode_proof(encode_proof(with_extra)) == with_extra
    assert b"\nextra YW55dGhpbmc=\nindex 5\n" in encode_proof(with_extra)


def test_the_only_entry_of_a_log_needs_no_hash() -> None:
    """A log of one entry has an empty path."""
    proof = decode_proof(MemoryLog(entries=[b"one"]).prove(0, None))
    assert proof.hashes == ()
    assert proof.includes(b"one")
    assert not proof.includes(b"two")


HASH_LINE = DATA.split(b"\n")[2]
CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "another version": lambda data: data.replace(b"@v1", b"@v2", 1),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "no index": lambda data: data.replace(b"index 5\n", b""),
    "an index with a leading zero": lambda data: data.replace(b"index 5", b"index 05"),
    "a negative index": lambda data: data.replace(b"index 5", b"index -5"),
    "an index with a space after it": lambda data: data.replace(b"index 5", b"index 5 "),
    "a huge index": lambda data: data.replace(b"index 5", b"index 99999999999999999999"),
    "an index beyond 2^53": lambda data: data.replace(b"index 5", b"index 9007199254740992"),
    "carriage returns": lambda data: data.replace(b"\n", b"\r\n"),
    "a hash with loose base64": lambda data: data.replace(HASH_LINE, HASH_LINE[:-2] + b"B="),
    "a short hash": lambda data: data.replace(HASH_LINE, b"AAAA"),
    "an empty line between hashes": lambda data: data.replace(HASH_LINE, HASH_LINE + b"\n"),
    "many hashes": lambda data: data.replace(HASH_LINE, b"\n".join([HASH_LINE] * (MAX_HASHES + 1))),
    "no checkpoint": lambda data: data.partition(b"\n\n")[0] + b"\n\n",
    "no empty line": lambda data: data.replace(b"\n\n", b"\n"),
    "extra after the index": lambda data: data.replace(b"index 5\n", b"index 5\nextra YQ==\n"),
    "extra with loose base64": lambda data: data.replace(b"index 5\n", b"extra YR==\nindex 5\n"),
    "no ASCII": lambda data: data.replace(HASH_LINE, "é".encode()),
    "many bytes": lambda data: data + b"x" * MAX_PROOF_BYTES,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_proof_of_another_form_is_refused(change: Callable[[bytes], bytes]) -> None:
    """Whatever deviates from the one form is LOG_INCLUSION."""
    with pytest.raises(VerifyError) as refused:
        decode_proof(change(DATA))
    assert refused.value.code == "LOG_INCLUSION"


def verdict(data: bytes) -> str:
    """What reading the proof of entry 5 comes to: a reason code, no, or yes."""
    try:
        proof = decode_proof(data)
        holds = proof.includes(ENTRIES[5]) and proof.signed().signed_by(LOG_KEY)
    except VerifyError as error:
        return error.code
    return "yes" if holds else "no"


def test_no_flipped_bit_leaves_a_proof_that_holds() -> None:
    """Every bit of the file either breaks its form, its path, or the log's signature."""
    assert verdict(DATA) == "yes"
    flipped = (DATA[:at] + bytes([DATA[at] ^ 1 << bit]) + DATA[at + 1 :] for at in range(len(DATA)) for bit in range(8))
    assert {verdict(data) for data in flipped} == {"LOG_INCLUSION", "no"}
