"""The parts of the browser verifier against those of Python, on inputs that nobody chose by hand."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import random
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import verifier_engine as engine

from ragassay import canon, fold
from ragassay.errors import InputError, VerifyError
from ragassay.manifest.decode import decode_benchmark
from ragassay.manifest.foreign import Unreadable, read_foreign
from ragassay.manifest.sign import parse_public_key
from ragassay.records import to_json
from ragassay.site.verifier_data import SHAPED
from ragassay.testing.logged_run import KEY_POLICY, ROOT_POLICY, Story, tell
from ragassay.testing.signed_run import open_run, public_signer, signed_run
from ragassay.verify import load_policy

PIECES = (
    *("{", "}", "[", "]", ",", ":", '"', "\\", " ", "\n", "\t", "null", "true", "false", "0", "1", "-", "-0", ".", "e"),
    *("1.0", "1e2", "9007199254740991", "9007199254740992", "-9007199254740991", "NaN", '"a"', '"b"', '"a":1', '"b":2'),
    *(
        '"\\u0061"',
        '"\\ud83d"',
        '"\\ud83d\\ude00"',
        '"\\n"',
        '"\\u000a"',
        '"\\/"',
        '"\u00e9"',
        '"\ufb33"',
        '"\U0001f600"',
    ),
    *("{}", "[]", '{"a":1}', '{"a":1,"b":2}', '{"b":1,"a":2}', "[1,2]", "\ufeff", "\u2028", "\x00", "01", "'a'", "//"),
)
ORNULL = """
const { decodeBase64, base64, hex } = ragassay.bytes;
const orNull = (read) => {
  try {
    return read();
  } catch (error) {
    const { NotCanonical, InputError, VerifyError } = ragassay.errors;
    if ([NotCanonical, InputError, VerifyError].some((kind) => error instanceof kind)) return null;
    throw error;
  }
};
"""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


def unless(error: type[Exception], read: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Return what `read` returns of what is given, or None where it raises `error`."""
    try:
        return read(*given, **named)
    except error:
        return None


def random_value(chance: random.Random, depth: int = 3) -> Any:
    """Return a random JSON value."""
    kind = chance.randrange(9 if depth else 6)
    if kind < 6:
        wide = chance.choice([0, 1, -1, 7, 2**53 - 1, -(2**53) + 1])
        return [None, True, False, wide, chance.choice(["", "a", "\n", "é", "\U0001f600", '"\\']), wide][kind]
    if kind == 6:
        return [random_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    names = ["a", "b", "aa", "", "é", "\ufb33", "\U0001f600", "__proto__", "1", "10"]
    return {chance.choice(names): random_value(chance, depth - 1) for _ in range(chance.randrange(4))}


def json_like(chance: random.Random) -> bytes:
    """Return bytes that are nearly, or sometimes really, JSON."""
    if chance.random() < 0.4:
        return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 8))).encode("utf-8")
    value = random_value(chance)
    text = canon.canonical(value) if chance.random() < 0.6 else json.dumps(value).encode()
    data = bytearray(text)
    for _ in range(chance.randrange(3)):
        at = chance.randrange(len(data) + 1)
        piece = chance.choice(PIECES).encode() if chance.random() < 0.7 else bytes([chance.randrange(256)])
        data[at : at + chance.randrange(3)] = piece
    return bytes(data)


def written(load: Callable[..., Any], document: bytes) -> bytes:
    """Return the canonical bytes of what a document says."""
    return canon.canonical(load(document, max_bytes=65_536))


