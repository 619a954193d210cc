"""A sound run that its publisher's log takes back: why, and when. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ragassay.errors import VerifyError
from ragassay.manifest.announce import decode_void
from ragassay.manifest.statement import RunDocument
from ragassay.manifest.tiles import LogView
from ragassay.site.loaded import Voided
from ragassay.verify import Report
from ragassay.verify.log_entries import kind_of

CODE = "RUN_VOIDED"
SAID = "the log says that the run no longer counts: "


def only_voided(report: Report) -> bool:
    """Tell whether a report fails a run for nothing but that its log takes it back."""
    return {found.code for found in report.findings if found.severity == "fail"} == {CODE}


def voided(document: RunDocument, report: Report, times: Mapping[tuple[str, str], int]) -> Voided:
    """Return the run as void, by the reason that the report gives; `times` are those of `void_times`."""
    said = next(found.message for found in report.findings if found.code == CODE)
    reason = said.removeprefix(SAID)
    return Voided(document=document, reason=reason, at=times.get((document.predicate.run_id, reason)))


def void_times(log: LogView | None) -> dict[tuple[str, str], int]:
    """Return when the first voiding of a run with this reason was signed, in Unix seconds, by run id and reason.

    Whose it is, is not checked here: the verifier has said which reason counts.
    """
    found: dict[tuple[str, str], int] = {}
    for entry in log.entries if log is not None else ():
        if kind_of(entry) == "void":
            try:
                predicate = decode_void(entry).predicate
            except VerifyError:
                continue
            found.setdefault((predicate.run_id, predicate.reason), predicate.created)
    return found
