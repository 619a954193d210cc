// The signed statements that go to the log around a run, its announcement and its voiding, read as strictly as a run
// (and, by the same rules, its redaction): ragassay/manifest/announce.py.
(() => {
  "use strict";

  const { VerifyError, asVerifyError } = ragassay.errors;
  const { equal, sha256Hex } = ragassay.bytes;
  const { loadStrict, canonical } = ragassay.strict;
  const { convert, isObject } = ragassay.shapes;
  const { MAX_ENVELOPE_BYTES, pae, decodeEnvelope, decodeBase64 } = ragassay.dsse;
  const { checkSignature } = ragassay.keys;
  const PAYLOAD_TYPE = "application/vnd.in-toto+json";
  const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
  const KINDS = "https://ragassay.dev/attestation/";
  const MAX_PASSES = 1000;
  const MAX_REASON = 2000;
  const RUN_ID = /^[0-9a-f]{32}$/;
  const SHA256 = /^[0-9a-f]{64}$/;

  function refuse(code, message) {
    throw new VerifyError(message, code);
  }

  function load(payload) {
    const [value, written] = asVerifyError("ENVELOPE_MALFORMED", "the signed payload is no strict JSON", () => {
      const found = loadStrict(payload, MAX_ENVELOPE_BYTES, 16);
      return [found, canonical(found)];
    });
    if (!equal(written, payload)) {
      refuse("ENVELOPE_NOT_CANONICAL", "the signed payload is not in canonical form (RFC 8785)");
    }
    if (!isObject(value)) refuse("TYPE_UNKNOWN", `the payload is no in-toto statement of type ${STATEMENT_TYPE}`);
    return value;
  }

  function decode(bytes, shape, prefix, what) {
    const envelope = decodeEnvelope(bytes);
    const payload = decodeBase64(envelope.payload);
    const signature = decodeBase64(envelope.signatures[0].sig);
    if (envelope.payloadType !== PAYLOAD_TYPE) {
      refuse("TYPE_UNKNOWN", `the payload type is “${envelope.payloadType.slice(0, 200)}”, not “${PAYLOAD_TYPE}”`);
    }
    const value = load(payload);
    const given = value.predicateType;
    if (typeof given !== "string") refuse("TYPE_UNKNOWN", `the statement names no type, and is not ${what}`);
    if (value._type !== STATEMENT_TYPE || !given.startsWith(prefix)) {
      refuse("TYPE_UNKNOWN", `the statement is of type “${given.slice(0, 200)}”, not ${what}`);
    }
    if (given !== `${prefix}v0.1`) {
      refuse("VERSION_UNKNOWN", `the statement is ${what} of another version; this verifier knows v0.1`);
    }
    const lacks = `the statement lacks the form of ${what}`;
    const { subject, predicate } = asVerifyError("ENVELOPE_MALFORMED", lacks, () => convert(value, shape));
    if (envelope.signatures[0].keyid !== predicate.signer.kid) {
      refuse("ENVELOPE_MALFORMED", "the key id of the signature is not that of the named signer");
    }
    const signedBy = (x) => checkSignature(x, signature, pae(PAYLOAD_TYPE, payload));
    return { subject, predicate, envelope, payload, bytes, digest: sha256Hex(bytes), signedBy };
  }

  function isSubject(subject, name, digest) {
    return subject.length === 1 && subject[0].name === name && subject[0].digest.sha256 === digest;
  }

  function commonProblem(created, digests) {
    if (!digests.every((digest) => SHA256.test(digest.sha256))) {
      return "a SHA-256 is written as 64 lower-case hex digits";
    }
    return created >= 0 ? null : "`created` is no time in Unix seconds";
  }

  function intentProblem({ subject, predicate }) {
    const { runs, metric } = predicate;
    if (!isSubject(subject, "config.json", predicate.config.digest.sha256)) {
      return "the only subject must be config.json with the digest of the configuration";
    }
    if (runs.length < 1 || runs.length > MAX_PASSES || new Set(runs).size !== runs.length) {
      return `1 to ${MAX_PASSES} passes are announced, each with a run id of its own`;
    }
    if (!runs.every((run) => RUN_ID.test(run))) return "a run's id must be 32 lower-case hex digits";
    if (metric.itemDen !== 100 || !metric.higherIsBetter) return "item scores are hundredths, and higher is better";
    if (predicate.judge.digest === null) return "`judge.digest` may not be null";
    return commonProblem(predicate.created, [predicate.config.digest, predicate.benchmark.digest]);
  }

  function reasonProblem(reason) {
    const fits = ragassay.fold.strip(reason) !== "" && [...reason].length <= MAX_REASON;
    return fits ? null : `a reason has 1 to ${MAX_REASON} characters`;
  }

  function voidProblem({ subject, predicate }) {
    const { intent, run, pass, reason } = predicate;
    const isRun = run !== null && isSubject(subject, "run.dsse.json", run.sha256);
    const isIntent = run === null && intent !== null && isSubject(subject, "intent.dsse.json", intent.sha256);
    if (!isRun && !isIntent) {
      return "the only subject must be the voided run.dsse.json, or else the announcement intent.dsse.json";
    }
    if (!RUN_ID.test(predicate.runId)) return "the run's id must be 32 lower-case hex digits";
    if (!(pass.k >= 1 && pass.k <= pass.of)) return `there is no pass ${pass.k} of ${pass.of}`;
    const problem = reasonProblem(reason);
    if (problem !== null) return problem;
    return commonProblem(predicate.created, [intent, run].filter((given) => given !== null));
  }

  function checked(signed, problem) {
    if (problem !== null) refuse("ENVELOPE_MALFORMED", problem);
    return signed;
  }

  /**
   * Read an announcement as {predicate, envelope, payload, bytes, digest, signedBy(x) → promise of boolean}.
   *
   * Throws TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL; no signature is checked.
   */
  function decodeIntent(bytes) {
    const signed = decode(bytes, "IntentStatement", `${KINDS}run-intent/`, "an announcement");
    return checked(signed, intentProblem(signed));
  }

  /** Read a voiding as `decodeIntent` reads an announcement. */
  function decodeVoid(bytes) {
    const signed = decode(bytes, "VoidStatement", `${KINDS}run-void/`, "a voiding");
    return checked(signed, voidProblem(signed));
  }

  ragassay.announce = { RUN_ID, decode, isSubject, commonProblem, reasonProblem, checked, decodeIntent, decodeVoid };
})();
