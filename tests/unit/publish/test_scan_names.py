"""Names, places and health terms: only with a model, and a scan without one says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from scan_lab import answer, made, scanned

from ragassay.publish.detect import NotScanned, detectors
from ragassay.publish.detect.names import Names
from ragassay.publish.scan import scan


def _model(folder: Path, **patterns: str) -> Path:
    """Save a real pipeline that marks fixed words, by label."""
    import spacy

    language = spacy.blank("en")
    ruler = language.add_pipe("entity_ruler")
    ruler.add_patterns(  # type: ignore[attr-defined]
        [{"label": label, "pattern": word} for label, word in patterns.items()]
    )
    language.to_disk(folder)
    return folder


def test_without_a_model_three_kinds_are_named_as_not_detected() -> None:
    """A scan that cannot find names says so; it never calls clean what it did not look at."""
    result = scanned("Ann Lee of Springfield has diabetes")
    assert result.findings == ()
    assert result.summary.not_detected == ("names of people", "places", "health terms")


def test_a_model_finds_what_it_marks(tmp_path: Path) -> None:
    """Labels become kinds; other labels are left alone; what the model cannot mark stays named."""
    model = _model(tmp_path / "m", PERSON="Ann Lee", GPE="Springfield", ORG="Acme", DISEASE="diabetes")
    everything = detectors(spacy_model=model)
    result = scan([answer("Ann Lee of Springfield, Acme, has diabetes. " * 900)], everything)
    assert [(one.kind, one.text) for one in result.findings] == [
        ("person", "Ann Lee"),
        ("place", "Springfield"),
        ("health", "diabetes"),
    ]
    assert {len(one.places) for one in result.findings} == {900}
    assert result.summary.not_detected == ()
    assert "spaCy model en_pipeline 0.0.0: DISEASE, GPE, PERSON" in result.summary.detectors
    assert result.summary.version != scan([], made()).summary.version


def test_a_model_without_places_leaves_them_named(tmp_path: Path) -> None:
    """Each kind counts by itself."""
    names = Names(_model(tmp_path / "m", PER="Ann Lee"))
    assert scan([], [*made(), names]).summary.not_detected == ("places", "health terms")


@pytest.mark.parametrize("files", [None, {}, {"config.cfg": "[nlp]\nlang = 1"}, {"config.cfg": "\x00\x1b"}])
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, files: dict[str, str] | None) -> None:
    """A missing, empty or broken model is an error that names the folder, not a scan without it."""
    folder = tmp_path / "model"
    if files is not None:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    with pytest.raises(NotScanned, match=str(folder)):
        detectors(spacy_model=folder)


def test_a_model_that_marks_nothing_of_use_is_refused(tmp_path: Path) -> None:
    """A model without a label that is looked for would promise what it cannot do."""
    with pytest.raises(NotScanned, match=r"marks no names.*its labels are ORG"):
        Names(_model(tmp_path / "m", ORG="Acme"))
