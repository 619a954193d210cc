"""Halves of a set: they cover it without overlap, and neither public half nor commitment tells of the other."""

from __future__ import annotations

import json
from decimal import Decimal

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from frozen_lab import NOW, SIGNER, question, small_set
from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest.held_out import Salt, decode_held_out, item_hash, read_salt, sign_held_out, write_item_salts
from ragassay.question.split import Halves, read_share, source_of, split
from ragassay.records import Benchmark, Question
from ragassay.run.question_sets.split_set import commit, only
from ragassay.verify.held_out import check_reveal

salts = st.binary(min_size=32, max_size=32).map(Salt)
shares = st.integers(1, 99).map(lambda percent: Decimal(percent) / 100)


@st.composite
def sets(draw: st.DrawFn) -> Benchmark:
    """Return a set whose questions share pages in some way, a few without any."""
    pages = draw(st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=2, max_size=30))
    asked = [
        msgspec.structs.replace(
            question(0), id=f"id-{n}", input=f"Secret number {n}, page {at}?", page=None if at is None else f"p{at}"
        )
        for n, at in enumerate(pages)
    ]
    made = small_set(*asked)
    assume(len({source_of(one) for one in asked}) > 1)
    return made


@settings(max_examples=150, deadline=None)
@given(sets(), shares, salts)
def test_the_halves_cover_the_set_and_share_no_page(asked: Benchmark, share: Decimal, salt: Salt) -> None:
    """Each question is on one side, in its order, both sides hold some, and one page is never on both."""
    halves = split(asked, share, salt.rank)
    both = [one.id for one in (*halves.public.questions, *halves.held_out.questions)]
    assert sorted(both) == sorted(one.id for one in asked.questions)
    assert halves.public.questions
    assert halves.held_out.questions
    for half in (halves.public, halves.held_out):
        assert [one for one in asked.questions if one in half.questions] == list(half.questions)
    sides = [{source_of(one) for one in half.questions} for half in (halves.public, halves.held_out)]
    assert not sides[0] & sides[1]
    assert split(asked, share, salt.rank) == halves


@settings(max_examples=100, deadline=None)
@given(sets(), shares, salts)
def test_the_held_out_count_is_near_the_share(asked: Benchmark, share: Decimal, salt: Salt) -> None:
    """No count is further off than the largest page, where both sides have to hold something."""
    held = len(split(asked, share, salt.rank).held_out.questions)
    sizes = [sum(source_of(one) == source for one in asked.questions) for source in map(source_of, asked.questions)]
    assert abs(held - share * len(asked.questions)) <= max(sizes)


@settings(max_examples=60, deadline=None)
@given(sets(), salts, salts)
def test_nothing_of_the_held_out_half_is_in_what_is_published(asked: Benchmark, salt: Salt, other: Salt) -> None:
    """Neither text nor id nor any digest that can be computed without the salt stands in public half or commitment."""
    assume(salt.text() != other.text())
    halves = split(asked, Decimal("0.5"), salt.rank)
    envelope = commit(halves, salt, SIGNER, share="50%", now=NOW)
    signed = decode_held_out(envelope)
    published = halves.public.full_form() + signed.payload + envelope
    held = halves.held_out
    for one in held.questions:
        assert one.input.encode() not in published
        assert f'"{one.id}"'.encode() not in published
        for guess in (
            one.material(),
            item_hash(one, other.item_salt(held.name, held.version, one.id)),
            item_hash(one, bytes(32)),
        ):
            assert guess.encode() not in published
    for digest in (held.digest(), held.item_set_digest(), asked.digest(), other.whole(held.full_form())):
        assert digest.encode() not in published
    assert salt.text().strip() not in published


@settings(max_examples=60, deadline=None)
@given(sets(), salts, salts)
def test_a_reveal_holds_with_its_salt_alone(asked: Benchmark, salt: Salt, other: Salt) -> None:
    """The whole half and each question of it are as they were committed to; under another salt none is."""
    assume(salt.text() != other.text())
    halves = split(asked, Decimal("0.5"), salt.rank)
    signed = decode_held_out(commit(halves, salt, SIGNER, share="50%", now=NOW))
    held = halves.held_out
    found = check_reveal(signed, held, held.full_form(), salt)
    assert (found.ok, found.complete, found.whole) == (True, True, True)
    assert check_reveal(signed, held, held.full_form(), other).held == ()
    first = held.questions[0].id
    alone = only(held, [first])
    keys = read_salt(write_item_salts(salt, alone))
    assert check_reveal(signed, alone, alone.full_form(), keys).held == (first,)
    rest = check_reveal(signed, held, held.full_form(), keys)
    assert (rest.held, rest.changed, rest.whole) == ((first,), (), None)
    assert len(rest.unsalted) == len(held.questions) - 1
    assert rest.ok is (len(held.questions) == 1)


