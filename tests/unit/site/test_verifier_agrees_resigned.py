"""Both verifiers give one report on what a dishonest publisher signs at random, and take the same policies."""

from __future__ import annotations

import base64
import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import pytest
import verifier_engine as engine

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import sign_payload
from ragassay.manifest.files import MAX_COMMAS, MAX_ROW_BYTES, MAX_TOTAL_BYTES, OUTPUTS, REGISTRY
from ragassay.manifest.note import NoteKey
from ragassay.manifest.registry import REGISTRY_TYPE
from ragassay.manifest.sign import WEAK_KEYS
from ragassay.manifest.statement import IntentPredicate
from ragassay.manifest.tiles import read_log
from ragassay.records import Profile, to_json
from ragassay.testing.bundles import POLICIES, key_record, registry_of
from ragassay.testing.logged_run import (
    ANNOUNCED_AT,
    CREATED,
    KEY_POLICY,
    LOG_KEY,
    LOG_SIGNER,
    NOW,
    OTHER,
    OURS,
    ROOT_POLICY,
    ROOT_SIGNER,
    SEEN_AT,
    WITNESS_KEY,
    WITNESS_SIGNER,
    Bundle,
    MemoryLog,
    Story,
    planned_id,
    tell,
    void_pass,
    void_run,
)
from ragassay.testing.republished_run import republished_files, resealed
from ragassay.testing.signed_run import STARTED, OpenedRun, open_run, seal_run, signed_run
from ragassay.verify import Unpinned, load_policy, verify, write_policy

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 100, 2**53 - 1, "", "a", "\x1b[31m", "\u202e", "<img onerror=alert(1)>", "é"),
    *(" ", "ok", "failed", "off", "empty", "0" * 64, [], {}, [1], {"a": 1}, "1.0", "-0", "Infinity", "republished"),
)
TIMES = (None, 1, ANNOUNCED_AT, STARTED, STARTED + 1, STARTED - 299, SEEN_AT, NOW + 300, NOW + 301, 9_000_000_000)
TWO_KEYS = write_policy(keys=[OURS.public, OTHER.public], roots=[ROOT_SIGNER.kid], log=LOG_KEY, witnesses=[WITNESS_KEY])
TRUSTED = (*POLICIES.values(), KEY_POLICY, ROOT_POLICY, TWO_KEYS, TWO_KEYS)


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every member of a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*path, name)
        yield from places(member, (*path, name))


def change(value: Any, chance: random.Random) -> None:
    """Change one member somewhere in a JSON value."""
    ways = list(places(value))
    if not ways:
        return
    *way, name = chance.choice(ways)
    at = value
    for step in way:
        at = at[step]
    old, how = at[name], chance.randrange(8)
    if how == 0:
        del at[name]
    elif how == 1 and isinstance(old, list):
        chance.shuffle(old)
    elif how == 2 and type(old) is int:
        at[name] = old + chance.choice([-1, 1, 100, 2**31])
    elif how == 3 and isinstance(old, str):
        at[name] = old[: chance.randrange(len(old) + 1)] + chance.choice(["", " ", "\n", "é", "0", "\u202e", old])
    elif how == 4 and isinstance(at, dict):
        at[chance.choice(["extra", "__proto__", "fill", "page", "score"])] = copy.deepcopy(chance.choice(ODD))
    elif how == 5 and isinstance(at, list):
        at.insert(0, copy.deepcopy(old))
    else:
        at[name] = copy.deepcopy(chance.choice(ODD))


def changer(chance: random.Random) -> Callable[[OpenedRun], None]:
    """Return a change of one part of a run."""

    def apply(run: OpenedRun) -> None:
        parts: Sequence[Any] = (run.outputs, run.outputs, run.telemetry, run.config, run.benchmark, run.statement)
        change(chance.choice(parts), chance)

    return apply


