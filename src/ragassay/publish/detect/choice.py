"""Makes the detectors; the extra `pii` is imported here and nowhere earlier."""

from __future__ import annotations

from pathlib import Path

from ragassay.publish.detect.hit import Detector, NotScanned
from ragassay.publish.detect.names import Names
from ragassay.publish.detect.national import NationalIds
from ragassay.publish.detect.personal import Personal
from ragassay.publish.detect.secrets import Secrets


def detectors(*, spacy_model: Path | None = None) -> tuple[Detector, ...]:
    """Return every detector; names, places and health terms only where a folder with a spaCy model is given.

    Takes about a second. Raises `NotScanned` where the extra `pii` is missing or the model cannot be used: a scan with
    fewer detectors than asked for would call clean what nobody looked at.
    """
    try:
        always: tuple[Detector, ...] = (Personal(), NationalIds(), Secrets())
    except ImportError as error:
        raise NotScanned(
            f"the scan needs the extra `pii` ({error.name or error} is not installed): pip install 'ragassay[pii]'"
        ) from error
    return always if spacy_model is None else (*always, Names(spacy_model))
