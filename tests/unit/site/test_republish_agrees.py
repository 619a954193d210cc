"""Both verifiers say the same of republished runs, in whatever form their item set is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ragassay.records import to_json
from ragassay.testing.republished_run import SCORES, lines_of, published_bytes, republished_files, resealed
from ragassay.verify import Unpinned, verify

sys.path.insert(0, str(Path(__file__).resolve().parent))
import verifier_engine as engine

NOW = 1_800_000_000
FILES = republished_files()
ROWS = [(line["id"], line["question"]) for line in lines_of()]
CSV = "id,input\n" + "".join(f"{name},{text}\n" for name, text in ROWS)
QUOTED = '"id","input"\n' + "".join(f'"{name}","{text}"\n' for name, text in ROWS)
JSONL = "".join(f'{{"id":"{name}","input":"{text}"}}\n' for name, text in ROWS)

SETS: dict[str, bytes] = {
    "published": published_bytes(),
    "published, with a byte order mark": b"\xef\xbb\xbf" + published_bytes(),
    "CSV": CSV.encode(),
    "CSV with CRLF, blank lines and another column": CSV.replace("\n", ",level\r\n\r\n").encode(),
    "CSV with everything quoted": QUOTED.encode(),
    "CSV with a quote inside a cell": CSV.replace("use?", 'use"?').encode(),
    "CSV with text after a quote": CSV.replace("a1,", '"a1"x,').encode(),
    "CSV with a column twice": CSV.replace("id,input", "id,id").encode(),
    "CSV with spaces in the header": CSV.replace("id,input", " id , input ").encode(),
    "CSV with semicolons": CSV.replace(",", ";").encode(),
    "CSV with a row too long": CSV.replace("a3,", "a3,,").encode(),
    "CSV with a lone carriage return": CSV.replace("\n", "\r").encode(),
    "JSON Lines": JSONL.encode(),
    "JSON Lines with CRLF": JSONL.replace("\n", "\r\n\r\n").encode(),
    "JSON Lines with wide numbers": JSONL.replace("}", ',"w":1e400,"n":12345678901234567890}').encode(),
    "JSON Lines with NaN": JSONL.replace("}", ',"w":NaN}', 1).encode(),
    "JSON Lines with a key twice": JSONL.replace('{"id"', '{"id":"a","id"', 1).encode(),
    "JSON Lines with a torn line": JSONL[:-5].encode(),
    "JSON Lines with a number as id": JSONL.replace('"a1"', "1").encode(),
    "JSON Lines with an escaped surrogate": JSONL.replace("Which", "\\ud800", 1).encode(),
    "JSON Lines with an empty id": JSONL.replace('"a1"', '""').encode(),
    "JSON Lines with 500 levels": JSONL.replace("}", ',"x":' + "[" * 499 + "]" * 499 + "}", 1).encode(),
    "JSON Lines with 501 levels": JSONL.replace("}", ',"x":' + "[" * 500 + "]" * 500 + "}", 1).encode(),
    "samples of another kind": b'{"samples":{}}',
    "samples without input": b'{"samples":[{"id":"a1"}]}',
    "one object without samples": b'{"id":"a1","input":"b"}',
    "a JSON list": b'[{"id":"a1","input":"b"}]',
    "not UTF-8": CSV.encode("utf-16"),
    "a truncated character": CSV.encode() + b"\xe2\x82",
    "empty": b"",
    "an archive": b"PK\x03\x04" + bytes(range(256)),
    "another wording": CSV.replace("Which", "What", 1).encode(),
    "another order": "".join(reversed(JSONL.splitlines(keepends=True))).encode(),
    "one item fewer": "".join(JSONL.splitlines(keepends=True)[1:]).encode(),
    "one item more": (JSONL + '{"id":"a6","input":"x"}').encode(),
}  # fmt: skip

BUNDLES: dict[str, Mapping[str, bytes]] = {
    **{f"item set: {name}": resealed(FILES, benchmark_foreign=data) for name, data in SETS.items()},
    "a missing score": republished_files(scores=[None, *SCORES[1:]]),
    "both item sets": {**FILES, "benchmark.json": b"{}"},
    "no item set": {name: data for name, data in FILES.items() if name != "benchmark.foreign"},
    "item set under the other name": {name.replace("foreign", "json"): data for name, data in FILES.items()},
    "item set changed": {**FILES, "benchmark.foreign": published_bytes() + b" "},
    "a row dropped": resealed(FILES, rows=lambda rows: rows.pop()),
    "a row twice": resealed(FILES, rows=lambda rows: rows.append(rows[0])),
    "rows reversed": resealed(FILES, rows=lambda rows: rows.reverse()),
    "a score of 101": resealed(FILES, rows=lambda rows: rows[0].update(score=101)),
    "a failure scored": resealed(FILES, rows=lambda rows: rows[0].update(status="judge_failed")),
    "called measured": resealed(FILES, claim=lambda p: p["provenance"].update(sourceKind="measured")),
    "six items claimed": resealed(FILES, claim=lambda p: p["benchmark"].update(items=6)),
    "rows beside an unreadable set": resealed(FILES, rows=lambda rows: rows.pop(), benchmark_foreign=b"PK"),
}


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


def test_both_verifiers_agree(call: engine.Call) -> None:
    """Code for code, place for place, and the same checks made and not made."""
    theirs = call(engine.VERIFY, [engine.ask(files, now=NOW, policy=None) for files in BUNDLES.values()])
    differing = {}
    for (name, files), their in zip(BUNDLES.items(), theirs, strict=True):
        ours = engine.comparable(to_json(verify(files, policy=Unpinned(), now=NOW)))
        if engine.comparable(their) != ours:
            differing[name] = (engine.comparable(their), ours)
    assert differing == {}


def test_the_sets_are_of_both_kinds() -> None:
    """Some are read and some are not, so that the comparison means something."""
    reports = [verify(BUNDLES[f"item set: {name}"], policy=Unpinned(), now=NOW) for name in SETS]
    read = sum("question set" in report.made for report in reports)
    assert 12 <= read <= len(SETS) - 12
