// Is the manifest one canonical envelope, and which key does it name? Whose key it has to be is the policy's:
// ragassay/verify/signature.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { pae, decodeEnvelope, decodeBase64 } = ragassay.dsse;
  const { decodeStatement } = ragassay.decode;
  const { isWeak, decodeX, thumbprint, checkSignature } = ragassay.keys;

  /** Return the statement of a run where it can be read (whether or not its signature holds), else null. */
  function readEnvelope(data, findings, where) {
    let envelope;
    let payload;
    let signature;
    let statement;
    try {
      envelope = decodeEnvelope(data);
      payload = decodeBase64(envelope.payload);
      signature = decodeBase64(envelope.signatures[0].sig);
      findings.made("envelope");
      statement = decodeStatement(envelope.payloadType, payload);
      findings.made("statement");
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      findings.error(error, where);
      return null;
    }
    if (envelope.signatures[0].keyid !== statement.predicate.signer.kid) {
      findings.add("ENVELOPE_MALFORMED", "the key id of the signature is not that of the named signer", where);
    }
    const message = pae(envelope.payloadType, payload);
    return { statement, data, signedBy: (x) => checkSignature(x, signature, message) };
  }

  /** Return the bytes of the key that a statement names, or null where they are none, or weak. */
  function namedKey(signer, findings, where) {
    const named = decodeX(signer.x);
    if (named === null) {
      const message = "the signer's x is no public key: 32 bytes of base64url";
      findings.add("ENVELOPE_MALFORMED", message, where);
      return null;
    }
    if (isWeak(named)) {
      findings.add("KEY_WEAK", null, where);
      return null;
    }
    if (thumbprint(named) !== signer.kid) {
      const message = "the statement claims the fingerprint of another key than the one that it names";
      findings.add("SIGNATURE_INVALID", message, where);
    }
    return named;
  }

  ragassay.signature = { readEnvelope, namedKey };
})();
