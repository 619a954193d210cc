"""No byte of a run can change: exhaustively, on a run of three questions, without any pinned key."""

from __future__ import annotations

import pytest

from ragassay.testing.signed_run import signed_run
from ragassay.verify import Unpinned, verify

RUN = signed_run(items=3)


def _refused(name: str, data: bytes) -> bool:
    report = verify({**RUN, name: data}, policy=Unpinned(), now=1_800_000_000)
    return not report.ok() and any(finding.severity == "fail" for finding in report.findings)


@pytest.mark.parametrize("name", sorted(RUN))
def test_every_byte_of_every_file_is_held(name: str) -> None:
    """Flipping a bit of any byte, or replacing it, is refused with a reason code; so is dropping every fifth."""
    original = RUN[name]
    accepted: list[tuple[int, str]] = []
    for at, byte in enumerate(original):
        before, after = original[:at], original[at + 1 :]
        flipped = byte ^ (1 << at % 8)
        replaced = 0x20 if byte != 0x20 else 0x30
        changed = [("flipped", before + bytes([flipped]) + after), ("replaced", before + bytes([replaced]) + after)]
        if at % 5 == 0:
            changed.append(("dropped", before + after))
        accepted += [(at, kind) for kind, data in changed if not _refused(name, data)]
    assert accepted == []


@pytest.mark.parametrize("name", sorted(RUN))
def test_every_bit_of_every_tenth_byte_is_held(name: str) -> None:
    """All eight bits of a sample of bytes, so that no bit position is special."""
    original = RUN[name]
    for at in range(0, len(original), 10):
        for bit in range(8):
            changed = original[:at] + bytes([original[at] ^ 1 << bit]) + original[at + 1 :]
            assert _refused(name, changed), (at, bit)


@pytest.mark.parametrize("name", sorted(RUN))
@pytest.mark.parametrize("extra", [b"\n", b" ", b"\0", b"{}\n"])
def test_nothing_can_be_added_to_a_file(name: str, extra: bytes) -> None:
    """Bytes before or after the content are refused."""
    assert _refused(name, RUN[name] + extra)
    assert _refused(name, extra + RUN[name])


def test_the_run_itself_is_accepted() -> None:
    """The untouched run is accepted, so that the tests above mean something."""
    assert verify(RUN, policy=Unpinned(), now=1_800_000_000).ok()
