"""The rows of a board with every parameter that their runs record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.records import Config
from ragassay.site.numbers import UNKNOWN, plural
from ragassay.site.record import BoardRow
from ragassay.site.spec.counted import spelled
from ragassay.site.spec.document import (
    Block,
    Code,
    Paragraph,
    Said,
    Section,
    Table,
    cells,
    heading,
    is_said,
    paragraph,
    series,
)
from ragassay.site.spec.fairness import earlier
from ragassay.site.spec.ground import Ground
from ragassay.site.spec.parameters import (
    Shared,
    asked_for,
    leaves,
    parts_of,
    shared_parts,
    with_shared,
)

NOT_RECORDED = "not recorded"
KEY_DIGITS = 12


def rows(ground: Ground) -> Section:
    """Return the rows with every parameter that their runs record."""
    title, anchor = "The rows", "rows"
    if not ground.configs:
        nothing = "Which stacks stand behind these scores, and with which parameters, is not recorded."
        return Section(title, anchor, (paragraph(nothing),))
    described = {row.name: stack_described(ground.configs[row.key]) for row in ground.rows if row.key in ground.configs}
    shared = shared_parts(described)
    blocks: list[Block | None] = [_intro(ground), _overview(ground), _bare(ground, described)]
    for row in ground.rows:
        if row.name in described:
            blocks += _row(row, ground.configs[row.key], described[row.name], shared)
    blocks += _shared(described, shared)
    return Section(title, anchor, is_said(blocks))


def stack_described(config: Config) -> dict[str, Any]:
    """Return what a row's stack said of itself once it was built."""
    found = config.measure.stack.get("describe")
    return found if isinstance(found, dict) else {}


def _intro(ground: Ground) -> Paragraph:
    return paragraph(
        "A row is named by its key, the SHA-256 over its name and all that can change its number. Change one "
        "parameter below, and it is another row; the old one stays, marked as superseded.",
        _exposure(ground),
        earlier(ground),
    )


def _exposure(ground: Ground) -> Said:
    silent = [row.name for row in ground.stacks if row.exposure is None]
    if not ground.stacks or not silent:
        return None
    whether = "Whether it was designed or tuned on these questions"
    if len(silent) == len(ground.stacks):
        many = f"Whether any of the {spelled(len(silent), 'stack')} was designed or tuned on these questions"
        return f"{many if len(silent) > 1 else whether} is not recorded."
    return ("Whether ", series(list(silent), "or"), " was designed or tuned on these questions is not recorded.")


def _overview(ground: Ground) -> Table:
    declared = any(row.exposure for row in ground.rows)
    head = ["Row", "Stack", "Delivers", "Threshold", *(["Exposure"] if declared else []), "Key begins"]
    found = []
    for row in ground.rows:
        known = row.key in ground.configs
        exposure = [row.exposure.replace("-", " ") if row.exposure else UNKNOWN] if declared else []
        found.append(
            cells(
                ground.named(row),
                Code(row.stack) if known else NOT_RECORDED,
                _delivers(row) if known else NOT_RECORDED,
                (row.threshold or "none") if known else NOT_RECORDED,
                *exposure,
                Code(row.key[:KEY_DIGITS]),
            )
        )
    return Table(tuple(head), tuple(found))


def _delivers(row: BoardRow) -> str:
    if row.role == "control":
        return "nothing"
    return "the evidence" if row.role == "oracle" else f"up to {plural(row.top_k, 'chunk')}"


def _bare(ground: Ground, described: Mapping[str, Mapping[str, Any]]) -> Paragraph | None:
    """Say which stacks have nothing to set."""
    names: list[Said] = [
        row.name for row in ground.rows if row.name in described and _is_bare(row, described[row.name])
    ]
    if not names:
        return None
    return paragraph((series(names), " has" if len(names) == 1 else " have", " no parameter to record."))


def _is_bare(row: BoardRow, described: Mapping[str, Any]) -> bool:
    return row.role == "control" and set(described) <= {"kind"}


def _row(row: BoardRow, config: Config, described: Mapping[str, Any], shared: Mapping[str, Shared]) -> list[Block]:
    if _is_bare(row, described):
        return []
    title = heading(row.name)
    if not described:
        return [title, paragraph("The stack says nothing of itself: none of its parameters is recorded.")]
    same = next((one for one in shared.values() if one.part == described and one.row != row.name), None)
    if same is not None:
        return [title, paragraph(f"Its parameters are those of the row {same.row}.", _asked(config, described))]
    own = {key: with_shared(value, shared) for key, value in described.items()}
    return [title, _parameters(own), paragraph(_asked(config, described))]


def _asked(config: Config, described: Mapping[str, Any]) -> Said:
    """Say what the board file asks for that the stack does not say of itself."""
    asked = list(asked_for(config.measure.stack.get("entry"), described))
    if not asked:
        return None
    given: list[Said] = [(Code(name), " ", value) for name, value in asked]
    return ("The board file also asks for ", series(given), ", of which the stack says nothing under that name.")


def _parameters(described: Mapping[str, Any]) -> Table:
    return Table(
        ("Parameter", "Value"), tuple(cells(Code(name), value) for name, value in leaves(described) if name != "kind")
    )


def _shared(described: Mapping[str, Any], shared: Mapping[str, Shared]) -> list[Block]:
    """Return each part that several rows have and none is, once."""
    blocks: list[Block] = []
    for digest, one in shared.items():
        if one.row is None:
            users = [name for name, value in described.items() if one.part in parts_of(value)]
            own = {key: with_shared(value, shared, within=digest) for key, value in one.part.items()}
            blocks += [heading(f"{one.name}, in ", series(list(users))), _parameters(own)]
    return blocks
