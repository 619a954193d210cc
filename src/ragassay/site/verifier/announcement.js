// Was the run announced before its first answer, and does the announcement plan exactly this run?
// ragassay/verify/announcement.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { sha256Hex } = ragassay.bytes;
  const { same } = ragassay.references;
  const INTENT = "intent.dsse.json";
  const INTENT_PROOF = "intent.tlog-proof";
  const RUN_PROOF = "run.tlog-proof";
  /** What a run must have exactly as it was announced. */
  const SAME = ["row", "benchmark", "config", "corpus", "stack", "model", "judge", "metric"];

  /** Return the announcement that the run names, where it is there and can be read; its signature is unchecked. */
  async function readAnnouncement(predicate, files, findings) {
    if (predicate.intent === null) {
      findings.add("NO_INTENT");
      findings.notMade("announcement", "the run names none");
      return null;
    }
    if (!files.has(INTENT)) {
      findings.add("FILE_MISSING", `${INTENT}, the announcement that the run names, is missing`, INTENT);
      findings.notMade("announcement", `${INTENT} is not there`);
      return null;
    }
    const data = files.get(INTENT);
    if (sha256Hex(data) !== predicate.intent.digest.sha256) {
      findings.add("INTENT_MISMATCH", "the announcement is not the one whose digest the run names", INTENT);
    }
    let intent;
    try {
      intent = await ragassay.announce.decodeIntent(data);
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      findings.error(error, INTENT);
      findings.notMade("announcement", `${INTENT} cannot be read`);
      return null;
    }
    for (const name of SAME.filter((member) => !same(predicate[member], intent.predicate[member]))) {
      findings.add("INTENT_MISMATCH", `${name} of the run is not what was announced`, INTENT);
    }
    findings.made("announcement");
    return intent;
  }

  /** Check that the announcement plans this run as this pass, or that the run is a declared fill of a planned one. */
  function checkPlan(predicate, { runs }, rows, findings) {
    const { k, of } = predicate.pass;
    if (runs.length !== of) {
      findings.add("PASS_OUT_OF_PLAN", `${runs.length} passes were announced, and the run says ${of}`, INTENT);
    }
    const named = k <= runs.length ? runs[k - 1] : null;
    if (predicate.runId !== named && !isFill(rows || [], runs)) {
      findings.add("PASS_OUT_OF_PLAN", `pass ${k} was announced as ${named}, and this is another run`, INTENT);
    }
    findings.made("planned passes");
  }

  /** Tell whether rows were filled in, each from the planned run of the pass that it names. */
  function isFill(rows, planned) {
    const sources = rows.map((row) => row.fill).filter((source) => source !== null);
    return sources.length > 0 && sources.every(({ run, pass }) => pass >= 1 && planned[pass - 1] === run);
  }

  /** Check that the announcement was made and logged before the run; `announced` and `ran` say where they stand. */
  function checkBefore(predicate, intent, announced, ran, findings) {
    const { window, intent: ref } = predicate;
    if (window !== null && intent.created > window.start) {
      findings.add("INTENT_AFTER_RUN", "the announcement was made after the first answer", INTENT);
    }
    if (announced !== null && ref !== null) {
      const { origin } = announced.checkpoint;
      if (origin !== ref.log || announced.index !== ref.index) {
        const message = `it is entry ${announced.index} of ${origin}; the run names ${ref.index} of ${ref.log}`;
        findings.add("INTENT_MISMATCH", message, INTENT_PROOF);
      }
    }
    const check = "order of announcement and run in the log";
    if (announced === null || ran === null) {
      findings.notMade(check, "one of their proofs is missing or not good");
      return;
    }
    if (announced.checkpoint.origin !== ran.checkpoint.origin) {
      findings.add("INTENT_MISMATCH", "the run stands in another log than its announcement", RUN_PROOF);
    } else if (ran.index <= announced.index) {
      const message = `the run is entry ${ran.index} of the log, its announcement ${announced.index}`;
      findings.add("INTENT_AFTER_RUN", message, RUN_PROOF);
    }
    findings.made(check);
  }

  ragassay.announcement = { SAME, readAnnouncement, checkPlan, checkBefore };
})();
