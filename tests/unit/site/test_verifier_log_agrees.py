"""Bundles, notes, trees, proofs, logs, registries and statements: the browser reads each as Python does."""

from __future__ import annotations

import base64
import copy
import itertools
import json
import random
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import verifier_engine as engine

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import dsse, sign_payload
from ragassay.manifest.announce import SignedIntent, SignedVoid, decode_intent, decode_void
from ragassay.manifest.bundle import read_bundle, write_bundle
from ragassay.manifest.checkpoint import parse_checkpoint
from ragassay.manifest.files import INTENT, INTENT_PROOF, RUN_PROOF
from ragassay.manifest.note import NoteKey, parse_vkey
from ragassay.manifest.proof import decode_proof
from ragassay.manifest.registry import REGISTRY_TYPE, decode_registry, status_at
from ragassay.manifest.sign import Signer
from ragassay.manifest.tiles import read_log
from ragassay.manifest.tree import (
    consistency_proof,
    consistent,
    inclusion_proof,
    leaf_hash,
    root_from_inclusion,
    root_of,
)
from ragassay.records import to_json
from ragassay.testing.bundles import key_record, registry_of, rotated_registry
from ragassay.testing.logged_run import LOG_KEY, OTHER, OURS, ROOT_SIGNER, WITNESS_KEY, Story, tell, void_pass, void_run
from ragassay.testing.signed_run import public_signer

PRELUDE = """
const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
const { hex } = ragassay.bytes;
const told = async (read) => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ragassay.errors.VerifyError) return error.code;
    if (error instanceof ragassay.errors.InputError) return "InputError";
    throw error;
  }
};
"""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("log")) as found:
        yield found


def told(read: Callable[[], Any]) -> Any:
    """Return what is read, or the code of the refusal."""
    try:
        return json.loads(json.dumps(read()))
    except VerifyError as error:
        return error.code
    except InputError:
        return "InputError"


def changed(data: bytes, chance: random.Random) -> bytes:
    """Return bytes after one to three small changes."""
    new = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        at, how = chance.randrange(len(new) + 1), chance.randrange(6)
        if how == 0 and at < len(new):
            new[at] ^= 1 << chance.randrange(8)
        elif how == 1 and at < len(new):
            new[at] = chance.randrange(256)
        elif how == 2:
            del new[at : at + chance.randint(1, 4)]
        elif how == 3:
            new[at:at] = chance.choice(
                [b"\n", b"\n\n", b" ", b"+", b"=", b"0", b"\xe2\x80\x94 ", b"\xc2\xa0", b"\r", b"A"]
            )
        elif how == 4:
            lines = bytes(new).split(b"\n")
            line = chance.randrange(len(lines))
            new = bytearray(b"\n".join([*lines[:line], *lines[line + 1 :], *lines[line : line + chance.randrange(3)]]))
        else:
            new[at:at] = new[chance.randrange(len(new) + 1) :][:20]
    return bytes(new)


def encoded(samples: list[bytes]) -> list[str]:
    """Return samples as base64."""
    return [base64.b64encode(sample).decode("ascii") for sample in samples]


def agree(call: engine.Call, body: str, samples: list[bytes], ours: Callable[[bytes], Any]) -> set[str]:
    """Assert that both say the same of every sample, and return the kinds of what was said."""
    theirs = call(
        f"{PRELUDE} const found = []; for (const text of input) found.push({body}); return found;", encoded(samples)
    )
    said = [told(lambda sample=sample: ours(sample)) for sample in samples]  # type: ignore[misc]
    for sample, our, their in zip(samples, said, theirs, strict=True):
        assert their == our, sample
    return {one if isinstance(one, str) else "read" for one in said}


# --- bundles --------------------------------------------------------------------------------------------------------


def test_changed_bundles(call: engine.Call) -> None:
    """Three thousand changes of a bundle: the same problems by code, and the same files with the same bytes."""
    chance = random.Random(11)
    good = write_bundle({"run.dsse.json": b'{"a":1}' * 20, "outputs.jsonl": b"x\n" * 50, "run.tlog-proof": b"a"})
    samples = [good, *(changed(good, chance) for _ in range(3000))]

    def ours(data: bytes) -> Any:
        read = read_bundle(data)
        files = sorted([name, len(content), zlib.crc32(content)] for name, content in read.files.items())
        return {"codes": [problem.code for problem in read.problems], "files": files}

    body = """await (async () => {
      const { files, problems } = await ragassay.readBundle(bytes(text));
      const crc = (data) => {
        let value = -1;
        for (const byte of data) {
          value ^= byte;
          for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
        }
        return ~value >>> 0;
      };
      const listed = [...files].map(([name, data]) => [name, data.length, crc(data)]);
      listed.sort((one, other) => (one[0] < other[0] ? -1 : 1));
      return { codes: problems.map((problem) => problem.code), files: listed };
    })()"""
    agree(call, body, samples, ours)


