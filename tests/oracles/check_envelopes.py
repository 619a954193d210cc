"""Hold our envelopes against securesystemslib and PyNaCl: `python check_envelopes.py FOLDER` in their environment."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey


def by_securesystemslib(case: dict[str, Any]) -> bool:
    """Tell whether securesystemslib accepts the envelope under the key."""
    key = SSlibKey(case["kid"], "ed25519", "ed25519", {"public": case["x"]})
    try:
        Envelope.from_dict(json.loads(case["envelope"])).verify([key], 1)
    except VerificationError:
        return False
    return True


def by_pynacl(case: dict[str, Any]) -> bool:
    """Tell whether libsodium accepts the signature over the pre-authentication encoding, written out here."""
    envelope = json.loads(case["envelope"])
    payload = base64.b64decode(envelope["payload"])
    kind = envelope["payloadType"].encode()
    message = b"DSSEv1 " + str(len(kind)).encode() + b" " + kind + b" " + str(len(payload)).encode() + b" " + payload
    try:
        VerifyKey(bytes.fromhex(case["x"])).verify(message, base64.b64decode(envelope["signatures"][0]["sig"]))
    except BadSignatureError:
        return False
    return True


def main(folder: Path) -> int:
    """Compare every envelope, print one line, and return 1 where an oracle says something else."""
    cases = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))["envelopes"]
    wrong = []
    for case in cases:
        wanted = case["holds"]
        for name, oracle in (("securesystemslib", by_securesystemslib), ("PyNaCl", by_pynacl)):
            if oracle(case) != wanted:
                wrong.append(f"{name} says {not wanted} of {case['name']!r}")
    print("\n".join(wrong) or f"envelopes: securesystemslib and PyNaCl agree on {len(cases)}")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
