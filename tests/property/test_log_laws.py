"""Laws of the log: however it grew it is the same log, and no bytes make a reader fail in another way than it says."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.errors import VerifyError
from ragassay.manifest.announce import decode_intent, decode_void
from ragassay.manifest.checkpoint import Checkpoint, cosign, parse_checkpoint, sign_checkpoint
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.note import Note, NoteSignature, add_signatures, note_key, parse_note
from ragassay.manifest.proof import Proof, decode_proof, encode_proof
from ragassay.manifest.tile_tree import TileTree
from ragassay.manifest.tiles import CHECKPOINT, LogView, decode_bundle, encode_bundle, read_log
from ragassay.manifest.tree import (
    consistency_proof,
    consistent,
    inclusion_proof,
    leaf_hash,
    root_from_inclusion,
    root_of,
)
from ragassay.testing.logged_run import MemoryLog
from ragassay.testing.signed_run import public_signer
from ragassay.verify import CODES
from ragassay.verify.audit import audit
from ragassay.verify.log_entries import kind_of

T = TypeVar("T")
SIGNER, WITNESS = public_signer("log"), public_signer("witness")
LEAVES = [leaf_hash(i.to_bytes(3)) for i in range(2000)]
HASHES = st.lists(st.binary(min_size=32, max_size=32), max_size=12)


def anyone(*_: object) -> bool:
    """Take every signer at its word."""
    return True


@settings(deadline=None)
@given(st.integers(1, 2000), st.data())
def test_each_entry_of_each_tree_is_proved_and_nothing_else(size: int, data: st.DataObject) -> None:
    """A proof holds at its own index, for its own leaf, in the tree of its own size."""
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(index, LEAVES[:size])
    root = root_of(LEAVES[:size])
    assert root_from_inclusion(index, size, LEAVES[index], proof) == root
    other = data.draw(st.integers(0, size - 1))
    assert (root_from_inclusion(other, size, LEAVES[index], proof) == root) == (other == index)
    assert root_from_inclusion(index, size, leaf_hash(b"another"), proof) != root


@settings(deadline=None)
@given(st.integers(0, 2000), st.integers(0, 2000))
def test_every_growth_is_proved(one: int, other: int) -> None:
    """From each size to each larger one there is a proof, and none the other way."""
    old, new = sorted((one, other))
    roots = root_of(LEAVES[:old]), root_of(LEAVES[:new])
    proof = consistency_proof(old, LEAVES[:new])
    assert consistent(old, roots[0], new, roots[1], proof)
    assert consistent(new, roots[1], old, roots[0], proof) == (old == new)


@given(st.integers(0, 300), st.integers(0, 300), HASHES, st.binary(min_size=32, max_size=32))
def test_made_up_hashes_prove_nothing(index: int, size: int, hashes: list[bytes], leaf: bytes) -> None:
    """Hashes out of nowhere lead to no root of a real tree."""
    root = root_of(LEAVES[:size])
    assert size == 0 or root_from_inclusion(index, size, leaf, hashes) != root
    if index <= size and (index, size) != (0, 0):
        assert not consistent(index, leaf, size, root, hashes)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 40), max_size=12), max_size=8))
def test_a_log_is_the_same_however_its_entries_came(batches: list[list[int]]) -> None:
    """Divided into any batches, with any repetitions, the same first occurrences give the same log."""
    order = list(dict.fromkeys(number for batch in batches for number in batch))
    with tempfile.TemporaryDirectory() as folder:
        log = LogFolder(Path(folder) / "log")
        for batch in batches:
            indexes = log.append([b"entry %d" % number for number in batch], SIGNER)
            assert indexes == [order.index(number) for number in batch]
        if order:
            view = log.view()
            assert view.entries == tuple(b"entry %d" % number for number in order)
            assert view.checkpoint.root == root_of([leaf_hash(entry) for entry in view.entries])


@settings(deadline=None)
@given(st.lists(st.integers(0, 700), max_size=4))
def test_tiles_do_not_depend_on_the_steps(steps: list[int]) -> None:
    """Growing in steps gives the tiles, root and proofs of growing at once."""
    total = min(sum(steps), len(LEAVES))
    tree, files = TileTree(0, lambda path: None), dict[str, bytes]()
    for step in steps:
        tree, more = tree.grown(LEAVES[tree.size : min(tree.size + step, total)])
        files |= more
    whole, tiles = TileTree(0, lambda path: None).grown(LEAVES[:total])
    assert tree.root() == whole.root() == root_of(LEAVES[:total])
    assert {path: files[path] for path in tiles} == tiles
    tree.check(tree.root())
    if total:
        assert tree.inclusion(total - 1, total) == inclusion_proof(total - 1, LEAVES[:total])
        assert tree.consistency(total // 2) == consistency_proof(total // 2, LEAVES[:total])


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_a_bundle_comes_back(entries: list[bytes]) -> None:
    """Entries of any bytes."""
    assert decode_bundle(encode_bundle(entries)) == entries


@given(st.integers(0, 2**53 - 1), st.binary(min_size=32, max_size=32), st.integers(1, 2**53 - 1))
def test_a_checkpoint_comes_back(size: int, root: bytes, time: int) -> None:
    """Whatever is signed and cosigned is read back, and verifies."""
    data = cosign(sign_checkpoint(Checkpoint("log.example", size, root), SIGNER), WITNESS, "w.example", time)
    signed = parse_checkpoint(data)
    witness = note_key("w.example", "witness", WITNESS.x)
    assert signed.checkpoint == Checkpoint("log.example", size, root)
    assert signed.signed_by(note_key("log.example", "log", SIGNER.x))
    assert signed.witnessed([witness]) == {witness: time}


@given(st.integers(0, 2**53 - 1), HASHES, st.none() | st.binary(max_size=40))
def test_a_proof_comes_back(index: int, hashes: list[bytes], extra: bytes | None) -> None:
    """What is written is read, and has one form only."""
    proof = Proof(index, tuple(hashes), MemoryLog(entries=[b"x"]).checkpoint(None), extra)
    assert decode_proof(encode_proof(proof)) == proof


NOTE = cosign(sign_checkpoint(Checkpoint("log.example", 7, bytes(32)), SIGNER), WITNESS, "w.example", 1)
LOG = MemoryLog(entries=[b"a", b"b", b"c"])
SEEDS = (NOTE, LOG.prove(1, 5), LOG.files()[CHECKPOINT], b"c2sp.org/tlog-proof@v1\nindex 0\n\n", b"\n\n")


def outcome(read: Callable[[T], object], data: T) -> object:
    """What a reader returns, or the reason code with which it refuses."""
    try:
        return read(data)
    except VerifyError as error:
        return error.code


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SEEDS), st.integers(0, 500), st.integers(0, 20), st.binary(max_size=12), st.binary(max_size=60))
def test_no_bytes_make_a_reader_fail_otherwise_than_it_says(
    seed: bytes, at: int, drop: int, put: bytes, alone: bytes
) -> None:
    """Readers of notes, checkpoints, proofs, statements and logs give a value in its one form, or a reason code."""
    for data in (seed[:at] + put + seed[at + drop :], alone):
        assert kind_of(data) in ("intent", "run", "void")
        for read in (parse_note, parse_checkpoint, decode_proof, decode_intent, decode_void):
            value = outcome(read, data)
            if isinstance(value, Proof):
                assert encode_proof(value) == data
            elif isinstance(value, Note):
                assert add_signatures(data, [NoteSignature("x.example", b"1234", b"s")]).startswith(data)
            elif isinstance(value, str):
                assert value in CODES
        view = outcome(read_log, {CHECKPOINT: data, "tile/entries/000.p/3": alone})
        assert isinstance(view, LogView) or view in ("LOG_INCLUSION", "LOG_FORK")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=60) | st.sampled_from(SEEDS), max_size=6))
def test_an_audit_accounts_for_every_entry_whatever_it_is(entries: list[bytes]) -> None:
    """Bytes that are no statement are problems, or repeated; none is lost and none raises."""
    log = MemoryLog(entries=entries)
    files = log.files(None)
    found = audit(read_log(files), accept=anyone)
    assert found.size == len(entries)
    assert sorted([*(problem.index for problem in found.problems), *found.repeated]) == list(range(len(entries)))
    assert found.ok == (not entries)
