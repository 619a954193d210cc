"""A finished pass becomes signed files; the encoding is pure."""

from ragassay.manifest.build import build_run, sign_payload, sign_statement
from ragassay.manifest.decode import decode_run
from ragassay.manifest.encoding import content_digest, encode_rows
from ragassay.manifest.files import BENCHMARK, CONFIG, MANIFEST, OUTPUTS, TELEMETRY
from ragassay.manifest.folder import RunFiles, is_run_folder, read_run
from ragassay.manifest.keyfile import complete_key, generate_key, load_key, load_public_key, store_key
from ragassay.manifest.keyfolder import KeyEntry, list_keys, load_run_key
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.note import NoteKey, parse_vkey
from ragassay.manifest.rows import output_row, telemetry_row
from ragassay.manifest.sign import PublicKey, Signer, thumbprint
from ragassay.manifest.statement import RunDocument, RunPredicate
from ragassay.manifest.tiles import LogView, read_log

__all__ = [
    "BENCHMARK",
    "CONFIG",
    "MANIFEST",
    "OUTPUTS",
    "TELEMETRY",
    "KeyEntry",
    "LogFolder",
    "LogView",
    "NoteKey",
    "PublicKey",
    "RunDocument",
    "RunFiles",
    "RunPredicate",
    "Signer",
    "build_run",
    "complete_key",
    "content_digest",
    "decode_run",
    "encode_rows",
    "generate_key",
    "is_run_folder",
    "list_keys",
    "load_key",
    "load_public_key",
    "load_run_key",
    "output_row",
    "parse_vkey",
    "read_log",
    "read_run",
    "sign_payload",
    "sign_statement",
    "store_key",
    "telemetry_row",
    "thumbprint",
]