# --- notes, checkpoints, proofs -------------------------------------------------------------------------------------


def _checkpoints() -> list[bytes]:
    proofs = [tell(Story()).files[name] for name in (RUN_PROOF, INTENT_PROOF)]
    return [decode_proof(data).checkpoint for data in proofs]


def test_changed_checkpoints(call: engine.Call) -> None:
    """Changed in any way, a checkpoint is read alike: text, signatures, whose they are and when, or LOG_INCLUSION."""
    chance = random.Random(12)
    good = _checkpoints()
    samples = [*good, *(changed(good[n % 2], chance) for n in range(3000))]

    def ours(data: bytes) -> Any:
        read = parse_checkpoint(data)
        signatures = [[one.name, one.key_id.hex(), one.signature.hex()] for one in read.note.signatures]
        times = list(read.witnessed([WITNESS_KEY]).values())
        return [read.origin, read.size, read.root.hex(), read.note.text, signatures, read.signed_by(LOG_KEY), times]

    body = f"""await told(async () => {{
      const read = ragassay.tlog.parseCheckpoint(bytes(text));
      const [log, witness] = ["{LOG_KEY.vkey()}", "{WITNESS_KEY.vkey()}"].map(ragassay.note.parseVkey);
      const signatures = read.note.signatures.map((one) => [one.name, one.keyId, hex(one.signature)]);
      const times = [...(await read.witnessed([witness])).values()];
      return [read.origin, read.size, hex(read.root), read.note.text, signatures, await read.signedBy(log), times];
    }})"""
    assert agree(call, body, samples, ours) == {"read", "LOG_INCLUSION"}


def test_changed_proofs(call: engine.Call) -> None:
    """A changed proof includes its entry exactly where Python says so, and is refused where Python refuses it."""
    chance = random.Random(13)
    files = tell(Story(others=(2, 3))).files
    good = files[RUN_PROOF]
    entry = files["run.dsse.json"]
    samples = [good, *(changed(good, chance) for _ in range(3000))]

    def ours(data: bytes) -> Any:
        read = decode_proof(data)
        extra = None if read.extra is None else read.extra.hex()
        return [read.index, [value.hex() for value in read.hashes], extra, read.includes(entry)]

    body = f"""await told(async () => {{
      const read = ragassay.tlog.decodeProof(bytes(text));
      const extra = read.extra === null ? null : hex(read.extra);
      const includes = await read.includes(bytes("{base64.b64encode(entry).decode()}"));
      return [read.index, read.hashes.map(hex), extra, includes];
    }})"""
    assert agree(call, body, samples, ours) == {"read", "LOG_INCLUSION"}


def test_changed_keys_of_logs_and_witnesses(call: engine.Call) -> None:
    """A verifier key is read alike or refused: other ids, other kinds, weak keys, names with odd characters."""
    chance = random.Random(14)
    weak = NoteKey("weak", "log", bytes([1]) + bytes(31)).vkey()
    named = [
        NoteKey(name, "witness", OURS.x).vkey() for name in ("é", "a b", "a\u200bb", "\U0001f600", "x" * 201, "x" * 200)
    ]
    good = [key.encode() for key in (LOG_KEY.vkey(), WITNESS_KEY.vkey(), weak, *named)]
    samples = [*good, *(changed(good[n % 2], chance) for n in range(1500))]

    def ours(data: bytes) -> Any:
        key = parse_vkey(data.decode("utf-8", "replace"))
        return [key.name, key.kind, key.x.hex(), key.key_id.hex()]

    body = """await told(() => {
      const key = ragassay.note.parseVkey(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(text)));
      return [key.name, key.kind, hex(key.x), key.keyId];
    })"""
    assert agree(call, body, samples, ours) == {"read", "InputError"}


# --- the tree -------------------------------------------------------------------------------------------------------


