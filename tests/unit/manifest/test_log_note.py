"""Signed notes and keys as C2SP signed-note writes them, read strictly."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

import pytest

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.note import (
    MAX_NAME,
    MAX_NOTE_BYTES,
    MAX_SIGNATURES,
    Note,
    NoteKey,
    NoteSignature,
    add_signatures,
    note_key,
    parse_note,
    parse_vkey,
    signature_line,
)
from ragassay.manifest.sign import WEAK_KEYS, Signer, check_signature

# The key and note with which the format's first implementation is tested.
VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
NOTE = f"{TEXT}\n— PeterNeumann {SIGNATURE}\n".encode()


def line(name: str = "a.example", key_id: bytes = b"1234", signature: bytes = b"s" * 64) -> str:
    """A well-formed signature line."""
    return signature_line(NoteSignature(name, key_id, signature))


def test_the_reference_key_and_note_are_read_checked_and_written_alike() -> None:
    """Key, key id, signature and the bytes of the reference note come out the same, to the byte."""
    key = parse_vkey(VKEY)
    note = parse_note(NOTE)
    signature = note.by(key)
    assert (key.name, key.kind, key.key_id.hex(), key.vkey()) == ("PeterNeumann", "log", "c74f20a3", VKEY)
    assert note.text == TEXT
    assert signature is not None
    assert check_signature(key.x, signature, TEXT.encode())
    signer = Signer.from_seed(SEED, "reference")
    assert signer.x == key.x
    written = signature_line(NoteSignature(key.name, key.key_id, signer.sign(TEXT.encode())))
    assert f"{TEXT}\n{written}".encode() == NOTE


def test_the_text_of_a_note_ends_at_its_last_empty_line() -> None:
    """A text that holds empty lines itself is divided from the signatures at the last one."""
    note = parse_note(f"one\n\ntwo: è\n\n{line()}".encode())
    assert note.text == "one\n\ntwo: è\n"
    assert note.signatures == (NoteSignature("a.example", b"1234", b"s" * 64),)


def test_a_witness_has_another_key_id_than_a_log_with_the_same_key() -> None:
    """The algorithm byte is part of the key id, so a signature of one kind is never looked up as the other."""
    x = Signer.from_seed(SEED, "reference").x
    log, witness = note_key("n.example", "log", x), note_key("n.example", "witness", x)
    assert log.key_id != witness.key_id
    assert witness.key_id == hashlib.sha256(b"n.example\n\x04" + x).digest()[:4]
    assert parse_vkey(witness.vkey()) == witness


def test_a_signature_by_an_unknown_key_is_kept_and_counts_for_nothing() -> None:
    """A note with other signatures is read, and the known key's is found by name and id together."""
    data = NOTE + line("PeterNeumann").encode() + line("other.example", b"\xc7\x4f\x20\xa3").encode()
    note = parse_note(data)
    assert len(note.signatures) == 3
    assert note.by(parse_vkey(VKEY)) == base64.b64decode(SIGNATURE)[4:]
    assert note.by(NoteKey("nobody.example", "log", b"x" * 32)) is None


def test_a_signature_is_added_after_the_others_or_in_place_of_its_own() -> None:
    """Adding keeps the text and other signatures as they are; the same key stands once."""
    added = NoteSignature("w.example", b"wwww", b"first" * 3)
    once = add_signatures(NOTE, [added])
    twice = add_signatures(once, [NoteSignature("w.example", b"wwww", b"other" * 3)])
    assert once.startswith(NOTE)
    assert parse_note(twice) == Note(
        TEXT, (parse_note(NOTE).signatures[0], NoteSignature("w.example", b"wwww", b"other" * 3))
    )


