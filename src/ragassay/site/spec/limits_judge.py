"""Limitations of judge and answers: literal, uncalibrated, stale, mixed, one of them; no language model. Pure."""

from __future__ import annotations

from ragassay.site.numbers import plural
from ragassay.site.spec.counted import some, spelled, verb
from ragassay.site.spec.document import Paragraph, Said, series, under_title
from ragassay.site.spec.ground import Ground


def reader(ground: Ground) -> Paragraph | None:
    """Say that no language model wrote the answers."""
    if ground.table.answer_kind != "reader":
        return None
    return under_title(
        "No language model wrote the answers.",
        "A reader quotes what it is given and puts nothing in words of its own. A model may make more of the same "
        "passages, or be led astray by them; neither shows here.",
    )


def literal(ground: Ground) -> Paragraph | None:
    """Say that the judge reads literals."""
    if ground.table.judge_kind != "literal":
        return None
    return under_title(
        "The judge reads literals, not meaning.",
        "An answer that says the right thing in words that the claim does not list gets nothing for it, and a passage "
        "that happens to hold the right figure gets everything.",
    )


def uncalibrated(ground: Ground) -> Paragraph | None:
    """Say that the published judge was not held against people, or did not pass."""
    if not ground.configs:
        return None
    judging = ground.table.judging
    state = judging.judges[0].calibration.state if judging else "none"
    if state == "calibrated":
        return None
    why = {
        "none": "No person rated any answer",
        "provisional": "Too few answers were rated by people to rely on it",
        "not_calibrated": "People rated answers, and the judge did not agree with them well enough",
        "stale": "People rated answers, but not by what is judged here now",
    }[state]
    return under_title(
        "The judge is not calibrated.",
        f"{why}, so nobody knows what {ground.table.judge} is worth as a measure of what a person would call right.",
    )


def not_asked_twice(ground: Ground) -> Paragraph | None:
    """Say that the noise of a judge that is no deterministic one is unknown."""
    if not ground.configs or ground.table.judge_kind == "literal":
        return None
    lines = ground.table.judging.noise if ground.table.judging else ()
    if any(line.state in ("measured", "undefined", "deterministic") for line in lines):
        return None
    return under_title("The judge's own noise is unknown.", "No answer was given to it twice.")


def gives_points_away(ground: Ground) -> Paragraph | None:
    """Say that a null row scored above 0."""
    judging = ground.table.judging
    own = [line for line in judging.judges[0].null_rows if line.above] if judging else []
    if not own:
        return None
    said: list[Said] = [f"{line.null_row} ({line.above} of {plural(line.judged, 'question')})" for line in own]
    return under_title(
        "The judge gives points away.",
        ("A text that answers nothing scored above 0 on the null rows: ", some(said), "."),
    )


def disagreeing(ground: Ground) -> Paragraph | None:
    """Say under which judges the order of rows changes."""
    judging = ground.table.judging
    own = [judge.name for judge in judging.judges if judge.order_changed] if judging else []
    if not own:
        return None
    return under_title(
        "The order depends on the judge.",
        (
            "Under ",
            series(list(own)),
            f" the same answers put the rows in another order; {verb(len(own), 'its', 'their')} scores stand in the "
            "table above.",
        ),
    )


def mixed(ground: Ground) -> Paragraph | None:
    """Say that other tables of the board stand under another judge."""
    others = [
        table
        for table in ground.board.tables
        if not table.main and (table.judge, table.judge_kind) != (ground.table.judge, ground.table.judge_kind)
    ]
    if not others:
        return None
    names = list(dict.fromkeys(table.judge for table in others))
    return under_title(
        "The board has rows under other judges.",
        (
            f"{plural(len(others), 'table')} {verb(len(others), 'is', 'are')} judged by ",
            some(list(names)),
            f" and not by {ground.table.judge}: numbers over two judges must not be held against each other.",
        ),
    )


def identical(ground: Ground) -> Paragraph | None:
    """Say that passes came out the same because everything is deterministic."""
    rows = [row for row in ground.rows if row.passes > 1]
    contents = {
        row.key: {ground.documents[run.id].predicate.content.sha256 for run in row.runs if run.in_window}
        for row in rows
    }
    fixed = ground.table.answer_kind == "reader" and ground.table.judge_kind == "literal"
    same = [row for row in rows if len(contents[row.key]) == 1]
    if not fixed or not same:
        return None
    passes = sum(row.passes for row in same)
    whose = f"In each of {spelled(len(same), 'row')} the passes" if len(same) > 1 else f"In {same[0].name} the passes"
    return under_title(
        "Further passes add nothing.",
        f"{whose}, {passes} in all, repeat one another to the letter: reader and judge are deterministic, so a second "
        "pass shows that the result can be repeated, and nothing of its noise.",
    )


FOUND = (reader, literal, uncalibrated, not_asked_twice, gives_points_away, disagreeing, mixed, identical)
