"""One proposal after the other in the terminal: accept, edit, reject, skip or quit."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from ragassay.cli.claims_lines import draft_lines, finding_lines, proposal_lines
from ragassay.errors import InputError
from ragassay.question.freeze import decided, draft_findings, rejected
from ragassay.question.proposals import Draft, Proposal
from ragassay.question.worksheet import editable, read_edited
from ragassay.records import Question
from ragassay.run.question_sets.claims_files import ReviewFile
from ragassay.site.safe import visible

KEYS = "[a]ccept  [e]dit  [r]eject  [s]kip  [q]uit"


def is_terminal() -> bool:
    """Tell whether a person can be asked: input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def review(questions: Sequence[Question], file: ReviewFile, reviewer: str) -> None:
    """Show each undecided proposal and take the decision; each is on disk before the next is shown."""
    waiting = [question for question in questions if _undecided(file.proposals.get(question.id))]
    for number, question in enumerate(waiting, 1):
        proposal = file.proposals[question.id]
        click.echo(f"\n{number} of {len(waiting)}")
        click.echo("\n".join(proposal_lines(question, proposal)))
        try:
            taken = _decide(question, proposal, reviewer)
        except (EOFError, KeyboardInterrupt):
            click.echo("stopped; what was decided is kept")
            return
        if taken is None:
            continue
        if taken is proposal:
            click.echo("stopped; what was decided is kept")
            return
        file.put([taken])
        click.echo(f"{taken.status}: {visible(question.id)}")


def print_undecided(questions: Sequence[Question], file: ReviewFile) -> None:
    """Print each undecided proposal, for whoever is no terminal."""
    for question in questions:
        proposal = file.proposals.get(question.id)
        if proposal is not None and _undecided(proposal):
            click.echo("\n".join(proposal_lines(question, proposal)) + "\n")


def _undecided(proposal: Proposal | None) -> bool:
    return proposal is not None and proposal.status == "proposed"


def _decide(question: Question, proposal: Proposal, reviewer: str) -> Proposal | None:
    """Return the decided proposal, None to skip it, and `proposal` itself to stop."""
    draft = proposal.draft
    while True:
        click.echo(KEYS)
        key = click.getchar().lower()
        now = int(time.time())
        if key in ("q", ""):  # nothing comes any more
            return proposal
        if key == "s":
            return None
        if key == "r":
            return rejected(proposal, reviewer=reviewer, at=now)
        if key == "e":
            draft = _edited(question, draft)
        elif key == "a":
            try:
                return decided(proposal, question, draft, reviewer=reviewer, at=now)
            except InputError as error:
                click.echo(visible(str(error)))


def _edited(question: Question, draft: Draft) -> Draft:
    """Return what the editor left, shown with what code says of it; the same draft where that cannot be read."""
    text = click.edit(editable(draft).decode(), extension=".json")
    if text is None:
        click.echo("nothing was changed")
        return draft
    changed, problems = read_edited(text, question)
    if changed is None or problems:
        click.echo(visible("\n".join(["what was written cannot be read:", *(f"  - {one}" for one in problems)])))
        return draft
    click.echo("\n".join([*draft_lines(changed), *finding_lines(draft_findings(question, changed))]))
    return changed
