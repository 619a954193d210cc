"""What a witness asks before it cosigns, and that it forgets nothing."""

from __future__ import annotations

import msgspec
import pytest

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.checkpoint import Checkpoint, SignedCheckpoint, parse_checkpoint, sign_checkpoint
from ragassay.manifest.note import note_key
from ragassay.manifest.tile_tree import TileTree
from ragassay.manifest.tree import leaf_hash
from ragassay.manifest.witness import WitnessState, decode_state, encode_state, log_key, observe
from ragassay.testing.signed_run import public_signer

SIGNER, OTHER = public_signer("log"), public_signer("another")
KEY = note_key("log.example", "log", SIGNER.x)
TIME = 1_790_000_000


def log_of(entries: list[bytes], origin: str = "log.example") -> tuple[SignedCheckpoint, TileTree]:
    """The signed checkpoint and the tree of these entries."""
    tree, _ = TileTree(0, lambda path: None).grown([leaf_hash(entry) for entry in entries])
    return parse_checkpoint(sign_checkpoint(Checkpoint(origin, tree.size, tree.root()), SIGNER)), tree


def entries(count: int) -> list[bytes]:
    """So many entries."""
    return [f"entry {i}".encode() for i in range(count)]


SIGNED, TREE = log_of(entries(300))
SEEN = observe(WitnessState(), SIGNED, KEY, TREE, TIME)


def code_of(signed: SignedCheckpoint, tree: TileTree) -> str:
    """The reason code with which a witness that saw 300 entries refuses."""
    with pytest.raises(VerifyError) as refused:
        observe(SEEN, signed, KEY, tree, TIME + 1)
    return refused.value.code


@pytest.mark.parametrize("size", [300, 301, 511, 512, 700])
def test_a_log_that_grew_is_remembered_at_its_new_size(size: int) -> None:
    """Every honest growth, and no growth, is witnessed; the state holds the newest size."""
    signed, tree = log_of(entries(size))
    state = observe(SEEN, signed, KEY, tree, TIME + 1)
    assert (state.logs["log.example"].size, state.logs["log.example"].time) == (size, TIME + 1)
    assert decode_state(encode_state(state)) == state


def test_a_log_that_shrank_is_refused() -> None:
    """A smaller log is another history, however well it is signed."""
    assert code_of(*log_of(entries(299))) == "LOG_FORK"
    assert code_of(*log_of([])) == "LOG_FORK"


@pytest.mark.parametrize("size", [300, 301, 600])
@pytest.mark.parametrize("at", [0, 150, 255, 299])
def test_a_log_that_was_rewritten_is_refused(size: int, at: int) -> None:
    """One changed entry among those that were seen is enough, at whatever size and place."""
    rewritten = entries(size)
    rewritten[at] = b"another"
    assert code_of(*log_of(rewritten)) == "LOG_FORK"


def test_tiles_that_show_each_root_its_own_history_are_refused() -> None:
    """Lower tiles of the old log under upper tiles of the new one prove nothing: hashes have to fit together."""
    _, old = log_of(entries(200))
    state = observe(WitnessState(), log_of(entries(200))[0], KEY, old, TIME)
    rewritten = entries(300)
    rewritten[7] = b"another"
    signed, new = log_of(rewritten)

    shown = {
        "tile/0/000": b"".join(TREE.hashes(0, 0)),
        "tile/0/001.p/44": b"".join(new.hashes(0, 1)),
        "tile/1/000.p/1": b"".join(new.hashes(1, 0)),
    }
    with pytest.raises(VerifyError) as refused:
        observe(state, signed, KEY, TileTree(300, shown.get), TIME + 1)
    assert refused.value.code == "LOG_FORK"


def test_a_checkpoint_by_another_key_is_refused() -> None:
    """The key is the remembered one, whatever else signed."""
    _, tree = log_of(entries(300))
    signed = parse_checkpoint(sign_checkpoint(Checkpoint("log.example", 300, tree.root()), OTHER))
    assert code_of(signed, tree) == "LOG_INCLUSION"


def test_a_first_checkpoint_has_to_fit_its_tiles() -> None:
    """A witness that knows nothing yet still does not sign what the log cannot show."""
    signed, _ = log_of(entries(3))
    with pytest.raises(VerifyError) as refused:
        observe(WitnessState(), signed, KEY, log_of(entries(4)[1:])[1], TIME)
    assert refused.value.code == "LOG_FORK"


def test_each_log_is_remembered_apart() -> None:
    """Another origin is another log and changes nothing of the first."""
    signed, tree = log_of(entries(2), "other.example")
    state = observe(SEEN, signed, note_key("other.example", "log", SIGNER.x), tree, TIME)
    assert {origin: seen.size for origin, seen in state.logs.items()} == {"log.example": 300, "other.example": 2}


def test_a_clock_that_went_back_is_told() -> None:
    """A cosignature with an earlier time than the last one would say what is not so."""
    with pytest.raises(InputError, match="set the clock"):
        observe(SEEN, SIGNED, KEY, TREE, TIME - 1)


def test_the_key_of_a_known_log_is_the_remembered_one() -> None:
    """A given key has to be the remembered one; for an unknown log it is the given one, or none."""
    assert log_key(SEEN, "log.example", None) == KEY
    assert log_key(SEEN, "log.example", KEY) == KEY
    assert log_key(SEEN, "new.example", None) is None
    with pytest.raises(VerifyError) as refused:
        log_key(SEEN, "log.example", note_key("log.example", "log", OTHER.x))
    assert refused.value.code == "LOG_FORK"


STATE = encode_state(SEEN)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}x",
        b"[]",
        STATE[: len(STATE) // 2],
        STATE.replace(b'"size":300', b'"size":-1'),
        STATE.replace(b'"size":300', b'"size":"300"'),
        STATE.replace(b'"vkey":"', b'"vkey":"x'),
        STATE.replace(b'"root":"', b'"root":"A'),
        STATE.replace(b'"logs"', b'"logz"'),
    ],
)
def test_a_state_that_cannot_be_read_stops_the_witness(data: bytes) -> None:
    """A torn or edited state is never taken for an empty one."""
    with pytest.raises(InputError, match="state cannot be read"):
        decode_state(data)


def test_a_state_is_written_in_one_form() -> None:
    """The same memory gives the same bytes."""
    assert encode_state(msgspec.structs.replace(SEEN)) == STATE
