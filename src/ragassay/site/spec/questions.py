"""How the questions were made and what they cover, from what the question file says of itself. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.records import Provenance, Question
from ragassay.site.numbers import UNKNOWN, plural
from ragassay.site.spec.counted import of_all, opening, shares, some, spelled, verb, word
from ragassay.site.spec.document import Paragraph, Said, Section, Table, cells, is_said, paragraph, series
from ragassay.site.spec.fairness import fairness
from ragassay.site.spec.frozen import frozen
from ragassay.site.spec.ground import Ground

NONE = Provenance()
NO_WORDING = "Whether their wording favours one way of retrieving over another is not recorded."


def questions(ground: Ground) -> Section:
    """Return how the questions were made, by whom, with what, who reviewed them, and what they cover by topic."""
    asked = ground.benchmark.questions if ground.benchmark else ()
    blocks = (
        _made(ground, asked),
        _reviewed(asked),
        frozen(ground),
        _references(asked),
        fairness(ground),
        _covered(ground, asked),
        _topics(asked),
    )
    return Section("The questions", "questions", is_said(blocks))


def _of(asked: Sequence[Question]) -> list[Provenance]:
    return [question.provenance or NONE for question in asked]


def _made(ground: Ground, asked: Sequence[Question]) -> Paragraph:
    n, found, line = len(asked), _of(asked), ground.table.benchmark
    name = f"{line.id}, version {line.version},"
    if all(one == NONE for one in found):
        return paragraph(
            f"The question set is {name} with {plural(n, 'question')}.",
            f"How they were made is not recorded: {of_all(n, n, 'question', 'names', 'name')} neither author nor tool "
            "nor date.",
        )
    subject = f"The {plural(n, 'question')} of {name} {verb(n, 'was', 'were')} written "
    return paragraph((subject, _dates(found), _authors(found, n), "."), _undated(found, n), _tools(found, n))


def _authors(found: Sequence[Provenance], n: int) -> Said:
    authors = shares([one.author for one in found])
    if not authors:
        return f"by somebody who is not recorded ({of_all(n, n, 'question', 'names', 'name')} no author)"
    unknown = n - sum(count for _, count in authors)
    if len(authors) == 1 and not unknown:
        return f"by {authors[0][0]}"
    named: list[Said] = [f"{author} ({count})" for author, count in authors]
    more = f"; {of_all(unknown, n, 'question', 'names', 'name')} no author" if unknown else ""
    return ("by ", some(named), more)


def _dates(found: Sequence[Provenance]) -> str:
    dates = sorted({one.created for one in found if one.created})
    if not dates:
        return ""
    return f"on {dates[0]} " if len(dates) == 1 else f"between {dates[0]} and {dates[-1]} "


def _undated(found: Sequence[Provenance], n: int) -> str | None:
    unknown = sum(not one.created for one in found)
    return f"{of_all(unknown, n, 'question', 'gives', 'give')} no date." if unknown else None


def _tools(found: Sequence[Provenance], n: int) -> Said:
    tools = shares([one.tool for one in found])
    if not tools:
        return "No tool is recorded: the file does not say whether a program helped to write them."
    unknown = n - sum(count for _, count in tools)
    if len(tools) == 1 and not unknown:
        return f"The tool is recorded as {tools[0][0]}."
    named: list[Said] = [f"{tool} ({count})" for tool, count in tools]
    rest = f"; {of_all(unknown, n, 'question', 'names', 'name')} no tool" if unknown else ""
    return ("Recorded as tools are ", some(named), f"{rest}.")


def _reviewed(asked: Sequence[Question]) -> Paragraph:
    n, found = len(asked), _of(asked)
    return paragraph(_reviewers(found, n), _derived(asked, found, n), NO_WORDING)


def _reviewers(found: Sequence[Provenance], n: int) -> Said:
    reviewers = shares([one.reviewed_by for one in found])
    without = n - sum(count for _, count in reviewers)
    alone = "Whether a reference is right and complete rests on whoever wrote it."
    if not reviewers:
        return f"{of_all(n, n, 'question', 'names', 'name')} no reviewer. {alone}"
    alone_by = len(reviewers) == 1 and not without
    by: Said = ("by ", series([name if alone_by else f"{name} ({count})" for name, count in reviewers]))
    own = [one for one in found if one.author is not None and one.author == one.reviewed_by]
    whose = verb(len(own), "its", "their")
    same = f" {of_all(len(own), n, 'question', 'was', 'were')} reviewed by {whose} own author." if own else ""
    if not without:
        return (f"All {plural(n, 'question')} were reviewed " if n > 1 else "The question was reviewed ", by, ".", same)
    return (
        f"{of_all(n - without, n, 'question', 'was', 'were')} reviewed ",
        by,
        f"; {of_all(without, n, 'question', 'names', 'name')} no reviewer.",
        same,
    )


def _derived(asked: Sequence[Question], found: Sequence[Provenance], n: int) -> Said:
    """Say of how many questions it is recorded that none was derived from a system under test."""
    derived = [q.id for q, one in zip(asked, found, strict=True) if one.derived_from_system]
    unknown = sum(one.derived_from_system is None for one in found)
    said: list[Said] = []
    if derived:
        said.append(
            (
                f"{of_all(len(derived), n, 'question', 'was', 'were')} derived from the output of a system under test "
                "(",
                some(list(derived)),
                f"), which favours that system on {verb(len(derived), 'it', 'them')}.",
            )
        )
    if unknown == n:
        return f"Whether any was derived from a system under test is not recorded for {unknown} of {n}."
    if unknown:
        said.append(f"For {unknown} of {n} it is not recorded whether they were derived from a system under test.")
    if not derived and not unknown:
        said.append(
            f"For {n} of {n} the file states that they were not derived from any system under test."
            if n > 1
            else "The file states that it was not derived from any system under test."
        )
    return tuple(part for one in said for part in (one, " "))[:-1]


def _references(asked: Sequence[Question]) -> Paragraph:
    n = len(asked)
    unsplit = sum(question.unsplit for question in asked)
    sizes = sorted({len(question.claims) for question in asked if not question.unsplit})
    total = sum(len(question.claims) for question in asked if not question.unsplit)
    bare = sum(not question.evidence for question in asked)
    split = None
    if sizes:
        spread = f"{word(sizes[0])} each" if len(sizes) == 1 else f"{word(sizes[0])} to {word(sizes[-1])} each"
        where = "The references" if not unsplit else f"The references of {n - unsplit} questions"
        split = f"{where} are split into {plural(total, 'claim')}, {spread}; the claims are part of what is hashed."
    whole = (
        f"{of_all(unsplit, n, 'reference', 'is', 'are')} not split: the whole text stands as one claim that nobody "
        "reviewed."
        if unsplit
        else None
    )
    return paragraph(split, whole, _evidence(bare, n))


def _evidence(bare: int, n: int) -> str:
    """Say how many questions carry the passage that answers them."""
    if bare == 0:
        carry = of_all(n, n, "question", "carries", "carry")
        return f"{carry}, verbatim, a passage of the documentation that answers {verb(n, 'it', 'them')}."
    carry = of_all(bare, n, "question", "carries", "carry")
    if bare == n:
        return f"{carry} no evidence, so nobody can say whether it was retrieved."
    return f"{carry} no evidence; whether it was retrieved is unknown there."


def _covered(ground: Ground, asked: Sequence[Question]) -> Paragraph:
    n = len(asked)
    pages = {question.page for question in asked if question.page}
    unplaced = sum(not question.page for question in asked)
    corpus = ground.sample.predicate.corpus.pages if ground.sample and ground.sample.predicate.corpus else None
    of = f" of the corpus's {corpus:,}" if corpus and corpus >= len(pages) else ""
    if unplaced == n:
        where = f"{of_all(n, n, 'question', 'names', 'name')} no page."
    else:
        lost = f"; {of_all(unplaced, n, 'question', 'names', 'name')} no page" if unplaced else ""
        where = f"They come from {plural(len(pages), 'page')}{of}{lost}."
        if corpus and corpus > len(pages) and not unplaced:
            where += f" About the other {corpus - len(pages):,} this board says nothing."
    topics = shares([question.topic for question in asked])
    bare = sum(not question.topic for question in asked)
    if not topics:
        return paragraph(
            where, f"{of_all(n, n, 'question', 'names', 'name')} no topic, so what they cover cannot be counted."
        )
    single = sum(count == 1 for _, count in topics)
    return paragraph(
        where,
        _spread(topics, n),
        _singles(single, len(topics)),
        f"{of_all(bare, n, 'question', 'names', 'name')} no topic." if bare else None,
    )


def _spread(topics: Sequence[tuple[str, int]], n: int) -> str:
    if len(topics) == 1:
        return f"They have one topic, {topics[0][0]}."
    most = topics[0][1]
    largest = [name for name, count in topics if count == most]
    if len(largest) == len(topics):
        return f"They fall into {spelled(len(topics), 'topic')} of {plural(most, 'question')} each."
    if len(largest) > 1:
        return f"They fall into {spelled(len(topics), 'topic')}, of which none has more than {most} of the {n}."
    return (
        f"They fall into {spelled(len(topics), 'topic')}, of which {largest[0]} is the largest with {most} of the {n}."
    )


def _singles(single: int, topics: int) -> str | None:
    if not single or topics == 1:
        return None
    rests = "rests on a single question" if single == 1 else "rest on a single question each"
    return f"{opening(spelled(single, 'topic'))} {rests}, too little to say anything about the topic."


def _topics(asked: Sequence[Question]) -> Table | None:
    names = shares([question.topic for question in asked])
    if len(names) < 2:
        return None
    rows = []
    for name, count in [*names, (None, sum(not question.topic for question in asked))]:
        own = [question for question in asked if (question.topic or None) == name]
        if own:
            pages = len({question.page for question in own if question.page})
            rows.append(
                cells(
                    name or "none named",
                    str(count),
                    str(pages) if pages else UNKNOWN,
                    str(sum(len(q.claims) for q in own)),
                )
            )
    return Table(("Topic", "Questions", "Pages", "Claims"), tuple(rows), numbers=frozenset({1, 2, 3}))
