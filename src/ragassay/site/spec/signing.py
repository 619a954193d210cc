"""From a pass to a signed row: what counts, how a number is taken, what was announced, scanned, read. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragassay.errors import VerifyError
from ragassay.estimate import missing_allowed
from ragassay.manifest.files import RUN_PROOF
from ragassay.manifest.proof import decode_proof
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed, plural
from ragassay.site.spec.counted import of_all, some, verb
from ragassay.site.spec.document import Code, Paragraph, Said, Section, is_said, paragraph, series
from ragassay.site.spec.ground import Ground, on_board
from ragassay.site.words import UNATTESTED

DIGITS = 12
PUBLIC_ONLY = (
    "Before a run goes public, all its texts are scanned for personal data, secrets and error messages, and a person "
    "reads every answer and signs off. Both are recorded for public boards only; this one is a local preview, so "
    "nothing of the kind stands here."
)


def signing(ground: Ground) -> Section:
    """Return eligibility, window and lower median, the announcement in the log and its witnesses, scan and sign-off."""
    blocks: tuple[Paragraph | None, ...]
    if not ground.configs:
        blocks = (
            paragraph(
                "A republished run enters no window and no ranking: its scores were there before anybody could have "
                "announced them. What is signed is that they add up, and by whom they were taken over."
            ),
            _release(ground),
        )
    else:
        blocks = (_eligible(ground), _window(ground), _announced(ground), _voided(ground), _release(ground))
    return Section("From a pass to a signed row", "signing", is_said(blocks))


def _eligible(ground: Ground) -> Paragraph:
    lines = [run for row in ground.rows for run in row.runs if run.taken_back is None]
    out = Counter(run.why_not for run in lines if run.why_not)
    allowed = missing_allowed(ground.n)
    most = "none may be missing" if allowed == 0 else f"at most {allowed} may be missing"
    counted = of_all(len(lines) - sum(out.values()), len(lines), "run", "is", "are")
    why: list[Said] = [f"{reason} ({count})" for reason, count in out.most_common()]
    return paragraph(
        "A pass puts every question once. When the last has ended it is signed as one run, and a run is not touched "
        "again.",
        "It counts if it was measured here, verifies, was judged by one judge over the current question set, has no "
        f"failed retrieval left, and misses at most one question in fifty: of {ground.n} questions {most}.",
        (
            f"{counted} eligible",
            "." if not out else "; the others are not: ",
            series(why) if why else None,
            "." if out else None,
        ),
    )


def _window(ground: Ground) -> Paragraph:
    sizes = sorted({row.passes for row in ground.rows})
    has = f"here the windows hold {listed([str(size) for size in sizes], 'or')} {'run' if sizes == [1] else 'runs'}"
    one = next((row for row in ground.ranked or ground.rows if row.score is not None), None)
    run = ground.shown(one) if one else None
    stands: Said = (
        (f"; {one.name}'s comes from run ", ground.of_run(run.predicate.run_id[:DIGITS], one)) if one and run else None
    )
    return paragraph(
        f"The five most recent eligible runs of a row are its window; {has}.",
        "The row's number is the window's lower median: the runs are put in order, and the middle one is taken, or "
        "the lower of the two middle ones.",
        ("So the number shown is one that a run really got, never an average of several", stands, "."),
    )


def _announced(ground: Ground) -> Paragraph:
    total = len(ground.own)
    logs = sorted(
        {run.document.predicate.intent.log for run in ground.own if run.document and run.document.predicate.intent}
    )
    unannounced = sum("NO_INTENT" in _codes(run) for run in ground.own)
    seen = sum(not UNATTESTED & _codes(run) for run in ground.own)
    rule = (
        "An announcement names questions, configuration, corpus, judge and each planned pass, so that a pass that is "
        "thrown away is missed."
    )
    if unannounced == total:
        return paragraph(
            f"{of_all(0, total, 'run', 'was', 'were')} announced before the first answer, so nobody can say how many "
            "passes were made and left out.",
        )
    count = of_all(total - unannounced, total, "run", "was", "were")
    where = "logs" if len(logs) > 1 else "log"
    said: Said = (
        f"{count} announced before the first answer, in the {where} ",
        series([Code(name) for name in logs]),
        ".",
    )
    return paragraph(said, rule, _witnessed(ground, seen, total))


def _codes(run: LoadedRun) -> set[str]:
    return {check.code for check in run.checks}


def _witnessed(ground: Ground, seen: int, total: int) -> Said:
    names = witnesses(ground.own)
    if not seen:
        return f"{of_all(0, total, 'run', 'was', 'were')} seen by a witness that is trusted here."
    who: list[Said] = [Code(name) for name in names]
    by: Said = (f"the {verb(len(names), 'witness', 'witnesses')} ", some(who)) if names else "a trusted witness"
    return (
        of_all(seen, total, "run", "was", "were"),
        " seen by ",
        by,
        ", the announcement before the first answer and the run afterwards.",
    )


def witnesses(runs: Sequence[LoadedRun]) -> list[str]:
    """Return the names under which others than the log cosigned what holds the runs."""
    found: dict[str, None] = {}
    for run in runs:
        try:
            proof = decode_proof(run.files[RUN_PROOF]).signed()
        except (KeyError, VerifyError):
            continue
        found |= dict.fromkeys(one.name for one in proof.signatures if one.name != proof.origin)
    return list(found)


def _voided(ground: Ground) -> Paragraph | None:
    void = ground.board.voided
    if not void:
        return None
    reasons: list[Said] = [f"{one.row}, pass {one.pass_k} (“{one.taken_back.reason}”)" for one in void]
    return paragraph(
        (
            f"{plural(len(void), 'run')} {verb(len(void), 'was', 'were')} taken back and "
            f"{verb(len(void), 'counts', 'count')} nowhere, though the log and the ",
            on_board("board"),
            " keep what ",
            verb(len(void), "it", "they"),
            " said: ",
            some(reasons),
            ".",
        ),
    )


def _release(ground: Ground) -> Paragraph:
    if ground.board.scope == "local":
        return paragraph(PUBLIC_ONLY)
    published = [run.publication for run in ground.own if run.publication is not None]
    total = len(ground.own)
    if not published:
        return paragraph(f"Of {of_all(0, total, 'run', 'is', 'are')} a scan and a sign-off recorded.")
    found = sum(one.scan.findings for one in published)
    allowed, redacted, withheld = (
        sum(getattr(one.scan, what) for one in published) for what in ("allowed", "redacted", "withheld")
    )
    parts = [
        f"{count} {what}"
        for count, what in ((allowed, "allowed with a reason"), (redacted, "redacted"), (withheld, "withheld"))
        if count
    ]
    several = "; what stands in several runs counts in each" if found and len(published) > 1 else ""
    came = f"{plural(found, 'finding')} ({listed(parts)}{several})" if found else "no finding"
    readers = list(dict.fromkeys(sign.reader for one in published for sign in one.sign_offs))
    unread = sum(not one.sign_offs for one in published)
    absent = list(dict.fromkeys(what for one in published for what in one.scan.not_detected))
    return paragraph(
        f"{of_all(len(published), total, 'run', 'was', 'were')} scanned before publication for personal data, secrets "
        f"and error messages, each by itself: {plural(sum(one.scan.texts for one in published), 'text')} in all gave "
        f"{came}.",
        (("What the scan does not find: ", some(list(absent)), ".") if absent else None),
        (
            (
                "All answers were read and signed off by ",
                series(list(readers)),
                f", but for {unread} runs." if unread else ".",
            )
            if readers
            else f"{of_all(unread, len(published), 'run', 'was', 'were')} signed off by nobody."
        ),
        "A redaction never touches the signed run, and no verdict and no score is ever redacted."
        if redacted or withheld
        else None,
    )