def test_two_thousand_documents(call: engine.Call) -> None:
    """Random JSON, nearly JSON and no JSON: accepted by both with one canonical writing, or refused by both."""
    chance = random.Random(1)
    documents = [json_like(chance) for _ in range(2000)]
    body = f"""{ORNULL}
    const {{ canonical, loadStrict, loadCanonical }} = ragassay.strict;
    return input.map((text) => [loadStrict, loadCanonical].map((load) => {{
      const found = orNull(() => canonical(load(decodeBase64(text), 65536)));
      return found && base64(found);
    }}));
    """
    theirs = call(body, [engine.base64_of(document) for document in documents])
    accepted, loaders = 0, (canon.load_strict, canon.load_canonical)
    for document, their in zip(documents, theirs, strict=True):
        ours = [unless(canon.NotCanonical, written, load, document) for load in loaders]
        assert their == [found and engine.base64_of(found) for found in ours], document
        accepted += ours[0] is not None
    assert 400 < accepted < 1600


def test_every_character(call: engine.Call) -> None:
    """Case folding, white space and digits are Python's for every character that Unicode 14 has."""
    body = """
    const found = [];
    for (let point = 0; point < 0x110000; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const char = String.fromCodePoint(point);
      const { caseFolded, isSpace, digitOf } = ragassay.characters;
      const [folded, space, digit] = [caseFolded(char), isSpace(char), digitOf(char)];
      if (folded !== char || space || digit !== null) found.push([point, folded, space, digit]);
    }
    return found;
    """
    theirs = {point: (folded, space, digit) for point, folded, space, digit in call(body, None)}
    newer = unicodedata.unidata_version != "14.0.0"
    for point in range(0x110000):
        char = chr(point)
        if 0xD800 <= point < 0xE000:
            continue
        digit = unicodedata.decimal(char, None)
        ours = (char.casefold(), char.isspace(), None if digit is None else str(digit))
        known = theirs.get(point, (char, False, None))
        assert known == ours or (newer and point not in theirs), hex(point)


def test_folded_texts(call: engine.Call) -> None:
    """A folded text is Python's folded text, and a stripped one Python's stripped one."""
    chance = random.Random(2)
    letters = "aAßẞſ ıİ  \t\n\u00a0\u1680\u2028\u3000\ufeff\u200bΣςσﬃ\U00010400\U0001e922\x1c\x85é"
    texts = ["".join(chance.choice(letters) for _ in range(chance.randrange(12))) for _ in range(500)]
    body = "const { fold, strip } = ragassay.fold; return input.map((text) => [fold(text), strip(text)]);"
    assert call(body, texts) == [[fold.fold(text, fold.QUOTE).text, text.strip()] for text in texts]


def test_hashes(call: engine.Call) -> None:
    """SHA-256 of every length up to three blocks, whole and in pieces, and of a megabyte."""
    chance = random.Random(3)
    texts = [chance.randbytes(length) for length in [*range(200), 1 << 20]]
    body = f"""{ORNULL}
    return input.map((text) => {{
      const data = decodeBase64(text);
      const pieces = new ragassay.Sha256();
      for (let at = 0, step = 1; at < data.length; at += step, step = (step * 7) % 61 + 1) {{
        pieces.update(data.subarray(at, at + step));
      }}
      return [ragassay.bytes.sha256Hex(data), hex(pieces.digest())];
    }});
    """
    theirs = call(body, [engine.base64_of(text) for text in texts])
    assert theirs == [[hashlib.sha256(text).hexdigest()] * 2 for text in texts]


def changed_value(value: Any, chance: random.Random) -> Any:
    """Return a copy of a JSON value with one member somewhere replaced, dropped or added."""
    value = json.loads(json.dumps(value))
    at = value
    while True:
        members = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not members:
            return value
        name = chance.choice(members)
        if isinstance(at[name], dict | list) and at[name] and chance.random() < 0.8:
            at = at[name]
            continue
        how = chance.randrange(4)
        if how == 0:
            del at[name]
        elif how == 1 and isinstance(at, dict):
            at[chance.choice(["extra", "", "__proto__", "constructor"])] = random_value(chance, 1)
        else:
            at[name] = random_value(chance, 2)
        return value


