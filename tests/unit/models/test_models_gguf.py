"""The head of a GGUF file, and which chat template follows from it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.plugins.models.chat_template import CHATML, PROBE_SYSTEM, PROBE_USER, choose, inserts_default
from ragassay.plugins.models.gguf import metadata


def text(value: str) -> bytes:
    """Return a string as GGUF writes it."""
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def head(*entries: bytes, version: int = 3, count: int | None = None) -> bytes:
    """Return a GGUF head with these entries."""
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(entries) if count is None else count) + b"".join(entries)


TEMPLATE = text("tokenizer.chat_template") + struct.pack("<I", 8) + text("{{ messages }}")
TOKENS = text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")
SCORES = text("scores") + struct.pack("<IIQ", 9, 6, 2) + struct.pack("<ff", 1.5, 2.5)
LENGTH = text("context_length") + struct.pack("<II", 4, 8192)


def test_scalars_are_read_and_arrays_skipped(tmp_path: Path) -> None:
    """Entries after an array of strings or numbers are found."""
    (tmp_path / "m.gguf").write_bytes(head(TOKENS, LENGTH, SCORES, TEMPLATE))
    assert metadata(tmp_path / "m.gguf") == {"context_length": 8192, "tokenizer.chat_template": "{{ messages }}"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GGUF",
        b"PK\x03\x04" + b"\0" * 40,
        head(version=1),
        head(count=2**60),
        head(LENGTH, count=2),
        head(LENGTH)[:-2],
        head(text("x") + struct.pack("<I", 99)),
        head(text("x") + struct.pack("<IQ", 8, 2**62)),
        head(text("x") + struct.pack("<IIQ", 9, 8, 2**62)),
        head(text("x") + struct.pack("<IIQ", 9, 9, 1)),
    ],
)
def test_a_damaged_head_is_an_input_error(tmp_path: Path, data: bytes) -> None:
    """Whatever the file holds, the error names it."""
    (tmp_path / "m.gguf").write_bytes(data)
    with pytest.raises(InputError, match=r"m\.gguf"):
        metadata(tmp_path / "m.gguf")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Random bytes behind the magic never crash the reader."""
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + data)
    try:
        found: object = metadata(path)
    except InputError as error:
        found = error
    assert isinstance(found, dict) or "m.gguf" in str(found)


def test_an_absent_file_is_an_input_error(tmp_path: Path) -> None:
    """A wrong path is named."""
    with pytest.raises(InputError, match="absent"):
        metadata(tmp_path / "absent.gguf")


PLAIN = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"


@pytest.mark.parametrize("newline", ["\n", "\\n"])
def test_a_template_with_a_default_prompt_is_overridden(newline: str) -> None:
    """Text of its own after the system mark makes a template one that inserts a prompt."""
    own = (
        "{% if first %}{{ '<|im_start|>system"
        + newline
        + "You are a helpful assistant<|im_end|>' }}{% endif %}"
        + PLAIN
    )
    assert choose(own, None).name == "chatml/1"
    assert choose(own, None).text == CHATML


def test_a_template_without_one_is_kept() -> None:
    """A file's own template is used unchanged where it inserts nothing; digests tell templates apart."""
    kept = choose(PLAIN, None)
    assert (kept.name, kept.text) == ("own", "")
    assert choose(PLAIN, "given").name == "given"
    assert choose("", None).name == "chatml/1"
    assert len({kept.sha256, choose(PLAIN, "given").sha256, choose("", None).sha256}) == 3


@pytest.mark.parametrize(
    ("with_system", "without", "inserts"),
    [
        (f"<s>system\n{PROBE_SYSTEM}</s>user {PROBE_USER}", f"<s>system\nBe nice.</s>user {PROBE_USER}", True),
        (f"<s>system\nToday.{PROBE_SYSTEM}</s>user {PROBE_USER}", f"<s>system\nToday.</s>user {PROBE_USER}", True),
        (f"<s>system\n{PROBE_SYSTEM}</s>user {PROBE_USER}", f"<s>user {PROBE_USER}", False),
        (f"[INST] {PROBE_SYSTEM}\n\n{PROBE_USER} [/INST]", f"[INST] {PROBE_USER} [/INST]", False),
        (f"user {PROBE_USER}", f"user {PROBE_USER}", False),
    ],
)
def test_an_inserted_prompt_is_seen_in_rendered_prompts(with_system: str, without: str, inserts: bool) -> None:
    """Two rendered prompts show whether a template adds a system turn by itself."""
    assert inserts_default(with_system, without) is inserts
