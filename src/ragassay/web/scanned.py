"""How far a scan is, and what it found by run and by unit of reading. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.publish.reading import Unit
from ragassay.publish.scan import ScanResult
from ragassay.records.publication import Finding


class Scanned(msgspec.Struct, frozen=True, kw_only=True):
    """A scan: `result` once it is done, `problem` where it cannot be made, neither while it goes on."""

    result: ScanResult | None = None
    problem: str | None = None
    by_run: Mapping[str, Sequence[Finding]] = {}
    by_unit: Mapping[str, Sequence[Finding]] = {}
    """By the unit's key, what stands at its question in one of its runs, whichever file it is in."""
    first: Mapping[str, str] = {}
    """By finding, the first unit at which it stands; not there for one that stands at no question."""

    @property
    def running(self) -> bool:
        """Tell whether it goes on."""
        return self.result is None and self.problem is None

    @property
    def findings(self) -> Sequence[Finding]:
        """Return what was found, nothing while it goes on."""
        return self.result.findings if self.result else ()


def done(result: ScanResult, units: Mapping[str, Unit]) -> Scanned:
    """Return a finished scan; `units` in the order of reading."""
    standing: dict[tuple[str, str], list[str]] = {}
    for key, unit in units.items():
        for stand in unit.stands:
            standing.setdefault((stand.run, unit.output.id), []).append(key)
    order = {key: place for place, key in enumerate(units)}
    by_run: dict[str, dict[str, Finding]] = {}
    by_unit: dict[str, dict[str, Finding]] = {}
    first: dict[str, str] = {}
    for finding in result.findings:
        where = {(place.run or "", place.item or "") for place in finding.places}
        keys = sorted({key for stand in where for key in standing.get(stand, ())}, key=order.__getitem__)
        for run in {run for run, _ in where}:
            by_run.setdefault(run, {})[finding.id] = finding
        for key in keys:
            by_unit.setdefault(key, {})[finding.id] = finding
        if keys:
            first[finding.id] = keys[0]
    return Scanned(
        result=result,
        by_run={run: tuple(found.values()) for run, found in by_run.items()},
        by_unit={key: tuple(found.values()) for key, found in by_unit.items()},
        first=first,
    )
