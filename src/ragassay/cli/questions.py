"""`ragassay questions`: everything that is done with a question file; one file per verb, joined here."""

from __future__ import annotations

import click

from ragassay.cli.questions_bump import bump
from ragassay.cli.questions_closed_book import closed_book
from ragassay.cli.questions_draft import draft
from ragassay.cli.questions_fairness import fairness
from ragassay.cli.questions_freeze import freeze
from ragassay.cli.questions_hash import export, hash_
from ragassay.cli.questions_import import import_
from ragassay.cli.questions_lint import check, lint_
from ragassay.cli.questions_review import review
from ragassay.cli.questions_split import split
from ragassay.cli.verb_group import VerbGroup


@click.group(cls=VerbGroup)
def command() -> None:
    """Draft, import, lint, review, freeze and split questions, and say what they are worth."""


for _verb in (draft, import_, lint_, check, review, freeze, bump, split, fairness, closed_book, hash_, export):
    command.add_command(_verb)