def samples() -> dict[str, list[Any]]:
    """Return values of the records that the browser reads, by name."""
    bundle = tell(Story())
    run = open_run(signed_run(failed=[1]))
    envelopes = [json.loads(bundle.files[name]) for name in ("run.dsse.json", "intent.dsse.json")]
    intent = json.loads(base64.b64decode(envelopes[1]["payload"]))
    bare = [{"id": "q"}, {"id": "q", "answeredAt": 5}]
    return {
        "Statement": [run.statement],
        "IntentStatement": [intent],
        "OutputRow": run.outputs,
        "TelemetryRow": [*run.telemetry, *bare],
        "Config": [run.config],
        "Benchmark": [run.benchmark, {"name": "n", "samples": []}],
        "Envelope": envelopes,
        "PolicyFile": [json.loads(KEY_POLICY), json.loads(ROOT_POLICY), {}],
    }


def test_shapes_of_records(call: engine.Call) -> None:
    """A value is taken as a record by both, with the same members and defaults, or by neither."""
    chance = random.Random(4)
    asked = [(name, value) for name, values in samples().items() for value in values]
    asked += [(name, changed_value(value, chance)) for name, value in asked for _ in range(150)]
    body = f"""{ORNULL}
    return input.map(([name, value]) => orNull(() => ragassay.shapes.convert(value, name)));
    """
    taken = 0
    for (name, value), their in zip(asked, call(body, asked), strict=True):
        kind = SHAPED[name]
        ours = unless(msgspec.ValidationError, msgspec.convert, value, kind)
        assert their == json.loads(json.dumps(to_json(ours))), (name, value)
        taken += ours is not None
    assert 0.1 * len(asked) < taken < 0.9 * len(asked)


def test_question_sets_at_their_limits(call: engine.Call) -> None:
    """Depth and order of keys in the free-form part of a question set are refused or taken by both."""

    def deep(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = [value]
        return value

    corpora = [
        {},
        {"a": deep(61)}, {"a": deep(62)}, {"a": deep(63)}, {"a": deep(64)}, {"a": deep(65)},
        {"\ufb33": 1, "\U0001f600": 2},
        {"\ufb33": 1, "\U0001f600": deep(61)}, {"\ufb33": 1, "\U0001f600": deep(62)},
        {"\ufb33": 1, "\U0001f600": deep(63)},
        {"a": "x" * (4 << 20)}, {"a": deep(63), "b": "x" * (4 << 20)}, {"a": deep(62), "b": "x" * (4 << 20)},
        {"a": "x" * (9 << 20)},
    ]  # fmt: skip
    base = open_run(signed_run(items=1)).benchmark
    files = [canon.canonical({**base, "corpus": corpus}) for corpus in corpora]
    files += [b'{"a":1.5}', json.dumps(base).encode(), canon.canonical({**base, "corpus": []})]
    body = f"{ORNULL} return input.map((t) => orNull(() => ragassay.decode.decodeBenchmark(decodeBase64(t))) !== null);"
    theirs = call(body, [engine.base64_of(file) for file in files])
    assert theirs == [unless(VerifyError, decode_benchmark, file) is not None for file in files]
    assert True in theirs
    assert False in theirs


def csv_like(chance: random.Random) -> str:
    """Return text that is nearly CSV."""
    pieces = ["a", "b", ",", ",", '"', '""', "\n", "\r\n", "\r", " ", "id", "input", "é", '"x"', '"x,y"', '"x\ny"']
    return "".join(chance.choice(pieces) for _ in range(chance.randrange(14)))


def test_comma_separated_values(call: engine.Call) -> None:
    """A text has the same cells as for Python's strict reader, or none."""
    chance = random.Random(5)
    texts = [csv_like(chance) for _ in range(1500)]
    texts += ["x" * 131_072, "x" * 131_073, '"' + "\U0001f600" * 131_072 + '"', '"' + "x" * 131_073 + '"']

    def rows(text: str) -> list[list[str]]:
        return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]

    theirs = call(f"{ORNULL} return input.map((text) => orNull(() => ragassay.csv.parseCsv(text)));", texts)
    for text, their in zip(texts, theirs, strict=True):
        assert their == unless(csv.Error, rows, text), text[:200]


