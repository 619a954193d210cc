"""Where each page and file of a site stands, relative to its root. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.manifest.item_set import SUFFIX
from ragassay.manifest.statement import RunDocument
from ragassay.records import Benchmark
from ragassay.site.names import file_names
from ragassay.site.record import Board, Table


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """A question set as a file of the site, in the published form."""

    label: str
    path: str
    benchmark: Benchmark
    items: str | None = None
    """The SHA-256 of its item manifest, where it is frozen and that is known."""

    @property
    def items_path(self) -> str:
        """Return where its item manifest stands: beside it."""
        return self.path.removesuffix(".json") + SUFFIX


class TablePaths(msgspec.Struct, frozen=True, kw_only=True):
    """The pages of one table: by question id, by row key where a row has one, by pair of keys; a row's fragment."""

    questions: Mapping[str, str]
    rows: Mapping[str, str]
    pairs: Mapping[tuple[str, str], str]
    anchors: Mapping[str, str]
    compare_index: str


def run_paths(documents: Sequence[RunDocument]) -> dict[str, str]:
    """Return each run's page by run id; beside it lie the folder of its files and its bundle, named alike."""
    names = file_names(d.predicate.run_id for d in documents)
    return {identity: f"runs/{name}.html" for identity, name in names.items()}


def table_paths(table: Table) -> TablePaths:
    """Return the pages of one table; those of the main one stand at the root."""
    folder = "" if table.main else f"tables/{table.id}/"
    questions = file_names(line.id for line in table.questions)
    labels = {row.key: f"{row.name} {row.key[:8]}" if _shared(table, row.name) else row.name for row in table.rows}
    rows = file_names(labels.values())
    return TablePaths(
        questions={identity: f"{folder}questions/{name}.html" for identity, name in questions.items()},
        pairs={
            (pair.a, pair.b): f"{folder}compare/{rows[labels[pair.a]]}--{rows[labels[pair.b]]}.html"
            for pair in table.pairs
        },
        anchors={key: f"row-{rows[label]}" for key, label in labels.items()},
        rows={key: f"{folder}rows/{rows[label]}.html" for key, label in labels.items() if key},
        compare_index=f"compare/index.html#table-{table.id}",
    )


def _shared(table: Table, name: str) -> bool:
    return sum(row.name == name for row in table.rows) > 1


def downloads(board: Board, documents: Sequence[RunDocument]) -> list[Download]:
    """Return one file per question set of the board; versions of one name stand in one folder.

    A foreign set whose bytes are not the published form is not rewritten: it lies as it is beside its run.
    """
    found: dict[str, Benchmark] = {}
    for document in documents:
        ref, asked = document.predicate.benchmark, document.benchmark
        if ref.digest != ref.item_set or asked.item_set_digest() == ref.item_set.sha256:
            found.setdefault(ref.digest.sha256, asked)
    folders = file_names(b.name for b in found.values())
    labels = {digest: f"{b.name} {b.version}" for digest, b in found.items()}
    files = []
    for table in board.tables:
        benchmark = found.pop(table.benchmark.digest, None)
        if benchmark is None:
            continue
        label = labels[table.benchmark.digest]
        version = benchmark.version
        if list(labels.values()).count(label) > 1:
            version = f"{version} {table.benchmark.digest[:8]}"
        name = file_names([version])[version]
        path = f"benchmarks/{folders[benchmark.name]}/{name}.json"
        frozen = table.frozen.envelope if table.frozen is not None and table.frozen.problem is None else None
        files.append(Download(label=f"{benchmark.name} {version}", path=path, benchmark=benchmark, items=frozen))
    return files
