"""Seeds that can be recomputed from what a board shows."""

from __future__ import annotations

import hashlib

import numpy as np

from ragassay.estimate import seed_from


def test_seed_is_the_start_of_a_sha256() -> None:
    """The first 8 bytes, big-endian, over the canonical JSON of digest, sorted keys and purpose."""
    data = b'["00ff",["bm25@1","dense@2"],"sign-flip"]'
    expected = int.from_bytes(hashlib.sha256(data).digest()[:8], "big")
    assert seed_from("00ff", ["dense@2", "bm25@1"], "sign-flip") == expected
    assert 0 <= expected < 2**64


def test_every_part_matters_and_order_does_not() -> None:
    """Another benchmark, row or purpose is another seed; the order of the rows is none; keys cannot run together."""
    seed = seed_from("d", ["a", "b"], "p")
    assert seed == seed_from("d", ["b", "a"], "p")
    others = [seed_from("e", ["a", "b"], "p"), seed_from("d", ["ab"], "p"), seed_from("d", ["a", "b"], "q")]
    assert len({seed, *others}) == 4


def test_seed_feeds_pcg64() -> None:
    """The whole 64-bit range is a valid seed, and the generator's first number is pinned."""
    generator = np.random.Generator(np.random.PCG64(2**64 - 1))
    assert generator.bytes(4) == np.random.Generator(np.random.PCG64(2**64 - 1)).bytes(4)
