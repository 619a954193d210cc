"""Whatever the bytes: a bundle gives the honest files, or says why not; never other contents, never an exception."""

from __future__ import annotations

import io
import random
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.manifest.bundle import read_bundle, write_bundle
from ragassay.manifest.files import BESIDE, MAX_BYTES
from ragassay.testing.signed_run import signed_run
from ragassay.verify import CODES

RUN = signed_run()
KNOWN = [*MAX_BYTES, *BESIDE]
files_of_runs = st.dictionaries(
    st.sampled_from(KNOWN), st.binary(max_size=300) | st.binary(max_size=8).map(lambda b: b * 99)
)


def _with_descriptors() -> bytes:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in RUN.items():
            archive.writestr(name, content)
    return pipe.getvalue()


VALID = {
    "ours": write_bundle(RUN),
    "descriptors": _with_descriptors(),
    "short": write_bundle({"config.json": b"{}", "outputs.jsonl": b"{}\n" * 9}),
}


def judge(data: bytes, honest: dict[str, bytes]) -> bool:
    """Read a changed bundle and check the law; tell whether it was refused."""
    read = read_bundle(data)
    refused = bool(read.problems) or any(name not in KNOWN for name in read.files)
    for name, content in read.files.items():
        assert name not in KNOWN or content == honest[name]
    assert refused or read.files == honest
    return refused


@given(files=files_of_runs)
def test_what_is_written_reads_back(files: dict[str, bytes]) -> None:
    """Any files of a run come back as they were, and `zipfile` reads the same."""
    data = write_bundle(files)
    read = read_bundle(data)
    assert (read.files, read.problems) == (files, ())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files


@given(data=st.binary(max_size=400))
def test_any_bytes_are_refused_or_read(data: bytes) -> None:
    """Random bytes, alone and between the marks of a ZIP file, never raise."""
    for framed in (data, b"PK\3\4" + data, b"PK\5\6" + data, b"PK\3\4" + data + VALID["short"][-22:]):
        read = read_bundle(framed)
        assert all(name in KNOWN or content == b"" for name, content in read.files.items())
        assert {problem.code for problem in read.problems} <= set(CODES)


@pytest.mark.parametrize("name", VALID)
def test_twenty_thousand_mutations(name: str) -> None:
    """Bytes changed, inserted, removed, repeated, swapped or cut: the same files, or a refusal."""
    valid = VALID[name]
    honest = read_bundle(valid).files
    random_ = random.Random(f"bundle {name}")
    refused = sum(judge(_mutated(valid, random_), honest) for _ in range(20_000))
    assert 14_000 < refused < 20_000


def _mutated(valid: bytes, random_: random.Random) -> bytes:
    data = bytearray(valid)
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        at = random_.randrange(len(data))
        length = random_.randint(1, 40)
        match random_.randrange(7):
            case 0:
                data[at] ^= 1 << random_.randrange(8)
            case 1:
                data[at] = random_.choice((0, 1, 8, 0x20, 0x50, 0x7F, 0xFF))
            case 2:
                data[at:at] = random_.randbytes(length)
            case 3:
                del data[at : at + length]
            case 4:
                data[at:at] = data[at : at + length]
            case 5:
                other = random_.randrange(len(data))
                data[at : at + 4], data[other : other + 4] = data[other : other + 4], data[at : at + 4]
            case _:
                del data[max(22, at) :]
        data = data or bytearray(b"P")
    return bytes(data)


def test_every_byte_of_a_short_bundle() -> None:
    """Each byte replaced by its neighbours, its complement and the extremes, and each cut."""
    valid = VALID["short"]
    honest = read_bundle(valid).files
    for at in range(len(valid)):
        assert judge(valid[:at], honest)
        for value in {valid[at] ^ 1, valid[at] ^ 0x80, valid[at] ^ 0xFF, 0, 0xFF, (valid[at] + 1) % 256} - {valid[at]}:
            judge(valid[:at] + bytes([value]) + valid[at + 1 :], honest)