def small() -> tuple[Salt, Benchmark, bytes]:
    """Return a salt, the held-out half of ten questions, and the commitment to it."""
    salt = Salt(bytes(range(32)))
    halves = split(small_set(*map(question, range(10))), Decimal("0.4"), salt.rank)
    return salt, halves.held_out, commit(halves, salt, SIGNER, share="40%", now=NOW)


def changed(one: Question) -> Question:
    """Return a question with one word changed."""
    return msgspec.structs.replace(one, target=f"{one.target} Or so.")


def test_a_changed_an_invented_and_a_doubled_question_are_found() -> None:
    """What was not committed to is named, and a committed question counts once."""
    salt, held, envelope = small()
    signed = decode_held_out(envelope)
    assert len(held.questions) == 4
    first, *rest = held.questions
    for questions, wrong in (
        ((changed(first), *rest), (first.id,)),
        ((*held.questions, question(0, id="new", input="Invented?")), ("new",)),
        ((first, first), (first.id,)),
    ):
        revealed = msgspec.structs.replace(held, questions=questions)
        found = check_reveal(signed, revealed, revealed.full_form(), salt)
        assert (found.changed, found.ok, found.whole) == (wrong, False, False)


def test_a_review_after_the_commitment_changes_no_hash_of_a_question() -> None:
    """Provenance may be completed before the reveal; the file as a whole is then another, and that is said."""
    salt, held, envelope = small()
    later = msgspec.structs.replace(
        held, questions=tuple(msgspec.structs.replace(one, provenance=None) for one in held.questions)
    )
    found = check_reveal(decode_held_out(envelope), later, later.full_form(), salt)
    assert (found.complete, found.whole) == (True, False)


def test_a_commitment_is_signed_and_binds_the_public_half() -> None:
    """Its subject is the public file; a changed one is read as none or has no valid signature."""
    salt, _, envelope = small()
    signed = decode_held_out(envelope)
    assert signed.signed_by_named()
    assert signed.predicate.public.name == "acme-public"
    value = json.loads(envelope)
    value["payload"] = value["payload"][:-8] + "AAAAAAA="
    with pytest.raises(VerifyError):
        decode_held_out(canon.canonical(value))
    for changes in ({"items": 3}, {"scheme": "sha256"}, {"whole": "x"}, {"hashes": signed.predicate.hashes[::-1]}):
        with pytest.raises(ValueError):
            sign_held_out(msgspec.structs.replace(signed.predicate, **changes), SIGNER)
    assert "***" in repr(salt)


@pytest.mark.parametrize("text", ["", "0%", "100%", "50", "half", "-5%", "1e1%"])
def test_shares_that_are_none(text: str) -> None:
    """A share is a percentage between the two ends."""
    with pytest.raises(InputError):
        read_share(text)


@pytest.mark.parametrize(
    "data", [b"", b"ab", b"{}", b"[]", b'{"format":"ragassay-item-salts/1","salts":{"a":1}}', b"\xff"]
)
def test_salts_that_are_none(data: bytes) -> None:
    """What is no salt is refused, and nothing of it is repeated."""
    with pytest.raises(InputError) as refused:
        read_salt(data)
    assert "ab" not in str(refused.value).split()


def test_one_page_cannot_be_split() -> None:
    """All questions about one page have to be on one side, so there is no other."""
    with pytest.raises(InputError, match="one page"):
        split(small_set(question(0), question(1, page="page-0.md")), Decimal("0.5"), Salt(bytes(32)).rank)


def test_what_is_revealed_of_one_version_says_nothing_of_another() -> None:
    """One secret serves several versions: neither hashes nor the salts of single questions are shared between them."""
    salt, held, envelope = small()
    later = msgspec.structs.replace(held, version="2.0.0")
    for other in (later, msgspec.structs.replace(held, name="else-held-out")):
        halves = Halves(public=small_set(), held_out=other)
        second = decode_held_out(commit(halves, salt, SIGNER, share="40%", now=NOW))
        assert not set(second.predicate.hashes) & set(decode_held_out(envelope).predicate.hashes)
        revealed = read_salt(write_item_salts(salt, held))
        assert check_reveal(second, other, other.full_form(), revealed).held == ()
        assert check_reveal(second, other, other.full_form(), salt).complete


@pytest.mark.parametrize("secret", [bytes(32), b"\x01" * 32, b"0123456789abcdef"[:8] * 4])
def test_a_salt_that_somebody_made_up_is_refused(secret: bytes) -> None:
    """Under a salt that can be guessed every guess of a question can be tried."""
    with pytest.raises(InputError, match="not random"):
        read_salt(Salt(secret).text())
    assert isinstance(read_salt(Salt(bytes(range(32))).text()), Salt)
