"""The vectors that every verifier of runs must hold, in Python and in the script of the browser."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pytest

from ragassay import canon, fold
from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.sign import check_signature, decode_x, is_weak, thumbprint
from ragassay.records import ClaimVerdict, Verdict, to_json
from ragassay.score import item_hundredths, run_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import verifier_engine as engine

FOLDER = Path(__file__).resolve().parent

MAX_BYTES, MAX_DEPTH = 65_536, 64


def vectors(name: str) -> Any:
    """Return the document of a vector file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


STRICT = """
const { decodeBase64, base64, equal } = ragassay.bytes;
const { canonical, loadStrict, loadCanonical } = ragassay.strict;
const orNull = (read) => {
  try {
    return read();
  } catch (error) {
    if (error instanceof ragassay.errors.NotCanonical) return null;
    throw error;
  }
};
return input.map((asked) => {
  const data = decodeBase64(asked.bytes);
  const { maxBytes = 65536, maxDepth = 64 } = asked;
  const written = orNull(() => canonical(loadStrict(data, maxBytes, maxDepth)));
  const direct = orNull(() => canonical(loadCanonical(data, maxBytes, maxDepth)));
  return [written && base64(written), direct && base64(direct)];
});
"""


def strictly(data: bytes, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> list[str | None]:
    """Return the canonical bytes of what `data` says, and the same where `data` are those bytes."""
    found: list[str | None] = []
    for load in (canon.load_strict, canon.load_canonical):
        try:
            written = canon.canonical(load(data, max_bytes=max_bytes, max_depth=max_depth))
            found.append(base64.b64encode(written).decode("ascii"))
        except canon.NotCanonical:
            found.append(None)
    return found


def test_strict_bytes(call: engine.Call) -> None:
    """Each case is accepted or refused as its file says, and only canonical bytes pass as canonical."""
    cases = vectors("strict_bytes")["cases"]
    assert len(cases) >= 60
    theirs = call(STRICT, cases)
    for case, their in zip(cases, theirs, strict=True):
        limits = (case.get("maxBytes", MAX_BYTES), case.get("maxDepth", MAX_DEPTH))
        wanted = [case["canonical"], case["canonical"] if case["canonical"] == case["bytes"] else None]
        assert case["accepted"] is (case["canonical"] is not None), case["name"]
        assert strictly(base64.b64decode(case["bytes"]), *limits) == wanted, case["name"]
        assert their == wanted, case["name"]


def test_quotes(call: engine.Call) -> None:
    """A quote stands in an answer up to case and white space, and up to nothing else."""
    cases = vectors("quotes")["cases"]
    body = """
    const { quotesOf } = ragassay.fold;
    return input.map(({ quote, answer }) => quotesOf(answer)(quote));
    """
    for case, their in zip(cases, call(body, cases), strict=True):
        found = fold.quotes_of(case["answer"])(case["quote"])
        assert [found, their] == [case["stands"]] * 2, case["name"]


def verdict_of(case: dict[str, Any]) -> Verdict:
    """Return the verdict of an item vector."""
    return Verdict(
        claims=tuple(
            ClaimVerdict(id=at, text="", central=False, verdict=word, quote="", reason="")
            for at, word in enumerate(case["claims"])
        ),
        central_contradicted=case["centralContradicted"],
        reference_insufficient=case["referenceInsufficient"],
    )


def test_scores(call: engine.Call) -> None:
    """Item scores, run scores and ratios are those of the file, half-up and without a float."""
    cases = vectors("scores")
    body = """
    const { itemHundredths, runScore, ratioString } = ragassay.score;
    const claims = (words) => words.map((verdict) => ({ verdict }));
    return [
      input.items.map((item) => itemHundredths({ ...item, claims: claims(item.claims) })),
      input.runs.map((run) => runScore(run.items)),
      input.ratios.map(({ num, den, places }) => ratioString(num, den, places)),
    ];
    """
    wanted = [
        [case["score"] for case in cases["items"]],
        [case["score"] for case in cases["runs"]],
        [case["decimal"] for case in cases["ratios"]],
    ]
    scores = [run_score(case["items"]) for case in cases["runs"]]
    assert [
        [item_hundredths(verdict_of(case)) for case in cases["items"]],
        [score and to_json(score) for score in scores],
        [canon.ratio_string(case["num"], case["den"], case["places"]) for case in cases["ratios"]],
    ] == wanted
    assert call(body, cases) == wanted


def test_no_run_score_outside_its_range(call: engine.Call) -> None:
    """An item of 101 or -1 hundredths makes no run score."""
    body = (
        "return input.map((items) => { try { return ragassay.score.runScore(items); } catch (e) { return e.name; } });"
    )
    assert call(body, [[101], [-1, 50]]) == ["RangeError", "RangeError"]
    for items in ([101], [-1, 50]):
        with pytest.raises(ValueError, match="0 to 100"):
            run_score(items)


def is_number(text: str) -> bool:
    """Tell whether Python reads a finite decimal number."""
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def test_decimals(call: engine.Call) -> None:
    """What is a number, what is its shortest form, and which of two is more."""
    cases = vectors("decimals")
    body = """
    const { parseDecimal, isShortest, compareDecimals } = ragassay.decimal;
    return [
      input.cases.map(({ text }) => ({ text, number: parseDecimal(text) !== null, shortest: isShortest(text) })),
      input.pairs.map(({ one, other }) => Math.sign(compareDecimals(parseDecimal(one), parseDecimal(other))) + 0),
    ];
    """
    theirs, orders = call(body, cases)
    assert theirs == cases["cases"]
    assert orders == [pair["order"] for pair in cases["pairs"]]
    assert [is_number(case["text"]) for case in cases["cases"]] == [case["number"] for case in cases["cases"]]
    for pair in cases["pairs"]:
        one, other = Decimal(pair["one"]), Decimal(pair["other"])
        assert (one > other) - (one < other) == pair["order"], pair


def read_base64(text: str) -> str:
    """Return how a text is read as base64."""
    try:
        dsse.decode_base64(text)
    except VerifyError as error:
        return {"ENVELOPE_NOT_CANONICAL": "loose", "ENVELOPE_MALFORMED": "none"}[error.code]
    return "canonical"


def test_base64(call: engine.Call) -> None:
    """Base64 that does not re-encode to itself is refused, and told apart from what is none."""
    cases = vectors("base64")["cases"]
    body = """
    const names = { ENVELOPE_NOT_CANONICAL: "loose", ENVELOPE_MALFORMED: "none" };
    const read = (text) => {
      try {
        ragassay.bytes.decodeBase64(text);
        return "canonical";
      } catch (error) {
        return names[error.code];
      }
    };
    return input.map(({ text }) => read(text));
    """
    wanted = [case["read"] for case in cases]
    assert [read_base64(case["text"]) for case in cases] == wanted
    assert call(body, cases) == wanted


def is_key(text: str) -> bool:
    """Tell whether a text is a public key."""
    try:
        decode_x(text)
    except ValueError:
        return False
    return True


def test_keys_and_signatures(call: engine.Call) -> None:
    """Weak keys, thumbprints, what a public key is, and which signatures hold."""
    cases = vectors("keys")
    body = """
    const { isWeak, decodeX, thumbprint, checkSignature } = ragassay.keys;
    const { decodeBase64 } = ragassay.bytes;
    return [
      input.keys.map(({ x }) => [isWeak(decodeX(x)), thumbprint(decodeX(x))]),
      input.texts.map(({ text }) => decodeX(text) !== null),
      await Promise.all(
        input.signatures.map(({ x, signature, message }) =>
          checkSignature(decodeX(x), decodeBase64(signature), decodeBase64(message)),
        ),
      ),
    ];
    """
    keys = [decode_x(case["x"]) for case in cases["keys"]]
    signatures = [
        (decode_x(case["x"]), base64.b64decode(case["signature"]), base64.b64decode(case["message"]))
        for case in cases["signatures"]
    ]
    wanted = [
        [[case["weak"], case["thumbprint"]] for case in cases["keys"]],
        [case["key"] for case in cases["texts"]],
        [case["valid"] for case in cases["signatures"]],
    ]
    assert [
        [[is_weak(key), thumbprint(key)] for key in keys],
        [is_key(case["text"]) for case in cases["texts"]],
        [check_signature(x, signature, message) for x, signature, message in signatures],
    ] == wanted
    assert call(body, cases) == wanted
