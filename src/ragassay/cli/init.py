"""`ragassay init`: find documentation and questions, make the keys that sign, write a board that runs."""

from __future__ import annotations

from pathlib import Path

import click

from ragassay.errors import InputError

EMBEDDER = "minilm-l6-v2-int8"


@click.command("init")
@click.option("--docs", type=click.Path(path_type=Path), help="The documentation folder or archive.")
@click.option("--questions", type=click.Path(path_type=Path), help="The question file.")
@click.option("--name", help="The board's name; by default the name of this folder.")
@click.option("--force", is_flag=True, help="Overwrite board.toml.")
def command(docs: Path | None, questions: Path | None, name: str | None, force: bool) -> int:
    """Write a commented board.toml for the documentation and questions found here.

    A board.toml that is only begun, without answering model, judge and rows, is completed.
    """
    from ragassay.cli.corpus_named import begun_tables
    from ragassay.cli.models import weights_cache
    from ragassay.plugins.weights import files_of, state
    from ragassay.question import literal_problems
    from ragassay.run.question_sets.frozen import load_questions
    from ragassay.run.starter import Starter, find_docs, find_questions, starter_board
    from ragassay.run.workspace import Workspace, write_bytes

    target = Path("board.toml")
    there = target.exists() and not force
    begun = begun_tables(target) if there else None
    if there and not begun:
        raise InputError("board.toml exists; edit it, or pass --force to write it anew")
    if begun:
        docs, questions = _begun(target, begun, docs, questions)
    folder = Path.cwd()
    docs = docs or find_docs(folder).relative_to(folder)
    if not docs.exists():
        raise InputError(f"{docs} does not exist")
    questions = questions or find_questions(folder).relative_to(folder)
    benchmark = load_questions(questions)
    weights = weights_cache() / EMBEDDER
    starter = Starter(
        name=name or f"{folder.name}: retrieval QA",
        docs=docs.as_posix(),
        questions=questions.as_posix(),
        literal=not literal_problems(benchmark),
        evidence=all(question.evidence for question in benchmark.questions),
        weights=all(state(entry, weights) == "ready" for entry in files_of(EMBEDDER)),
        begun=target.read_text("utf-8-sig") if begun else None,
        said=tuple(begun or ()),
    )
    space = Workspace(Path(".ragassay"))
    space.prepare()
    about_keys = _make_keys(space.keys)
    write_bytes(target, starter_board(starter).encode("utf-8"))
    click.echo(f"documentation: {docs}\nquestions:     {questions} ({len(benchmark.questions)})")
    click.echo(about_keys)
    click.echo(f"{'completed' if begun else 'wrote'} board.toml; look at it, then type: ragassay run")
    if not starter.literal:
        click.echo("its judge is a language model: set its address and model, and export JUDGE_KEY first")
    return 0


def _begun(
    target: Path, begun: dict[str, object], docs: Path | None, questions: Path | None
) -> tuple[Path, Path | None]:
    """Return the documentation and the questions of a board that was begun; options that contradict it are refused."""
    from ragassay.cli.corpus_named import corpus_named, questions_named
    from ragassay.corpus.crawled import advice

    given = {"--docs": docs, "--questions": questions if "benchmark" in begun else None}
    if wrong := [option for option, value in given.items() if value is not None]:
        raise InputError(
            f"{target} was begun and says that itself: leave {' and '.join(wrong)} out, or change it there"
        )
    source = corpus_named(target).source
    if not source.exists():
        raise InputError(f"{source} does not exist" + (f": {said}" if (said := advice(source)) else ""))
    return source, questions_named(target) if "benchmark" in begun else questions


def _make_keys(folder: Path) -> str:
    """Make the run key and the log key where there is none, and return the line about them."""
    from ragassay.cli.key_making import ensure_key, has_key
    from ragassay.cli.passphrase import PASSPHRASE, has_passphrase
    from ragassay.manifest.sign import KeyKind

    kinds: tuple[KeyKind, ...] = ("run", "log")
    missing = [kind for kind in kinds if not has_key(folder, kind)]
    if missing and not has_passphrase():
        return f"{missing[0]} key:       not made yet; set {PASSPHRASE} and type: ragassay keys init"
    key = ensure_key(folder, "run")
    ensure_key(folder, "log")
    return f"run key:       {key.kid}"
