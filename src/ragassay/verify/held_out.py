"""Bytes in, answer out: is what was revealed what a commitment had bound? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ragassay.manifest.held_out import Salt, SignedHeldOut, item_hash
from ragassay.records import Benchmark, Record


class Revealed(Record, frozen=True):
    """What came of holding revealed questions against a commitment.

    Each revealed question's id is in `held`, where its salted hash is one of the committed, in `changed`, where it is
    not, or in `unsalted`, where no key was given for it. `whole` is True where the file is the committed one to the
    byte, None where the secret itself was not given. `committed` counts what is held out.
    """

    committed: int
    held: tuple[str, ...]
    changed: tuple[str, ...]
    unsalted: tuple[str, ...]
    whole: bool | None

    @property
    def ok(self) -> bool:
        """True where everything that was revealed was committed to, and something was."""
        return bool(self.held) and not self.changed and not self.unsalted

    @property
    def complete(self) -> bool:
        """True where every committed question was revealed as it was."""
        return self.ok and len(self.held) == self.committed


def check_reveal(
    signed: SignedHeldOut, benchmark: Benchmark, data: bytes, salt: Salt | Mapping[str, bytes]
) -> Revealed:
    """Hold the questions of a revealed file, whose bytes are `data`, against a commitment; whose that is, is not asked.

    A committed hash counts for one question only.
    """
    about = signed.predicate
    left = Counter(about.hashes)
    found: dict[str, list[str]] = {"held": [], "changed": [], "unsalted": []}
    for question in benchmark.questions:
        key = (
            salt.item_salt(about.name, about.version, question.id) if isinstance(salt, Salt) else salt.get(question.id)
        )
        if key is None:
            found["unsalted"].append(question.id)
            continue
        hashed = item_hash(question, key)
        found["held" if left[hashed] else "changed"].append(question.id)
        left[hashed] -= 1
    return Revealed(
        committed=about.items,
        held=tuple(found["held"]),
        changed=tuple(found["changed"]),
        unsalted=tuple(found["unsalted"]),
        whole=salt.whole(data) == about.whole if isinstance(salt, Salt) else None,
    )
