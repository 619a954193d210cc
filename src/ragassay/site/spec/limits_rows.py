"""Limitations of the rows: unrecorded parameters, corpora, tuned rows, beta products, cut texts, fills. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.site.maturity import UNFINISHED, maturities
from ragassay.site.spec.answering import described, parameters
from ragassay.site.spec.corpus import corpora
from ragassay.site.spec.counted import of_all, opening, some, spelled, verb
from ragassay.site.spec.document import Code, Paragraph, Said, series, under_title
from ragassay.site.spec.fairness import another_corpus, contradicted
from ragassay.site.spec.ground import Ground
from ragassay.site.spec.parameters import unvalued
from ragassay.site.spec.rows import stack_described

DIGITS = 12


def unrecorded(ground: Ground) -> Paragraph | None:
    """Say which parameters are recorded without a value, row by row, and which are not recorded at all."""
    if not ground.configs:
        return under_title(
            "Nothing is recorded of the rows.",
            "Stack, model, corpus, prompt and parameters are unknown, so what made the difference between two rows "
            "cannot be said.",
        )
    silent = [
        row.name for row in ground.stacks if row.key in ground.configs and not stack_described(ground.configs[row.key])
    ]
    without = _without_value(ground)
    mute: Said = (
        (
            series(list(silent)),
            f" {verb(len(silent), 'says', 'say')} nothing of {verb(len(silent), 'itself', 'themselves')}.",
        )
        if silent
        else None
    )
    model = _model(ground)
    if not (without or mute or model):
        return None
    return under_title("Not every parameter is known.", without, mute, model)


def _without_value(ground: Ground) -> Said:
    """Say which parameters are recorded without a value, row by row."""
    found = {
        row.name: list(unvalued(stack_described(ground.configs[row.key])))
        for row in ground.rows
        if row.key in ground.configs
    }
    named: list[Said] = [
        (series([Code(path) for path in paths]), f" of {name}") for name, paths in found.items() if paths
    ]
    count = sum(len(paths) for paths in found.values())
    if not count:
        return None
    return (
        f"{opening(spelled(count, 'parameter'))} {verb(count, 'is', 'are')} recorded without a value: ",
        some(named),
        f"; the record does not say whether {verb(count, 'it is', 'they are')} unknown or simply unused.",
    )


def _model(ground: Ground) -> Said:
    """Say what is not known of a language model: its temperature where none is sent, the build behind its name."""
    config = ground.sample.config if ground.sample else None
    if config is None or ground.table.answer_kind == "reader":
        return None
    said = [] if "temperature" in parameters(config) else ["at which temperature the model answers"]
    said += (
        []
        if isinstance(described(config).get("weights"), dict)
        else ["which build of it stood behind its name on the day"]
    )
    if not said:
        return None
    return f"It is not recorded {', nor '.join(said)}."


def different_corpora(ground: Ground) -> Paragraph | None:
    """Say that rows retrieved from different corpora, or from one that nobody here saw."""
    found = corpora(ground)
    if len(found) < 2:
        return None
    named: list[Said] = [
        (series(list(names)), f" {verb(len(names), 'retrieves', 'retrieve')} from ", _whose(corpus))
        for corpus, names in found
    ]
    return under_title(
        "The rows do not share one corpus.",
        (series(named), "; what separates the rows may lie in the texts."),
    )


def _whose(corpus: Mapping[str, Any]) -> Said:
    digest = corpus.get("digest")
    return ("the corpus ", Code(str(digest)[:DIGITS])) if digest else "one that a service keeps for itself"


def tuned(ground: Ground) -> Paragraph | None:
    """Say which rows were shaped on these very questions."""
    own = [row for row in ground.stacks if row.exposure in ("designed-on", "tuned-on")]
    if not own:
        return None
    said: list[Said] = [
        f"{row.name} was {'designed' if row.exposure == 'designed-on' else 'tuned'} on these questions" for row in own
    ]
    return under_title(
        "Rows knew the questions." if len(own) > 1 else "A row knew the questions.",
        (series(said), f", so {verb(len(own), 'its score is', 'their scores are')} likely too high."),
    )


def beta(ground: Ground) -> Paragraph | None:
    """Say which rows use a product that calls itself unfinished."""
    said: list[Said] = []
    for row in ground.rows:
        if row.key in ground.configs:
            marks = {
                (kind, mark)
                for kind, mark in maturities(stack_described(ground.configs[row.key]))
                if mark.lower() in UNFINISHED
            }
            said += [(f"{row.name} ({kind}, {mark})") for kind, mark in sorted(marks)]
    if not said:
        return None
    return under_title(
        "Not every product is finished.",
        (
            "By its own description something is not yet released in ",
            some(said),
            "; what it does may change under the same name.",
        ),
    )


def wire_form(ground: Ground) -> Paragraph | None:
    """Say of which rows the code that asks the service was never run against the service itself."""
    said = [row.name for row in ground.rows if row.key in ground.configs and _is_wire_form_only(ground, row.key)]
    if not said:
        return None
    return under_title(
        "Not every stack was tested against its service.",
        (
            "Against a server that speaks the wire form, and never against the service, was tested the code behind ",
            series(list(said)),
            "; what the service does otherwise may have gone unnoticed.",
        ),
    )


def _is_wire_form_only(ground: Ground, key: str) -> bool:
    return ground.configs[key].circumstance.wire_form_only


def cut_texts(ground: Ground) -> Paragraph | None:
    """Say of which rows the embedder sees the beginning of some chunks only."""
    found: dict[int, list[str]] = {}
    for row in ground.rows:
        if row.key in ground.configs and (cut := max(_figures(stack_described(ground.configs[row.key])), default=0)):
            found.setdefault(cut, []).append(row.name)
    if not found:
        return None
    said: list[Said] = [
        (f"{count:,} chunks in " if count > 1 else "1 chunk in ", series(list(names))) for count, names in found.items()
    ]
    return under_title(
        "Embedders do not read everything.",
        ("Longer than what the embedder takes, and seen from the beginning only, are ", some(said), "."),
        "What stands at the end of such a chunk cannot be found there.",
    )


def _figures(value: Any) -> list[int]:
    if isinstance(value, list):
        return [figure for part in value for figure in _figures(part)]
    if not isinstance(value, dict):
        return []
    own = value.get("truncated_chunks")
    return [
        *([own] if isinstance(own, int) and not isinstance(own, bool) else []),
        *(figure for part in value.values() for figure in _figures(part)),
    ]


def second_passages(ground: Ground) -> Paragraph | None:
    """Say that questions were answered right without the accepted evidence, so reach may be understated."""
    own = [row for row in ground.stacks if row.correct_without_reach]
    if not own:
        return None
    said: list[Said] = [(f"{row.name} (", ground.of_run(str(row.correct_without_reach), row), ")") for row in own]
    return under_title(
        "The evidence may not be all there is.",
        (
            "Questions were answered fully right although no accepted passage had been retrieved: ",
            some(said),
            ". Another passage answers them too, or the answer was luck; until somebody looks, the board may count "
            "the evidence as retrieved too seldom.",
        ),
    )


def fills(ground: Ground) -> Paragraph | None:
    """Say which rows hold items that were taken over from another pass."""
    own = [(row, sum(run.filled for run in row.runs if run.in_window)) for row in ground.rows]
    own = [(row, count) for row, count in own if count]
    if not own:
        return None
    total = sum(count for _, count in own)
    asked = sum(row.missing.asked for row, _ in own)
    said: list[Said] = [f"{row.name} ({count})" for row, count in own]
    return under_title(
        "Items were filled.",
        (
            f"{of_all(total, asked, 'item', 'was', 'were')} taken over from another pass, as the run declares: ",
            some(said),
            ". Such an item is not an independent answer, and strict verification refuses its run.",
        ),
    )


FOUND = (
    unrecorded,
    different_corpora,
    another_corpus,
    tuned,
    contradicted,
    beta,
    wire_form,
    cut_texts,
    second_passages,
    fills,
)
