"""How the answering model is run: what it is, what it is shown, in which order, how often. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.records import Config
from ragassay.site.numbers import listed, plural
from ragassay.site.render import utc
from ragassay.site.spec.counted import spelled
from ragassay.site.spec.document import Code, Paragraph, Said, Section, Table, cells, is_said, paragraph, series
from ragassay.site.spec.ground import Ground
from ragassay.site.spec.parameters import NO_VALUE, leaves, without_secrets

TEMPLATES = {
    "chunks-as-system/1": "Each retrieved chunk is its own system message, in the order of retrieval; one user message "
    "follows, the question, and there is no other prompt.",
    "single-system/1": "The retrieved chunks stand numbered in one system message, in the order of retrieval; one user "
    "message follows, the question, and there is no other prompt.",
    "user-context/1": "Everything goes into one user message: the retrieved chunks, numbered and in the order of "
    "retrieval, then the question; there is no system prompt.",
}
APART = frozenset({"kind", "id", "base_url"})
"""Members of a model's description that the text names."""


def answering(ground: Ground) -> Section:
    """Return the model with its parameters, template, endpoint, interleaving, passes and seed."""
    config = ground.sample.config if ground.sample else None
    if config is None:
        who = ground.table.answer
        known = f"The answering model is given as {who}. Its" if who != "unknown" else "Which model answered, its"
        nothing = paragraph(f"{known} parameters, its prompt and the order of asking are not recorded.")
        return Section("How the answers were made", "answers", (nothing,))
    blocks = (_who(ground, config), _parameters(config), _shown(ground, config), _order(ground, config), _care(config))
    return Section("How the model is run", "answers", is_said(blocks))


def described(config: Config) -> Mapping[str, Any]:
    """Return what the answering model says of itself."""
    found = config.measure.answer.get("describe")
    return found if isinstance(found, dict) else {}


def parameters(config: Config) -> Mapping[str, Any]:
    """Return the parameters that are sent with each call to a language model."""
    found = described(config).get("params")
    return found if isinstance(found, dict) else {}


def _who(ground: Ground, config: Config) -> Paragraph:
    identity = Code(ground.table.answer)
    if ground.table.answer_kind == "reader":
        return paragraph(
            (
                "The answers come from ",
                identity,
                ", and that is no language model but a reader: a program that quotes the passage of what was "
                "retrieved that fits the question best.",
            ),
            "The same chunks give the same answer every time.",
        )
    base = described(config).get("base_url")
    where: Said = (", asked at ", Code(without_secrets(str(base)))) if base else None
    weights = described(config).get("weights")
    local: Said = ", run in the process itself from the weights given below" if isinstance(weights, dict) else None
    return paragraph(("The answers come from ", identity, where, local, "."), _served(ground), *_sent(config))


def _served(ground: Ground) -> Said:
    """Say which model the provider named in its replies, where it named another."""
    names = sorted({row.model for run in ground.own if run.document for row in run.document.telemetry if row.model})
    if not names or names == [ground.table.answer]:
        return None
    return ("In its replies the provider named the model ", series([Code(name) for name in names]), ".")


def _sent(config: Config) -> list[Said]:
    sent = parameters(config)
    limit = sent.get("max_tokens", sent.get("max_completion_tokens"))
    said: list[Said] = []
    if limit is not None:
        said.append(("An answer may take up to ", Code(str(limit)), " tokens."))
    else:
        said.append("How many tokens an answer may take is not recorded.")
    if "temperature" in sent:
        said.append(("The temperature is ", Code(str(sent["temperature"])), "."))
    else:
        said.append("No temperature is sent, so the provider's own holds, whatever that is.")
    return said


def _parameters(config: Config) -> Table | None:
    own = {key: value for key, value in described(config).items() if key not in APART}
    nested = {"params", "parameters"} & own.keys()
    if len(own) == 1 and nested:  # a heading that stands over every line says nothing
        own = own[nested.pop()]
    found = list(leaves(own)) if own else []
    return Table(("Parameter", "Value"), tuple(cells(Code(name), value) for name, value in found))


def _shown(ground: Ground, config: Config) -> Paragraph:
    template = config.measure.answer.get("template")
    name = template.get("name") if isinstance(template, dict) else None
    if name is None:
        return paragraph("How retrieved text and question are laid out for the model is not recorded.")
    layout = TEMPLATES.get(
        str(name), "It is none of those that this program ships; its own documentation says what it does."
    )
    digest = template.get("digest") if isinstance(template, dict) else None
    named: Said = (
        "The template is called ",
        Code(str(name)),
        (", and its SHA-256 begins ", Code(str(digest)[:12])) if digest else None,
        ".",
    )
    bare = "In the control nothing is retrieved, so the question is all there is." if ground.end("control") else None
    return paragraph(layout, bare, named)


def _order(ground: Ground, config: Config) -> Paragraph:
    around = config.circumstance
    passes = {ground.configs[row.key].circumstance.passes for row in ground.rows if row.key in ground.configs}
    times = listed([str(count) for count in sorted(passes)], "or")
    filled = any(run.filled for row in ground.rows for run in row.runs)
    planned = f"{spelled(passes.pop(), 'pass', 'passes')}" if len(passes) == 1 else f"{times} passes"
    return paragraph(
        f"The rows take turns, question by question, in an order that the seed {around.seed} fixes, so that a "
        "provider that changes during the day changes for all of them alike.",
        f"For each row {planned} over all questions {'was' if planned == 'one pass' else 'were'} planned, and each "
        "pass asks anew: no answer is taken from an earlier "
        f"one{', but for the items that the limitations below name' if filled else ''}.",
        _when(ground),
    )


def _when(ground: Ground) -> Said:
    windows = [run.document.predicate.window for run in ground.own if run.document and run.document.predicate.window]
    if not windows:
        return None
    first, last = utc(min(w.start for w in windows)), utc(max(w.end for w in windows))
    ran = f"{plural(len(ground.own), 'pass', 'passes')} shown here ran"
    return f"The {ran} on {first}." if first == last else f"The {ran} between {first} and {last}."


def _care(config: Config) -> Paragraph | None:
    limits = config.circumstance.limits.get("answer") if config.measure.answer.get("kind") != "reader" else None
    own = [(name, value) for name, value in leaves(limits) if value != NO_VALUE] if isinstance(limits, dict) else []
    if not own:
        return None
    given: Sequence[Said] = [(Code(name), " ", value) for name, value in own]
    return paragraph(
        (
            "The calls were limited by ",
            series(list(given)),
            "; what failed and was retried is counted in ",
            Code("telemetry.jsonl"),
            " of each run.",
        )
    )