def registry(chance: random.Random) -> bytes:
    """Return a registry, honest in its form or changed at random and signed again."""
    record = chance.choice(
        [
            key_record(),
            key_record(OTHER),
            key_record(status="deprecated", end=SEEN_AT - chance.randrange(2)),
            key_record(status="revoked", invalid_since=SEEN_AT + chance.randrange(2)),
        ]
    )
    data = registry_of(record, version=chance.choice([1, 2]), expires=NOW + chance.choice([-1, 0, 1]))
    if chance.random() < 0.5:
        return data
    value = json.loads(base64.b64decode(json.loads(data)["payload"]))
    change(value, chance)
    return sign_payload(canon.canonical(value), ROOT_SIGNER, REGISTRY_TYPE)


def told(chance: random.Random) -> Bundle:
    """Return what a dishonest publisher signs and logs; raises where it cannot even be written."""

    def often(share: float, value: Any, otherwise: Any = None) -> Any:
        return value if chance.random() < share else otherwise

    def announce(intent: IntentPredicate) -> IntentPredicate:
        members = to_json(intent)
        change(members, chance)
        return msgspec.convert(members, IntentPredicate)

    def repeat(log: MemoryLog, manifest: bytes) -> None:
        log.append(chance.choice([b"no statement", manifest, log.entries[0]]))

    story = Story(
        change=often(0.5, changer(chance)),
        claim=often(0.2, changer(chance)),
        announce=often(0.2, announce),
        announced_at=often(0.3, chance.choice(TIMES), ANNOUNCED_AT),
        seen_at=often(0.3, chance.choice(TIMES), SEEN_AT),
        created=often(0.1, STARTED + 1, CREATED),
        others=chance.choice([(2, 3), (2, 3), (2,), (), (2, 2, 3)]),
        announced_last=chance.random() < 0.05,
        rehearsed=chance.random() < 0.05,
        announcer=often(0.2, OTHER),
        witness=often(0.1, OTHER, WITNESS_SIGNER),
        log_signer=often(0.1, OTHER, LOG_SIGNER),
        after=chance.choice([None, None, None, void_pass(1), void_pass(3), void_run(), void_run(OTHER), repeat]),
    )
    profile: Profile = chance.choice(["factual-consistency/1", "factual-consistency/2", "factual-consistency/2"])
    failed = chance.choice([(), (), (1,)])
    run = signed_run(run_id=planned_id(1), profile=profile, failed=failed)
    bundle = tell(story, run, with_log=chance.random() < 0.5)
    files = {**bundle.files, **({REGISTRY: registry(chance)} if chance.random() < 0.4 else {})}
    return msgspec.structs.replace(bundle, files=files, now=chance.choice([NOW, NOW, NOW, 0, STARTED - 299]))


def taken_over(chance: random.Random) -> Bundle:
    """Return scores that were taken over, of which the publisher says something else."""
    base = republished_files(scores=chance.choice([("1", "0.5", "0.25", "0", "0.83"), ("1", None, "0.25", "0", "1")]))
    return Bundle(files=resealed(base, rows=lambda rows: change(rows, chance), claim=lambda said: change(said, chance)))


def in_python(bundle: Bundle, policy: bytes | None) -> dict[str, Any]:
    """Return what the verifier in Python says."""
    problems, log = [], None
    try:
        log = read_log(bundle.log) if bundle.log is not None else None
    except VerifyError as error:
        problems.append(error)
    trusted = load_policy(policy) if policy else Unpinned()
    return engine.comparable(to_json(verify(bundle.files, policy=trusted, now=bundle.now, log=log, problems=problems)))


def test_random_lies_signed_and_logged(call: engine.Call) -> None:
    """Eight hundred bundles get one report, under one key or two, a root, or nothing."""
    chance = random.Random(20_261_130)
    asked: list[tuple[Bundle, bytes | None]] = []
    while len(asked) < 800:
        make = taken_over if chance.random() < 0.1 else told
        with suppress(ValueError, TypeError, KeyError, IndexError, AttributeError, InputError, msgspec.ValidationError):
            asked.append((make(chance), chance.choice(TRUSTED)))
    theirs = call(engine.VERIFY, [engine.ask(b.files, now=b.now, policy=p, log=b.log) for b, p in asked])
    accepted = 0
    for (bundle, policy), their in zip(asked, theirs, strict=True):
        ours = in_python(bundle, policy)
        assert engine.comparable(their) == ours
        accepted += all(severity == "warn" for _, severity, _ in ours["findings"])
    assert accepted > 40


