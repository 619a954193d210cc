"""Findings: one per text and kind wherever it stands, with surroundings, in one order, and counted beyond the cap."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec
import pytest
from scan_lab import answer, found, scanned

from ragassay.publish import scan as scan_module
from ragassay.publish.detect import Hit, NotScanned
from ragassay.publish.detect.hit import KINDS
from ragassay.publish.scan import CONTEXT, scan
from ragassay.publish.texts import PublicText
from ragassay.records.publication import Finding, FindingKind


class _Counter:
    """Finds the word `x`, and counts how often it is asked."""

    name = "counter"
    kinds: frozenset[FindingKind] = frozenset({"email"})

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find(self, text: str) -> Iterable[Hit]:
        self.asked.append(text)
        return [Hit(kind="email", start=at, end=at + 1, detector="c") for at, one in enumerate(text) if one == "x"]


def test_a_text_is_scanned_once_and_found_everywhere() -> None:
    """Eighteen runs share their chunks; each is read once, and every place is listed."""
    texts = [
        PublicText(run=f"r{run}", file="outputs.jsonl", item="q-1", field=f"chunks/{rank}/text", text="a x b x")
        for run in range(18)
        for rank in (1, 2)
    ]
    counter = _Counter()
    result = scan(texts, [counter])
    assert counter.asked == ["a x b x"]
    (one,) = result.findings
    assert len(one.places) == 72
    assert {(place.start, place.end) for place in one.places} == {(2, 3), (6, 7)}
    assert result.summary.texts == 1
    assert result.summary.findings == 1


def test_a_finding_shows_its_surroundings_and_where_it_stands() -> None:
    """Up to forty characters before and after, and offsets that cut exactly the text out."""
    text = "a " * 50 + "ann@acme.io" + " b" * 50
    (one,) = scanned(text).findings
    assert (one.before, one.after) == (text[100 - CONTEXT : 100], text[111 : 111 + CONTEXT])
    place = one.places[0]
    assert text[place.start : place.end] == one.text == "ann@acme.io"
    assert (place.run, place.file, place.item, place.field) == ("r1", "outputs.jsonl", "q-000", "answer")


def test_the_id_is_the_published_digest() -> None:
    """The id follows from kind and text alone, so a decision outlives a new run."""
    (one,) = scanned("ann@acme.io").findings
    assert one.id == hashlib.sha256(b'{"kind":"email","text":"ann@acme.io"}').hexdigest()[:16]


def test_findings_stand_in_one_order() -> None:
    """By kind, then by where they stand first; twice the same."""
    texts = ["10.1.2.200 and b@acme.io", "+49 30 901820, a@acme.io, b@acme.io", "Internal Server Error"]
    assert found(*texts) == [
        ("email", "b@acme.io"),
        ("email", "a@acme.io"),
        ("phone", "+49 30 901820"),
        ("ip", "10.1.2.200"),
        ("error_text", "Internal Server Error"),
    ]
    assert scanned(*texts) == scanned(*texts)


def test_one_inside_a_longer_one_of_another_kind_is_kept_and_of_its_own_kind_is_not() -> None:
    """An address in an error text is decided by itself; a key within a key is the longer one."""
    text = "Error code: 401 - wrong key of ann@acme.io"
    assert found(text) == [("email", "ann@acme.io"), ("error_text", text)]

    class Two(_Counter):
        """Finds a text and a part of it."""

        def find(self, text: str) -> Iterable[Hit]:
            return [Hit(kind="email", start=s, end=e, detector="t") for s, e in ((2, 4), (0, 6), (5, 8), (0, 6))]

    assert [one.text for one in scan([answer("abcdefgh")], [Two()]).findings] == ["abcdef", "fgh"]


def test_an_exempt_text_hides_nothing_that_is_found() -> None:
    """A number that is a version at one place and an address at another is a finding at the other."""
    (one,) = scanned("acme==212.78.10.32", "from 212.78.10.32").findings
    assert [place.item for place in one.places] == ["q-001"]


def test_findings_beyond_the_cap_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than the cap are listed of a kind, and how many there are beyond is said."""
    monkeypatch.setattr(scan_module, "MAX_FINDINGS", 5)
    result = scanned(" ".join(f"a{n}@acme.io" for n in range(12)) + " 10.1.2.200")
    assert [one.text for one in result.findings if one.kind == "email"] == [f"a{n}@acme.io" for n in range(5)]
    assert result.more == {"email": 7}
    assert result.summary.findings == 13


def test_a_text_that_is_too_long_is_refused_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not scanned is never called clean."""
    monkeypatch.setattr(scan_module, "MAX_TEXT", 100)
    with pytest.raises(NotScanned, match=r"outputs\.jsonl of run r1, q-000, answer: 101 characters"):
        scanned("a" * 101)


def test_nothing_decided_and_nothing_detectable() -> None:
    """A scan without detectors names every kind that it could not look for, save error texts."""
    summary = scan([], []).summary
    assert summary.not_detected == tuple(words for kind, words in KINDS.items() if kind != "error_text")
    assert (summary.allowed, summary.redacted, summary.withheld, summary.findings) == (0, 0, 0, 0)


@pytest.mark.parametrize("evil", ["\x1b[31m", "\u202e", "<script>alert(1)</script>", "\x00", "\ufffd", "\ud83d\ude00"])
def test_hostile_surroundings_stay_text(evil: str) -> None:
    """Controls, bidirectional marks and markup neither hide a finding nor break its record."""
    evil = evil.encode("utf-16", "surrogatepass").decode("utf-16")
    (one,) = scanned(f"{evil} ann@acme.io {evil}").findings
    assert one.text == "ann@acme.io"
    assert evil in one.before
    assert evil in one.after
    assert msgspec.json.decode(msgspec.json.encode(one), type=Finding) == one
