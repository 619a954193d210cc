// The envelope of a signed statement, DSSE with exactly one signature: ragassay/manifest/dsse.py.
(() => {
  "use strict";

  const { VerifyError, asVerifyError } = ragassay.errors;
  const { utf8, concat, equal, decodeBase64 } = ragassay.bytes;
  const { loadStrict, canonical } = ragassay.strict;
  const { convert } = ragassay.shapes;
  const MAX_ENVELOPE_BYTES = 1 << 20;

  /** Return the pre-authentication encoding: the bytes that are signed (DSSE protocol, version 1). */
  function pae(payloadType, payload) {
    const kind = utf8(payloadType);
    return concat(utf8(`DSSEv1 ${kind.length} `), kind, utf8(` ${payload.length} `), payload);
  }

  /** Read an envelope; throws `VerifyError` with ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL. */
  function decodeEnvelope(bytes) {
    const [envelope, written] = asVerifyError("ENVELOPE_MALFORMED", "the file is no signed envelope", () => {
      const value = loadStrict(bytes, MAX_ENVELOPE_BYTES, 8);
      return [convert(value, "Envelope"), canonical(value)];
    });
    if (envelope.signatures.length !== 1) {
      const message = `there must be exactly one signature, not ${envelope.signatures.length}`;
      throw new VerifyError(message, "ENVELOPE_MALFORMED");
    }
    if (!equal(written, bytes)) {
      const message = "the bytes of the envelope are not in canonical form (RFC 8785)";
      throw new VerifyError(message, "ENVELOPE_NOT_CANONICAL");
    }
    return envelope;
  }

  ragassay.dsse = { MAX_ENVELOPE_BYTES, pae, decodeEnvelope, decodeBase64 };
})();
