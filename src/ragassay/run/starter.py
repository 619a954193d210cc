"""The commented `board.toml` that `init` writes: it runs as it is, and shows what to change."""

from __future__ import annotations

import json
from pathlib import Path

from ragassay.errors import InputError
from ragassay.records import Record

DOCS_FOLDERS = ("docs", "doc", "documentation", "content", "pages", "website/docs", "site/docs")
QUESTION_FILES = ("questions.json", "questions.jsonl", "questions.csv", "qa.json", "qa.jsonl", "qa.csv")
PAGE_SUFFIXES = frozenset({".md", ".html", ".htm", ".txt", ".rst"})


class Starter(Record, frozen=True):
    """What a starting board depends on."""

    name: str
    docs: str
    questions: str
    literal: bool
    """True when every claim carries `must`, so that the literal judge can judge the set."""
    evidence: bool
    weights: bool
    """True when the default embedder's weights are in the cache, so that dense rows run."""
    begun: str | None = None
    """The text of a board that was begun, which is kept; None where there is none."""
    said: tuple[str, ...] = ()
    """The keys and tables at the top of the board that was begun."""


def find_docs(folder: Path) -> Path:
    """Return the documentation folder below `folder`; raises `InputError` saying where it looked."""
    for name in DOCS_FOLDERS:
        candidate = folder / name
        if candidate.is_dir() and any(path.suffix.lower() in PAGE_SUFFIXES for path in candidate.rglob("*")):
            return candidate
    raise InputError(f"no documentation found in {', '.join(DOCS_FOLDERS)}; name the folder with --docs")


def find_questions(folder: Path) -> Path:
    """Return the question file in `folder`; raises `InputError` saying where it looked."""
    for candidate in [*(folder / name for name in QUESTION_FILES), *sorted(folder.glob("*.questions.json"))]:
        if candidate.is_file():
            return candidate
    raise InputError(f"no question file found ({', '.join(QUESTION_FILES)}); name it with --questions")


def starter_board(starter: Starter) -> str:
    """Return the text of the board file."""
    rows = [_row("no-retrieval", '{ kind = "none" }', "the control: the same model, retrieval switched off", None)]
    if starter.evidence:
        rows.append(_row("oracle", '{ kind = "oracle" }', "the ceiling: each question's own evidence", None))
    rows.append(_row("bm25", '{ kind = "bm25" }', "", 5))
    dense = [
        _row("dense", '{ kind = "dense", embedder = { kind = "minilm-l6-v2-int8" } }', "", 5),
        _row("hybrid", '{ kind = "hybrid", of = [ { kind = "bm25" }, { kind = "dense" } ] }', "", 5),
    ]
    if not starter.weights:
        note = "# These rows need weights: `ragassay models pull minilm-l6-v2-int8`, then remove the # signs.\n"
        dense = [note + "".join(f"# {line}\n" for line in "\n".join(dense).rstrip().splitlines())]
    head = _head(starter) if starter.begun is None else _completed(starter, starter.begun)
    return "\n".join([head, _answer(), _judge(starter), *rows, *dense])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _completed(starter: Starter, begun: str) -> str:
    """Return the head of a board that was begun: what it says, and what it has to say besides."""
    top = {"name": _quoted(starter.name), "passes": "3", "seed": "20261130"}
    before = "".join(f"{key} = {value}\n" for key, value in top.items() if key not in starter.said)
    after = "" if "benchmark" in starter.said else f"\n[benchmark]\nfile = {_quoted(starter.questions)}\n"
    return f"{before}\n{begun.strip()}\n{after}".lstrip("\n")


def _head(starter: Starter) -> str:
    return f"""# What is measured: rows differ only in retrieval. `ragassay run` asks, `ragassay board` shows.
name = {_quoted(starter.name)}
passes = 3                  # the row shows the lower median of its passes
seed = 20261130             # the order in which questions and rows are asked

# In place of `path`, a site that `ragassay corpus crawl board.toml` fetches: crawl = "https://docs.acme.example/"
[corpus]
path = {_quoted(starter.docs)}
chunker = {{ kind = "heading", max_tokens = 256, overlap = 32 }}

[benchmark]
file = {_quoted(starter.questions)}
scorer = "factual-consistency/2"
"""


def _answer() -> str:
    return """# The answering model, the same for every row. reader/1 quotes the delivered text and needs no key.
[answer]
kind = "reader"

# A language model behind any OpenAI-compatible endpoint:
# [answer]
# kind = "openai"
# id = "your-model"
# base_url = "https://llm.acme.example/v1"
# key_env = "ACME_ANSWER_KEY"       # the variable that holds the key; the key itself is never written
# params = { max_tokens = 16384 }
# limits = { concurrency = 16, requests_per_minute = 600 }
# price = { input_usd_per_mtok = "0.10", output_usd_per_mtok = "0.40" }
"""


def _judge(starter: Starter) -> str:
    if starter.literal:
        return """# literal/1 looks for the literals of each claim; it reads literals and not meaning.
[judge]
kind = "literal"
"""
    return """# Not every claim carries literals, so the judge is a language model.
[judge]
kind = "llm"
# Set this variable first: export JUDGE_KEY=…
model = { kind = "openai", id = "your-judge-model", base_url = "https://llm.acme.example/v1", key_env = "JUDGE_KEY" }
"""


def _row(name: str, stack: str, note: str, top_k: int | None) -> str:
    comment = f"  # {note}" if note else ""
    return f'[[rows]]\nname = "{name}"\nstack = {stack}{comment}\n' + (f"top_k = {top_k}\n" if top_k else "")
