"""Bundles made to deceive: each defect is refused by its own reason code, and costs neither memory nor an exception."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.manifest.bundle import MAX_BUNDLE_BYTES, read_bundle
from ragassay.testing.bundle_defects import defects, pack, parts_of, streamed
from ragassay.testing.signed_run import signed_run

RUN = signed_run()
DEFECTS = defects(RUN)


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_has_its_code(name: str) -> None:
    """The codes are exactly the expected ones, and no file is given that the honest run does not have."""
    data, codes = DEFECTS[name]
    read = read_bundle(data)
    assert {problem.code for problem in read.problems} == codes
    for file, content in read.files.items():
        assert content == RUN.get(file, b"")


def test_without_a_defect_the_same_parts_are_read() -> None:
    """The factory's honest bundle is accepted, so each refusal comes from the defect."""
    for parts in (
        parts_of(RUN),
        [streamed(p) for p in parts_of(RUN)],
        [streamed(p, signature=False) for p in parts_of(RUN)],
    ):
        read = read_bundle(pack(parts))
        assert read.problems == ()
        assert read.files == RUN


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("BUNDLE_DAMAGED-encrypted", "encrypted"),
        ("BUNDLE_DAMAGED-zip64-field", "ZIP64"),
        ("BUNDLE_DAMAGED-comment", "comment"),
        ("BUNDLE_DAMAGED-several-disks", "several parts"),
        (
            "BUNDLE_NAME-all-in-one-folder",
            "in the folder 'run'; zip the files themselves, or use `ragassay export bundle`",
        ),
        ("BUNDLE_NAME-added-by-macos", "added by macOS"),
        ("BUNDLE_NAME-parent", "'../run.dsse.json'"),
        ("BUNDLE_TOO_LARGE-too-many-members", "33 members; 32 are allowed"),
        ("BUNDLE_TOO_LARGE-bomb-that-says-its-size", "config.json has 4194305 bytes; 4194304 are allowed"),
    ],
)
def test_the_sentence_says_what_is_wrong(name: str, words: str) -> None:
    """The message names the member and the defect, or what to do about it."""
    (problem,) = read_bundle(DEFECTS[name][0]).problems
    assert words in str(problem)


def test_neither_of_two_members_of_one_name_is_read() -> None:
    """Which of the two would count is not decided here."""
    assert "outputs.jsonl" not in read_bundle(DEFECTS["BUNDLE_DUPLICATE-other-bytes"][0]).files
    assert "outputs.jsonl" not in read_bundle(DEFECTS["BUNDLE_DUPLICATE-other-case"][0]).files


def test_one_bad_member_does_not_hide_the_others() -> None:
    """A defect inside one member leaves the rest readable, so that a report can say more."""
    read = read_bundle(DEFECTS["BUNDLE_DAMAGED-wrong-crc"][0])
    assert read.files == {name: content for name, content in RUN.items() if name != next(iter(RUN))}


def test_names_cannot_steer_a_terminal() -> None:
    """A name is quoted in ASCII and cut off."""
    hostile = ("../\x1b[2J\u202e" + "a" * 500).encode()
    data = pack([*parts_of(RUN), *parts_of({hostile.decode(): b""})])
    (problem,) = read_bundle(data).problems
    assert str(problem).isascii()
    assert str(problem).isprintable()
    assert len(str(problem)) < 400


def test_a_bundle_over_the_cap_is_not_looked_at() -> None:
    """More bytes than a bundle may have are BUNDLE_TOO_LARGE whatever they are."""
    (problem,) = read_bundle(bytes(MAX_BUNDLE_BYTES + 1)).problems
    assert problem.code == "BUNDLE_TOO_LARGE"


BOMB = """
import resource, sys
from ragassay.manifest.bundle import read_bundle
data = open(sys.argv[1], "rb").read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read = read_bundle(data)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, *(p.code for p in read.problems))
"""


@pytest.mark.parametrize("name", ["bomb-that-hides-its-size", "bomb-with-the-crc-of-what-it-says"])
def test_a_bomb_costs_no_memory(tmp_path: Path, name: str) -> None:
    """Inflating 50 MiB that claim to be 100 bytes stops after 101: the process grows by less than 2 MiB."""
    path = tmp_path / "bomb.zip"
    path.write_bytes(DEFECTS[f"BUNDLE_DAMAGED-{name}"][0])
    done = subprocess.run([sys.executable, "-c", BOMB, path], capture_output=True, text=True, check=True)
    grown, code = done.stdout.split()
    assert code == "BUNDLE_DAMAGED"
    assert int(grown) < 2048
