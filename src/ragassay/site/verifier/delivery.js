// Was what a row delivered, and what it took, possible under its configuration? ragassay/verify/delivery.py.
(() => {
  "use strict";

  const { parseDecimal, isShortest, compareDecimals } = ragassay.decimal;
  const { own, same } = ragassay.references;

  /** Check state and number of chunks against stack and top-k, and that a chunk of the corpus is always the same. */
  function checkDelivery(rows, measure, predicate, findings) {
    for (const row of rows) {
      const problem = deliveryProblem(row, measure);
      if (problem !== null) findings.add("CONFIG_MISMATCH", problem, `outputs.jsonl: ${row.id}`);
    }
    if (predicate.corpus !== null && predicate.corpus.digest !== null) checkOneCorpus(rows, findings);
    findings.made("retrieval against the configuration");
  }

  function deliveryProblem(row, measure) {
    const kind = own(measure.stack, "kind");
    if (kind === "none") {
      const off = row.retrieval === "off" || row.retrieval === "failed";
      return off ? null : `retrieval is switched off, and it is ${row.retrieval}`;
    }
    if (row.retrieval === "off") return `retrieval is switched off for this question, but the stack is ${kind}`;
    if (kind !== "oracle" && row.chunks.length > measure.topK) {
      return `${row.chunks.length} chunks were delivered where top-k is ${measure.topK}`;
    }
    return null;
  }

  /** A stack that does not own its corpus delivers each chunk of it as it stands there, to every question alike. */
  function checkOneCorpus(rows, findings) {
    const known = new Map();
    const place = ({ sha256, page, start, end }) => [sha256, page, start, end];
    for (const row of rows) {
      for (const chunk of row.chunks) {
        if (!known.has(chunk.id)) known.set(chunk.id, chunk);
        if (!same(place(known.get(chunk.id)), place(chunk))) {
          const message = `chunk ${chunk.id} is another text or place than in an earlier row`;
          findings.add("CHUNK_DIGEST", message, `outputs.jsonl: ${row.id}`);
        }
      }
    }
  }

  /** Check that retrieval scores are decimal strings, best first, and none below the threshold. */
  function checkScores(telemetry, threshold, findings) {
    const floor = threshold === null ? null : parseDecimal(threshold);
    for (const took of telemetry) {
      const problem = scoresProblem(took.retrievalScores, floor);
      if (problem !== null) findings.add("TELEMETRY_ROWS", `${took.id}: ${problem}`, "telemetry.jsonl");
    }
  }

  function scoresProblem(scores, floor) {
    if (!scores.every(isShortest)) return "a retrieval score is no decimal number in its shortest form";
    const numbers = scores.map(parseDecimal);
    if (numbers.some((number, at) => at > 0 && compareDecimals(number, numbers[at - 1]) > 0)) {
      return "the retrieval scores are not best first";
    }
    if (floor !== null && numbers.length > 0 && compareDecimals(numbers[numbers.length - 1], floor) < 0) {
      return "a chunk was delivered below the threshold";
    }
    return null;
  }

  /** Check that no time, count or cost is negative, and that a verdict is that of the last reply. */
  function checkFigures(rows, telemetry, findings) {
    rows.forEach((row, at) => {
      const took = telemetry[at];
      for (const [name, figure] of figures(took)) {
        if (typeof figure === "number" && figure < 0) {
          findings.add("TELEMETRY_ROWS", `${row.id}: ${name} is ${figure}, less than nothing`, "telemetry.jsonl");
        }
      }
      const replies = took.judgeReplies;
      const used = replies.map((_, place) => place).filter((place) => replies[place].problem === null);
      const last = row.verdict !== null && replies.length > 0 ? [replies.length - 1] : [];
      if (used.length !== last.length || used[0] !== last[0]) {
        const message = `${row.id}: the verdict is not that of the judge's last reply`;
        findings.add("TELEMETRY_ROWS", message, "telemetry.jsonl");
      }
    });
  }

  function figures(took) {
    return [took, took.answerUsage, took.judgeUsage].flatMap((record) => Object.entries(record));
  }

  ragassay.delivery = { checkDelivery, checkScores, checkFigures };
})();
