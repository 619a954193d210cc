"""The corpus, and the rows with every parameter that their runs record. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.records import Config
from ragassay.site.numbers import UNKNOWN, plural
from ragassay.site.record import BoardRow
from ragassay.site.spec.counted import spelled
from ragassay.site.spec.document import (
    Block,
    Code,
    Link,
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
from ragassay.site.spec.ground import CORPUS, Ground
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


def corpus(ground: Ground) -> Section:
    """Return the corpus: where it comes from, its pages, chunks and digest, its chunker and extractor."""
    return Section("The corpus", "corpus", is_said(_corpus(ground)))


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


def corpora(ground: Ground) -> list[tuple[dict[str, Any], list[str]]]:
    """Return each corpus that rows were measured on, with the names of those rows."""
    found: list[tuple[dict[str, Any], list[str]]] = []
    for row in ground.rows:
        if row.key in ground.configs:
            corpus = ground.configs[row.key].measure.corpus
            own = next((names for known, names in found if known == corpus), None)
            if own is None:
                found.append((corpus, [row.name]))
            else:
                own.append(row.name)
    return found


def _corpus(ground: Ground) -> list[Block]:
    found = corpora(ground)
    if not found:
        nothing = "Nothing is recorded of the corpus: no source, no pages, no chunks and no digest."
        told = ground.benchmark is not None and bool(ground.benchmark.corpus)
        return [paragraph(nothing, _source(ground) if told else None)]
    said: list[Block] = [
        paragraph(_whole(corpus, names if len(found) > 1 else None), *_cut(corpus)) for corpus, names in found
    ]
    return [*said, paragraph(_source(ground))]


def _whole(corpus: Mapping[str, Any], names: Sequence[str] | None) -> Said:
    whose: Said = ("of ", series(list(names)), " ") if names else None
    if corpus.get("digest") is None:
        return (
            "The corpus ",
            whose,
            "is the service's own: its pages, its chunks and their digest are not recorded, and each text was taken "
            "as the service delivered it.",
        )
    pages, chunks = corpus.get("pages"), corpus.get("chunks")
    size = (
        f"{plural(pages, 'page')}, cut into {plural(chunks, 'chunk')}"
        if isinstance(pages, int) and isinstance(chunks, int)
        else "a size that is not recorded"
    )
    return (
        "The corpus ",
        whose,
        "has ",
        Link(size, CORPUS),
        ". Its digest is ",
        Code(str(corpus["digest"])),
        ", taken over every page, every chunk, the chunker and the extractor, and is the same on any machine that "
        "builds the same corpus.",
    )


def _cut(corpus: Mapping[str, Any]) -> list[Said]:
    if corpus.get("digest") is None:
        return []
    chunker = corpus.get("chunker")
    if not isinstance(chunker, dict) or not chunker:
        cut: Said = "The chunker is not recorded."
    else:
        given = [(Code(name), " ", value) for name, value in leaves(chunker) if name != "kind"]
        cut = (
            "The chunker is ",
            Code(str(chunker.get("kind", NOT_RECORDED))),
            (" with ", series(list(given))) if given else None,
            ".",
        )
    extractor = corpus.get("extractor")
    return [
        cut,
        ("Text was taken out of the pages by the extractor ", Code(str(extractor)), ".")
        if extractor
        else "The extractor is not recorded.",
    ]


def _source(ground: Ground) -> Said:
    told = ground.benchmark.corpus if ground.benchmark else {}
    if not told:
        return "Where its pages come from is not recorded: neither the runs nor the question file say it."
    said: list[Said] = [(f"{name} ", value) for name, value in leaves(told)]
    return ("Of where its pages come from the question file says: ", series(said), ".")


def _intro(ground: Ground) -> Paragraph:
    return paragraph(
        "A row is named by its key, the SHA-256 over its name and all that can change its number. Change one "
        "parameter below, and it is another row; the old one stays, marked as superseded.",
        _exposure(ground),
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
