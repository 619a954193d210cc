"""Names of people, places and health terms, as a spaCy model marks them; the model is a folder that the user names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import legible
from ragassay.publish.detect.hit import Hit, NotScanned
from ragassay.publish.detect.windows import pieces
from ragassay.records.publication import FindingKind

if TYPE_CHECKING:
    from spacy.language import Language

LABELS: dict[str, FindingKind] = {
    **dict.fromkeys(("PERSON", "PER"), "person"),
    **dict.fromkeys(("GPE", "LOC", "FAC", "LOCATION"), "place"),
    **dict.fromkeys(("DISEASE", "CONDITION", "DIAGNOSIS", "DRUG", "MEDICATION", "CHEMICAL", "HEALTH"), "health"),
}
"""Which labels of a model are which kind; whatever else it marks is left alone."""
_PIECE = 20_000


class Names:
    """Finds what the model marks; it can find the kinds for which the model has a label."""

    def __init__(self, model: Path) -> None:
        self._language = _load(model)
        labels = _labels(self._language)
        self.kinds: frozenset[FindingKind] = frozenset(LABELS[label] for label in labels & LABELS.keys())
        if not self.kinds:
            known = ", ".join(sorted(labels)[:20]) or "none"
            raise NotScanned(
                f"the spaCy model in {model} marks no names, places or health terms: its labels are {known}; "
                f"those that are looked for are {', '.join(LABELS)}"
            )
        meta = self._language.meta
        self.name = (
            f"spaCy model {meta['lang']}_{meta['name']} {meta['version']}: {', '.join(sorted(labels & LABELS.keys()))}"
        )

    def find(self, text: str) -> Iterator[Hit]:
        """Yield the entities of those labels; a text of more than 20,000 characters is read in pieces."""
        for offset, piece in pieces(text, size=_PIECE):
            if not piece.strip():
                continue
            for entity in self._language(piece).ents:
                kind = LABELS.get(entity.label_)
                if kind is not None:
                    start, end = offset + entity.start_char, offset + entity.end_char
                    yield Hit(kind=kind, start=start, end=end, detector=f"spaCy {entity.label_}")


def _labels(language: Language) -> set[str]:
    """Return every label of the pipeline's parts that mark entities."""
    return {label for name, labels in language.pipe_labels.items() if "tag" not in name for label in labels}


def _load(model: Path) -> Language:
    if not model.is_dir():
        raise NotScanned(f"{model} is no folder; name the folder of a spaCy model, the one that holds config.cfg")
    import spacy

    try:
        return spacy.load(model)
    except Exception as error:  # whatever a foreign model raises, the folder cannot be used
        raise NotScanned(f"the spaCy model in {model} cannot be loaded: {legible(error)}") from error
