"""Whose a statement is that no log holds: the policy is asked, and the signature held against some key. Pure."""

from __future__ import annotations

from typing import Any

from ragassay.manifest.signed import Signed
from ragassay.manifest.statement import SignerRef
from ragassay.verify.policy import Evidence, Judgement, judge_or_named
from ragassay.verify.report import Findings
from ragassay.verify.signature import named_key, note_signature
from ragassay.verify.standing import Reader


def check_signer(
    signed: Signed[Any], signer: SignerRef, places: tuple[str, str], reader: Reader, findings: Findings
) -> Judgement:
    """Ask the policy whose a statement is; a signature that it held against no key is held against the named one.

    `places` are the file of the statement and the file in which a proof of its inclusion in a log would stand.
    """
    evidence = Evidence(
        where=places[0],
        proof=places[1],
        kid=signer.kid,
        x=named_key(signer, findings, places[0]),
        signed_by=signed.signed_by,
        now=reader.now,
        registry=reader.registry,
        registry_version=signer.registry_version,
    )
    judged = judge_or_named(reader.policy, evidence)
    findings.extend(judged.findings)
    note_signature(findings, checked=judged.signer != "unchecked")
    return judged
