"""What the gate says of runs, and all that it looks at. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.records.publication import Decision, Finding, SignOff
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import BoardPlan


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason against a run: `code` for programs, `text` for people, and the questions that it is about.

    In capitals a code is one of the verifier's; those of the gate itself are small words.
    """

    code: str
    text: str
    items: tuple[str, ...] = ()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate says of one run; `notes` are said and stand in nobody's way."""

    run: str
    row: str
    pass_k: int
    of: int
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Tell whether nothing speaks against the run."""
        return not self.refusals


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """All that the gate looks at beside the chosen runs.

    `workspace` are all runs of the workspace, `public` the runs that are public already, `logged` the runs that the
    workspace's log holds together with their announcement; `named` were asked for by their ids. `findings` are those of
    a scan of the chosen runs, `said` those in what becomes public beside them, `unlisted` how many there are beyond;
    `signed` holds, by run, the sign-offs that hold, and `lapsed` those that do not any more. `now` is in Unix seconds.
    """

    workspace: Sequence[LoadedRun]
    public: Sequence[LoadedRun] = ()
    plan: BoardPlan | None = None
    named: frozenset[str] = frozenset()
    logged: frozenset[str] = frozenset()
    findings: Sequence[Finding] = ()
    said: Sequence[Finding] = ()
    unlisted: int = 0
    decisions: Sequence[Decision] = ()
    signed: Mapping[str, Sequence[SignOff]] = {}
    lapsed: Mapping[str, Sequence[SignOff]] = {}
    now: int | None = None