def foreign_sets(chance: random.Random) -> Iterator[bytes]:
    """Yield question sets of other people, whole and broken."""
    items = [
        {"id": "1", "input": "Q1?", "target": "A"},
        {"id": "2", "input": "Q2?"},
        {"id": "3", "input": "é", "x": 1.5},
    ]
    wholes = [
        json.dumps({"samples": items, "scorerKey": "s"}),
        json.dumps({"samples": items}, indent=1),
        "\n".join(map(json.dumps, items)) + "\n\n",
        'id,input,target\n1,Q1?,A\n2,"Q,2?",\n',
        "\ufeffinput, id \r\nQ1?,1\r\nQ2?,2\r\n,\r\n",
    ]
    for levels in (496, 497, 498, 499):
        item = '{"id":"1","input":"q","x":' + "[" * levels + "]" * levels + "}"
        wholes += [item, f'{{"samples":[{item}]}}', f"id,input\n1,{'[' * 600}\n"]
    for whole in wholes:
        yield whole.encode()
        for _ in range(150):
            data = bytearray(whole.encode())
            for _ in range(chance.randint(1, 2)):
                at = chance.randrange(len(data) + 1)
                data[at : at + chance.randrange(4)] = chance.choice(PIECES).encode()
            yield bytes(data)


def test_foreign_question_sets(call: engine.Call) -> None:
    """The items of a foreign set are those that Python reads, or cannot be read in either."""
    asked = list(foreign_sets(random.Random(6)))
    body = f"""{ORNULL}
    return input.map((text) => {{
      const items = orNull(() => ragassay.foreign.readForeign(decodeBase64(text)));
      return items && items.map(({{ id, input: question, target }}) => [id, question, target]);
    }});
    """
    theirs = call(body, [engine.base64_of(data) for data in asked])
    for data, their in zip(asked, theirs, strict=True):
        read = unless(Unreadable, read_foreign, data)
        assert their == (read and [[item.id, item.input, item.target or ""] for item in read.items]), data


def test_policies_and_keys(call: engine.Call) -> None:
    """A policy file or a public key that one refuses, the other refuses."""
    chance = random.Random(7)
    policies = [KEY_POLICY, ROOT_POLICY, b"{}", b"[]", b""]
    for source in (KEY_POLICY, ROOT_POLICY):
        policies += [canon.canonical(changed_value(json.loads(source), chance)) for _ in range(300)]
    named = json.loads(KEY_POLICY)
    for kind in ("run", "log", "root", "witness", "other", None, 1):
        policies.append(canon.canonical({**named, "keys": [{**named["keys"][0], "kind": kind}]}))
    keys = [public_signer().public.jwk()]
    keys += [canon.canonical(changed_value(json.loads(keys[0]), chance)) for _ in range(100)]
    body = f"""{ORNULL}
    const {{ loadPolicy }} = ragassay.policyFile;
    const {{ parsePublicKey }} = ragassay.keys;
    return [
      input[0].map((text) => orNull(() => loadPolicy(decodeBase64(text))) !== null),
      input[1].map((text) => orNull(() => parsePublicKey(decodeBase64(text), "the key").kid)),
    ];
    """
    theirs = call(body, [[engine.base64_of(data) for data in given] for given in (policies, keys)])
    ours = [
        [unless(InputError, load_policy, data) is not None for data in policies],
        [key and key.kid for key in (unless(InputError, parse_public_key, data, name="the key") for data in keys)],
    ]
    for given, their, our in zip((policies, keys), theirs, ours, strict=True):
        assert [(data, found) for data, found in zip(given, their, strict=True)] == list(zip(given, our, strict=True))
