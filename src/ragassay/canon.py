"""Canonical bytes (RFC 8785 with integers only), digests, and the strict loader that accepts nothing else."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NoReturn

import rfc8785

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1
"""The largest magnitude that RFC 8785 can carry exactly (an IEEE double's integers)."""


class NotCanonical(ValueError):
    """The bytes are no canonical JSON document; the message says why."""


def canonical(value: object) -> bytes:
    """Encode `value` as RFC 8785 bytes; floats, oversized integers and lone surrogates raise `NotCanonical`."""
    try:
        _refuse_floats(value)
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise NotCanonical(f"cannot be written as canonical JSON: {error}") from error


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise NotCanonical(f"the fractional number {value!r} must be written as a decimal string")
    if isinstance(value, dict):
        for member in value.values():
            _refuse_floats(member)
    elif isinstance(value, list | tuple):
        for member in value:
            _refuse_floats(member)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical bytes of `value`."""
    return sha256(canonical(value))


def load_strict(data: bytes, *, max_bytes: int, max_depth: int = MAX_DEPTH) -> Any:
    """Parse UTF-8 JSON without duplicate keys, fractional numbers, NaN, a BOM or wide integers.

    Raises `NotCanonical` for anything else, whatever the bytes are; never recurses deeper than `max_depth`.
    """
    if len(data) > max_bytes:
        raise NotCanonical(f"{len(data)} bytes are more than the {max_bytes} allowed")
    _scan_depth(data, max_depth)
    try:
        text = data.decode("utf-8", errors="strict")
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_float=_no_fraction,
            parse_constant=_no_fraction,
            parse_int=_bounded_integer,
        )
    except NotCanonical:
        raise
    except (ValueError, RecursionError) as error:
        raise NotCanonical(f"not strict JSON: {error}") from error


def load_canonical(data: bytes, *, max_bytes: int, max_depth: int = MAX_DEPTH) -> Any:
    """Parse like `load_strict` and require that the bytes equal the canonical encoding of what they say."""
    value = load_strict(data, max_bytes=max_bytes, max_depth=max_depth)
    if canonical(value) != data:
        raise NotCanonical("the bytes are valid JSON but not in canonical form (RFC 8785)")
    return value


def _scan_depth(data: bytes, max_depth: int) -> None:
    depth = 0
    in_string = escaped = False
    for byte in data:
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in (0x5B, 0x7B):
            depth += 1
            if depth > max_depth:
                raise NotCanonical(f"nested deeper than {max_depth} levels")
        elif byte in (0x5D, 0x7D):
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise NotCanonical(f"the key {twice[:80]!r} stands twice in an object")
    return members


def _no_fraction(text: str) -> NoReturn:
    raise NotCanonical(f"the number {text[:40]} is not an integer")


def _bounded_integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER or text == "-0":
        raise NotCanonical(f"the integer {text[:40]} is outside ±(2^53 - 1)")
    return int(text)


def decimal_string(value: float | str | int | Decimal) -> str:
    """Write a finite number as the shortest decimal string that reads back to the same number (no exponent)."""
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise NotCanonical(f"{value!r} is not a finite number")
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def ratio_string(num: int, den: int, places: int = 4) -> str:
    """Write num/den (den > 0) with `places` decimals, half-up, by integers alone."""
    scaled = (2 * num * 10**places + den) // (2 * den)
    return format((Decimal(scaled) / Decimal(10**places)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP), "f")


def without_fractions(value: Any) -> Any:
    """Return `value` with every float replaced by its decimal string, so that it can be signed and compared."""
    if isinstance(value, float):
        return decimal_string(value)
    if isinstance(value, dict):
        return {str(name): without_fractions(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [without_fractions(member) for member in value]
    return value
