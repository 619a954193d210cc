"""The names and size limits of a run's files. Pure."""

from __future__ import annotations

MANIFEST = "run.dsse.json"
OUTPUTS = "outputs.jsonl"
TELEMETRY = "telemetry.jsonl"
CONFIG = "config.json"
BENCHMARK = "benchmark.json"

MAX_BYTES: dict[str, int] = {
    MANIFEST: 1 << 20,
    OUTPUTS: 512 << 20,
    TELEMETRY: 512 << 20,
    CONFIG: 4 << 20,
    BENCHMARK: 128 << 20,
}
"""The files of a run and the most bytes that each may have."""

LATER: frozenset[str] = frozenset({"intent.dsse.json", "intent.proof", "run.proof"})
"""Names that the transparency log will add beside a run; none of them is read yet."""

MAX_MEMBERS = 32
MAX_ROWS = 1_000_000
