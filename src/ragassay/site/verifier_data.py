"""What the browser verifier shares with this one as data: reason codes, limits and the shapes of records. Pure."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect

from ragassay.manifest.bundle import MAX_BUNDLE_BYTES
from ragassay.manifest.dsse import Envelope
from ragassay.manifest.files import BESIDE, MAX_BYTES, MAX_COMMAS, MAX_MEMBERS, MAX_ROW_BYTES, MAX_ROWS, MAX_TOTAL_BYTES
from ragassay.manifest.registry import Registry
from ragassay.manifest.sign import WEAK_KEYS
from ragassay.manifest.statement import IntentStatement, RedactionStatement, Statement, VoidStatement, WithheldRow
from ragassay.records import Benchmark, Config, OutputRow, Record, TelemetryRow
from ragassay.site.safe import STEERING
from ragassay.verify.codes import CODES
from ragassay.verify.items import SERVICE_FAILURES
from ragassay.verify.policy_file import PolicyFile
from ragassay.verify.report import MAX_MESSAGE, MAX_PER_CODE, MAX_PLACE

SHAPED: dict[str, type[Record]] = {
    "Statement": Statement,
    "IntentStatement": IntentStatement,
    "VoidStatement": VoidStatement,
    "RedactionStatement": RedactionStatement,
    "WithheldRow": WithheldRow,
    "OutputRow": OutputRow,
    "TelemetryRow": TelemetryRow,
    "Config": Config,
    "Benchmark": Benchmark,
    "Envelope": Envelope,
    "Registry": Registry,
    "PolicyFile": PolicyFile,
}
"""The records that the browser reads, by the name it knows them under; those inside them follow."""

_PLAIN = {
    inspect.AnyType: "any",
    inspect.NoneType: "null",
    inspect.BoolType: "boolean",
    inspect.IntType: "integer",
    inspect.StrType: "string",
}


def verifier_data() -> dict[str, Any]:
    """Return the constants of the browser verifier, as JSON.

    `codes` is the table of reason codes; `limits` the caps of a bundle; `weakKeys` are in hex;
    `steering` is the pattern of the characters that are written out where text is shown. `shapes` maps a
    record's name to its members, each `{"type": T}` where it is required and `{"type": T, "default": value}` where it
    may be absent; other members are refused. A `T` is "any",
    "null", "boolean", "integer" or "string", or an object with one key: `enum` (the allowed values), `array` and `map`
    (the `T` of what is in it), `record` (a name), `either` (several `T`).
    """
    return {
        "codes": {code: msgspec.to_builtins(reason) for code, reason in CODES.items()},
        "limits": {
            "files": MAX_BYTES,
            "beside": BESIDE,
            "members": MAX_MEMBERS,
            "rows": MAX_ROWS,
            "row": MAX_ROW_BYTES,
            "commas": MAX_COMMAS,
            "bundle": MAX_BUNDLE_BYTES,
            "total": MAX_TOTAL_BYTES,
            "findingsPerCode": MAX_PER_CODE,
            "findingMessage": MAX_MESSAGE,
            "findingPlace": MAX_PLACE,
        },
        "weakKeys": sorted(key.hex() for key in WEAK_KEYS),
        "steering": STEERING.pattern,
        "serviceFailures": sorted(SERVICE_FAILURES),
        "shapes": shapes(),
    }


def shapes() -> dict[str, Any]:
    """Return the shape of every record of `SHAPED` and of every record inside one."""
    found: dict[str, Any] = {}
    for name, kind in SHAPED.items():
        _add(inspect.type_info(kind), name, found)
    return dict(sorted(found.items()))


def _add(info: inspect.Type, name: str, found: dict[str, Any]) -> None:
    assert isinstance(info, inspect.StructType)
    if name in found:
        return
    members = found[name] = {}
    for field in info.fields:
        members[field.encode_name] = {"type": _shape(field.type, found), **_default(field)}


def _default(field: inspect.Field) -> dict[str, Any]:
    if field.required:
        return {}
    given = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return {"default": msgspec.to_builtins(given)}


def _shape(info: inspect.Type, found: dict[str, Any]) -> Any:
    if (plain := _PLAIN.get(type(info))) is not None:
        return plain
    if isinstance(info, inspect.LiteralType):
        return {"enum": list(info.values)}
    if isinstance(info, inspect.VarTupleType | inspect.ListType):
        return {"array": _shape(info.item_type, found)}
    if isinstance(info, inspect.DictType):
        return {"map": _shape(info.value_type, found)}
    if isinstance(info, inspect.UnionType):
        return {"either": [_shape(one, found) for one in info.types]}
    if isinstance(info, inspect.StructType):
        _add(info, info.cls.__name__, found)
        return {"record": info.cls.__name__}
    raise TypeError(f"the browser verifier knows no shape for {info!r}")
