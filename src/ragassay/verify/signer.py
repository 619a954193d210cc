"""Whose a statement is that no log holds: the policy is asked, and the signature held against some key. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from ragassay.manifest.signed import Signed
from ragassay.manifest.statement import SignerRef
from ragassay.verify.policy import Evidence, Judgement, Unpinned
from ragassay.verify.report import Findings
from ragassay.verify.signature import named_key
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
    judged = reader.policy.judge(evidence)
    found = judged.findings
    if judged.signer == "unchecked":
        named = Unpinned().judge(evidence)
        found += named.findings
        judged = msgspec.structs.replace(judged, signer=named.signer)
    findings.extend(found)
    findings.made("key")
    if judged.signer == "unchecked":
        findings.not_made("signature", "there is no usable key to check it with")
    else:
        findings.made("signature")
    return judged
