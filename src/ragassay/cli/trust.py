"""What stands on the command line about trust becomes a policy, with the registry and log that it is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.files import BESIDE, REGISTRY
from ragassay.manifest.keyfile import load_public_key
from ragassay.manifest.registry import decode_registry
from ragassay.manifest.tiles import LogView
from ragassay.verify import AllOf, AnyOf, PinnedKey, PinnedRoot, Policy, Unpinned, load_policy
from ragassay.verify.policy_file import MAX_POLICY_BYTES, run_key

REGISTRY_TIMEOUT_S = 30.0


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """Whom one trusts, with the registry and the log that were given apart from the runs.

    `problems` are what is wrong with the log itself; they stand against every run.
    """

    policy: Policy
    registry: bytes | None = None
    log: LogView | None = None
    problems: tuple[VerifyError, ...] = ()

    def remember(self, files: Mapping[str, bytes]) -> None:
        """Remember the version of the registry that was used, under each pinned root that vouches for it."""
        roots = list(_roots(self.policy))
        data = self.registry if self.registry is not None else files.get(REGISTRY)
        if not roots or data is None:
            return
        from ragassay.cli.seen import remember

        try:
            signed = decode_registry(data)
        except VerifyError:
            return  # the report says so
        for root in roots:
            if signed.vouched_by(root.fingerprint):
                remember(root.fingerprint, signed.registry.version)


def trust_of(
    *,
    keys: Sequence[Path] = (),
    root: str | None = None,
    policy: Path | None = None,
    registry: str | None = None,
    log: str | None = None,
) -> Trust:
    """Return what the options of `verify` ask for; raises `InputError`, and `PluginError` for an address.

    Several keys, or keys and a root, are alternatives. The versions of registries that were seen on this machine hold
    for every pinned root.
    """
    if policy is not None and (keys or root is not None):
        raise InputError("a policy file says whom to trust; leave out --key and --root, or --policy")
    asked = _policy(keys, root, policy)
    view, problems = None, []
    if log is not None:
        from ragassay.cli.log_source import open_log, read_view

        try:
            view = read_view(open_log(log))
        except VerifyError as error:
            problems.append(error)
    return Trust(
        policy=_aware(asked),
        registry=_registry(registry) if registry is not None else None,
        log=view,
        problems=tuple(problems),
    )


def _policy(keys: Sequence[Path], root: str | None, file: Path | None) -> Policy:
    if file is not None:
        data = _read(file, MAX_POLICY_BYTES)
        try:
            return load_policy(data)
        except InputError as error:
            raise InputError(f"{file}: {error.message}", error.problems) from error
    pins: list[Policy] = [PinnedKey(run_key(load_public_key(key))) for key in keys]
    if root is not None:
        pins.append(_pinned_root(root))
    return AnyOf(tuple(pins)) if pins else Unpinned()


def _pinned_root(fingerprint: str) -> PinnedRoot:
    from ragassay.manifest.sign import decode_x

    try:
        decode_x(fingerprint)
    except ValueError:
        message = f"--root: {fingerprint[:80]!r} is no fingerprint; `ragassay keys list` prints it, 43 characters"
        raise InputError(message) from None
    return PinnedRoot(fingerprint)


def _aware(policy: Policy) -> Policy:
    """Return the policy with the versions of registries that were seen here before."""
    if isinstance(policy, AllOf | AnyOf):
        return type(policy)(tuple(_aware(member) for member in policy.policies))
    if isinstance(policy, PinnedRoot):
        from ragassay.cli.seen import seen_version

        seen = seen_version(policy.fingerprint)
        return PinnedRoot(policy.fingerprint, max(policy.min_version or 0, seen or 0) or None)
    return policy


def _roots(policy: Policy) -> Iterator[PinnedRoot]:
    if isinstance(policy, AllOf | AnyOf):
        for member in policy.policies:
            yield from _roots(member)
    elif isinstance(policy, PinnedRoot):
        yield policy


def _registry(text: str) -> bytes:
    from ragassay.cli.fetch import fetch, is_address

    if is_address(text):
        return fetch(text, max_bytes=BESIDE[REGISTRY], timeout_s=REGISTRY_TIMEOUT_S)
    return _read(Path(text), BESIDE[REGISTRY])


def _read(path: Path, cap: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(cap + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check name and permissions") from error
    if len(data) > cap:
        raise InputError(f"{path} has more than the {cap} bytes allowed")
    return data
