"""Could the rows find what the questions ask for, and did they know the questions before? Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.site.exposurewords import day
from ragassay.site.fairness import said_of
from ragassay.site.numbers import plural
from ragassay.site.spec.counted import some, verb
from ragassay.site.spec.document import Paragraph, Said, paragraph, series, under_title
from ragassay.site.spec.ground import Ground

NO_FAIRNESS = "Whether their evidence stands in the texts that the rows search is not recorded."


def fairness(ground: Ground) -> Paragraph | None:
    """Say in whose texts the evidence of the questions stands, and of which rows that is not recorded or unknowable."""
    if not ground.stacks or not ground.configs:
        return None
    recorded = [row for row in ground.stacks if row.fairness is not None]
    if not recorded:
        return paragraph(NO_FAIRNESS)
    alike: dict[str, list[Said]] = {}
    for row in recorded:
        if row.fairness is not None:
            alike.setdefault(said_of(row.fairness), []).append(ground.named(row))
    said: list[Said] = [(series(rows), f"{', each' * (len(rows) > 1)}: {text}.") for text, rows in alike.items()]
    return paragraph(
        "Each question's evidence was looked up in the texts that each row searches; a changed word or digit counts as "
        "absent.",
        *said,
        _silent([row.name for row in ground.stacks if row.fairness is None]),
    )


def _silent(names: Sequence[str]) -> Said:
    return ("Of ", series(list(names)), " it is not recorded.") if names else None


def another_corpus(ground: Ground) -> Paragraph | None:
    """Say in whose texts evidence of questions is absent, and whose record of it is not believed."""
    lacking: list[Said] = [
        (
            f"{row.name} ({len(row.fairness.absent)} of {plural(row.fairness.questions, 'question')}: ",
            some([ground.of_question(one) for one in row.fairness.absent]),
            ")",
        )
        for row in ground.stacks
        if row.fairness is not None and row.fairness.absent
    ]
    refused: list[Said] = [
        f"What {row.name} records of it is not believed: {row.fairness_fault}."
        for row in ground.stacks
        if row.fairness_fault is not None
    ]
    if not lacking and not refused:
        return None
    titles = ("A record of fairness is not believed.", "A row searches another corpus.", "Rows search another corpus.")
    return under_title(
        titles[min(len(lacking), 2)],
        ("Evidence of questions is not in the texts of ", series(lacking), ", so they could not find it.")
        if lacking
        else None,
        *refused,
    )


def earlier(ground: Ground) -> Said:
    """Say of which rows other configurations were run on the same questions before, and how many."""
    found: list[Said] = [f"{line.earlier} of {line.row}" for line in ground.table.exposure if line.earlier]
    if not found:
        return None
    where = "Among the published runs" if ground.board.scope == "public" else "In this workspace"
    total = sum(line.earlier for line in ground.table.exposure)
    configurations = f"{verb(total, 'is an earlier configuration', 'are earlier configurations')}"
    return (f"{where} {configurations} that {verb(total, 'was', 'were')} run on these questions: ", series(found), ".")


def contradicted(ground: Ground) -> Paragraph | None:
    """Say which rows declare that they were not shaped on the questions, and were run otherwise on them before."""
    said: list[Said] = [
        f"{line.row} ({plural(line.earlier, 'earlier configuration')}, first on {day(line)})"
        for line in ground.table.exposure
        if line.contradicted
    ]
    if not said:
        return None
    return under_title(
        "A declaration is contradicted." if len(said) == 1 else "Declarations are contradicted.",
        (
            series(said),
            f" {verb(len(said), 'declares', 'declare')} not to have been shaped on the questions, and "
            f"{verb(len(said), 'was', 'were')} run on them before with other parameters; whoever saw those scores and "
            "changed a row has tuned it.",
        ),
    )
