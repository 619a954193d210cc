"""Known limitations that the program finds by itself; each is a paragraph that is there only where it applies. Pure."""

from __future__ import annotations

from ragassay.site.spec.document import Paragraph, Section, is_said, paragraph
from ragassay.site.spec.ground import Ground
from ragassay.site.spec.limits_items import FOUND as ITEMS
from ragassay.site.spec.limits_judge import FOUND as JUDGE
from ragassay.site.spec.limits_lead import FOUND as LEAD
from ragassay.site.spec.limits_rows import FOUND as ROWS
from ragassay.site.spec.limits_trust import FOUND as TRUST

FINDERS = (*LEAD, *ITEMS, *ROWS, *JUDGE, *TRUST)


def found_limits(ground: Ground) -> list[Paragraph]:
    """Return every limitation that applies to a board."""
    return [said for find in FINDERS if (said := find(ground)) is not None]


def limits(ground: Ground) -> Section:
    """Return the section of known limitations, the gravest for reading the ranking first."""
    found = found_limits(ground)
    opening = (
        "The program that makes this page looks for what weakens a board. It found the following, and cannot find "
        "what is not recorded."
        if found
        else "The program that makes this page looks for what weakens a board, and found none of it. It cannot find "
        "what is "
        "not recorded."
    )
    return Section("Known limitations", "limitations", is_said((paragraph(opening), *found)))
