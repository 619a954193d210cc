"""The metadata at the head of a GGUF file: strings and numbers; arrays are skipped, tensors never read."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from ragassay.errors import InputError

MAX_ENTRIES = 10_000
MAX_TEXT_BYTES = 1 << 20
_MAX_ARRAY = 1 << 26
_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _ARRAY = 8, 9


def metadata(path: Path) -> dict[str, str | int | float | bool]:
    """Return the scalar entries of a GGUF file (versions 2 and 3), such as `tokenizer.chat_template`.

    Raises `InputError` for a file that cannot be read or is no whole GGUF head.
    """
    try:
        with path.open("rb") as stream:
            return _entries(stream)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error}") from error
    except (struct.error, ValueError) as error:
        raise InputError(f"{path} is no GGUF file that can be used: {error}") from error


def _entries(stream: BinaryIO) -> dict[str, str | int | float | bool]:
    if stream.read(4) != b"GGUF":
        raise ValueError("it does not begin with the letters GGUF")
    version, _tensors, count = struct.unpack("<IQQ", stream.read(20))
    if version not in (2, 3) or count > MAX_ENTRIES:
        raise ValueError(f"version {version} with {count} entries is not supported")
    found: dict[str, str | int | float | bool] = {}
    for _ in range(count):
        name = _text(stream)
        kind = _number(stream, "<I")
        if kind == _ARRAY:
            _skip_array(stream)
        else:
            found[name] = _text(stream) if kind == _TEXT else _scalar(stream, int(kind))
    return found


def _scalar(stream: BinaryIO, kind: int) -> int | float | bool:
    if kind not in _SCALARS:
        raise ValueError(f"there is no value type {kind}")
    return _number(stream, _SCALARS[kind])


def _number(stream: BinaryIO, form: str) -> int | float | bool:
    value: int | float | bool = struct.unpack(form, stream.read(struct.calcsize(form)))[0]
    return value


def _text(stream: BinaryIO) -> str:
    size = int(_number(stream, "<Q"))
    if size > MAX_TEXT_BYTES:
        raise ValueError(f"a text of {size} bytes is longer than {MAX_TEXT_BYTES}")
    data = stream.read(size)
    if len(data) != size:
        raise ValueError("it ends inside a text")
    return data.decode("utf-8", errors="replace")


def _skip_array(stream: BinaryIO) -> None:
    kind, count = struct.unpack("<IQ", stream.read(12))
    if count > _MAX_ARRAY or kind == _ARRAY:
        raise ValueError(f"an array of {count} values of type {kind} is not supported")
    if kind == _TEXT:
        for _ in range(count):
            size = int(_number(stream, "<Q"))
            if size > MAX_TEXT_BYTES:
                raise ValueError(f"a text of {size} bytes is longer than {MAX_TEXT_BYTES}")
            stream.seek(size, 1)
    elif kind in _SCALARS:
        stream.seek(count * struct.calcsize(_SCALARS[kind]), 1)
    else:
        raise ValueError(f"there is no value type {kind}")