BAD_NOTES: dict[str, bytes] = {
    "empty": b"",
    "no signature": TEXT.encode(),
    "no empty line": NOTE.replace(b"\n\n", b"\n"),
    "no last line feed": NOTE[:-1],
    "an empty line after the signatures": NOTE + b"\n",
    "carriage returns": NOTE.replace(b"\n", b"\r\n"),
    "a tab": NOTE.replace(b"If you", b"If\tyou"),
    "an escape": NOTE.replace(b"If you", b"\x1b[2Jyou"),
    "a delete character": NOTE.replace(b"If you", b"If\x7fyou"),
    "no UTF-8": NOTE.replace(b"If you", b"\xff\xfeyou"),
    "a hyphen for the dash": NOTE.replace("—".encode(), b"-"),
    "two spaces": NOTE.replace(b"Neumann ", b"Neumann  "),
    "no name": NOTE.replace(b"PeterNeumann ", b""),
    "a plus sign in the name": NOTE.replace(b"PeterNeumann", b"Peter+Neumann"),
    "a no-break space in the name": NOTE.replace(b"PeterNeumann", "Peter\u00a0Neumann".encode()),
    "a reordering character in the name": NOTE.replace(b"PeterNeumann", "Peter\u202eNeumann".encode()),
    "a long name": NOTE.replace(b"PeterNeumann", b"n" * (MAX_NAME + 1)),
    "base64 without padding": NOTE.replace(b"nAM=\n", b"nAM\n"),
    "base64 with a loose tail": NOTE.replace(b"nAM=\n", b"nAN=\n"),
    "base64 of another alphabet": NOTE.replace(b"go/ZJ", b"go_ZJ"),
    "base64 with a space": NOTE.replace(b"go/ZJ", b"go ZJ"),
    "a key id and nothing after it": f"{TEXT}\n{line(signature=b'')}".encode(),
    "one key twice": NOTE + f"— PeterNeumann {SIGNATURE}\n".encode(),
    "many signatures": f"{TEXT}\n{''.join(line(f'{i}.example') for i in range(MAX_SIGNATURES + 1))}".encode(),
    "many bytes": b"x" * MAX_NOTE_BYTES + NOTE,
}


@pytest.mark.parametrize("data", BAD_NOTES.values(), ids=BAD_NOTES.keys())
def test_a_note_of_another_form_is_refused(data: bytes) -> None:
    """Whatever deviates from the one form is LOG_INCLUSION."""
    with pytest.raises(VerifyError) as refused:
        parse_note(data)
    assert refused.value.code == "LOG_INCLUSION"


def test_a_note_with_the_most_signatures_is_read() -> None:
    """As many signatures as are allowed are read, and one more is not added."""
    data = f"{TEXT}\n{''.join(line(f'{i}.example') for i in range(MAX_SIGNATURES))}".encode()
    assert len(parse_note(data).signatures) == MAX_SIGNATURES
    with pytest.raises(VerifyError, match="signatures"):
        add_signatures(data, [NoteSignature("more.example", b"1234", b"s" * 64)])


BAD_KEYS: dict[str, str] = {
    "empty": "",
    "two parts": "PeterNeumann+c74f20a3",
    "the id of another key": VKEY.replace("c74f20a3", "c74f20a4"),
    "upper-case id": VKEY.replace("c74f20a3", "C74F20A3"),
    "another name": VKEY.replace("Peter", "Paul"),
    "a name with a space": VKEY.replace("Peter", "Peter "),
    "loose base64": VKEY.replace("10TW", "10T"),
    "another algorithm": "n+00000000+" + base64.b64encode(b"\x06" + b"k" * 32).decode(),
    "a short key": "n+00000000+" + base64.b64encode(b"\x01" + b"k" * 31).decode(),
}


@pytest.mark.parametrize("text", BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_key_of_another_form_is_refused(text: str) -> None:
    """A key that was changed, torn or is of a kind that is not known is the fault of who gives it."""
    with pytest.raises(InputError):
        parse_vkey(text)


@pytest.mark.parametrize("weak", sorted(WEAK_KEYS), ids=bytes.hex)
def test_no_weak_key_can_be_the_key_of_a_log_or_witness(weak: bytes) -> None:
    """A key under which anybody can sign is refused by name, however it is given."""
    for kind in ("log", "witness"):
        text = NoteKey("weak.example", kind, weak).vkey()
        with pytest.raises(InputError, match="KEY_WEAK"):
            parse_vkey(text)


MAKE: dict[str, Callable[[], object]] = {
    "no name": lambda: note_key("", "log", b"x" * 32),
    "a space": lambda: note_key("a b", "log", b"x" * 32),
    "a line feed": lambda: note_key("a\nb", "log", b"x" * 32),
    "31 bytes": lambda: note_key("a", "log", b"x" * 31),
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())
def test_a_key_that_could_not_be_written_is_not_made(make: Callable[[], object]) -> None:
    """A name that a note cannot carry is refused before anything is signed."""
    with pytest.raises(InputError):
        make()
