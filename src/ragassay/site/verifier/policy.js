// Whom the person who verifies trusts: policies that compose: ragassay/verify/policy.py.
//
// A policy has `logs` (the keys of trusted logs) and `judge(evidence)`, which returns a promise of {findings, signer,
// witnessed, keyStatus}; `signer` is unchecked, named or pinned. Evidence is {where, proof, kid, x, signedBy, now,
// checkpoint, registry, registryVersion, witnessed}, null where there is none.
(() => {
  "use strict";

  const { finding, severity } = ragassay.report;
  const { isWeak, decodeX } = ragassay.keys;
  const STRENGTH = ["unchecked", "named", "pinned"];
  const REGISTRY = "ragassay-keys.json";
  /** Seconds by which the clocks of signer, witness and reader may differ. */
  const SLACK_S = 300;

  function judgement(given) {
    return { findings: [], signer: "unchecked", witnessed: null, keyStatus: null, ...given };
  }

  /** Trusts nobody: the signature is held against the key that the statement itself names. */
  function unpinned() {
    return {
      logs: [],
      async judge({ where, x, signedBy }) {
        const findings = [finding("SIGNER_UNPINNED", null, where)];
        if (x === null) return judgement({ findings });
        if (!(await signedBy(x))) findings.push(notBy("the key that the statement names", where));
        return judgement({ findings, signer: "named" });
      },
    };
  }

  /** Accepts the holder of one key {x, kid}; only the bytes of that key are used, whatever the statement names. */
  function pinnedKey(key) {
    return {
      logs: [],
      async judge({ where, kid, signedBy }) {
        if (isWeak(key.x)) {
          const weak = finding("KEY_WEAK", "the pinned key is weak: anyone can sign under it", where);
          return judgement({ findings: [weak], signer: "pinned" });
        }
        const findings = [];
        if (kid !== key.kid) {
          findings.push(finding("KEY_UNKNOWN", "it is signed by another key than the pinned one", where));
        }
        if (!(await signedBy(key.x))) findings.push(notBy("the pinned key", where));
        return judgement({ findings, signer: "pinned" });
      },
    };
  }

  /** Accepts the keys of one publisher's registry, each by its status when witnesses saw the statement. */
  function pinnedRoot(fingerprint, minVersion = null) {
    return {
      logs: [],
      async judge(evidence) {
        const signed = evidence.registry;
        if (signed === null) {
          return unknown("a root is pinned, and there is no key registry: give one with the run, or name it", evidence);
        }
        if (!(await signed.vouchedBy(fingerprint))) {
          return unknown("the key registry is not by the pinned root", evidence);
        }
        const findings = ofRegistry(signed.registry, minVersion, evidence);
        const record = signed.registry.keys.find((one) => one.kid === evidence.kid);
        if (record === undefined) {
          return unknown("the key registry does not list the key that signed", evidence, findings);
        }
        findings.push(...(await ofKey(record, evidence)));
        return judgement({ findings, signer: "pinned", keyStatus: record.status });
      },
    };
  }

  function ofRegistry(registry, minVersion, evidence) {
    const least = Math.max(minVersion || 0, evidence.registryVersion || 0);
    const found = [];
    if (registry.version < least) {
      const message = `the key registry is of version ${registry.version}, and version ${least} is known`;
      found.push(finding("REGISTRY_ROLLBACK", message, REGISTRY));
    }
    if (registry.expires < evidence.now) found.push(finding("REGISTRY_EXPIRED", null, REGISTRY));
    return found;
  }

  /** Return that no trusted registry lists the key; the signature is held against the named key all the same. */
  async function unknown(message, { where, x, signedBy }, found = []) {
    const findings = [...found, finding("KEY_UNKNOWN", message, where)];
    if (x !== null && !(await signedBy(x))) findings.push(notBy("the key that the statement names", where));
    return judgement({ findings, signer: "pinned" });
  }

  function notBy(whose, where) {
    return finding("SIGNATURE_INVALID", `the signature is not by ${whose}, or something was changed`, where);
  }

  /** Return what speaks against a listed key; that an active one has no witnessed time is said once for the run. */
  async function ofKey(record, { where, witnessed, signedBy }) {
    const found = [];
    const code = ragassay.registry.statusAt(record, witnessed);
    if (code !== null && code !== "UNTIMED") found.push(finding(code, null, where));
    if (code !== "KEY_WEAK" && !(await signedBy(decodeX(record.x)))) {
      found.push(notBy("the key that the registry lists", where));
    }
    return found;
  }

  /** Asks for inclusion in one log, under a checkpoint that at least `quorum` of `witnesses` cosigned. */
  function trustedLog(log, witnesses, quorum) {
    if (!(quorum >= Math.min(1, witnesses.length) && quorum <= witnesses.length)) {
      throw new RangeError(`a quorum of ${quorum} of ${witnesses.length} witnesses cannot be`);
    }
    if (new Set(witnesses.map(({ x }) => ragassay.bytes.hex(x))).size !== witnesses.length) {
      throw new RangeError("a witness stands twice, and each counts once");
    }
    if (witnesses.some(({ x }) => ragassay.bytes.equal(x, log.x))) {
      throw new RangeError("the log is not its own witness: their keys must differ");
    }
    return {
      logs: [log],
      async judge({ proof, checkpoint, x, now }) {
        const against = (code, message) => judgement({ findings: [finding(code, message, proof)] });
        if (checkpoint === null) return against("UNWITNESSED", "nothing shows that the trusted log holds this");
        if (checkpoint.origin !== log.name) {
          return against("UNWITNESSED", `it stands in the log ${checkpoint.origin}, not in the trusted`);
        }
        if (!(await checkpoint.signedBy(log))) {
          return against("LOG_INCLUSION", "the checkpoint is not signed by the trusted log");
        }
        if (witnesses.length === 0) {
          return against("UNWITNESSED", "the trusted log holds it, and no witness is trusted");
        }
        // Nobody is the witness of what they signed themselves, and nobody saw anything at a time to come.
        const others = witnesses.filter((witness) => x === null || !ragassay.bytes.equal(witness.x, x));
        const seen = [...(await checkpoint.witnessed(others)).values()].filter((time) => time <= now + SLACK_S);
        const times = seen.sort((one, other) => one - other);
        if (times.length < quorum) {
          return against("UNWITNESSED", `${times.length} of the trusted witnesses saw it; ${quorum} are asked for`);
        }
        return judgement({ witnessed: times[quorum - 1] });
      },
    };
  }

  /** Asks for everything that each of `policies` asks for; none at all is refused. */
  function allOf(policies) {
    if (policies.length === 0) throw new RangeError("allOf of no policy would accept everything; name at least one");
    return {
      logs: policies.flatMap((policy) => policy.logs),
      async judge(evidence) {
        const first = await Promise.all(policies.map((policy) => policy.judge(evidence)));
        const times = first.map((one) => one.witnessed).filter((time) => time !== null);
        const witnessed = times.length > 0 ? Math.max(...times) : null;
        const timed = { ...evidence, witnessed: witnessed ?? evidence.witnessed };
        const judged = await Promise.all(policies.map((policy) => policy.judge(timed)));
        const strengths = judged.map((one) => STRENGTH.indexOf(one.signer));
        return judgement({
          findings: judged.flatMap((one) => one.findings),
          signer: STRENGTH[Math.max(...strengths)],
          witnessed,
          keyStatus: judged.map((one) => one.keyStatus).find((status) => status !== null) ?? null,
        });
      },
    };
  }

  /** Accepts what one of `policies` accepts; none at all is refused. */
  function anyOf(policies) {
    if (policies.length === 0) throw new RangeError("anyOf of no policy would accept nothing; name at least one");
    return {
      logs: policies.flatMap((policy) => policy.logs),
      /** Return the judgement that is nearest to a yes, the first of several. */
      async judge(evidence) {
        const judged = await Promise.all(policies.map((policy) => policy.judge(evidence)));
        return judged.reduce((best, one) => (isNearer(one, best) ? one : best));
      },
    };
  }

  function isNearer(one, other) {
    const difference = failures(one, false) - failures(other, false);
    return difference !== 0 ? difference < 0 : failures(one, true) < failures(other, true);
  }

  function failures({ findings }, strict) {
    return findings.filter((one) => severity(one.code, strict) === "fail").length;
  }

  ragassay.policy = { SLACK_S, unpinned, pinnedKey, pinnedRoot, trustedLog, allOf, anyOf, failures };
})();
