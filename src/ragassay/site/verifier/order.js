// Are the rows the benchmark's questions, each once, in its order, and of this run? ragassay/verify/order.py.
(() => {
  "use strict";

  const { checkFigures, checkScores } = ragassay.delivery;

  /** Compare the ids of the rows with those of the benchmark. */
  function checkOrder(rows, benchmark, findings) {
    const wanted = new Map(benchmark.samples.map((question, at) => [question.id, at]));
    const found = new Map();
    for (const row of rows) found.set(row.id, (found.get(row.id) || 0) + 1);
    for (const name of wanted.keys()) {
      if (!found.has(name)) findings.add("ROW_MISSING", `question ${name} has no row`, "outputs.jsonl");
    }
    for (const [name, times] of found) {
      if (!wanted.has(name)) findings.add("ROW_UNKNOWN", `${name} is no question of the benchmark`, "outputs.jsonl");
      else if (times > 1) findings.add("ROW_DUPLICATE", `question ${name} has ${times} rows`, "outputs.jsonl");
    }
    const places = [...found.keys()].filter((name) => wanted.has(name)).map((name) => wanted.get(name));
    if (places.some((place, at) => at > 0 && places[at - 1] > place)) findings.add("ROW_ORDER", null, "outputs.jsonl");
    findings.made("order");
  }

  /** Check run, pass and fill of every row. */
  function checkBelonging(rows, predicate, findings) {
    for (const row of rows) checkRow(row, predicate, (code, message) => findings.add(code, message, "outputs.jsonl"));
    const filled = rows.filter((row) => row.fill !== null).length;
    if (filled > predicate.counts.filled) {
      const message = `${filled} rows were filled in, ${predicate.counts.filled} are declared`;
      findings.add("FILL_UNDECLARED", message, "outputs.jsonl");
    }
    findings.made("fills");
  }

  function checkRow(row, predicate, add) {
    if (row.run !== predicate.runId) add("ROW_FOREIGN_RUN", `the row of ${row.id} belongs to run ${row.run}`);
    if (row.pass !== predicate.pass.k) {
      add("FILL_UNDECLARED", `the row of ${row.id} is of pass ${row.pass} and declares no source`);
    }
    if (row.fill === null) return;
    if (row.fill.run === predicate.runId) {
      add("FILL_UNDECLARED", `the row of ${row.id} names its own run as its source`);
    } else {
      add("FILLED", `the row of ${row.id} was filled in from pass ${row.fill.pass} of run ${row.fill.run}`);
    }
  }

  /** Check that telemetry is of the same rows, that it can be, and that the window is the time of its answers. */
  function checkTelemetry(rows, telemetry, predicate, findings, threshold) {
    const add = (code, message) => findings.add(code, message, "telemetry.jsonl");
    if (rows.length !== telemetry.length || rows.some((row, at) => row.id !== telemetry[at].id)) {
      add("TELEMETRY_ROWS", null);
      findings.notMade("window", "the telemetry is of other rows");
      return;
    }
    rows.forEach((row, at) => {
      if (telemetry[at].retrievalScores.length !== row.chunks.length) {
        add("TELEMETRY_ROWS", `${row.id} has not one retrieval score per chunk`);
      }
      if (row.answer !== null && telemetry[at].answeredAt === null) {
        add("WINDOW", `the answer to ${row.id} has no time`);
      }
    });
    checkScores(telemetry, threshold, findings);
    checkFigures(rows, telemetry, findings);
    const times = telemetry.map((took) => took.answeredAt).filter((time) => time !== null);
    if (!windowFits(predicate.window, times)) add("WINDOW", null);
    findings.made("window");
  }

  function windowFits(window, times) {
    if (window === null || times.length === 0) return window === null && times.length === 0;
    const [first, last] = times.reduce(([low, high], time) => [Math.min(low, time), Math.max(high, time)], [
      Infinity,
      -Infinity,
    ]);
    return window.start === first && window.end === last;
  }

  ragassay.order = { checkOrder, checkBelonging, checkTelemetry };
})();
