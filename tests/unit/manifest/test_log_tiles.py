"""The layout of a log: paths as C2SP tlog-tiles gives them, bundles, and trees that are read from tiles."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragassay.errors import VerifyError
from ragassay.manifest.checkpoint import Checkpoint, sign_checkpoint
from ragassay.manifest.tile_tree import TileTree
from ragassay.manifest.tiles import (
    CHECKPOINT,
    MAX_ENTRY_BYTES,
    bundle_path,
    bundles_of,
    decode_bundle,
    encode_bundle,
    hash_tile_path,
    hash_tiles_of,
    number_path,
    read_log,
    widths,
)
from ragassay.manifest.tree import EMPTY_ROOT, consistency_proof, inclusion_proof, leaf_hash, root_of
from ragassay.testing.signed_run import public_signer

ENTRIES = [f"entry {i}".encode() for i in range(70_000)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]


def tree_of(size: int) -> tuple[TileTree, dict[str, bytes]]:
    """A tree of the first `size` entries, with its tiles."""
    return TileTree(0, lambda path: None).grown(LEAVES[:size])


def log_of(size: int) -> dict[str, bytes]:
    """All files of a log of the first `size` entries."""
    tree, files = tree_of(size)
    bundles = {bundle_path(n, w): encode_bundle(ENTRIES[n * 256 : n * 256 + w]) for n, w in widths(size)}
    signed = sign_checkpoint(Checkpoint("log.example", size, tree.root()), public_signer("log"))
    return {CHECKPOINT: signed, **files, **bundles}


@pytest.mark.parametrize(
    ("number", "path"),
    [(0, "000"), (7, "007"), (999, "999"), (1000, "x001/000"), (1234067, "x001/x234/067")],
)
def test_a_tile_number_is_written_in_threes(number: int, path: str) -> None:
    """Numbers become path elements of three digits, all but the last after an x, as in the specification's example."""
    assert number_path(number) == path


def test_a_log_of_70000_entries_has_the_tiles_of_the_specification() -> None:
    """273 full tiles and one of 112 at level 0, one full and one of 17 at level 1, one of 1 at level 2."""
    paths = hash_tiles_of(70_000)
    assert [path for path in paths if ".p/" in path] == ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"]
    assert len(paths) == 273 + 1 + 1 + 1 + 1
    assert hash_tiles_of(256) == ["tile/0/000", "tile/1/000.p/1"]
    assert bundles_of(257) == ["tile/entries/000", "tile/entries/001.p/1"]
    assert hash_tiles_of(0) == bundles_of(0) == []


def test_a_grown_tree_has_exactly_the_tiles_that_a_log_of_its_size_needs() -> None:
    """The tiles that are written for 70,000 entries are those of the layout, and give the root of the entries."""
    tree, files = tree_of(70_000)
    assert sorted(files) == sorted(hash_tiles_of(70_000))
    assert tree.root() == root_of(LEAVES)
    tree.check(tree.root())


