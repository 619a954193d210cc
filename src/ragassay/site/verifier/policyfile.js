// The policy file, whom one trusts as JSON: ragassay/verify/policy_file.py.
(() => {
  "use strict";

  const { InputError, NotCanonical } = ragassay.errors;
  const { loadStrict, canonical } = ragassay.strict;
  const { convert } = ragassay.shapes;
  const { decodeX, parsePublicKey, runKey } = ragassay.keys;
  const { pinnedKey, pinnedRoot, trustedLog, allOf, anyOf } = ragassay.policy;
  const MAX_POLICY_BYTES = 1 << 20;
  const MAX_ENTRIES = 1000;

  /** Read a policy file; throws `InputError` that lists every problem of it. */
  function loadPolicy(bytes) {
    const file = readFile(bytes);
    const problems = [];
    const keys = each(file.keys, "keys", publicKey, problems);
    const roots = each(file.roots, "roots", fingerprint, problems);
    const logs = each(file.log === null ? [] : [file.log], "log", vkey("log"), problems);
    const given = file.witnesses || { quorum: 0, keys: [] };
    const witnesses = each(given.keys, "witnesses.keys", vkey("witness"), problems);
    const least = file.minRegistryVersion;
    if (file.keys.length === 0 && file.roots.length === 0) problems.push("neither keys nor roots names anyone");
    if (least !== null && !(file.roots.length > 0 && least >= 1)) {
      problems.push("minRegistryVersion is at least 1 and stands beside roots");
    }
    if (file.witnesses !== null && file.log === null) problems.push("witnesses are those of a log; give log too");
    const trusted = [];
    if (logs.length > 0 && witnesses.length === given.keys.length) {
      trusted.push(...each([logs[0]], "witnesses", (log) => trustedLog(log, witnesses, given.quorum), problems));
    }
    if (problems.length > 0) throw new InputError(`the policy cannot be used: ${problems.join("; ")}`);
    const signers = [...keys.map(pinnedKey), ...roots.map((root) => pinnedRoot(root, least))];
    return allOf([anyOf(signers), ...trusted]);
  }

  function readFile(bytes) {
    let file;
    try {
      file = convert(loadStrict(bytes, MAX_POLICY_BYTES, 6), "PolicyFile");
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      throw new InputError(`the policy is no JSON of the form of a policy: ${error.message}`);
    }
    const counts = [file.keys.length, file.roots.length, file.witnesses ? file.witnesses.keys.length : 0];
    if (Math.max(...counts) > MAX_ENTRIES) {
      throw new InputError(`the policy names more than ${MAX_ENTRIES} keys, roots or witnesses`);
    }
    return file;
  }

  function each(values, name, read, problems) {
    const found = [];
    values.forEach((value, at) => {
      try {
        found.push(read(value));
      } catch (error) {
        if (![InputError, NotCanonical, RangeError].some((kind) => error instanceof kind)) throw error;
        problems.push(`${name}, ${at + 1}: ${error.message}`);
      }
    });
    return found;
  }

  function publicKey(jwk) {
    return runKey(parsePublicKey(canonical(jwk), "the key"));
  }

  function fingerprint(text) {
    if (decodeX(text) === null) throw new InputError("no fingerprint: 43 characters of base64url");
    return text;
  }

  function vkey(kind) {
    return (text) => {
      const key = ragassay.note.parseVkey(text);
      if (key.kind !== kind) throw new InputError(`${key.name} is the key of a ${key.kind}, not of a ${kind}`);
      return key;
    };
  }

  ragassay.policyFile = { loadPolicy };
})();
