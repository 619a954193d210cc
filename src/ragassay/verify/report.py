"""What the verifier found: findings by reason code, the checks that were made, and those that were not and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ragassay.errors import VerifyError
from ragassay.records import Counts, Record, Score
from ragassay.verify.codes import CODES, Severity, severity

MAX_PER_CODE = 20
"""Findings kept of one code; the last one says how many more there are."""
MAX_MESSAGE = 2_500
MAX_PLACE = 500
"""The most characters of a finding's message and of its place: a run's own words in them may have millions."""


class Finding(Record, frozen=True):
    """One reason: its code, what it does without `strict`, one sentence, and the place."""

    code: str
    severity: Severity
    message: str
    where: str | None = None


def finding(code: str, message: str | None = None, where: str | None = None) -> Finding:
    """Return a finding of a code of the table; without a message it says what the code means."""
    reason = CODES[code]
    message = (message or reason.meaning)[:MAX_MESSAGE]
    return Finding(code=code, severity=reason.plain, message=message, where=where and where[:MAX_PLACE])


class NotMade(Record, frozen=True):
    """A check that was not made, and why."""

    check: str
    why: str


class Passes(Record, frozen=True):
    """What a log says of the passes that one announcement plans: their numbers, from 1, by how each ended."""

    published: tuple[int, ...]
    voided: tuple[int, ...]
    missing: tuple[int, ...]


class Announced(Record, frozen=True):
    """The announcement that a run names: where in which log, how many passes it plans, and who saw it when.

    `planned` is None where the announcement cannot be read, `witnessed_at` (Unix seconds) where no trusted witness saw
    it, `passes` where no log was given that could say.
    """

    log: str
    index: int
    planned: int | None
    witnessed_at: int | None
    passes: Passes | None


class KeptFor(Record, frozen=True):
    """How many texts are withheld for one reason."""

    reason: str
    texts: int


class Kept(Record, frozen=True):
    """How many texts of how many rows are withheld or shown in part, and why."""

    texts: int
    rows: int
    reasons: tuple[KeptFor, ...]


class Report(Record, frozen=True):
    """All that is known of one run after checking it; what the manifest claims is None where it could not be read."""

    findings: tuple[Finding, ...]
    made: tuple[str, ...]
    not_made: tuple[NotMade, ...]
    checked_at: int
    run_id: str | None = None
    row: str | None = None
    pass_k: int | None = None
    pass_of: int | None = None
    source_kind: str | None = None
    benchmark: str | None = None
    metric: str | None = None
    score: Score | None = None
    counts: Counts | None = None
    fingerprint: str | None = None
    signer_name: str | None = None
    pinned: bool = False
    key_status: str | None = None
    """What the registry of a pinned root says of the key."""
    witnessed_at: int | None = None
    """When trusted witnesses saw the run, in Unix seconds."""
    announced: Announced | None = None
    withheld: Kept | None = None
    """What its publisher keeps back of the run, where a redaction says so."""

    def ok(self, strict: bool = False) -> bool:
        """Tell whether no finding fails; `strict` turns most warnings into failures."""
        return all(severity(finding.code, strict=strict) == "warn" for finding in self.findings)

    @property
    def codes(self) -> frozenset[str]:
        """The reason codes found."""
        return frozenset(finding.code for finding in self.findings)


class Findings:
    """Collects findings while a run is checked; keeps at most `MAX_PER_CODE` of each code and counts the rest."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._seen: Counter[str] = Counter()
        self._made: list[str] = []
        self._not_made: list[NotMade] = []
        self._shown_as: dict[str, str] = {}

    def show_as(self, name: str, public: str) -> None:
        """Name the file `public` in the place of `name` wherever a finding is in that one: a row, or the whole file."""
        self._shown_as[name] = public

    def add(self, code: str, message: str | None = None, where: str | None = None) -> None:
        """Note one finding; without a message it says what the code means."""
        self._seen[code] += 1
        if self._seen[code] <= MAX_PER_CODE:
            self._found.append(finding(code, message, self._place(where)))

    def _place(self, where: str | None) -> str | None:
        if where is None or not self._shown_as:
            return where
        name, colon, row = where.partition(": ")
        return f"{self._shown_as.get(name, name)}{colon}{row}"

    def extend(self, found: Iterable[Finding]) -> None:
        """Note findings that were made elsewhere, each that is not noted yet."""
        for one in found:
            if one not in self._found:
                self.add(one.code, one.message, one.where)

    def error(self, error: VerifyError, where: str | None = None) -> None:
        """Note the finding that a reader of bytes raised."""
        self.add(error.code, str(error), where)

    def made(self, check: str) -> None:
        """Note that a check was made, whatever it found."""
        self._made.append(check)

    def not_made(self, check: str, why: str) -> None:
        """Note that a check could not be made."""
        self._not_made.append(NotMade(check=check, why=why))

    def results(self) -> tuple[tuple[Finding, ...], tuple[str, ...], tuple[NotMade, ...]]:
        """Return findings (failures first), checks made and checks not made."""
        more = [
            Finding(code=code, severity=CODES[code].plain, message=f"and {count - MAX_PER_CODE} more of this kind")
            for code, count in self._seen.items()
            if count > MAX_PER_CODE
        ]
        ordered = sorted([*self._found, *more], key=lambda finding: finding.severity != "fail")
        return tuple(ordered), tuple(self._made), tuple(self._not_made)