@pytest.mark.parametrize("size", [0, 1, 2, 3, 255, 256, 257, 511, 512, 600, 65_535, 65_536, 65_537, 70_000])
def test_a_tree_of_tiles_gives_the_roots_and_proofs_of_its_leaves(size: int) -> None:
    """Roots, inclusion and consistency come out as from the list of all leaf hashes, at the edges of tiles too."""
    tree, _ = tree_of(size)
    assert tree.root() == root_of(LEAVES[:size])
    assert tree.leaves() == LEAVES[:size]
    for index in {0, size // 2, size - 1, min(255, size - 1), min(256, size - 1)} if size else ():
        assert tree.inclusion(index, size) == inclusion_proof(index, LEAVES[:size])
    for old in {0, 1, size // 3, size // 2, min(256, size), size - 1, size} if size else {0}:
        assert tree.consistency(old) == consistency_proof(old, LEAVES[:size])


@pytest.mark.parametrize("steps", [(1, 1, 1), (255, 1, 1), (256, 256), (200, 100, 300), (65_536, 1), (3, 65_800)])
def test_a_tree_grows_in_steps_to_the_same_tiles(steps: tuple[int, ...]) -> None:
    """However entries are divided into batches, the tiles at the end are those of one batch."""
    tree, files = tree_of(0)
    for step in steps:
        tree, more = tree.grown(LEAVES[tree.size : tree.size + step])
        files |= more
    _, whole = tree_of(sum(steps))
    assert tree.root() == root_of(LEAVES[: sum(steps)])
    assert {path: files[path] for path in whole} == whole


@pytest.mark.parametrize("size", [0, 1, 5, 256, 300, 600])
def test_a_log_is_read_with_and_without_its_hash_tiles(size: int) -> None:
    """Entries alone give the root, and what is there has to fit."""
    files = log_of(size)
    view = read_log(files)
    assert view.entries == tuple(ENTRIES[:size])
    assert view.leaf_hashes == tuple(LEAVES[:size])
    bare = {path: data for path, data in files.items() if path == CHECKPOINT or "entries" in path}
    assert read_log(bare).entries == view.entries


def test_a_full_tile_takes_the_place_of_a_partial_one() -> None:
    """A log that grew while it was read has the entries of the smaller checkpoint in its full bundle."""
    files = log_of(300)
    smaller = log_of(200)
    mixed = {**files, CHECKPOINT: smaller[CHECKPOINT]}
    assert read_log(mixed).entries == tuple(ENTRIES[:200])
    tree = TileTree(200, mixed.get)
    assert tree.root() == root_of(LEAVES[:200])


def flipped(data: bytes) -> bytes:
    """The same with its middle byte changed."""
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


Files = dict[str, bytes]
DAMAGE: dict[str, Callable[[Files], Files]] = {
    "a changed entry": lambda files: {**files, "tile/entries/000": flipped(files["tile/entries/000"])},
    "a cut bundle": lambda files: {**files, "tile/entries/001.p/44": files["tile/entries/001.p/44"][:-1]},
    "a bundle with an entry too few": lambda files: {**files, "tile/entries/001.p/44": encode_bundle(ENTRIES[256:299])},
    "a bundle with 257 entries": lambda files: {**files, "tile/entries/000": encode_bundle(ENTRIES[:257])},
    "a missing bundle": lambda files: {path: data for path, data in files.items() if path != "tile/entries/000"},
    "two entries exchanged": lambda files: {
        **files,
        "tile/entries/000": encode_bundle([ENTRIES[1], ENTRIES[0], *ENTRIES[2:256]]),
    },
    "a changed hash tile": lambda files: {**files, "tile/0/000": flipped(files["tile/0/000"])},
    "a cut hash tile": lambda files: {**files, "tile/0/001.p/44": files["tile/0/001.p/44"][:-32]},
    "a changed tile of level 1": lambda files: {**files, "tile/1/000.p/1": flipped(files["tile/1/000.p/1"])},
    "a checkpoint of more entries": lambda files: {**files, CHECKPOINT: log_of(301)[CHECKPOINT]},
    "a checkpoint of very many entries": lambda files: {
        **files,
        CHECKPOINT: sign_checkpoint(Checkpoint("log.example", 2**52, bytes(32)), public_signer("log")),
    },
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_log_that_does_not_fit_its_checkpoint_is_a_fork(damage: Callable[[Files], Files]) -> None:
    """Whatever was changed, cut off or left out is LOG_FORK."""
    with pytest.raises(VerifyError) as refused:
        read_log(damage(log_of(300)))
    assert refused.value.code == "LOG_FORK"


@pytest.mark.parametrize("data", [b"", b"no checkpoint", b"\xff"])
def test_a_log_without_a_checkpoint_is_none(data: bytes) -> None:
    """No checkpoint, or one that cannot be read, is LOG_INCLUSION."""
    for files in ({}, {CHECKPOINT: data}):
        with pytest.raises(VerifyError) as refused:
            read_log(files)
        assert refused.value.code == "LOG_INCLUSION"


def test_a_bundle_holds_entries_of_every_allowed_length() -> None:
    """Entries from no byte to 65,535 come back; one byte more is refused."""
    entries = [b"", b"x", b"y" * MAX_ENTRY_BYTES]
    assert decode_bundle(encode_bundle(entries)) == entries
    with pytest.raises(ValueError, match="65536 bytes"):
        encode_bundle([b"y" * (MAX_ENTRY_BYTES + 1)])


@pytest.mark.parametrize("data", [b"\x00", b"\x00\x02a", b"\x00\x01ab", encode_bundle([b""] * 257)])
def test_a_torn_bundle_is_refused(data: bytes) -> None:
    """A length that runs past the end, a single byte and a 257th entry are no bundle."""
    with pytest.raises(ValueError, match="cut, or holds more"):
        decode_bundle(data)


def test_a_tree_says_which_tile_is_wrong() -> None:
    """A full tile that was edited is found by the hash above it, and named."""
    tree, files = tree_of(600)
    edited = {**files, "tile/0/001": flipped(files["tile/0/001"])}
    with pytest.raises(VerifyError, match="tile/0/001 does not hold"):
        TileTree(600, edited.get).check(tree.root())
    with pytest.raises(VerifyError, match="do not give the root"):
        TileTree(600, files.get).check(EMPTY_ROOT)
    without = {path: data for path, data in files.items() if path != hash_tile_path(0, 2, 88)}
    with pytest.raises(VerifyError, match=r"tile/0/002\.p/88 is missing"):
        TileTree(600, without.get).leaves()