def _tree_cases() -> tuple[list[Any], list[Any]]:
    """Return every inclusion and consistency proof of trees up to 17 leaves, and each with one thing changed."""
    leaves = [leaf_hash(bytes([n])) for n in range(17)]
    inclusions, consistencies = [], []
    for size in range(1, 18):
        for index in range(size):
            proof = inclusion_proof(index, leaves[:size])
            for at, length, hashes in (
                (index, size, proof),
                (index + 1, size, proof),
                (index, size + 1, proof),
                (index, size, proof[:-1]),
                (index, size, [*proof, leaves[0]]),
            ):
                inclusions.append((at, length, leaves[index], hashes))
        for old in range(size + 1):
            proof = consistency_proof(old, leaves[:size])
            roots = root_of(leaves[:old]), root_of(leaves[:size])
            for first, second, length, hashes in (
                (*roots, size, proof),
                (roots[1], roots[0], size, proof),
                (*roots, size + 1, proof),
                (*roots, size, proof[:-1]),
                (*roots, size, [*proof, leaves[0]]),
                (*roots, size, proof[::-1]),
            ):
                consistencies.append((old, first, length, second, hashes))
    return inclusions, consistencies


def test_every_proof_of_small_trees(call: engine.Call) -> None:
    """Roots, inclusion and consistency agree for all trees up to 17 leaves, with honest and with changed proofs."""
    inclusions, consistencies = _tree_cases()
    asked = {
        "inclusions": [[i, n, leaf.hex(), [h.hex() for h in proof]] for i, n, leaf, proof in inclusions],
        "consistencies": [[m, a.hex(), n, b.hex(), [h.hex() for h in proof]] for m, a, n, b, proof in consistencies],
    }
    body = """
    const un = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const { rootFromInclusion, consistent, rootOf, leafHash } = ragassay.tree;
    const roots = [];
    for (let size = 0; size <= 17; size++) {
      roots.push(ragassay.bytes.hex(rootOf(Array.from({ length: size }, (_, n) => leafHash(Uint8Array.of(n))))));
    }
    const inclusions = input.inclusions.map(([index, size, leaf, proof]) => {
      const root = rootFromInclusion(index, size, un(leaf), proof.map(un));
      return root && ragassay.bytes.hex(root);
    });
    const consistencies = input.consistencies.map(([old, a, size, b, proof]) =>
      consistent(old, un(a), size, un(b), proof.map(un)));
    return { roots, inclusions, consistencies };
    """
    theirs = call(body, asked)
    assert theirs["roots"] == [root_of([leaf_hash(bytes([n])) for n in range(size)]).hex() for size in range(18)]
    ours = [root_from_inclusion(*case) for case in inclusions]
    assert theirs["inclusions"] == [root and root.hex() for root in ours]
    assert theirs["consistencies"] == [consistent(*case) for case in consistencies]
    assert {True, False} == set(theirs["consistencies"])


def test_changed_logs(call: engine.Call) -> None:
    """A log's folder with a changed, missing or exchanged file: the same entries, or the same code."""
    chance = random.Random(15)
    good = tell(Story(others=(2,), after=void_pass(3)), with_log=True).log
    assert good is not None
    logs = [good]
    for _ in range(400):
        files = dict(good)
        name = chance.choice(sorted(files))
        how = chance.randrange(3)
        if how == 0:
            del files[name]
        elif how == 1:
            files[name] = files[chance.choice(sorted(good))]
        else:
            files[name] = changed(files[name], chance)
        logs.append(files)
    asked = [{name: base64.b64encode(data).decode() for name, data in files.items()} for files in logs]
    body = f"""{PRELUDE}
    const found = [];
    for (const given of input) {{
      const files = new Map(Object.entries(given).map(([name, text]) => [name, bytes(text)]));
      found.push(await told(async () => (await ragassay.tiles.readLog(files)).entries.map(ragassay.bytes.sha256Hex)));
    }}
    return found;
    """
    ours = [told(lambda files=files: [canon.sha256(entry) for entry in read_log(files).entries]) for files in logs]  # type: ignore[misc]
    assert call(body, asked) == ours
    assert {one for one in ours if isinstance(one, str)} == {"LOG_FORK", "LOG_INCLUSION"}


# --- registries and statements --------------------------------------------------------------------------------------


def reworked(data: bytes, chance: random.Random, signer: Signer) -> bytes:
    """Return a signed document with one member of its payload changed, signed again as its publisher could."""
    envelope = dsse.decode_envelope(data)
    value = canon.load_strict(dsse.decode_base64(envelope.payload), max_bytes=1 << 20)
    for _ in range(chance.choice([1, 1, 2])):
        _change_somewhere(value, chance)
    return sign_payload(canon.canonical(value), signer, envelope.payload_type)


