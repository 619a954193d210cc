"""Salted hashes of held-out questions, the signed commitment that holds them, and what reveals them later. Pure.

Every hash is an HMAC-SHA256 under a key that is derived from one secret of 32 bytes. Without it no guess of a question
can be tried against a hash. The key of one question is derived from the secret and its id, so that a question can be
revealed with its own key, which says nothing of any other.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.announce import common_problem
from ragassay.manifest.item_set import set_slug
from ragassay.manifest.item_statement import HeldOutPredicate, HeldOutStatement
from ragassay.manifest.sign import Signer
from ragassay.manifest.signed import Form, Signed, read_signed, sign_checked
from ragassay.manifest.statement import HELD_OUT_KIND, HELD_OUT_TYPE, STATEMENT_TYPE, Subject
from ragassay.records import Benchmark, Question, to_json

SCHEME = "ragassay-held-out/1"
SALT_BYTES = 32
LEAST_BYTES = 16
"""The fewest different bytes in a salt that is read; of 32 random bytes fewer than 20 never differ in practice."""
SALTS_FORMAT = "ragassay-item-salts/1"
MAX_HELD_OUT = 20_000
"""The most questions that one commitment holds."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class SignedHeldOut(Signed[HeldOutPredicate], frozen=True):
    """A commitment as it was read."""


class Salt:
    """The secret of one split; it never prints itself."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != SALT_BYTES:
            raise ValueError(f"a salt has {SALT_BYTES} bytes")
        self._secret = secret

    def _key(self, purpose: str, about: str = "") -> bytes:
        message = f"{SCHEME} {purpose}\0{about}".encode()
        return hmac.new(self._secret, message, hashlib.sha256).digest()

    def rank(self, source: str) -> bytes:
        """Return the place of a source in the order in which sources are held out."""
        source_hash = hashlib.sha256(source.encode()).digest()
        return hmac.new(self._key("split"), source_hash, hashlib.sha256).digest()

    def whole(self, data: bytes) -> str:
        """Return the salted hash of the bytes of the held-out file."""
        return hmac.new(self._key("whole"), data, hashlib.sha256).hexdigest()

    def item_salt(self, name: str, version: str, question: str) -> bytes:
        """Return the key of the question with that id in the held-out half of that name and version.

        One secret may serve several versions: what is revealed of one says nothing of any other.
        """
        return self._key("item", canon.canonical([name, version, question]).decode())

    def text(self) -> bytes:
        """Return the bytes of the salt file: 64 hex digits and a line feed."""
        return self._secret.hex().encode() + b"\n"

    def __repr__(self) -> str:
        return "Salt(***)"


def item_hash(question: Question, salt: bytes) -> str:
    """Return the salted hash of one question, without its provenance, under its own key."""
    plain = canon.canonical(to_json(msgspec.structs.replace(question, provenance=None)))
    return hmac.new(salt, plain, hashlib.sha256).hexdigest()


def read_salt(data: bytes) -> Salt | Mapping[str, bytes]:
    """Return the secret of a salt file, or the keys of single questions by id; raises `InputError`."""
    text = data.decode("utf-8", "replace").strip()
    if _SHA256.fullmatch(text):
        secret = bytes.fromhex(text)
        if len(set(secret)) < LEAST_BYTES:
            raise InputError(
                "it holds a salt that is not random, so guesses could be tried; name a new file, and one is made"
            )
        return Salt(secret)
    try:
        value = canon.load_strict(data, max_bytes=16 << 20, max_depth=4)
        salts = value["salts"] if value.get("format") == SALTS_FORMAT else None
        if not isinstance(salts, dict) or not all(_SHA256.fullmatch(one) for one in salts.values()):
            raise ValueError(SALTS_FORMAT)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError("it holds neither a salt of 64 hex digits nor the salts of single questions") from None
    return {name: bytes.fromhex(one) for name, one in salts.items()}


def write_item_salts(salt: Salt, chosen: Benchmark) -> bytes:
    """Return the bytes of a file with the keys of the questions in `chosen`, which reveal those alone."""
    salts = {one.id: salt.item_salt(chosen.name, chosen.version, one.id).hex() for one in chosen.questions}
    return canon.canonical({"format": SALTS_FORMAT, "salts": salts}) + b"\n"


def sign_held_out(predicate: HeldOutPredicate, signer: Signer) -> bytes:
    """Return the signed commitment; raises `ValueError` for one that no reader would accept."""
    statement = HeldOutStatement(
        type_=STATEMENT_TYPE, predicate_type=HELD_OUT_TYPE, subject=(_subject(predicate),), predicate=predicate
    )
    return sign_checked(statement, _FORM, signer)


def decode_held_out(data: bytes) -> SignedHeldOut:
    """Read a commitment, its signature unchecked.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    statement, envelope, payload = read_signed(data, _FORM)
    return SignedHeldOut(statement.predicate, envelope, payload, data)


def _subject(predicate: HeldOutPredicate) -> Subject:
    return Subject(name=f"{set_slug(predicate.public.name)}.json", digest=predicate.public.digest)


def _form_problem(statement: HeldOutStatement) -> str | None:
    predicate = statement.predicate
    if statement.subject != (_subject(predicate),):
        return "the only subject must be the public question file, with its digest"
    if predicate.scheme != SCHEME:
        return f"the scheme is {predicate.scheme[:40]!r}; {SCHEME} is known"
    if not 1 <= predicate.items == len(predicate.hashes) <= MAX_HELD_OUT:
        return f"1 to {MAX_HELD_OUT} questions are held out, each with one hash"
    if list(predicate.hashes) != sorted(set(predicate.hashes)):
        return "the hashes stand in their order, each once"
    if not all(map(_SHA256.fullmatch, (predicate.whole, *predicate.hashes))):
        return "a salted hash is 64 lower-case hex digits"
    return common_problem(predicate.created, [predicate.public.digest, predicate.public.item_set])


_FORM = Form(
    kind=HELD_OUT_KIND,
    what="a commitment to held-out questions",
    shape=HeldOutStatement,
    problem=_form_problem,
    max_bytes=4 << 20,
)
