// What a whole log says of one run: whether it was rewritten, the run voided, a planned pass left out:
// ragassay/verify/whole_log.py.
(() => {
  "use strict";

  const { equal, sha256Hex } = ragassay.bytes;
  const { finding } = ragassay.report;
  const { audit } = ragassay.audit;
  const LOG = "log";
  const CHECK = "the log as a whole (entries rewritten or cut off, runs voided, passes missing)";

  /**
   * Hold the run against the log that was given; promise how the announced passes ended, where it says so.
   *
   * `redaction` are the bytes of the run's redaction, or null; `places` are those of the run, of its announcement and
   * of its redaction; `accept` tells which statements are by the run's publisher.
   */
  async function checkLog(run, redaction, places, { policy, accept, log, findings }) {
    if (log === null) {
      findings.notMade(CHECK, "no log was given");
      return null;
    }
    findings.made(CHECK);
    if (policy.logs.length > 0 && !(await isTrusted(log, policy.logs))) {
      findings.add("LOG_INCLUSION", "the given log is not signed by a trusted one", LOG);
    }
    for (const place of places) if (place !== null) checkPrefix(place, log, findings);
    if (!log.entries.some((entry) => equal(entry, run.data))) {
      findings.add("UNWITNESSED", "the given log does not hold the run", LOG);
    }
    if (redaction !== null && !log.entries.some((entry) => equal(entry, redaction))) {
      findings.add("UNWITNESSED", "the given log does not hold the redaction", LOG);
    }
    const audited = await audit(log, accept);
    checkRun(run, redaction, log, audited, findings);
    const ref = run.statement.predicate.intent;
    const row = ref === null ? null : announcedRow(ref, log, audited, findings);
    return row === null ? null : checkPasses(run, row, findings);
  }

  async function isTrusted(log, keys) {
    for (const key of keys) if (await log.checkpoint.signedBy(key)) return true;
    return false;
  }

  function checkPrefix({ checkpoint: seen }, log, findings) {
    const { origin, size } = log.checkpoint;
    if (seen.origin !== origin) {
      findings.add("LOG_INCLUSION", `the given log is ${origin}, the proof is of ${seen.origin}`, LOG);
    } else if (seen.size > size) {
      const message = `the log has ${size} entries; it had ${seen.size} when the proof was made`;
      findings.add("LOG_FORK", message, LOG);
    } else if (!equal(ragassay.tree.rootOf(log.leafHashes.slice(0, seen.size)), seen.root)) {
      const message = `the first ${seen.size} entries are not those of the proof's checkpoint`;
      findings.add("LOG_FORK", message, LOG);
    }
  }

  /** Note what the audit has against the entries that are this run or its redaction. */
  function checkRun(run, redaction, log, { problems, voided }, findings) {
    const isRun = ({ index }) => equal(log.entries[index], run.data);
    const isRedaction = ({ index }) => redaction !== null && equal(log.entries[index], redaction);
    for (const problem of problems.filter((one) => isRun(one) || isRedaction(one))) {
      findings.add(problem.code, problem.message, LOG);
    }
    for (const { reason } of voided.filter(isRun)) findings.extend([noLongerCounts(reason)]);
  }

  /** Return what the log says of the announcement that the run names; there is none where another entry stands. */
  function announcedRow(ref, log, { rows }, findings) {
    const { origin } = log.checkpoint;
    const entry = log.entries[ref.index];
    if (ref.log !== origin) {
      findings.add("LOG_INCLUSION", `the given log is ${origin}, the announcement is in ${ref.log}`, LOG);
    } else if (entry === undefined || sha256Hex(entry) !== ref.digest.sha256) {
      findings.add("LOG_FORK", `entry ${ref.index} is not the announcement that the run names`, LOG);
    } else {
      return rows.find((row) => row.index === ref.index) || null;
    }
    return null;
  }

  function checkPasses(run, { index, passes }, findings) {
    for (const { k, runId, state, reason } of passes) {
      if (state === "missing") {
        const message = `pass ${k} of ${passes.length} of entry ${index} is neither published nor void`;
        findings.add("PASS_MISSING", message, LOG);
      } else if (state === "void" && runId === run.statement.predicate.runId) {
        findings.extend([noLongerCounts(reason)]);
      }
    }
    const ended = (state) => passes.filter((one) => one.state === state).map((one) => one.k);
    return { published: ended("published"), voided: ended("void"), missing: ended("missing") };
  }

  function noLongerCounts(reason) {
    return finding("RUN_VOIDED", `the log says that the run no longer counts: ${reason}`, LOG);
  }

  ragassay.wholeLog = { checkLog };
})();
