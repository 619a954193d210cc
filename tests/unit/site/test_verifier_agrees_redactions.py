"""Both verifiers say the same of runs with texts withheld: honest, random, changed on their way, and lied about."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import verifier_engine as engine
from test_verifier_agrees import assert_agree, mutated

from ragassay.manifest.files import BESIDE, OUTPUTS, REDACTION, TELEMETRY
from ragassay.manifest.redaction import Withholding
from ragassay.manifest.withheld_texts import texts_of
from ragassay.testing.bundles import POLICIES
from ragassay.testing.fills import UNSEEN_FILLS
from ragassay.testing.logged_run import OTHER, OURS, Bundle, Change, MemoryLog, Story, planned_id, tell
from ragassay.testing.redacted_run import Redacting, Rows, redact
from ragassay.testing.redactions import every_field
from ragassay.testing.signed_run import signed_run

RUN = signed_run(run_id=planned_id(1), items=5, failed=[2])
REASONS = ["a name", "licensed", "\u2028🙂", "x" * 2000, "é\u0301"]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


def _texts() -> list[tuple[str, str, int]]:
    files = tell(Story(), RUN).files
    rows = [json.loads(line) for name in (OUTPUTS, TELEMETRY) for line in files[name].splitlines()]
    return [
        (row["id"], field, len(holder[member] or ""))
        for row in rows
        for field, (holder, member) in texts_of(row).items()
    ]


TEXTS = _texts()


def some(chance: random.Random) -> list[Withholding]:
    """Return a random choice of texts, whole or in part, for random reasons."""
    found = []
    for name, field, length in chance.sample(TEXTS, chance.randint(1, 8)):
        start = chance.randrange(length) if length else 0
        spans = ((start, chance.randint(start + 1, length)),) if length and chance.random() < 0.5 else None
        found.append(Withholding(id=name, field=field, reason=chance.choice(REASONS), spans=spans))
    return found


def test_random_redactions(call: engine.Call) -> None:
    """Any choice of texts, under every policy, with the whole log and without."""
    chance, asked = random.Random(21), {}
    for at in range(200):
        signer = OURS if chance.random() < 0.8 else OTHER
        redacting = Redacting(run=RUN, withhold=some(chance), signer=signer, logged=chance.random() < 0.9)
        asked[str(at)] = (redact(redacting, with_log=chance.random() < 0.5), [*POLICIES.values()][at % len(POLICIES)])
    assert_agree(call, asked)


def _lie(chance: random.Random) -> Any:
    """Return a change of one random member of one random row."""

    def change(rows: Rows) -> None:
        holder: Any = chance.choice(rows)
        while True:
            key = chance.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
            if not isinstance(holder[key], dict | list) or not holder[key] or chance.random() < 0.2:
                break
            holder = holder[key]
        if chance.random() < 0.2:
            del holder[key]
        else:
            holder[key] = chance.choice([None, 0, -1, 7, "", "[withheld]", "a [redacted] b", "0" * 64, [], {}, True])

    return change


def test_random_lies(call: engine.Call) -> None:
    """Six hundred changes of rows, telemetry, list or statement, each signed and logged as if it were true."""
    chance, asked = random.Random(22), {}
    for at in range(600):
        what = chance.choice(["rows", "telemetry", "entries", "claim"])
        change = _lie(chance)
        changes: dict[str, Any] = {what: (lambda said, change=change: change([said])) if what == "claim" else change}
        try:
            bundle = redact(Redacting(**changes), with_log=at % 3 == 0)
        except (TypeError, AttributeError, KeyError):
            continue  # what was changed can no longer be counted by who signs
        asked[f"{at} {what}"] = (bundle, [*POLICIES.values()][at % len(POLICIES)])
    assert len(asked) > 400
    assert_agree(call, asked)


def test_random_mutations(call: engine.Call) -> None:
    """A thousand copies with random changes of bytes get one report, whatever it is."""
    chance, asked = random.Random(23), {}
    bundles = [redact(Redacting(), with_log=True), redact(every_field())]
    for at in range(1000):
        bundle = bundles[at % len(bundles)]
        changed = msgspec.structs.replace(bundle, files=mutated(bundle.files, chance))
        asked[str(at)] = (changed, [*POLICIES.values()][at // 2 % len(POLICIES)])
    assert_agree(call, asked)


def test_logs_that_hold_redactions(call: engine.Call) -> None:
    """In any order, of runs that are there or not, repeated, by one key or by two, with the whole run or the copy."""
    chance, asked = random.Random(24), {}
    honest = redact(Redacting())
    whole = tell(Story()).files
    for at in range(150):
        signer = chance.choice([OURS, OTHER])
        redacting = Redacting(signer=signer, withhold=some(chance), run=RUN)
        strangers = [redact(redacting).files[REDACTION] for _ in range(chance.randrange(3))]
        lies = [redact(Redacting(claim=_lie_of(chance))).files[REDACTION] for _ in range(chance.randrange(2))]
        log = redact(Redacting(), with_log=True)
        assert log.log is not None
        entries = [*_entries(), *strangers, *lies, honest.files[REDACTION]]
        tail = entries[1:]
        chance.shuffle(tail)
        files = MemoryLog(entries=[entries[0], *tail, *tail[: chance.randrange(2)]]).files()
        shown = honest.files if chance.random() < 0.7 else whole
        asked[str(at)] = (Bundle(files=shown, log=files), [*POLICIES.values()][at % len(POLICIES)])
    assert_agree(call, asked)


def _lie_of(chance: random.Random) -> Any:
    name = chance.choice(["of", "runId", "pass"])
    wrong: dict[str, Any] = {"of": {"sha256": "0" * 64}, "runId": "f" * 32, "pass": {"k": 2, "of": 3}}
    return lambda said: said.update({name: wrong[name]})


def _entries() -> list[bytes]:
    kept: list[bytes] = []
    tell(Story(after=lambda log, _: kept.extend(log.entries)))
    return kept


def _long(name: str, **given: str) -> Redacting:
    def change(rows: Rows) -> None:
        texts = rows[0]["texts"]
        texts.append({**texts[0], **given})
        rows[0]["id"] += name

    return Redacting(entries=change)


def _named(name: str) -> Change:
    return lambda run: run.outputs[0].update(id=name)


def test_words_without_end_are_cut_at_the_same_character(call: engine.Call) -> None:
    """A field, a reason and an id of thousands of characters, some of them pairs of code units; files at their caps."""
    words = ["🙂" * 9_000, "x" + "🙂" * 9_000, "x" * 9_000]
    lies = [_long("", field=word) for word in words] + [_long("", reason=word) for word in words]
    lies += [_long(word) for word in words]
    bundles = [redact(lie) for lie in lies]
    bundles += [tell(Story(change=_named(word))) for word in words]
    whole = tell(Story())
    for name, most in BESIDE.items():
        for size in (most, most + 1):
            bundles.append(msgspec.structs.replace(whole, files={**whole.files, name: b" " * size}))
    assert_agree(call, {str(at): (bundle, POLICIES["none"]) for at, bundle in enumerate(bundles)})


def test_fills_that_no_bundle_shows(call: engine.Call) -> None:
    """The browser sees no more than Python does."""
    assert_agree(call, {name: (build(), POLICIES["key, log and witness"]) for name, build in UNSEEN_FILLS.items()})
