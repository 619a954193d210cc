// Bytes in, findings out: everything that a run claims is recomputed from its own files: ragassay/verify/verifier.py.
(() => {
  "use strict";

  const { Findings, byCodePoint } = ragassay.report;
  const { readEnvelope } = ragassay.signature;
  const { covers, checkContents } = ragassay.contents;
  const { WHOLE, isRedacted, readRedaction, publicForm, keptOf } = ragassay.redaction;
  const { checkRegistry, checkStanding } = ragassay.standing;
  const { checkPlan } = ragassay.announcement;
  const MANIFEST = "run.dsse.json";
  const NOTHING = {
    runId: null,
    row: null,
    passK: null,
    passOf: null,
    sourceKind: null,
    benchmark: null,
    metric: null,
    score: null,
    counts: null,
    fingerprint: null,
    signerName: null,
    pinned: false,
    keyStatus: null,
    witnessedAt: null,
    announced: null,
    withheld: null,
  };

  /**
   * Check one run, given as Map of file name → bytes, and promise a report of every reason against it.
   *
   * `now` (Unix seconds) is when the caller checks. `log` is the whole log as `readLog` gives it, `registry` the bytes
   * of the signed key registry, `problems` the {code, message} that whoever read the files met. Whatever the bytes
   * are, the promise is kept with a report: what should be impossible is reported as a damaged bundle.
   */
  async function verify({ files, policy, now, log = null, registry = null, problems = [] }) {
    const findings = new Findings();
    for (const problem of problems) findings.error(problem);
    try {
      return await check({ files, policy, now, log, registry, findings });
    } catch (error) {
      findings.add("BUNDLE_DAMAGED", `the run could not be checked to its end: ${String(error).slice(0, 200)}`);
      return report(null, null, now, findings);
    }
  }

  async function check({ files, policy, now, log, registry, findings }) {
    const { members, total } = ragassay.data.limits;
    const bytes = [...files.values()].reduce((sum, data) => sum + data.length, 0);
    if (files.size > members || bytes > total) {
      const allowed = `${members} and ${total} are allowed`;
      findings.add("BUNDLE_TOO_LARGE", `the run has ${files.size} files of ${bytes} bytes; ${allowed}`);
      return report(null, null, now, findings);
    }
    let run = null;
    if (files.has(MANIFEST)) run = readEnvelope(files.get(MANIFEST), findings, MANIFEST);
    else findings.add("FILE_MISSING", `${MANIFEST} is missing`, MANIFEST);
    let form = WHOLE;
    if (run !== null && isRedacted(files)) form = publicForm(readRedaction(run, files, now, findings), files);
    checkSizes(files, findings);
    checkNames(files, run ? run.statement : null, form, findings);
    const keys = await checkRegistry(files, registry, findings);
    if (run === null) {
      findings.notMade("everything that the manifest claims", "the manifest cannot be read");
      return report(null, null, now, findings);
    }
    const { predicate } = run.statement;
    checkKind(predicate, findings);
    const standing = await checkStanding(run, files, { policy, now, registry: keys, log, findings }, form.redaction);
    await checkMeans(findings);
    const rows = checkContents(run.statement, files, findings, form);
    if (standing.intent !== null) checkPlan(predicate, standing.intent.predicate, rows, findings);
    const withheld = form.redaction && form.redaction.hidden ? keptOf(form.redaction.hidden) : null;
    return { ...report(predicate, standing, now, findings), withheld };
  }

  /** A browser that cannot check a signature refuses every run, and says that it is the browser. */
  async function checkMeans(findings) {
    const missing = await ragassay.keys.unsupported();
    if (missing !== null) findings.add("SIGNATURE_INVALID", `no signature can be checked here: ${missing}`, MANIFEST);
  }

  /** Check what stands beside a run's own files, each of which has its cap where it is read. */
  function checkSizes(files, findings) {
    for (const [name, most] of Object.entries(ragassay.data.limits.beside)) {
      const size = files.has(name) ? files.get(name).length : 0;
      if (size > most) findings.add("BUNDLE_TOO_LARGE", `${name} has ${size} bytes; ${most} are allowed`, name);
    }
  }

  function checkNames(files, statement, form, findings) {
    const { files: caps, beside } = ragassay.data.limits;
    const has = (table, name) => Object.prototype.hasOwnProperty.call(table, name);
    for (const name of [...files.keys()].sort(byCodePoint)) {
      if (!has(caps, name) && !has(beside, name)) {
        findings.add("BUNDLE_NAME", `${name.slice(0, 200)} is no file of a run`);
      } else if (statement === null || name === MANIFEST) {
        continue;
      } else if (has(caps, name) && !covers(name, statement, form)) {
        const whose = form === WHOLE ? "the manifest does" : "manifest and redaction do";
        findings.add("BUNDLE_NAME", `${whose} not cover ${name}`, name);
      } else if (name.startsWith("redaction.") && form === WHOLE) {
        findings.add("BUNDLE_NAME", `nothing is withheld from outputs.jsonl, and there is ${name}`, name);
      } else if (name.startsWith("intent.") && statement.predicate.intent === null) {
        findings.add("BUNDLE_NAME", `the manifest names no announcement, and there is ${name}`, name);
      }
    }
  }

  function checkKind(predicate, findings) {
    const kind = predicate.provenance.sourceKind;
    if (kind === "stub") findings.add("STUB");
    else if (kind === "republished") findings.add("REPUBLISHED");
  }

  function report(predicate, standing, now, findings) {
    const found = { ...findings.results(), checkedAt: now, ...NOTHING };
    if (predicate === null) return found;
    return {
      ...found,
      runId: predicate.runId,
      row: predicate.row.name,
      passK: predicate.pass.k,
      passOf: predicate.pass.of,
      sourceKind: predicate.provenance.sourceKind,
      benchmark: `${predicate.benchmark.id} ${predicate.benchmark.version}`,
      metric: predicate.metric.id,
      score: predicate.score,
      counts: predicate.counts,
      fingerprint: predicate.signer.kid,
      signerName: predicate.signer.name,
      pinned: standing.pinned,
      keyStatus: standing.keyStatus,
      witnessedAt: standing.witnessedAt,
      announced: standing.announced,
    };
  }

  ragassay.verify = verify;
})();
