"""The names and size limits of a run's files. Pure."""

from __future__ import annotations

from collections.abc import Collection

MANIFEST = "run.dsse.json"
OUTPUTS = "outputs.jsonl"
TELEMETRY = "telemetry.jsonl"
CONFIG = "config.json"
BENCHMARK = "benchmark.json"
FOREIGN = "benchmark.foreign"
"""An item set as somebody else published it, byte for byte, in the place of `benchmark.json`."""

PUBLIC_OUTPUTS = "outputs.public.jsonl"
PUBLIC_TELEMETRY = "telemetry.public.jsonl"
"""The rows, and their telemetry, without the texts that their publisher withholds: in the place of the signed files."""
WITHHELD = "withheld.jsonl"
"""Which texts are withheld, and why."""

MAX_BYTES: dict[str, int] = {
    MANIFEST: 1 << 20,
    OUTPUTS: 96 << 20,
    TELEMETRY: 64 << 20,
    CONFIG: 4 << 20,
    BENCHMARK: 64 << 20,
    FOREIGN: 64 << 20,
    PUBLIC_OUTPUTS: 96 << 20,
    PUBLIC_TELEMETRY: 64 << 20,
    WITHHELD: 64 << 20,
}
"""The files of a run and the most bytes that each may have; of the two question sets a run holds one."""

INTENT = "intent.dsse.json"
INTENT_PROOF = "intent.tlog-proof"
RUN_PROOF = "run.tlog-proof"
REDACTION = "redaction.dsse.json"
REDACTION_PROOF = "redaction.tlog-proof"
REGISTRY = "ragassay-keys.json"

BESIDE: dict[str, int] = {
    INTENT: 1 << 20,
    INTENT_PROOF: 1 << 16,
    RUN_PROOF: 1 << 16,
    REGISTRY: 1 << 20,
    REDACTION: 65_535,
    REDACTION_PROOF: 1 << 16,
}
"""What may stand beside the files of a run, and its most bytes: announcement, proofs of inclusion, registry, redaction.

An entry of a log has at most 65,535 bytes, and a redaction is one.
"""


def is_redacted(names: Collection[str]) -> bool:
    """Tell whether files of these names are a run with texts withheld: its rows in their public form alone."""
    return OUTPUTS not in names and any(name in names for name in (PUBLIC_OUTPUTS, REDACTION))


MAX_MEMBERS = 32
MAX_TOTAL_BYTES = 128 << 20
"""The most bytes that all files of a run may have together."""
MAX_ROWS = 100_000
MAX_ROW_BYTES = 4 << 20
"""The most rows of a run, and the most bytes of one."""
MAX_COMMAS = 4 << 20
"""The most commas in one file, and so the most values: with these caps any run is checked in seconds and a gigabyte."""
