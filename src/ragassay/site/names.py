"""Names of files for ids that may hold anything: short, and never two alike even where case is ignored. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ragassay.canon import sha256

LONGEST = 60
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that one file system keeps for itself."""


def file_names(ids: Iterable[str]) -> dict[str, str]:
    """Return for each id a name of [a-z0-9._-]; ids whose plain names clash carry 8 digits of their SHA-256."""
    distinct = list(dict.fromkeys(ids))
    plain = {identity: _plain(identity) for identity in distinct}
    counts = Counter(plain.values())
    names = {}
    for identity in distinct:
        name = plain[identity]
        whole = name == identity.lower()
        if counts[name] > 1 or not whole:
            name = f"{name}-{sha256(identity.encode('utf-8', 'surrogatepass'))[:8]}"
        names[identity] = name
    return names


def _plain(identity: str) -> str:
    name = re.sub(r"[^a-z0-9._-]+", "-", identity.lower()).strip("-.")[:LONGEST].rstrip("-.")
    return f"x-{name}" if not name or RESERVED.fullmatch(name) else name
