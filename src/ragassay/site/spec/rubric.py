"""Who judges, what the judge is shown, and by which rubric it gives its verdicts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.records import Config
from ragassay.site.spec.counted import spelled
from ragassay.site.spec.document import (
    Block,
    Code,
    Paragraph,
    Said,
    Table,
    cells,
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
    "factual-consistency/1": "nothing of the row that it came from",
    "factual-consistency/2": "neither what was retrieved nor which row it came from",
}
DIGESTS = {"prompt": "its prompt", "schema": "that of the form of its reply"}
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
RULINGS = (
    "The judge is told how to rule where it is not plain. An answer's final position counts; repeating the question, "
    "or what others say, asserts nothing; a menu of alternatives supports none of them. The right value for another "
    "thing or version is OMITS, a wrong value for the right thing CONTRADICTS, and an equal value in other units or "
    "another language SUPPORTS. To say that one does not know omits every claim and contradicts none."
)
WORTH = {"SUPPORTS": "1", "HEDGES": "½", "CONTRADICTS": "0", "OMITS": "0"}


def rubric(ground: Ground, config: Config) -> list[Block | None]:
    """Return who judges with all that is recorded of the judge, the profile, the verdicts and how the judge rules."""
    literal = ground.table.judge_kind == "literal"
    return [
        _literal_judge(ground, config) if literal else _model_judge(ground, config),
        None if literal else _judge_parameters(config),
        _claims(ground, config, literal=literal),
        _rubric(literal=literal),
        None if literal else paragraph(RULINGS),
    ]


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
        (f"{what}{' begins' if place == 0 else ''} ", Code(str(found[key])[:DIGITS]))
        for place, (key, what) in enumerate((key, what) for key, what in DIGESTS.items() if found.get(key))
    ]
    hashed: Said = ("The SHA-256 of ", series(digests), ".") if digests else "Neither prompt nor schema is recorded."
    return paragraph(
        ("The judge is the language model ", Code(ground.table.judge), where, "."),
        f"It is shown {SEEN[scorer]}; it sees {UNSEEN[scorer]}.",
        "It gives each claim one of four verdicts and never a number.",
        hashed,
    )


def judge_described(config: Config) -> Mapping[str, Any]:
    """Return what the judge says of itself."""
    found = config.measure.judge.get("describe")
    return found if isinstance(found, dict) else {}


def _judge_parameters(config: Config) -> Table:
    """Return everything else that is recorded of a judge that is a model."""
    own = {
        key: value for key, value in judge_described(config).items() if key not in ("kind", "id", "schema", "prompt")
    }
    if isinstance(own.get("model"), dict):
        own["model"] = {key: value for key, value in own["model"].items() if key != "kind"}
    rows = tuple(cells(Code(name), value) for name, value in leaves(own)) if own else ()
    return Table(("Parameter of the judge", "Value"), rows)


def _claims(ground: Ground, config: Config, *, literal: bool) -> Paragraph:
    profile: Said = ("The profile is ", Code(ground.table.scorer))
    if ground.table.scorer == "factual-consistency/1":
        extracts = (
            ": the judge itself takes the claims out of the reference, anew in each pass, and its list is what an "
            "item is divided by."
        )
        return paragraph((profile, extracts))
    shared = "the claims of each reference stand in the question file, and every row is divided by their number"
    fixed = f": {shared}."
    if literal:
        return paragraph((profile, fixed), "Every verdict but OMITS quotes the words of the answer that it rests on.")
    attempts = judge_described(config).get("attempts")
    again = f", at most {spelled(attempts, 'time')} in all" if isinstance(attempts, int) else ""
    quote = (
        "Every verdict but OMITS has to quote the words of the answer that it rests on, and code looks them up; a "
        f"reply that quotes what is not there is thrown away, and the judge is asked again{again}."
    )
    return paragraph((profile, fixed), quote)


def _rubric(*, literal: bool) -> Table:
    rows = tuple(cells(word, meaning, WORTH[word]) for word, meaning in (LITERAL_RUBRIC if literal else RUBRIC))
    return Table(("Verdict on a claim", "Given when", "Worth"), rows, numbers=frozenset({2}))
