"""Whom a workspace trusts, from its keys and its policy file, and what was found as the board keeps it."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import InputError
from ragassay.manifest import PublicKey, load_public_key
from ragassay.site.loaded import Check
from ragassay.verify import Policy, Report, load_policy


def own_keys(folder: Path) -> dict[str, PublicKey]:
    """Return the public run keys of a workspace by fingerprint; a file that holds none is nobody's key."""
    keys = {}
    for path in sorted(folder.glob("*.pub.json")):
        try:
            key = load_public_key(path)
        except InputError:
            continue
        if key.kind in (None, "run"):
            keys[key.kid] = key
    return keys


def trusted_policy(workspace: Path) -> Policy | None:
    """Return the policy of a workspace, None where it has none; raises `InputError` where it cannot be read."""
    path = workspace / "policy.json"
    try:
        return load_policy(path.read_bytes()) if path.exists() else None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error


def checks_of(report: Report) -> tuple[Check, ...]:
    """Return what a verifier found, failures first, then the checks made and those that could not be made."""
    found = [
        Check(code=f.code, severity=f.severity, text=f"{f.message} ({f.where})" if f.where else f.message)
        for f in report.findings
    ]
    made = [Check(code="", severity="ok", text=check) for check in report.made]
    not_made = [Check(code="", severity="not_made", text=f"{n.check}: {n.why}") for n in report.not_made]
    return (*found, *made, *not_made)
