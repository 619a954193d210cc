// What the whole log says of one run: was anything rewritten, was the run voided, which planned passes are missing:
// ragassay/verify/whole_log.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { equal, sha256Hex } = ragassay.bytes;
  const { Findings } = ragassay.report;
  const { readEnvelope } = ragassay.signature;
  const LOG = "log";
  const CHECK = "the log as a whole: rewritten entries, voided runs, missing passes";

  /** Hold the run against the log that was given; return how the announced passes ended, where it says so. */
  async function checkLog(run, intent, places, { policy, accept, log, findings }) {
    if (log === null) {
      findings.notMade(CHECK, "no log was given");
      return null;
    }
    findings.made(CHECK);
    if (policy.logs.length > 0 && !(await isTrusted(log, policy.logs))) {
      findings.add("LOG_INCLUSION", "the given log is not signed by a trusted one", LOG);
    }
    for (const place of places) if (place !== null) await checkPrefix(place, log, findings);
    const ref = run.statement.predicate.intent;
    if (ref !== null) checkNamedEntry(ref, log, findings);
    if (!log.entries.some((entry) => equal(entry, run.data))) {
      findings.add("UNWITNESSED", "the given log does not hold the run", LOG);
    }
    const entries = await readEntries(log, accept);
    checkVoid(run, intent, entries.voids, findings);
    return intent === null ? null : checkPasses(intent, entries, findings);
  }

  async function isTrusted(log, keys) {
    for (const key of keys) if (await log.checkpoint.signedBy(key)) return true;
    return false;
  }

  async function checkPrefix({ checkpoint: seen }, log, findings) {
    const { origin, size } = log.checkpoint;
    if (seen.origin !== origin) {
      findings.add("LOG_INCLUSION", `the given log is ${origin}, the proof is of ${seen.origin}`, LOG);
    } else if (seen.size > size) {
      const message = `the log has ${size} entries; it had ${seen.size} when the proof was made`;
      findings.add("LOG_FORK", message, LOG);
    } else if (!equal(await ragassay.tree.rootOf(log.leafHashes.slice(0, seen.size)), seen.root)) {
      const message = `the first ${seen.size} entries are not those of the proof's checkpoint`;
      findings.add("LOG_FORK", message, LOG);
    }
  }

  function checkNamedEntry(ref, log, findings) {
    const { origin } = log.checkpoint;
    const entry = log.entries[ref.index];
    if (ref.log !== origin) {
      findings.add("LOG_INCLUSION", `the given log is ${origin}, the announcement is in ${ref.log}`, LOG);
    } else if (entry === undefined || sha256Hex(entry) !== ref.digest.sha256) {
      findings.add("LOG_FORK", `entry ${ref.index} is not the announcement that the run names`, LOG);
    }
  }

  /** Return the voidings and the runs of a log that are by the run's publisher. */
  async function readEntries(log, accept) {
    const voids = [];
    const runs = [];
    for (const data of log.entries) {
      const voiding = await readVoid(data);
      const run = voiding === null ? readEnvelope(data, new Findings(), LOG) : null;
      if (voiding !== null && (await accept(voiding.predicate.signer, voiding.signedBy))) voids.push(voiding);
      if (run !== null && (await accept(run.statement.predicate.signer, run.signedBy))) runs.push(run);
    }
    return { voids, runs };
  }

  async function readVoid(data) {
    try {
      return await ragassay.announce.decodeVoid(data);
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      return null;
    }
  }

  function checkVoid(run, intent, voids, findings) {
    const digest = sha256Hex(run.data);
    for (const { predicate: said } of voids) {
      const ofPass = said.run === null && said.runId === run.statement.predicate.runId;
      if (said.run !== null && said.run.sha256 === digest) {
        findings.add("RUN_VOIDED", `the log says that the run no longer counts: ${said.reason}`, LOG);
      } else if (ofPass && said.intent !== null && intent !== null && said.intent.sha256 === intent.digest) {
        findings.add("RUN_VOIDED", `the log says that this pass was given up: ${said.reason}`, LOG);
      }
    }
  }

  /** Sort the planned passes by how they ended; a run that fills a planned one is no further pass. */
  function checkPasses(intent, { voids, runs }, findings) {
    const mine = runs.filter(({ statement: { predicate } }) => predicate.intent?.digest.sha256 === intent.digest);
    const digests = new Map(mine.map((run) => [run.statement.predicate.runId, sha256Hex(run.data)]));
    const said = voids.map((voiding) => voiding.predicate);
    const givenUp = new Set(said.filter((one) => one.intent?.sha256 === intent.digest).map((one) => one.runId));
    const gone = new Set(said.filter((one) => one.run !== null).map((one) => one.run.sha256));
    const passes = { published: [], voided: [], missing: [] };
    intent.predicate.runs.forEach((runId, at) => {
      if (givenUp.has(runId) || gone.has(digests.get(runId))) passes.voided.push(at + 1);
      else if (digests.has(runId)) passes.published.push(at + 1);
      else passes.missing.push(at + 1);
    });
    const planned = intent.predicate.runs.length;
    for (const k of passes.missing) {
      findings.add("PASS_MISSING", `pass ${k} of ${planned} is neither published nor void`, LOG);
    }
    return passes;
  }

  ragassay.wholeLog = { checkLog };
})();
