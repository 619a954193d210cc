"""A frozen file never changes: what reads it for a run refuses it altered, and nothing writes over it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from frozen_lab import freeze_into, frozen, question, small_set
from ragassay.errors import InputError
from ragassay.manifest import sign_payload
from ragassay.run.question_sets.frozen import (
    envelope_beside,
    frozen_of,
    frozen_versions,
    items_kept,
    keep_items,
    load_set,
)
from ragassay.run.question_sets.frozen_write import READ_ONLY, SECRET, write_together
from ragassay.run.workspace import Workspace
from ragassay.testing.signed_run import public_signer


def test_a_file_without_a_manifest_is_not_frozen(tmp_path: Path) -> None:
    """Nothing changes for question files that nobody froze."""
    path = tmp_path / "questions.json"
    path.write_bytes(small_set().full_form())
    read, found = load_set(path)
    assert found is None
    assert read.benchmark == small_set()


def test_a_frozen_file_is_read_with_its_manifest(tmp_path: Path) -> None:
    """The manifest beside the file comes with it, and its copy in a workspace is found by its digest."""
    read, found = load_set(freeze_into(tmp_path))
    assert found is not None
    assert found.predicate.benchmark.digest.sha256 == read.benchmark.digest()
    space = Workspace(tmp_path / "w")
    digest = keep_items(space, found)
    assert items_kept(space.root, digest).read_bytes() == found.envelope.read_bytes()
    assert keep_items(space, found) == digest


@pytest.mark.parametrize("change", ["file", "form", "envelope", "signature", "other", "gone"])
def test_an_altered_file_or_manifest_is_refused_and_bump_is_named(tmp_path: Path, change: str) -> None:
    """Whatever was altered, the message says that a frozen file never changes and what to type."""
    path = freeze_into(tmp_path)
    envelope = envelope_beside(path)
    data = path.read_bytes()
    if change == "file":
        path.write_bytes(data.replace(b"heavy", b"large").replace(b"1001 grams", b"1002 grams"))
    elif change == "form":
        path.write_text(json.dumps(json.loads(data), indent=1))
    elif change == "envelope":
        envelope.write_bytes(envelope.read_bytes()[:-9])
    elif change == "signature":
        value = json.loads(envelope.read_bytes())
        other = json.loads(sign_payload(b"{}", public_signer()))
        value["signatures"][0]["sig"] = other["signatures"][0]["sig"]
        envelope.write_text(json.dumps(value, separators=(",", ":"), sort_keys=True))
    elif change == "other":
        envelope.write_bytes(frozen(small_set(question(7)))[1])
    else:
        path.unlink()
    with pytest.raises(InputError, match="does not exist" if change == "gone" else "ragassay questions bump"):
        frozen_of(path)


def test_the_frozen_versions_of_a_folder(tmp_path: Path) -> None:
    """Versions are those of the set alone, in the order of their numbers."""
    for name, version in (("acme", "1.10.0"), ("acme", "1.9.0"), ("acme-public", "3.0.0"), ("acme", "2.0.0")):
        freeze_into(tmp_path, small_set(name=name, version=version))
    assert frozen_versions(tmp_path, "acme") == ["1.9.0", "1.10.0", "2.0.0"]
    assert frozen_versions(tmp_path / "none", "acme") == []


def test_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    """Where one of them is there already, all that are there are named and none is written."""
    (tmp_path / "b").write_text("mine")
    (tmp_path / "c").symlink_to("nowhere")
    files = {tmp_path / name: (name.encode(), READ_ONLY) for name in "abc"}
    with pytest.raises(InputError) as refused:
        write_together(files)
    assert len(refused.value.problems) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]
    assert (tmp_path / "b").read_text() == "mine"


def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second file cannot be placed, the first is taken back."""
    link = os.link
    monkeypatch.setattr(os, "link", lambda a, b: link(a, b) if Path(b).name == "a" else link(a, tmp_path / "a"))
    with pytest.raises(InputError, match="nothing was written"):
        write_together({tmp_path / "a": (b"1", READ_ONLY), tmp_path / "b": (b"2", SECRET)})
    assert list(tmp_path.iterdir()) == []


def test_modes_of_what_is_written(tmp_path: Path) -> None:
    """A frozen file is read-only, a secret its owner's alone."""
    write_together({tmp_path / "n" / "a": (b"1", READ_ONLY), tmp_path / "n" / "b": (b"2", SECRET)})
    assert [(tmp_path / "n" / name).stat().st_mode & 0o777 for name in "ab"] == [0o444, 0o600]