def _change_somewhere(value: Any, chance: random.Random) -> None:
    places = list(_places(value))
    holder, name = chance.choice(places)
    others: list[Any] = [
        0,
        1,
        -1,
        2,
        1000,
        None,
        True,
        "",
        "x",
        [],
        {},
        "0" * 64,
        "f" * 32,
        OTHER.kid,
        ROOT_SIGNER.kid,
        "active",
    ]
    others += [other[key] for other, key in chance.sample(places, 2)]
    if chance.random() < 0.15 and isinstance(holder, dict):
        del holder[name]
    elif chance.random() < 0.2 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[name]))
    else:
        holder[name] = copy.deepcopy(chance.choice(others))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in inside:
        yield value, name
        yield from _places(member)


def test_changed_registries(call: engine.Call) -> None:
    """Changed bytes, and changed members under a good signature: the same registry and vouchers, or the same code."""
    chance = random.Random(16)
    records = (
        key_record(),
        key_record(OTHER, status="deprecated", end=2_000_000_000),
        key_record(public_signer("gone"), status="revoked", invalid_since=1_700_000_000),
    )
    good = [registry_of(*records), rotated_registry(*records)]
    signers = [ROOT_SIGNER, public_signer("root-2")]
    samples = [*good, *(changed(good[n % 2], chance) for n in range(300))]
    samples += [reworked(good[n % 2], chance, signers[n % 2]) for n in range(1500)]
    roots = [ROOT_SIGNER.kid, signers[1].kid, OTHER.kid]
    times = [None, 1_600_000_000, 1_790_000_000, 1_900_000_000, 2_100_000_000]

    def ours(data: bytes) -> Any:
        signed = decode_registry(data)
        vouched = [signed.vouched_by(root) for root in roots]
        states = [status_at(record, time) for record, time in itertools.product(signed.registry.keys, times)]
        return [to_json(signed.registry), vouched, states]

    body = f"""await told(async () => {{
      const signed = await ragassay.registry.decodeRegistry(bytes(text));
      const vouched = [];
      for (const root of {roots}) vouched.push(await signed.vouchedBy(root));
      const times = {str(times).replace("None", "null")};
      const states = signed.registry.keys.flatMap((key) => times.map((time) => ragassay.registry.statusAt(key, time)));
      return [signed.registry, vouched, states];
    }})"""
    said = agree(call, body, samples, ours)
    assert said >= {"read", "ENVELOPE_MALFORMED", "ENVELOPE_NOT_CANONICAL", "SIGNATURE_INVALID"}


def _statements(story: Story) -> tuple[bytes, bytes]:
    """Return an announcement and the voiding that ends a story's log."""
    bundle = tell(story, with_log=True)
    assert bundle.log is not None
    return bundle.files[INTENT], read_log(bundle.log).entries[-1]


@pytest.mark.parametrize("after", [void_pass(2), void_run()], ids=["pass", "run"])
def test_changed_announcements_and_voidings(call: engine.Call, after: Any) -> None:
    """Changed bytes or members, each read under its own rules and under the other's: one reading, or one code."""
    chance = random.Random(17)
    good = _statements(Story(after=after))
    samples = [*good, *(changed(good[n % 2], chance) for n in range(300))]
    samples += [reworked(good[n % 2], chance, OURS) for n in range(1500)]
    samples += [sign_payload(b"{}", OURS, kind) for kind in (REGISTRY_TYPE, "application/vnd.in-toto+json")]

    def ours(data: bytes) -> Any:
        return [told(lambda: _said(decode_intent(data))), told(lambda: _said(decode_void(data)))]

    body = """[
      await told(() => readStatement(ragassay.announce.decodeIntent(bytes(text)))),
      await told(() => readStatement(ragassay.announce.decodeVoid(bytes(text)))),
    ]"""
    reader = f"""
    const ours = ragassay.keys.decodeX("{OURS.public.jwk().decode().split('"x":"')[1].split('"')[0]}");
    const readStatement = async (read) => [read.predicate, read.digest, await read.signedBy(ours)];
    """
    theirs = call(
        f"{PRELUDE}{reader} const found = []; for (const text of input) found.push({body}); return found;",
        encoded(samples),
    )
    said = [ours(sample) for sample in samples]
    for sample, our, their in zip(samples, said, theirs, strict=True):
        assert their == our, sample
    codes = {code for pair in said for code in pair if isinstance(code, str)}
    assert codes >= {"TYPE_UNKNOWN", "ENVELOPE_MALFORMED", "ENVELOPE_NOT_CANONICAL"}
    assert any(not isinstance(pair[0], str) for pair in said)
    assert any(not isinstance(pair[1], str) for pair in said)


def _said(read: SignedIntent | SignedVoid) -> Any:
    return [to_json(read.predicate), read.digest, read.signed_by(OURS.x)]
