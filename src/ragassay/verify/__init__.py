"""Bytes in, findings out: recomputes everything that a run claims, and says whom that leaves to be trusted."""

from ragassay.verify.codes import CODES, Reason, severity
from ragassay.verify.policy import (
    AllOf,
    AnyOf,
    Evidence,
    Judgement,
    PinnedKey,
    PinnedRoot,
    Policy,
    TrustedLog,
    Unpinned,
)
from ragassay.verify.policy_file import load_policy, write_policy
from ragassay.verify.report import Announced, Finding, Kept, KeptFor, NotMade, Passes, Report
from ragassay.verify.verifier import verify, verify_run

__all__ = [
    "CODES",
    "AllOf",
    "Announced",
    "AnyOf",
    "Evidence",
    "Finding",
    "Judgement",
    "Kept",
    "KeptFor",
    "NotMade",
    "Passes",
    "PinnedKey",
    "PinnedRoot",
    "Policy",
    "Reason",
    "Report",
    "TrustedLog",
    "Unpinned",
    "load_policy",
    "severity",
    "verify",
    "verify_run",
    "write_policy",
]
