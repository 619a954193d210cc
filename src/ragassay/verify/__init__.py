"""Bytes in, findings out: recomputes everything that a run claims."""

from ragassay.verify.codes import CODES, Reason, severity
from ragassay.verify.policy import Policy
from ragassay.verify.report import Finding, NotMade, Report
from ragassay.verify.verifier import verify

__all__ = ["CODES", "Finding", "NotMade", "Policy", "Reason", "Report", "severity", "verify"]
