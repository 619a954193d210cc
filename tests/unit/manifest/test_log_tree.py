"""The tree of the log against RFC 6962: published roots, and every proof of every small tree."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import pytest

from ragassay.manifest.tree import (
    EMPTY_ROOT,
    consistency_proof,
    consistent,
    inclusion_proof,
    leaf_hash,
    root_from_inclusion,
    root_of,
)

SIZES = range(34)
LEAVES = [leaf_hash(bytes([i])) for i in range(40)]

REFERENCE_ENTRIES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
REFERENCE_ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


def naive_root(entries: list[bytes]) -> bytes:
    """The definition of RFC 6962, section 2.1, word by word."""
    if not entries:
        return hashlib.sha256().digest()
    if len(entries) == 1:
        return hashlib.sha256(b"\x00" + entries[0]).digest()
    k = 1
    while k * 2 < len(entries):
        k *= 2
    return hashlib.sha256(b"\x01" + naive_root(entries[:k]) + naive_root(entries[k:])).digest()


def naive_path(index: int, entries: list[bytes]) -> list[bytes]:
    """PATH of RFC 6962, section 2.1.1."""
    if len(entries) == 1:
        return []
    k = 1
    while k * 2 < len(entries):
        k *= 2
    if index < k:
        return [*naive_path(index, entries[:k]), naive_root(entries[k:])]
    return [*naive_path(index - k, entries[k:]), naive_root(entries[:k])]


def naive_subproof(old: int, entries: list[bytes], whole: bool) -> list[bytes]:
    """SUBPROOF of RFC 6962, section 2.1.2."""
    if old == len(entries):
        return [] if whole else [naive_root(entries)]
    k = 1
    while k * 2 < len(entries):
        k *= 2
    if old <= k:
        return [*naive_subproof(old, entries[:k], whole), naive_root(entries[k:])]
    return [*naive_subproof(old - k, entries[k:], False), naive_root(entries[:k])]


def changed(proof: list[bytes]) -> Iterator[list[bytes]]:
    """Every proof with one hash flipped, dropped, doubled or added."""
    for at in range(len(proof)):
        flipped = bytes([proof[at][0] ^ 1]) + proof[at][1:]
        yield [*proof[:at], flipped, *proof[at + 1 :]]
        yield [*proof[:at], *proof[at + 1 :]]
        yield [*proof[:at], proof[at], *proof[at:]]
    yield [*proof, b"\x00" * 32]
    yield [b"\x00" * 32, *proof]


def test_the_reference_tree_has_the_published_roots() -> None:
    """The eight entries of the reference test tree give its roots at every size, and no entry the hash of nothing."""
    for size, root in enumerate(REFERENCE_ROOTS, 1):
        assert root_of([leaf_hash(entry) for entry in REFERENCE_ENTRIES[:size]]).hex() == root
    assert root_of([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("size", SIZES)
def test_a_root_is_the_one_of_the_definition(size: int) -> None:
    """The iterative root equals the recursive one of the RFC."""
    assert root_of(LEAVES[:size]) == naive_root([bytes([i]) for i in range(size)])


@pytest.mark.parametrize("size", SIZES)
def test_every_inclusion_proof_holds_and_no_changed_one_does(size: int) -> None:
    """A proof is the RFC's, leads to the root, and does so for its own place, leaf and hashes alone."""
    root = root_of(LEAVES[:size])
    for index in range(size):
        proof = inclusion_proof(index, LEAVES[:size])
        assert proof == naive_path(index, [bytes([i]) for i in range(size)])
        assert root_from_inclusion(index, size, LEAVES[index], proof) == root
        assert root_from_inclusion(index, size, LEAVES[39], proof) != root
        for other in range(size):
            assert (root_from_inclusion(other, size, LEAVES[index], proof) == root) == (other == index)
        for forged in changed(proof):
            assert root_from_inclusion(index, size, LEAVES[index], forged) != root


@pytest.mark.parametrize("size", SIZES)
def test_every_consistency_proof_holds_and_no_changed_one_does(size: int) -> None:
    """A log that grew proves it from every earlier size; any other proof, root or size is refused."""
    root = root_of(LEAVES[:size])
    for old in range(size + 1):
        old_root = root_of(LEAVES[:old])
        proof = consistency_proof(old, LEAVES[:size])
        if 0 < old < size:
            assert proof == naive_subproof(old, [bytes([i]) for i in range(size)], True)
        assert consistent(old, old_root, size, root, proof)
        assert not consistent(old, LEAVES[39], size, root, proof)
        if old:
            assert not consistent(old, old_root, size, LEAVES[39], proof)
        for forged in changed(proof):
            assert not consistent(old, old_root, size, root, forged)


def test_a_smaller_log_is_never_consistent_with_a_larger_one() -> None:
    """A log that shrank has no proof."""
    assert not consistent(3, root_of(LEAVES[:3]), 2, root_of(LEAVES[:2]), [])
    assert not consistent(-1, EMPTY_ROOT, 2, root_of(LEAVES[:2]), [])


@pytest.mark.parametrize(
    "call",
    [
        lambda: inclusion_proof(3, LEAVES[:3]),
        lambda: inclusion_proof(-1, LEAVES[:3]),
        lambda: consistency_proof(4, LEAVES[:3]),
        lambda: consistency_proof(-1, LEAVES[:3]),
    ],
)
def test_a_place_that_is_not_there_has_no_proof(call: Callable[[], object]) -> None:
    """A proof for an entry or size beyond the log is a mistake of the caller."""
    with pytest.raises(ValueError, match="a log of 3 entries"):
        call()


def test_an_index_beyond_the_size_leads_nowhere() -> None:
    """A path is followed inside the tree only."""
    assert root_from_inclusion(1, 1, LEAVES[0], []) is None
    assert root_from_inclusion(-1, 1, LEAVES[0], []) is None
    assert root_from_inclusion(0, 0, LEAVES[0], []) is None
