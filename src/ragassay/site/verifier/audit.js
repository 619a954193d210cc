// What a whole log says of everything that was announced in it: each planned pass is published, void or missing:
// ragassay/verify/log_entries.py and audit.py, as far as a verifier of one run needs them.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { hex, text, sha256Hex } = ragassay.bytes;
  const { pae, decodeEnvelope, decodeBase64 } = ragassay.dsse;
  const { decodeStatement } = ragassay.decode;
  const { decodeIntent, decodeVoid } = ragassay.announce;
  const { isWeak, decodeX, thumbprint, checkSignature } = ragassay.keys;
  const { same } = ragassay.references;
  const { SAME } = ragassay.announcement;
  const BASE = "https://ragassay.dev/attestation/";
  const KINDS = [
    ["run-intent", "intent"],
    ["run-void", "void"],
    ["benchmark-run-redaction", "redaction"],
  ];

  /** Return the statement that an entry is, its signature held against its own key; throws `VerifyError`. */
  async function readEntry(data) {
    const kind = kindOf(data);
    const { decodeRedaction } = ragassay.redaction;
    const read = { intent: decodeIntent, void: decodeVoid, redaction: decodeRedaction, run: readRun };
    const statement = read[kind](data);
    const { signer } = statement.predicate;
    const x = decodeX(signer.x);
    if (x === null) throw new VerifyError("the signer's x is no public key", "ENVELOPE_MALFORMED");
    if (isWeak(x)) throw new VerifyError("under the named key anyone can sign", "KEY_WEAK");
    if (thumbprint(x) !== signer.kid || !(await statement.signedBy(x))) {
      throw new VerifyError("the signature is not by the key that the statement names", "SIGNATURE_INVALID");
    }
    return { ...statement, kind };
  }

  /** Return what an entry claims to be, read loosely; what is nothing known is read as a run, and refused. */
  function kindOf(data) {
    let type;
    try {
      type = JSON.parse(text(decodeBase64(decodeEnvelope(data).payload))).predicateType;
    } catch {
      return "run";
    }
    if (typeof type !== "string") return "run";
    return KINDS.filter(([prefix]) => type.startsWith(`${BASE}${prefix}/`)).map(([, kind]) => kind)[0] ?? "run";
  }

  function readRun(data) {
    const envelope = decodeEnvelope(data);
    const payload = decodeBase64(envelope.payload);
    const signature = decodeBase64(envelope.signatures[0].sig);
    const { predicate } = decodeStatement(envelope.payloadType, payload);
    if (envelope.signatures[0].keyid !== predicate.signer.kid) {
      const message = "the key id of the signature is not that of the named signer";
      throw new VerifyError(message, "ENVELOPE_MALFORMED");
    }
    const message = pae(envelope.payloadType, payload);
    return { predicate, digest: sha256Hex(data), signedBy: (x) => checkSignature(x, signature, message) };
  }

  /**
   * Promise {rows, voided, problems}: per announcement its place and the end of each planned pass, the runs that no
   * longer count, and the entries that do not hold what they claim. `accept` tells whose statements count.
   */
  async function audit(log, accept) {
    const [intents, runs, voids, redactions] = [new Map(), new Map(), new Map(), new Map()];
    const found = { origin: log.checkpoint.origin, intents, runs, voids, redactions, problems: [] };
    const seen = new Set();
    for (const [index, data] of log.entries.entries()) {
      const leaf = hex(log.leafHashes[index]);
      if (!seen.has(leaf)) await addEntry(found, index, data, accept);
      seen.add(leaf);
    }
    const covered = coveredRuns(found);
    const { runVoids, planVoids } = voidings(found);
    checkRedactions(found);
    const rows = [...found.intents].map(([digest, { index, intent }]) => ({
      index,
      passes: passesOf(found, digest, intent, covered.get(digest) || [], runVoids, planVoids),
    }));
    const reasonOf = (voiding) => found.voids.get(voiding).predicate.reason;
    const voided = [...runVoids].map(([index, voiding]) => ({ index, reason: reasonOf(voiding) }));
    return { rows, voided, problems: found.problems.sort((one, other) => one.index - other.index) };
  }

  async function addEntry(found, index, data, accept) {
    let statement;
    try {
      statement = await readEntry(data);
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      found.problems.push({ index, code: error.code, message: error.message });
      return;
    }
    if (!(await accept(statement.predicate.signer, statement.signedBy))) return;
    if (statement.kind === "intent") found.intents.set(statement.digest, { index, intent: statement });
    else ({ run: found.runs, void: found.voids, redaction: found.redactions })[statement.kind].set(index, statement);
  }

  /** Return the runs of each announcement by its digest; one that it does not cover is a problem. */
  function coveredRuns(found) {
    const covered = new Map();
    const planned = new Set();
    for (const [index, { predicate }] of found.runs) {
      if (predicate.intent === null) continue;
      const digest = predicate.intent.digest.sha256;
      const key = `${digest} ${predicate.runId}`;
      let fault = faultOf(found, index, predicate);
      if (fault === null && planned.has(key)) {
        fault = ["PASS_OUT_OF_PLAN", "the log holds another manifest of the same run before this one"];
      }
      if (fault === null) {
        planned.add(key);
        covered.set(digest, [...(covered.get(digest) || []), index]);
      } else {
        found.problems.push({ index, code: fault[0], message: fault[1] });
      }
    }
    return covered;
  }

  /** Return why a run that names an announcement is not one that it announced, or null. */
  function faultOf({ intents, origin }, index, predicate) {
    const ref = predicate.intent;
    const announced = intents.get(ref.digest.sha256);
    if (announced === undefined) {
      return ["INTENT_MISMATCH", "the run names an announcement that the log does not hold, or not by this signer"];
    }
    const { index: place, intent } = announced;
    if (ref.log !== origin || ref.index !== place) {
      return ["INTENT_MISMATCH", `the run names entry ${ref.index} of ${ref.log}; its announcement is ${place}`];
    }
    if (index < place) return ["INTENT_AFTER_RUN", `the run was logged before its announcement, entry ${place}`];
    if (predicate.window !== null && intent.predicate.created > predicate.window.start) {
      return ["INTENT_AFTER_RUN", "the announcement was made after the first answer"];
    }
    return deviation(predicate, intent.predicate);
  }

  function deviation(run, intent) {
    const different = SAME.filter((name) => !same(run[name], intent[name]));
    if (different.length > 0) return ["INTENT_MISMATCH", `the run has another ${different} than was announced`];
    const { k, of } = run.pass;
    const planned = intent.runs;
    if (of !== planned.length) return ["PASS_OUT_OF_PLAN", `it is pass ${k} of ${of}; ${planned.length} were announced`];
    if (planned[k - 1] === run.runId) return null;
    const outside = planned.includes(run.runId) || run.counts.filled === 0;
    return outside ? ["PASS_OUT_OF_PLAN", `pass ${k} was announced as run ${planned[k - 1]}`] : null;
  }

  /** Return the first voiding of each run, by its index, and of each planned pass, by announcement and run id. */
  function voidings({ intents, runs, voids }) {
    const byDigest = new Map([...runs].map(([index, run]) => [run.digest, index]));
    const runVoids = new Map();
    const planVoids = new Map();
    for (const [index, { predicate: said }] of voids) {
      if (said.run !== null) {
        const place = byDigest.get(said.run.sha256);
        if (place !== undefined && voidsRun(said, runs.get(place).predicate) && !runVoids.has(place)) {
          runVoids.set(place, index);
        }
      } else if (said.intent !== null) {
        const key = `${said.intent.sha256} ${said.runId}`;
        if (voidsPass(said, intents.get(said.intent.sha256)) && !planVoids.has(key)) planVoids.set(key, index);
      }
    }
    return { runVoids, planVoids };
  }

  /** Note each redaction of something else than a run of this log. */
  function checkRedactions({ runs, redactions, problems }) {
    const byDigest = new Map([...runs.values()].map((run) => [run.digest, run.predicate]));
    for (const [index, { predicate: said }] of redactions) {
      const of = byDigest.get(said.of.sha256);
      const fits = of !== undefined && of.lines !== null && ["runId", "row", "pass"].every((m) => same(said[m], of[m]));
      if (!fits) {
        const message = "it is of a run that the log does not hold as it says";
        problems.push({ index, code: "REDACTION_MISMATCH", message });
      }
    }
  }

  function voidsRun(said, run) {
    return said.runId === run.runId && same(said.pass, run.pass);
  }

  function voidsPass(said, announced) {
    if (announced === undefined) return false;
    const { runs } = announced.intent.predicate;
    return said.pass.of === runs.length && runs[said.pass.k - 1] === said.runId;
  }

  function passesOf({ runs, voids }, digest, intent, covered, runVoids, planVoids) {
    const byId = new Map(covered.map((index) => [runs.get(index).predicate.runId, index]));
    return intent.predicate.runs.map((runId, at) => {
      const voiding = planVoids.get(`${digest} ${runId}`) ?? runVoids.get(byId.get(runId));
      const state = voiding !== undefined ? "void" : byId.has(runId) ? "published" : "missing";
      return { k: at + 1, runId, state, reason: voiding === undefined ? null : voids.get(voiding).predicate.reason };
    });
  }

  ragassay.audit = { audit };
})();
