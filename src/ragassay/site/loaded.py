"""A run as the board takes it: its bytes, what was checked, and the run itself or why it is refused or void."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from ragassay.manifest.judgement import JudgementDocument
from ragassay.manifest.statement import RunDocument
from ragassay.records import Reexecution
from ragassay.records.publication import Publication


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One finding of the verifier: its reason code, how bad it is, and one sentence."""

    code: str
    severity: Literal["ok", "warn", "fail", "not_made"]
    text: str


class LoadedJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement of a run's stored answers; `document` is there exactly when `refused` is None."""

    id: str
    """The folder's name."""
    files: Mapping[str, bytes]
    checks: tuple[Check, ...]
    document: JudgementDocument | None = None
    refused: str | None = None
    code: str | None = None
    """The reason code for which it is refused."""


class Voided(msgspec.Struct, frozen=True, kw_only=True):
    """A sound run that its publisher's log takes back: the run, the reason, and when (Unix seconds, if known)."""

    document: RunDocument
    reason: str
    at: int | None


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was public and was taken back, of which no text is served any more; `key` is its row's, if known."""

    publication: Publication
    reason: str
    at: int | None
    key: str | None = None


class LoadedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run folder; `document` is there exactly when `refused` is None."""

    id: str
    """The folder's name."""
    files: Mapping[str, bytes]
    checks: tuple[Check, ...]
    document: RunDocument | None = None
    refused: str | None = None
    reexecution: Reexecution | None = None
    """What this workspace saw when it executed these very bytes again; None where it did not."""
    judgements: tuple[LoadedJudgement, ...] = ()
    """What judges said of its answers after it was signed; none where the run itself is refused."""
    voided: Voided | None = None
    """There where nothing but RUN_VOIDED speaks against it: it is shown as void, and counts nowhere (`refused` too)."""
    publication: Publication | None = None
    """How it was published; None in a local board."""
    items: bytes | None = None
    """The item manifest of its frozen question set, where it names one and the workspace keeps it."""

    @property
    def codes(self) -> tuple[str, ...]:
        """Return the reason codes of what failed, each once."""
        return tuple(dict.fromkeys(check.code for check in self.checks if check.severity == "fail"))