def costly() -> dict[str, tuple[dict[str, bytes], str]]:
    """Return runs that would cost too much to check, with the code that refuses each."""
    run = open_run(signed_run())
    row = run.outputs[0]
    run.outputs[0] = {**row, "answer": "a" * (MAX_ROW_BYTES - 20_000)}
    for claim in run.outputs[0]["claims"]:
        claim.update(quote="a" * 5000 + "b", verdict="SUPPORTS")
    files = {"quotes": (seal_run(run, OURS), "BUNDLE_TOO_LARGE")}
    run.outputs[0] = {**row, "answer": "a" * MAX_ROW_BYTES}
    files["row"] = (seal_run(run, OURS), "ROW_MALFORMED")
    honest = signed_run()
    files["values"] = ({**honest, OUTPUTS: b"," * (MAX_COMMAS + 1)}, "BUNDLE_TOO_LARGE")
    return files


@pytest.mark.parametrize("name", ["quotes", "row", "values"])
def test_what_would_cost_too_much(call: engine.Call, name: str) -> None:
    """Both refuse it by one code, before they pay for it."""
    files, code = costly()[name]
    bundle = Bundle(files=files)
    (their,) = call(engine.VERIFY, [engine.ask(files, now=NOW, policy=KEY_POLICY)])
    assert engine.comparable(their) == in_python(bundle, KEY_POLICY)
    assert code in [finding["code"] for finding in their["findings"]]


def test_files_that_are_too_large_together() -> None:
    """The whole is refused before any of it is read."""
    files = {**signed_run(), OUTPUTS: bytes(MAX_TOTAL_BYTES)}
    report = verify(files, policy=Unpinned(), now=NOW)
    assert report.codes == {"BUNDLE_TOO_LARGE"}
    assert report.run_id is None


NAMES = ("a", "a b", "a+b", "é", "\u0378", "\U00031350", "\ua7dc", "\u202e", "x" * 200, "x" * 201, "\ufeff", "")
KEYS = (OURS.x, LOG_SIGNER.x, WITNESS_SIGNER.x, *sorted(WEAK_KEYS)[:2], b"\xff" * 32)
AROUND = ("", "", "", " ", "\n", "\x1c", "\x85", "\ufeff", "\u2003")


def policy_like(chance: random.Random) -> bytes:
    """Return a policy that is nearly one, or sometimes really."""

    def key(usual: NoteKey) -> str:
        if chance.random() < 0.5:
            return usual.vkey()
        written = NoteKey(chance.choice(NAMES), chance.choice(["log", "witness"]), chance.choice(KEYS)).vkey()
        return chance.choice(AROUND) + written + chance.choice(AROUND)

    value = json.loads(chance.choice([KEY_POLICY, ROOT_POLICY]))
    value["log"] = key(LOG_KEY)
    quorum = chance.choice([1, 1, 1, 0, 2, -1, True, None])
    value["witnesses"] = {"quorum": quorum, "keys": [key(WITNESS_KEY) for _ in range(chance.choice([1, 1, 0, 2]))]}
    if chance.random() < 0.3:
        change(value, chance)
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return data.replace(b'"log"', b'"log": "x", "log"') if chance.random() < 0.1 else data


def test_random_policies(call: engine.Call) -> None:
    """Policies are taken by both or refused by both: names, weak keys, own witnesses, quorums, members twice."""
    chance = random.Random(7)
    policies = [policy_like(chance) for _ in range(1000)]
    same = json.dumps({**json.loads(KEY_POLICY), "log": NoteKey("a", "log", WITNESS_KEY.x).vkey()}).encode()
    policies.append(same)
    body = """
    return input.map((text) => {
      try {
        return Boolean(ragassay.policyFile.loadPolicy(ragassay.bytes.decodeBase64(text)));
      } catch (error) {
        if (!(error instanceof ragassay.errors.InputError)) throw error;
        return false;
      }
    });
    """
    ours = []
    for policy in policies:
        try:
            ours.append(bool(load_policy(policy)))
        except InputError:
            ours.append(False)
    assert call(body, [engine.base64_of(policy) for policy in policies]) == ours
    assert sum(ours) > 30
    assert not ours[-1]
