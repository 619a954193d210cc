// The signed list of a publisher's keys: its strict reading, and what it says of a key: ragassay/manifest/registry.py.
(() => {
  "use strict";

  const { VerifyError, NotCanonical } = ragassay.errors;
  const { equal } = ragassay.bytes;
  const { loadStrict, canonical } = ragassay.strict;
  const { convert } = ragassay.shapes;
  const { MAX_ENVELOPE_BYTES, pae, decodeEnvelope, decodeBase64 } = ragassay.dsse;
  const { isWeak, decodeX, thumbprint, checkSignature } = ragassay.keys;
  const REGISTRY_TYPE = "application/vnd.ragassay.keys+json";
  const ROTATION_TYPE = "application/vnd.ragassay.root-rotation+json";
  const MAX_KEYS = 1000;
  const MAX_ROTATIONS = 100;
  const MAX_TEXT = 200;

  function malformed(problem) {
    throw new VerifyError(`the file is no key registry: ${problem}`, "ENVELOPE_MALFORMED");
  }

  function decodePayload(payload) {
    let registry;
    let written;
    try {
      const value = loadStrict(payload, MAX_ENVELOPE_BYTES, 8);
      written = canonical(value);
      registry = convert(value, "Registry");
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      malformed(error.message);
    }
    if (!equal(written, payload)) {
      const message = "the payload of the key registry is not in canonical form (RFC 8785)";
      throw new VerifyError(message, "ENVELOPE_NOT_CANONICAL");
    }
    return registry;
  }

  /** Return the fingerprints of all roots, the first one first and the current one last. */
  function rootsOf(registry) {
    return [...registry.rotations.map((link) => link.from.kid), registry.root.kid];
  }

  function checkKeyBytes({ kid, x }, what) {
    const key = decodeX(x);
    if (key === null) malformed(`${what}: a public key is 32 bytes as 43 characters of base64url`);
    if (isWeak(key)) throw new VerifyError(`the key registry holds a weak key: ${what}`, "KEY_WEAK");
    if (thumbprint(key) !== kid) malformed(`${what} names the fingerprint of another key`);
    return key;
  }

  function recordProblem(record) {
    const { start, end } = record.validFor;
    const since = record.invalidSince;
    if ([record.name, record.reason ?? ""].some((text) => [...text].length > MAX_TEXT)) {
      return `has a name or reason of more than ${MAX_TEXT} characters`;
    }
    if (start < 0 || (end !== null && end < start)) return "is valid to a time before it begins, or since before 1970";
    if ((since !== null) !== (record.status === "revoked")) {
      return "must have `invalidSince` if it is revoked, and only then";
    }
    if (since !== null && since < 0) return "is invalid since a time before 1970";
    return record.status === "deprecated" && end === null ? "is deprecated and must have an end" : null;
  }

  function checkKeys(registry) {
    if (registry.keys.length > MAX_KEYS) malformed(`it holds ${registry.keys.length} keys; ${MAX_KEYS} are allowed`);
    const roots = new Set(rootsOf(registry));
    const times = new Map();
    for (const { kid } of registry.keys) times.set(kid, (times.get(kid) ?? 0) + 1);
    registry.keys.forEach((record, at) => {
      const what = `key ${at + 1}`;
      checkKeyBytes(record, what);
      if (times.get(record.kid) > 1) malformed(`${what} stands twice`);
      if (roots.has(record.kid)) malformed(`${what} is a root; a root signs nothing but the registry`);
      const problem = recordProblem(record);
      if (problem !== null) malformed(`${what} ${problem}`);
    });
  }

  async function checkLink({ version, from, to, fromSig, toSig }, at) {
    const message = pae(ROTATION_TYPE, canonical({ version, from, to }));
    for (const [root, signature, side] of [[from, fromSig, "old"], [to, toSig, "new"]]) {
      const x = checkKeyBytes(root, `the ${side} root of handover ${at}`);
      if (!(await checkSignature(x, decodeBase64(signature), message))) {
        throw new VerifyError(`handover ${at} is not signed by the ${side} root`, "SIGNATURE_INVALID");
      }
    }
  }

  async function checkRotations(registry) {
    const links = registry.rotations;
    if (links.length > MAX_ROTATIONS) malformed(`its root changed ${links.length} times; ${MAX_ROTATIONS} are allowed`);
    const roots = rootsOf(registry);
    if (new Set(roots).size !== roots.length) malformed("a root that handed over came back");
    let last = 0;
    for (const [at, link] of links.entries()) {
      const after = at + 1 < links.length ? links[at + 1].from : registry.root;
      if (link.to.kid !== after.kid || link.to.x !== after.x) {
        malformed(`handover ${at + 1} does not lead to the root that follows`);
      }
      if (!(last < link.version && link.version <= registry.version)) {
        malformed(`handover ${at + 1} is of version ${link.version}, out of order`);
      }
      last = link.version;
      await checkLink(link, at + 1);
    }
  }

  /**
   * Read a signed registry as {registry, key(kid) → record or null, vouchedBy(root fingerprint) → promise of boolean}.
   *
   * Throws ENVELOPE_MALFORMED, ENVELOPE_NOT_CANONICAL, TYPE_UNKNOWN, KEY_WEAK, and SIGNATURE_INVALID where it is not
   * signed by the root that it names or a handover not by both roots. Whom to trust is asked with `vouchedBy`.
   */
  async function decodeRegistry(bytes) {
    const envelope = decodeEnvelope(bytes);
    const payload = decodeBase64(envelope.payload);
    const signature = decodeBase64(envelope.signatures[0].sig);
    if (envelope.payloadType !== REGISTRY_TYPE) {
      const message = `the payload type is “${envelope.payloadType.slice(0, 200)}”, not “${REGISTRY_TYPE}”`;
      throw new VerifyError(message, "TYPE_UNKNOWN");
    }
    const registry = decodePayload(payload);
    if (envelope.signatures[0].keyid !== registry.root.kid) {
      malformed("the key id of its signature is not that of the root that it names");
    }
    if (registry.version < 1) malformed(`there is no version ${registry.version}; the first is 1`);
    if (!(registry.issued >= 0 && registry.issued < registry.expires)) {
      malformed("it expires before it was issued, or was issued before 1970");
    }
    const root = checkKeyBytes(registry.root, "its root");
    checkKeys(registry);
    await checkRotations(registry);
    const signed = await checkSignature(root, signature, pae(REGISTRY_TYPE, payload));
    if (!signed) {
      throw new VerifyError("the key registry is not signed by the root that it names", "SIGNATURE_INVALID");
    }
    return {
      registry,
      key: (kid) => registry.keys.find((record) => record.kid === kid) ?? null,
      vouchedBy: async (fingerprint) => rootsOf(registry).includes(fingerprint),
    };
  }

  /**
   * Return the reason code against a key whose statement a witness saw at `witnessedAt` (Unix seconds), or null.
   *
   * Without a witnessed time an active key gives UNTIMED, a deprecated one KEY_EXPIRED, a revoked one KEY_REVOKED.
   */
  function statusAt(record, witnessedAt) {
    const x = decodeX(record.x);
    if (x === null || isWeak(x)) return "KEY_WEAK";
    if (record.status === "revoked" && (witnessedAt === null || witnessedAt >= (record.invalidSince ?? 0))) {
      return "KEY_REVOKED";
    }
    if (witnessedAt === null) return record.status === "active" ? "UNTIMED" : "KEY_EXPIRED";
    const { start, end } = record.validFor;
    return witnessedAt < start || (end !== null && witnessedAt > end) ? "KEY_EXPIRED" : null;
  }

  ragassay.registry = { decodeRegistry, statusAt };
})();
