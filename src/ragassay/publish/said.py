"""What becomes public beside the texts of runs: reasons, readers' names, what the board file says, the log. Pure.

Nothing of it can be redacted: it is allowed as it stands, or its publisher writes it anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ragassay.manifest.files import REGISTRY, WITHHELD
from ragassay.manifest.redaction_statement import decode_withheld
from ragassay.publish.deciding import decided_by_place, is_fixed, of_run, standing
from ragassay.publish.review_folder import FOLDER
from ragassay.publish.texts import ITEMS, PublicText, file_texts, text_at
from ragassay.records.publication import Decision, Finding, LeftOut, Publication, SignOff
from ragassay.site.record import BoardPlan

DECISIONS = f"{FOLDER}/decisions.jsonl"
SIGN_OFFS = f"{FOLDER}/signoffs.jsonl"
LEFT_OUT = "left out"
BOARD_FILE = "board.toml"
LOG = "log"
UNPUBLISH = "unpublish"

_ANEW: Mapping[str, str] = {
    WITHHELD: "or take the run back with `ragassay unpublish`: it is public already",
    DECISIONS: "or decide that finding again with another --reason",
    SIGN_OFFS: "or sign off under another name, and take the reading of this one back",
    ITEMS: "or write it otherwise, make the next version with `ragassay questions bump`, and run that",
    LEFT_OUT: "or give the folder of that judgement another name",
    BOARD_FILE: "or write it otherwise in the board file",
    REGISTRY: "keys keep their names in the registry for good",
    LOG: "it stands in the log for good, and the log is published with the runs",
    UNPUBLISH: "or give another --reason",
}


def said_of(
    run: str, findings: Sequence[Finding], decisions: Sequence[Decision], signed: Iterable[SignOff]
) -> Iterator[PublicText]:
    """Yield what the publication of one run says: why texts of it are withheld, and who read it."""
    own = of_run(findings, run)
    used = {span.finding for spans in decided_by_place(own, decisions).values() for span in spans}
    for identity, decision in standing(decisions).items():
        if identity in used and decision.reason:
            yield text_at(run, DECISIONS, None, f"reason of {decision.action} {identity}", decision.reason)
    for name in dict.fromkeys(one.reader for one in signed):
        yield text_at(run, SIGN_OFFS, None, "reader", name)


def said_in_public(run: str, files: Mapping[str, bytes], publication: Publication) -> Iterator[PublicText]:
    """Yield what the publication of a public run says already, whatever was decided since."""
    rows = decode_withheld(files[WITHHELD]) if WITHHELD in files else ()
    for reason in dict.fromkeys(text.reason for row in rows for text in row.texts):
        yield text_at(run, WITHHELD, None, "reason", reason)
    for name in dict.fromkeys(one.reader for one in publication.sign_offs):
        yield text_at(run, SIGN_OFFS, None, "reader", name)


def left_out_of(run: str, left_out: Iterable[LeftOut]) -> Iterator[PublicText]:
    """Yield what the publication of one run says of judgements that are not published with it."""
    for one in left_out:
        yield text_at(run, LEFT_OUT, None, "judgement", one.judgement)
        yield text_at(run, LEFT_OUT, None, "reason", one.reason)


def said_by_board(plan: BoardPlan | None) -> Iterator[PublicText]:
    """Yield what stands on a public board whatever is published: its name, its rows, why it has no control."""
    if plan is None:
        return
    yield text_at(None, BOARD_FILE, None, "name", plan.name)
    for row in plan.rows:
        yield text_at(None, BOARD_FILE, None, f"rows/{row.name}", row.name)
    if plan.control_waiver:
        yield text_at(None, BOARD_FILE, None, "control_waiver", plan.control_waiver)


def said_in_log(entries: Sequence[bytes], known: Collection[bytes]) -> Iterator[PublicText]:
    """Yield every text of the log's entries but of those that are looked at with the runs (`known`)."""
    for index, entry in enumerate(entries):
        if entry not in known:
            yield from file_texts(None, f"{LOG} entry {index}", entry)


def said_by_withdrawal(reason: str) -> PublicText:
    """Return the reason for which a run is taken back."""
    return text_at(None, UNPUBLISH, None, "reason", reason)


def anew(finding: Finding) -> str | None:
    """Return what else than allowing it can be done with a finding in something said; None where there is none."""
    files = dict.fromkeys(place.file for place in finding.places if is_fixed(place))
    said = [_ANEW[key] for key in dict.fromkeys(map(_source, files)) if key in _ANEW]
    return "; ".join(said) or None


def _source(file: str) -> str:
    return LOG if file.startswith(f"{LOG} entry ") else file
