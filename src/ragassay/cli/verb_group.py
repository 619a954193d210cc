"""A verb with verbs of its own, whose help names them in the order of the work, each with its first sentence whole."""

from __future__ import annotations

import click


class VerbGroup(click.Group):
    """Lists its verbs without cutting off what they do."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they were added."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with its first sentence, over as many lines as that takes."""
        verbs = [(name, self.commands[name].get_short_help_str(limit=1_000)) for name in self.list_commands(ctx)]
        with formatter.section("Verbs"):
            formatter.write_dl(verbs)
