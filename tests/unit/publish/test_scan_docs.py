"""The page about the scan names what the code does: every kind, rule, plugin and country."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragassay.publish.detect.exempt import RULES
from ragassay.publish.detect.hit import KINDS
from ragassay.publish.detect.names import LABELS
from ragassay.publish.detect.national import RECOGNISERS
from ragassay.publish.detect.personal import REGIONS
from ragassay.publish.detect.presidio import FLOOR, NEAR
from ragassay.publish.detect.secrets import PLUGINS
from ragassay.publish.scan import CONTEXT, MAX_FINDINGS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explain" / "scan-before-publishing.md"
TEXT = re.sub(r"\s+", " ", PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("word", [*KINDS, *LABELS, *RULES, *RECOGNISERS, *REGIONS, *(one.name for one in PLUGINS)])
def test_what_is_looked_for_stands_on_the_page(word: str) -> None:
    """A detector or rule that is added is described."""
    assert word in TEXT


def test_the_numbers_on_the_page_are_those_of_the_code() -> None:
    """Floor, reach, context, cap and the number of recognisers are as the code has them."""
    count = sum(len(names) for names in RECOGNISERS.values())
    assert f"what has {FLOOR} or more counts" in TEXT
    assert f"within {NEAR} characters" in TEXT
    assert f"up to {CONTEXT} characters before and after" in TEXT
    assert f"the first {MAX_FINDINGS:,} findings" in TEXT
    assert f"{count} of Presidio's recognisers" in TEXT
