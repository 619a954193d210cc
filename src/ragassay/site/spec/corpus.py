"""The corpus of a board: where it comes from, its size, its digest, what cut it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.site.numbers import plural
from ragassay.site.spec.document import (
    Block,
    Code,
    Link,
    Said,
    Section,
    is_said,
    paragraph,
    series,
)
from ragassay.site.spec.ground import CORPUS, Ground
from ragassay.site.spec.parameters import (
    leaves,
)

NOT_RECORDED = "not recorded"


def corpus(ground: Ground) -> Section:
    """Return the corpus: where it comes from, its pages, chunks and digest, its chunker and extractor."""
    return Section("The corpus", "corpus", is_said(_corpus(ground)))


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
