"""A small question set over a few pages, frozen by a key that everybody knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragassay.canon import sha256
from ragassay.manifest.item_set import items_file, set_file
from ragassay.question.freezing import Signing, Standing, applied
from ragassay.question.review_line import ReviewLine, Seen
from ragassay.question.waivers import Waiver
from ragassay.records import Benchmark, Claim, Page, Provenance, Question
from ragassay.run.question_sets.freeze_set import Checked, Docs, check_set, seal_set
from ragassay.testing.signed_run import public_signer

SIGNER = public_signer()
NOW = 1_790_001_000
WRITTEN = Provenance(author="A. Writer", created="2026-11-30", derived_from_system=False)
WORDS = ("anvil", "beam", "crane", "drill", "easel", "forge", "gauge", "hoist", "ingot", "jack")


def page(n: int, text: str | None = None) -> Page:
    """Return page n, about one thing that nothing else is about."""
    said = text or f"# The {WORDS[n]}\n\nThe {WORDS[n]} of Acme weighs {n + 1000} grams.\n"
    digest = sha256(said.encode())
    return Page(id=f"page-{n}.md", title=WORDS[n], text=said, format="markdown", sha256=digest, source_sha256=digest)


def question(n: int, **changes: Any) -> Question:
    """Return the question about page n."""
    claim = Claim(id=1, text=f"It weighs {n + 1000} grams.", central=True, must=((str(n + 1000),),))
    sound = Question(
        id=f"q-{n}",
        input=f"How many grams does the {WORDS[n]} of Acme weigh?",
        target=f"{n + 1000} grams.",
        claims=(claim,),
        page=f"page-{n}.md",
        evidence=(f"The {WORDS[n]} of Acme weighs {n + 1000} grams.",),
        provenance=WRITTEN,
    )
    return msgspec.structs.replace(sound, **changes)


def small_set(*questions: Question, version: str = "1.0.0", name: str = "acme") -> Benchmark:
    """Return a set of the given questions, else of the first four."""
    return Benchmark(name=name, version=version, questions=questions or tuple(map(question, range(4))))


def docs(*pages: Page) -> Docs:
    """Return documentation of the given pages, else of all ten."""
    return Docs(pages=pages or tuple(map(page, range(10))), extractor="blocks/2", name="Acme handbook")


def review(asked: Question, decision: Any = "accept", at: int = NOW - 60, **changes: Any) -> ReviewLine:
    """Return a decision about a question as it is."""
    given = {"reason": "two facts"} if decision == "reject" else {}
    members = {"question": asked.id, "material": asked.material(), "reviewer": "B. Reader", "seen": Seen()}
    return ReviewLine(**{**members, "decision": decision, "at": at, **given, **changes})


def checked(
    benchmark: Benchmark | None = None,
    lines: Sequence[ReviewLine] = (),
    over: Docs | None = None,
    *,
    signing: Signing | None = None,
    waivers: Sequence[Waiver] = (),
    before: dict[str, Standing] | None = None,
) -> Checked:
    """Return a set held against documentation and rules."""
    found = applied(benchmark or small_set(), lines, signing or Signing(), before=before)
    return check_set(found, over or docs(), waivers)


def frozen(benchmark: Benchmark | None = None, lines: Sequence[ReviewLine] = (), **changes: Any) -> tuple[bytes, bytes]:
    """Return the bytes of a frozen file and of its item manifest."""
    asked = benchmark or small_set()
    return seal_set(checked(asked, lines), asked.version, SIGNER, now=NOW, **changes)


def freeze_into(folder: Path, benchmark: Benchmark | None = None, **changes: Any) -> Path:
    """Write a frozen set into a folder and return its question file."""
    asked = benchmark or small_set()
    data, envelope = frozen(asked, **changes)
    (folder / items_file(asked.name, asked.version)).write_bytes(envelope)
    path = folder / set_file(asked.name, asked.version)
    path.write_bytes(data)
    return path
