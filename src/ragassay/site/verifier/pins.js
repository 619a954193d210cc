// Whom the person who reads the page trusts: a fingerprint, a public key file or a policy file becomes a policy.
(() => {
  "use strict";

  const { InputError, NotCanonical } = ragassay.errors;
  const { text } = ragassay.bytes;
  const { loadStrict } = ragassay.strict;
  const { isObject } = ragassay.shapes;
  const { decodeX, thumbprint, parsePublicKey, runKey } = ragassay.keys;
  const { unpinned, pinnedKey, pinnedRoot } = ragassay.policy;
  const { loadPolicy } = ragassay.policyFile;
  const MAX_PIN_BYTES = 1 << 20;

  /** Accepts the key of one fingerprint, and every key of a registry whose root has it. */
  function pinnedFingerprint(fingerprint) {
    return {
      logs: [],
      async judge(evidence) {
        const named = evidence.x !== null && thumbprint(evidence.x) === fingerprint;
        const policy = named ? pinnedKey({ x: evidence.x, kid: fingerprint }) : pinnedRoot(fingerprint);
        return policy.judge(evidence);
      },
    };
  }

  function isPolicy(bytes) {
    try {
      const value = loadStrict(bytes, MAX_PIN_BYTES, 6);
      return isObject(value) && ["keys", "roots", "log", "witnesses"].some((name) => name in value);
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      return false;
    }
  }

  function textOf(bytes) {
    try {
      return text(bytes).trim();
    } catch {
      return "";
    }
  }

  /** Return {policy, words} of what a person gave as bytes under a name; throws `InputError`. */
  function readPin(bytes, name) {
    if (bytes.length > MAX_PIN_BYTES) throw new InputError(`${name} is too long for a key or a policy.`);
    const written = textOf(bytes);
    if (decodeX(written) !== null) {
      const words = `the fingerprint ${written}, of a key or of a registry’s root`;
      return { policy: pinnedFingerprint(written), words };
    }
    if (isPolicy(bytes)) return { policy: loadPolicy(bytes), words: `the policy in ${name}` };
    const key = runKey(parsePublicKey(bytes, name));
    return { policy: pinnedKey(key), words: `the key “${key.name}” with the fingerprint ${key.kid}` };
  }

  ragassay.pins = { readPin, nobody: unpinned };
})();
