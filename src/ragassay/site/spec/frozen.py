"""Is the question set frozen, by whom, and how a reader checks it? Pure."""

from __future__ import annotations

from ragassay.manifest.item_set import SUFFIX
from ragassay.site.frozen import day, derived_words, reviewed_words
from ragassay.site.spec.document import Code, Link, Paragraph, Said, paragraph
from ragassay.site.spec.ground import Ground


def frozen(ground: Ground) -> Paragraph:
    """Say whether the set is frozen, as which version, signed by whom, how much is reviewed, what is declared."""
    line = ground.table.frozen
    if line is None:
        return paragraph("No run names a signed item manifest, so the set is not frozen.")
    if line.problem is not None:
        return paragraph(
            ("The runs name the item manifest ", Code(line.envelope), f" of a frozen set, and {line.problem}.")
        )
    after = f", after {line.previous}" if line.previous else ""
    signed: Said = (
        f"The set is frozen as version {line.version}{after} on {day(line)}, signed by {line.signer_name} (key ",
        Code(line.signer or ""),
        f"): {reviewed_words(line)}.",
    )
    declared = (
        "Its signer declares that no item was derived from a system under test; that is their word."
        if line.declared
        else f"Of its items {derived_words(line)}; nothing is declared."
    )
    more = f"Of {line.runs} runs {line.named_by} name this manifest." if line.named_by < line.runs else None
    return paragraph(signed, declared, _served(ground, line.envelope), more)


def _served(ground: Ground, envelope: str) -> Said:
    """Say where the manifest stands, and how it is checked against the full form beside any run."""
    hashed: Said = ("The signed item manifest has the SHA-256 ", Code(envelope))
    if ground.item_set is None:
        return (hashed, ".")
    path = ground.item_set.removesuffix(".json") + SUFFIX
    how = f"ragassay verify {path.rpartition('/')[2]} --questions benchmark.json"
    return (
        hashed,
        " and is served as ",
        Link(path, path, code=True),
        "; ",
        Code(how),
        " checks it against any run's questions.",
    )
