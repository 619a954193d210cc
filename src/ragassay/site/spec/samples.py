"""Three questions verbatim, chosen by a rule, and the file of all of them with what prints its hash. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Question
from ragassay.site.numbers import plural
from ragassay.site.spec.counted import word
from ragassay.site.spec.document import (
    Block,
    Code,
    Command,
    Heading,
    Link,
    Paragraph,
    Quote,
    Said,
    Section,
    heading,
    is_said,
    paragraph,
)
from ragassay.site.spec.ground import Ground

SHOWN = 3


def samples(ground: Ground) -> Section:
    """Return three questions with reference and evidence, and the item-set file with its hash."""
    asked = ground.benchmark.questions if ground.benchmark else ()
    chosen = chosen_questions(asked)
    blocks: list[Block] = [_rule(asked, chosen)]
    for question in chosen:
        blocks += _verbatim(ground, question)
    blocks += [heading("The file"), *_file(ground)]
    number = "Three" if len(chosen) == SHOWN else "The"
    title = f"{number} questions, word for word" if len(asked) != 1 else "The question, word for word"
    return Section(title, "word-for-word", is_said(blocks))


def chosen_questions(asked: Sequence[Question]) -> list[Question]:
    """Return, in the file's order, the first question of each of the first three topics; then whichever come next."""
    topics: set[str] = set()
    found: list[str] = []
    for question in asked:
        if question.topic and question.topic not in topics and len(found) < SHOWN:
            topics.add(question.topic)
            found.append(question.id)
    rest = [question.id for question in asked if question.id not in found]
    picked = {*found, *rest[: SHOWN - len(found)]}
    return [question for question in asked if question.id in picked]


def _rule(asked: Sequence[Question], chosen: Sequence[Question]) -> Paragraph:
    if len(asked) <= SHOWN:
        return paragraph(
            f"The file has {plural(len(asked), 'question')}, and here they all are."
            if len(asked) != 1
            else "The file has one question, and here it is."
        )
    topics = len({question.topic for question in chosen if question.topic})
    if topics == SHOWN:
        rule = "each is the first question in the file of a topic that had not come up before."
    elif topics > 1:
        rule = f"{word(topics)} are the first question of their topic, and the rest are the next in the file."
    else:
        rule = "without topics to choose by, they are the first of the file."
    return paragraph(f"Nobody picked these: {rule}")


def _verbatim(ground: Ground, question: Question) -> list[Block]:
    topic = f"topic {question.topic}" if question.topic else None
    page = ("page ", Code(question.page)) if question.page else None
    where: list[Said] = [part for part in (topic, page) if part]
    said: Said = None
    if where:
        said = (" (", *[part for one in where for part in (one, ", ")][:-1], ")")
    found: list[Block] = [Heading(paragraph((ground.of_question(question.id), said)).spans)]
    found += [Quote("Question", question.input), Quote("Reference", question.target)]
    if not question.evidence:
        return [*found, paragraph("No evidence is recorded.")]
    for place, text in enumerate(question.evidence):
        found.append(Quote("Evidence" if place == 0 else "Evidence, another passage that would do", text))
    return found


def _file(ground: Ground) -> list[Block]:
    line, path = ground.table.benchmark, ground.item_set
    if path is None:
        return [
            paragraph(
                (
                    "The question set was published elsewhere and is served as it is, beside its run; its SHA-256 is ",
                    Code(line.digest),
                    ".",
                )
            )
        ]
    full: Said = None
    if line.digest != line.item_set:
        full = (
            "Claims, evidence and provenance are in the full form, ",
            Code("benchmark.json"),
            " beside every run, whose SHA-256 is ",
            Code(line.digest),
            ": with one letter changed it is another question set, and no run of this one counts for it.",
        )
    return [
        paragraph(
            (_all(line.items), " served as ", Link(path, path, code=True), "."),
            "Each run is signed over the hash of exactly these bytes, which the following prints:",
        ),
        Command((f"sha256sum {path}", f"{line.item_set}  {path}")),
        paragraph(full),
    ]


def _all(items: int) -> str:
    return f"All {items:,} questions with their references are" if items != 1 else "The question with its reference is"
