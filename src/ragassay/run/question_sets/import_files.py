"""Opens the files of a foreign question set, plain or gzip, and gives each to what reads its form."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.log_disk import read_file
from ragassay.question.foreign.documents import read_jsonl_documents, read_trec_documents, read_tsv_documents
from ragassay.question.foreign.lines import Source
from ragassay.question.foreign.qrels import read_qrels
from ragassay.question.foreign.ragas import read_ragas
from ragassay.question.foreign.seen import ForeignDocument, ForeignQuery, Judgement, Seen
from ragassay.question.foreign.topics import read_jsonl_queries, read_own_queries, read_sgml_topics, read_tsv_queries
from ragassay.records import Record

GZIP = ".gz"
_PEEKED = 4096
OWN = "ragassay-export/"
MAX_ABOUT = 64 * 1024 * 1024


class BeirFolder(Record, frozen=True):
    """The files of a BEIR folder."""

    queries: Path
    documents: Path
    qrels: tuple[Path, ...]
    others: tuple[str, ...]
    """The splits that are there and are not read."""
    own: bool
    """Whether `ragassay export beir` wrote it, so that answers and evidence stand beside the queries."""


def beir_folder(folder: Path, splits: tuple[str, ...]) -> BeirFolder:
    """Return the files of a BEIR folder; without `splits` `test` is read, or the only one that there is.

    Raises `InputError` that names every file that is missing.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; a BEIR set is a folder with corpus.jsonl, queries.jsonl and qrels/")
    found = {stem: _either(folder / f"{stem}.jsonl") for stem in ("queries", "corpus")}
    there = {_split(path): path for path in sorted((folder / "qrels").glob("*.tsv*")) if _split(path)}
    problems = [f"{folder / stem}.jsonl is missing" for stem, path in found.items() if path is None]
    has = ", ".join(there) or "none"
    problems += [f"qrels/{name}.tsv is missing; there are {has}" for name in splits if name not in there]
    wanted = splits or (("test",) if "test" in there else tuple(there))
    if len(wanted) > 1 and not splits:
        problems.append(f"qrels/ holds {has}; say which with --split")
    queries, documents = found["queries"], found["corpus"]
    if problems or queries is None or documents is None:
        raise InputError(f"{folder} cannot be read as a BEIR set", problems)
    return BeirFolder(
        queries=queries,
        documents=documents,
        qrels=tuple(there[name] for name in dict.fromkeys(wanted)),
        others=tuple(name for name in there if name not in wanted),
        own=_is_own(folder),
    )


def _is_own(folder: Path) -> bool:
    try:
        said = msgspec.json.decode(read_file(folder / "export.json", MAX_ABOUT) or b"{}")
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(said, dict) and str(said.get("format")).startswith(OWN) and said.get("kind") == "beir"


def queries_of(
    path: Path, seen: Seen, *, encoding: str, field: str | None, answer: str | None, own: bool = False
) -> Iterator[ForeignQuery]:
    """Yield the queries or topics of a file in any of their forms."""
    with _opened(path, seen, encoding) as (source, first):
        if own:
            yield from read_own_queries(source)
        elif first == b"<":
            yield from read_sgml_topics(source, field)
        elif first == b"{":
            yield from read_jsonl_queries(source, field, answer)
        else:
            yield from read_tsv_queries(source)


def samples_of(path: Path, seen: Seen, *, encoding: str) -> Iterator[ForeignQuery]:
    """Yield the samples of a ragas file: `.json`, `.jsonl` or `.csv`."""
    name = path.name.removesuffix(GZIP)
    suffix = Path(name).suffix.lower()
    if suffix not in (".json", ".jsonl", ".ndjson", ".csv"):
        raise InputError(f"{path} is no ragas set; it ends in .json, .jsonl or .csv")
    with _opened(path, seen, encoding) as (source, _):
        yield from read_ragas(source, suffix)


def judgements_of(paths: Iterable[Path], seen: Seen, *, encoding: str) -> Iterator[Judgement]:
    """Yield the judgements of files of qrels."""
    for path in paths:
        with _opened(path, seen, encoding) as (source, _):
            yield from read_qrels(source)


def documents_of(paths: Iterable[Path], seen: Seen, *, encoding: str) -> Iterator[ForeignDocument]:
    """Yield the documents of files in any of their forms."""
    for path in paths:
        with _opened(path, seen, encoding) as (source, first):
            read: Callable[[Source], Iterator[ForeignDocument]] = {
                b"<": read_trec_documents,
                b"{": read_jsonl_documents,
            }.get(first, read_tsv_documents)
            yield from read(source)


@contextlib.contextmanager
def _opened(path: Path, seen: Seen, encoding: str) -> Iterator[tuple[Source, bytes]]:
    """Give an opened file and its first character that is no space; raises `InputError` where it cannot be read."""
    try:
        with path.open("rb") as plain:
            stream = gzip.GzipFile(fileobj=plain) if path.name.endswith(GZIP) else plain
            with io.BufferedReader(stream, 1 << 16) as buffered:
                first = buffered.peek(_PEEKED).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
                yield Source(name=path.name, stream=buffered, seen=seen, encoding=encoding), first
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder; name the file itself") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _either(path: Path) -> Path | None:
    return next((one for one in (path, path.with_name(path.name + GZIP)) if one.is_file()), None)


def _split(path: Path) -> str:
    name = path.name.removesuffix(GZIP)
    return name.removesuffix(".tsv") if name.endswith(".tsv") and path.is_file() else ""
