"""Attempts to make a question set look frozen as it is not, or unfrozen as it was: each is refused or said."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from frozen_lab import NOW, SIGNER, checked, freeze_into, frozen, question, small_set
from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.build import sign_payload
from ragassay.manifest.item_set import decode_items, items_kept_at
from ragassay.manifest.item_statement import PreviousSet
from ragassay.manifest.statement import Digest
from ragassay.records import Benchmark
from ragassay.run.question_sets.freeze_set import seal_set
from ragassay.run.question_sets.frozen import envelope_beside, keep_items, load_set
from ragassay.run.question_sets.frozen_kept import check_name_free
from ragassay.run.workspace import Workspace
from ragassay.site import build_board, load_runs
from ragassay.verify.item_set import SetReport, contradictions, verify_item_set
from ragassay.verify.policy import Unpinned

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import site_factory as make


def lied(change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return the manifest of the small set with something changed, signed as if it were true."""
    statement = json.loads(decode_items(frozen()[1]).payload)
    change(statement["predicate"])
    name, version = (statement["predicate"]["benchmark"][key] for key in ("name", "version"))
    statement["subject"][0]["name"] = f"{name}-{version}.json"
    return sign_payload(canon.canonical(statement), SIGNER)


def set_in(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of one member, its path written with slashes."""

    def change(predicate: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        at: Any = predicate
        for name in parents:
            at = at[int(name) if isinstance(at, list) else name]
        at[last] = value

    return change


def reviewed_all(predicate: dict[str, Any]) -> None:
    """Claim a review of every item, with counts that follow from it."""
    for item in predicate["items"]:
        item["reviewer"] = "B. Reader"
    predicate["review"] |= {"reviewed": 4, "unreviewed": 0}


LIES = {
    "name": set_in("benchmark/name", "other"),
    "version": set_in("benchmark/version", "9.0.0"),
    "itemSet": set_in("benchmark/itemSet/sha256", "0" * 64),
    "reviews": reviewed_all,
    "author": set_in("items/1/author", "Someone Else"),
    "tool": set_in("items/1/tool", "no model"),
    "words": set_in("items/2/material", "0" * 64),
    "evidence": set_in("items/0/evidence/0/sha256", "0" * 64),
    "page": set_in("items/0/page", "elsewhere.md"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_signed_lie_about_the_set_is_refused_before_any_run(tmp_path: Path, name: str) -> None:
    """Anybody can sign words about a file; what does not follow from the file is not repeated."""
    path = freeze_into(tmp_path)
    envelope_beside(path).write_bytes(lied(LIES[name]))
    with pytest.raises(InputError, match="does not stand there"):
        load_set(path)
    assert contradictions(decode_items(lied(LIES[name])).predicate, small_set())


def test_a_manifest_contradicts_nothing_of_its_own_set() -> None:
    """An honest manifest has no contradictions, and one of another set names the digest first."""
    signed = decode_items(frozen()[1])
    assert contradictions(signed.predicate, small_set()) == ()
    other = small_set(question(0), question(1), question(2), question(4))
    assert contradictions(signed.predicate, other)[0].code == "BENCHMARK_DIGEST"


@pytest.mark.parametrize(
    "change",
    [
        set_in("review/dropped", ["q-1"]),
        set_in("review/dropped", ["gone", "gone"]),
        set_in("lint/waivers", [{"rule": "two-facts", "questions": ["q-1"], "reason": " "}]),
        set_in("lint/waivers", [{"rule": "two-facts", "questions": [], "reason": "stands"}]),
    ],
)
def test_dropped_questions_and_waivers_without_sense_make_no_manifest(change: Callable[..., None]) -> None:
    """A question is dropped or an item, and whoever waives says what and why."""
    assert "ENVELOPE_MALFORMED" in verified(lied(change)).codes


def verified(envelope: bytes, previous: bytes | None = None, questions: bytes | None = None) -> SetReport:
    """Return what the verifier says with no key pinned."""
    file = frozen()[0] if questions is None else questions
    return verify_item_set(envelope, questions=file, previous=previous, policy=Unpinned(), now=NOW + 9_000)


def test_a_version_is_not_older_than_the_one_before() -> None:
    """With the clock set back a next version would claim to be older than what it names."""
    data, envelope = frozen()
    before = PreviousSet(
        version="1.0.0", digest=Digest(sha256=canon.sha256(data)), envelope=Digest(sha256=canon.sha256(envelope))
    )
    later = checked(small_set(question(0), question(1), question(2)))
    for now, codes in ((NOW - 90_000, {"WINDOW"}), (NOW + 60, set())):
        file, second = seal_set(later, "2.0.0", SIGNER, now=now, previous=before)
        assert verified(second, envelope, file).codes & {"WINDOW", "SET_PREVIOUS"} == codes


def test_a_link_to_a_frozen_file_is_frozen(tmp_path: Path) -> None:
    """A file is found altered also through a link that has no manifest beside it."""
    path = freeze_into(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "questions.json"
    link.symlink_to(path)
    read, found = load_set(link)
    assert found is not None
    assert read.benchmark == small_set()
    path.write_bytes(path.read_bytes().replace(b"grams", b"drams"))
    with pytest.raises(InputError, match="is frozen"):
        load_set(link)


def test_a_manifest_that_is_a_dead_link_is_no_missing_one(tmp_path: Path) -> None:
    """Somebody put a link there; that the set is not frozen does not follow from it."""
    path = freeze_into(tmp_path)
    envelope_beside(path).unlink()
    envelope_beside(path).symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="leads nowhere"):
        load_set(path)


def test_two_manifests_of_one_file_are_refused(tmp_path: Path) -> None:
    """A link with one manifest and the file it leads to with another: nobody can tell which is meant."""
    path = freeze_into(tmp_path)
    link = tmp_path / "mine.json"
    link.symlink_to(path)
    envelope_beside(link).write_bytes(seal_set(checked(), "1.0.0", SIGNER, now=NOW + 5)[1])
    with pytest.raises(InputError, match="two item manifests"):
        load_set(link)
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    with pytest.raises(InputError):
        load_set(loop)


@pytest.mark.parametrize("how", ["crlf", "bom", "pretty", "doubled", "newline", "nfd"])
def test_a_copy_in_other_bytes_is_not_the_frozen_file(tmp_path: Path, how: str) -> None:
    """The signature is over bytes: a copy that a tool rewrote is another file, even where it says the same."""
    path = freeze_into(tmp_path, small_set(*(question(n, topic="Größe") for n in range(3))))
    data = path.read_bytes()
    path.write_bytes(
        {
            "crlf": json.dumps(json.loads(data), indent=1).replace("\n", "\r\n").encode(),
            "bom": b"\xef\xbb\xbf" + data,
            "pretty": json.dumps(json.loads(data), indent=2, ensure_ascii=False).encode(),
            "doubled": data.replace(b'{"', b'{"name":"acme","', 1),
            "newline": data + b"\n",
            "nfd": data.replace("ö".encode(), "o\u0308".encode()),
        }[how]
    )
    assert path.read_bytes() != data
    with pytest.raises(InputError, match="bytes are not those that were signed"):
        load_set(path)


def altered() -> Benchmark:
    """Return the small set with one word changed, under its old name and version."""
    changed: Benchmark = small_set(question(0, target="About 1000 grams."), *map(question, range(1, 4)))
    return changed


def test_a_set_without_its_manifest_does_not_pass_as_the_version_that_was_run(tmp_path: Path) -> None:
    """Where the workspace keeps the manifest of that name and version, only the set that it signs may be run."""
    workspace = Workspace(tmp_path / ".ragassay")
    path = freeze_into(tmp_path)
    found = load_set(path)[1]
    assert found is not None
    digest = keep_items(workspace, found)
    check_name_free(workspace.root, small_set())
    check_name_free(workspace.root, small_set(name="another"))
    check_name_free(workspace.root, small_set(version="1.0.1"))
    with pytest.raises(InputError, match=r"calls itself acme 1\.0\.0"):
        check_name_free(workspace.root, altered())
    kept = workspace.root / items_kept_at(digest)
    kept.write_bytes(b"{}")
    kept.with_name("folder.dsse.json").mkdir()
    check_name_free(workspace.root, altered())


def test_a_board_repeats_no_lie_of_a_manifest_that_its_runs_name(tmp_path: Path) -> None:
    """Runs name whatever their signer kept: a false number of reviews is a fault on the board, and no fact."""
    envelope = lied(LIES["reviews"])
    bench = small_set()
    settings = make.config("bm25", "bm25", bench)
    around = msgspec.structs.replace(settings.circumstance, item_manifest=canon.sha256(envelope))
    settings = msgspec.structs.replace(settings, circumstance=around)
    outcomes = [make.outcome(one, "supports") for one in bench.questions]
    make.write_run(tmp_path / "runs", settings, bench, outcomes)
    kept = tmp_path / items_kept_at(canon.sha256(envelope))
    kept.parent.mkdir()
    kept.write_bytes(envelope)
    board = build_board(load_runs(tmp_path, now=make.START + 10_000), now=make.START + 10_000)
    (table,) = board.tables
    assert table.frozen is not None
    assert "says of the questions what they are not" in str(table.frozen.problem)
    assert table.frozen.reviewed is None
    assert not any("frozen as version" in fact for fact in table.facts)
    assert any("says of the questions what they are not" in warning for warning in table.warnings)
