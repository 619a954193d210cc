// Do the files of a run hold what its manifest claims? Every digest and every number is computed again:
// ragassay/verify/contents.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { hex, sha256Hex } = ragassay.bytes;
  const { rootOf } = ragassay.tree;
  const { decodeConfig, decodeBenchmark, questionFile } = ragassay.decode;
  const { decodeOutputs, decodeTelemetry } = ragassay.rows;
  const { same, checkBenchmark, checkConfig } = ragassay.references;
  const { runScore, count } = ragassay.score;
  const PROFILES = ["factual-consistency/1", "factual-consistency/2"];
  const DIGEST_CODES = {
    "outputs.jsonl": "OUTPUTS_DIGEST",
    "telemetry.jsonl": "TELEMETRY_DIGEST",
    "config.json": "CONFIG_DIGEST",
    "benchmark.json": "BENCHMARK_DIGEST",
    "benchmark.foreign": "BENCHMARK_DIGEST",
    "outputs.public.jsonl": "OUTPUTS_DIGEST",
    "telemetry.public.jsonl": "TELEMETRY_DIGEST",
  };
  const OUTPUTS = "outputs.jsonl";
  const TELEMETRY = "telemetry.jsonl";

  /** Return the digest that the manifest gives a file, or null where it names none. */
  function namedDigest(name, { subject, predicate }) {
    if (name === "outputs.jsonl") return subject[0].digest.sha256;
    if (name === questionFile(predicate.benchmark)) return predicate.benchmark.digest.sha256;
    const ref = { "config.json": predicate.config, "telemetry.jsonl": predicate.telemetry }[name];
    return ref ? ref.digest.sha256 : null;
  }

  /** Tell whether the manifest, or the redaction beside it, speaks of a file of a run in this form. */
  function covers(name, statement, form) {
    if (name === OUTPUTS || name === "outputs.public.jsonl") return name === form.outputs;
    if (name === TELEMETRY || name === "telemetry.public.jsonl") {
      return name === form.telemetry && statement.predicate.telemetry !== null;
    }
    if (name === "withheld.jsonl") return form.outputs !== OUTPUTS;
    return namedDigest(name, statement) !== null;
  }

  /** Check everything that the files by themselves can show; return the rows where they can be read, else null. */
  function checkContents(statement, files, findings, form) {
    const { predicate } = statement;
    for (const [name, shown] of [
      [OUTPUTS, form.outputs],
      [TELEMETRY, form.telemetry],
    ]) {
      if (shown !== name) {
        findings.notMade(`digest of ${name}`, "it is not published as it was signed");
        findings.showAs(name, shown);
      }
      checkDigest(shown, shownDigest(name, shown, statement, form), files, findings);
    }
    for (const name of ["config.json", questionFile(predicate.benchmark)]) {
      checkDigest(name, namedDigest(name, statement), files, findings);
    }
    const read = readFiles(predicate, files, findings, form);
    checkReferences(predicate, read, findings);
    if (read.outputs === null || form.unknown) {
      const lacking = read.outputs === null ? form.outputs : "what is withheld";
      findings.notMade("rows, scores and counts", `${lacking} cannot be read`);
      return null;
    }
    checkRows(predicate, read, findings, form);
    return read.outputs.rows;
  }

  function shownDigest(name, shown, statement, { redaction }) {
    if (shown === name) return namedDigest(name, statement);
    const named = redaction && redaction.signed.predicate[name === OUTPUTS ? "outputs" : "telemetry"];
    return named ? named.sha256 : null;
  }

  function checkDigest(name, wanted, files, findings) {
    if (wanted === null) {
      const isPublic = name === "outputs.public.jsonl" || name === "telemetry.public.jsonl";
      const why = isPublic ? "the redaction cannot be read" : "the manifest names none, as a republished run may";
      findings.notMade(`digest of ${name}`, why);
    } else if (!files.has(name)) {
      findings.add("FILE_MISSING", `${name} is missing`, name);
    } else {
      findings.made(`digest of ${name}`);
      if (sha256Hex(files.get(name)) !== wanted) {
        findings.add(DIGEST_CODES[name], `${name} is not the file that was signed`, name);
      }
    }
  }

  function readFiles(predicate, files, findings, form) {
    const outputs = decode(decodeOutputs, form.outputs, files, findings);
    const benchmark =
      questionFile(predicate.benchmark) === "benchmark.foreign"
        ? ragassay.foreign.checkForeignSet(predicate, files, outputs ? outputs.rows : null, findings)
        : decode(decodeBenchmark, "benchmark.json", files, findings);
    const config = predicate.config ? decode(decodeConfig, "config.json", files, findings) : null;
    const telemetry = predicate.telemetry ? decode(decodeTelemetry, form.telemetry, files, findings) : null;
    return { outputs, benchmark, config, telemetry };
  }

  function decode(read, name, files, findings) {
    if (!files.has(name)) return null;
    try {
      return read(files.get(name), name);
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      findings.error(error, name);
      return null;
    }
  }

  function checkReferences(predicate, read, findings) {
    const questions = questionFile(predicate.benchmark);
    if (read.benchmark === null) {
      findings.notMade("question set and order", `the questions of ${questions} are not known`);
    } else if (questions === "benchmark.json") {
      checkBenchmark(predicate, read.benchmark, findings);
    }
    if (read.config === null) findings.notMade("configuration", whyNot(predicate.config, "config.json"));
    else checkConfig(predicate, read.config, findings);
  }

  function whyNot(named, name) {
    return named ? `${name} is not there, or cannot be read` : `the manifest names no ${name}`;
  }

  function checkRows(predicate, { outputs, benchmark, config, telemetry }, findings, form) {
    const { rows } = outputs;
    if (form.redaction !== null) {
      ragassay.redaction.checkTexts(form.hidden, rows, telemetry === null ? null : telemetry.rows, findings);
    }
    if (benchmark !== null) ragassay.order.checkOrder(rows, benchmark, findings);
    ragassay.order.checkBelonging(rows, predicate, findings);
    const questions = new Map((benchmark ? benchmark.samples : []).map((question) => [question.id, question]));
    const profile = PROFILES.find((name) => predicate.metric.id.startsWith(`${name}-judged-by-`)) || null;
    ragassay.items.checkItems(rows, questions, predicate, profile, findings, form.hidden);
    checkTotals(outputs, predicate, findings, form.hidden);
    checkFigures(telemetry, predicate, findings, form);
    const republished = predicate.provenance.sourceKind === "republished";
    const measure = config !== null && !republished ? config.config.measure : null;
    if (measure !== null) {
      ragassay.delivery.checkDelivery(rows, measure, predicate, findings);
    } else {
      const why = republished ? "the run is republished" : whyNot(predicate.config, "config.json");
      findings.notMade("retrieval against the configuration", why);
    }
    if (telemetry === null) findings.notMade("window", whyNot(predicate.telemetry, "telemetry.jsonl"));
    else ragassay.order.checkTelemetry(rows, telemetry.rows, predicate, findings, measure ? measure.threshold : null);
  }

  function checkTotals({ rows, content, verdicts, leaves }, predicate, findings, hidden) {
    if (hidden.lines.size > 0) {
      findings.notMade("content digest", "texts of the rows are withheld");
    } else {
      if (content !== predicate.content.sha256) findings.add("CONTENT_DIGEST", null, "outputs.jsonl");
      findings.made("content digest");
    }
    checkSkeleton({ rows, verdicts, leaves }, predicate, findings, hidden);
    checkRunScore(rows, predicate, findings);
    const counts = count(rows);
    if (!same(counts, predicate.counts)) findings.add("COUNTS");
    findings.made("counts");
    const failed = rows.filter((row) => row.retrieval === "failed" || row.status === "retrieval_failed").length;
    if (failed > 0) {
      findings.add("RETRIEVAL_FAILED", `retrieval failed for ${failed} of ${counts.asked} questions`);
    }
    const missing = counts.asked - counts.scored;
    if (missing > Math.floor(counts.asked / 50)) {
      findings.add("MISSING_ITEMS", `${missing} of ${counts.asked} questions ended without a score`);
    }
  }

  function checkSkeleton({ rows, verdicts, leaves }, predicate, findings, hidden) {
    if (predicate.verdicts === null || predicate.lines === null) {
      findings.notMade("digests of verdicts and of lines", "the manifest is of version v0.1, which has none");
      return;
    }
    if (verdicts !== predicate.verdicts.sha256) findings.add("VERDICTS_DIGEST", null, "outputs.jsonl");
    const signed = hidden.leaves(idsOf(rows), leaves);
    if (hex(rootOf(signed)) !== predicate.lines.sha256) findings.add("LINES_DIGEST", null, "outputs.jsonl");
    findings.made("digests of verdicts and of lines");
  }

  function idsOf(rows) {
    return rows.map(({ id }) => id);
  }

  function checkFigures(telemetry, predicate, findings, form) {
    if (predicate.figures === null || telemetry === null) {
      const why = predicate.figures === null ? "the manifest has none" : `${form.telemetry} cannot be read`;
      findings.notMade("digest of figures", why);
      return;
    }
    const signed = form.hidden.telemetryLeaves(idsOf(telemetry.rows), telemetry.leaves);
    if (hex(rootOf(signed)) !== predicate.figures.sha256) findings.add("LINES_DIGEST", null, "telemetry.jsonl");
    findings.made("digest of figures");
  }

  function checkRunScore(rows, predicate, findings) {
    try {
      const score = runScore(rows.map((row) => row.score));
      if (!same(score, predicate.score)) {
        findings.add("RUN_SCORE", `the items make it ${shown(score)}, not ${shown(predicate.score)}`, "run.dsse.json");
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      findings.add("RUN_SCORE", `the run's score cannot be computed: ${error.message}`, "outputs.jsonl");
    }
    findings.made("run score");
  }

  function shown(score) {
    return score === null ? "no score" : `${score.num}/${score.den} = ${score.decimal}`;
  }

  ragassay.contents = { covers, checkContents };
})();
