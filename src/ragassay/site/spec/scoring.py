"""How answers are scored: who judges, by which rubric, and the arithmetic with an example from the board. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.records import Config, OutputRow
from ragassay.score.factual_consistency import CAP, INSUFFICIENT
from ragassay.site.numbers import plural
from ragassay.site.record import BoardRow
from ragassay.site.render import hundredths
from ragassay.site.spec.counted import of_all
from ragassay.site.spec.document import (
    Code,
    Command,
    Paragraph,
    Said,
    Section,
    Table,
    cells,
    is_said,
    paragraph,
    series,
)
from ragassay.site.spec.ground import Ground
from ragassay.site.spec.parameters import leaves, without_secrets

SEEN = {
    "factual-consistency/1": "the question, the reference, marked as authoritative, the answer, and the context that "
    "was retrieved",
    "factual-consistency/2": "the question, the claims of its reference, the reference with its evidence, and the "
    "answer",
}
UNSEEN = {
    "factual-consistency/1": "never which row it came from",
    "factual-consistency/2": "neither what was retrieved nor which row it came from",
}
DIGESTS = {"prompt": "its prompt", "schema": "the form of its reply"}
DIGITS = 12
LITERAL_RUBRIC = (
    ("SUPPORTS", "each of the claim's lists of literals has a hit"),
    ("CONTRADICTS", "not so, and a literal that must not stand there does"),
    ("OMITS", "neither"),
)
RUBRIC = (
    ("SUPPORTS", "the answer asserts what the claim says"),
    ("HEDGES", "it does so, and softens or qualifies more than the reference"),
    ("CONTRADICTS", "it asserts the opposite, or something that cannot also be true"),
    ("OMITS", "it does not address the claim"),
)
WORTH = {"SUPPORTS": "1", "HEDGES": "½", "CONTRADICTS": "0", "OMITS": "0"}


def scoring(ground: Ground) -> Section:
    """Return who judges, what the judge is shown, the rubric, and how code makes numbers of verdicts."""
    config = ground.sample.config if ground.sample else None
    if config is None:
        said = paragraph(
            f"The judge is given as {ground.table.judge}.",
            "Its rubric, its prompt and its verdicts are not recorded, so the item scores have to be taken as they "
            "were published; that they add up to the rows' scores was recomputed.",
        )
        return Section("How answers were scored", "scoring", (said, *is_said((_missing(ground),))))
    literal = ground.table.judge_kind == "literal"
    blocks = (
        _judge(ground, config, literal=literal),
        _judge_parameters(config, literal=literal),
        _claims(ground, literal=literal),
        _rubric(literal=literal),
        *_formula(ground, literal=literal),
        _insufficient(ground),
        _row_score(ground),
        _missing(ground),
    )
    return Section("How answers are scored", "scoring", is_said(blocks))


def _judge(ground: Ground, config: Config, *, literal: bool) -> Paragraph:
    return _literal_judge(ground, config) if literal else _model_judge(ground, config)


def _literal_judge(ground: Ground, config: Config) -> Paragraph:
    folds = judge_described(config).get("folds")
    named: Said = None
    if isinstance(folds, list) and folds:
        listed = series([Code(str(fold)) for fold in folds])
        named = ("Some differences it overlooks on purpose; the folds that remove them are ", listed, ".")
    looks = (
        ", a program that looks for literals: each claim lists the figures, names or words that an answer must hold "
        "to make it, and those that it must not hold."
    )
    return paragraph(
        ("The judge is ", Code(ground.table.judge), looks),
        "It asks no model, costs nothing, and gives anyone who runs it again the same verdicts.",
        named,
    )


def _model_judge(ground: Ground, config: Config) -> Paragraph:
    found, scorer = judge_described(config), config.measure.scorer
    model = found.get("model")
    base = model.get("base_url") if isinstance(model, dict) else None
    where: Said = (", asked at ", Code(without_secrets(str(base)))) if base else None
    digests: list[Said] = [
        (f"{what} begins ", Code(str(found[key])[:DIGITS])) for key, what in DIGESTS.items() if found.get(key)
    ]
    hashed: Said = ("The SHA-256 of ", series(digests), ".") if digests else "Neither prompt nor schema is recorded."
    return paragraph(
        ("The judge is the language model ", Code(ground.table.judge), where, "."),
        f"It is shown {SEEN[scorer]}, and {UNSEEN[scorer]}.",
        "It gives each claim one of four verdicts and never a number.",
        hashed,
    )


def judge_described(config: Config) -> Mapping[str, Any]:
    """Return what the judge says of itself."""
    found = config.measure.judge.get("describe")
    return found if isinstance(found, dict) else {}


def _judge_parameters(config: Config, *, literal: bool) -> Table | None:
    """Return everything else that is recorded of a judge that is a model."""
    if literal:
        return None
    own = {
        key: value for key, value in judge_described(config).items() if key not in ("kind", "id", "schema", "prompt")
    }
    if isinstance(own.get("model"), dict):
        own["model"] = {key: value for key, value in own["model"].items() if key != "kind"}
    rows = tuple(cells(Code(name), value) for name, value in leaves(own)) if own else ()
    return Table(("Parameter of the judge", "Value"), rows)


def _claims(ground: Ground, *, literal: bool) -> Paragraph:
    if ground.table.scorer == "factual-consistency/1":
        return paragraph(
            "The profile is ",
            (
                Code(ground.table.scorer),
                ": the judge itself takes the claims out of the reference, anew in each pass, and its list is what an "
                "item is divided by.",
            ),
        )
    quote = (
        "Every verdict but OMITS has to quote the words of the answer that it rests on, and code looks them up; a "
        "reply that quotes what is not there is thrown away and asked for again, at most twice."
        if not literal
        else "Every verdict but OMITS quotes the words of the answer that it rests on."
    )
    return paragraph(
        (
            "The profile is ",
            Code(ground.table.scorer),
            ": the claims of each reference were fixed before any answer was seen, and every row is divided by the "
            "same number of them.",
        ),
        quote,
    )


def _rubric(*, literal: bool) -> Table:
    rows = tuple(cells(word, meaning, WORTH[word]) for word, meaning in (LITERAL_RUBRIC if literal else RUBRIC))
    return Table(("Verdict on a claim", "Given when", "Worth"), rows, numbers=frozenset({2}))


def _formula(ground: Ground, *, literal: bool) -> list[Paragraph | Command]:
    cap = hundredths(CAP)
    hedged = " (this judge knows no HEDGES, so H is always 0)" if literal else ""
    return [
        paragraph(
            "The number is computed by code, in whole hundredths and rounded half up. With S of N claims supported "
            f"and H hedged{hedged}, and with div for division without a remainder, an item gets"
        ),
        Command(("(100 · (2·S + H) + N) div (2·N)",)),
        paragraph(
            f"and at most {cap} where the answer contradicts a claim that the question is about, a central one.",
            _example(ground),
        ),
    ]


def _example(ground: Ground) -> Said:
    """Work out one item of the board: the first of the best row that is neither fully right nor wholly wrong."""
    for row in ground.stacks:
        run = ground.shown(row)
        for output in run.outputs if run else ():
            if output.verdict is not None and output.claims and output.score not in (0, 100, None):
                return _worked(ground, row, output)
    return None


def _worked(ground: Ground, row: BoardRow, output: OutputRow) -> Said:
    words = [claim.verdict for claim in output.claims]
    supported, hedged, total = words.count("SUPPORTS"), words.count("HEDGES"), len(words)
    plain = (100 * (2 * supported + hedged) + total) // (2 * total)
    capped = f", capped at {CAP}," if output.score is not None and output.score < plain else ""
    had = f"{supported} of {plural(total, 'claim')} supported" + (f" and {hedged} hedged" if hedged else "")
    return (
        f"{row.name}'s answer to ",
        ground.of_question(output.id),
        f", for example, has {had}: (100 · (2·{supported} + {hedged}) + {total}) div {2 * total} = {plain}{capped} "
        f"and so {hundredths(output.score)}.",
    )


def _insufficient(ground: Ground) -> Paragraph:
    half = hundredths(INSUFFICIENT)
    counted = sum(row.insufficient for row in ground.rows)
    asked = sum(row.missing.asked for row in ground.rows)
    if ground.table.scorer == "factual-consistency/1":
        when = (
            f"An item also gets {half} when a valid reply says that the reference does not hold what is asked, or "
            "lists no claim; a reply without such a list is invalid, and never half right."
        )
    else:
        when = (
            f"No item gets {half} for want of a good reference: a question whose reference does not hold what it asks "
            "is refused when its claims are fixed."
        )
    found = (
        f"{of_all(counted, asked, 'item', 'was', 'were')} scored so."
        if counted or ground.table.scorer.endswith("/1")
        else None
    )
    return paragraph(when, found)


def _row_score(ground: Ground) -> Paragraph | None:
    row = next((row for row in ground.rows if row.score is not None), None)
    if row is None or row.score is None:
        return None
    items = row.score.den // 100
    return paragraph(
        "A pass's score is the sum of its items' hundredths over 100 for each item that has a score, kept as two "
        "integers:",
        (
            f"{row.name} shows {row.score.num}/{row.score.den}, which is ",
            ground.score(row),
            f", from {plural(items, 'item')}.",
        ),
    )


def _missing(ground: Ground) -> Paragraph:
    lost = sum(row.missing.total for row in ground.rows)
    asked = sum(row.missing.asked for row in ground.rows)
    rule = "Whatever ends without a verdict has no score; it is counted by what failed and is never taken for a 0."
    if not lost:
        return paragraph(rule, f"In the windows of this board {of_all(0, asked, 'item', 'is', 'are')} missing.")
    return paragraph(
        rule,
        f"In the windows of this board {of_all(lost, asked, 'item', 'is', 'are')} missing, of which the limitations "
        "below say more.",
    )
