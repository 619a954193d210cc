// Arithmetic on verdicts, by integers alone: ragassay/score/*.py.
(() => {
  "use strict";

  const INSUFFICIENT = 50;
  const CAP = 25;
  const MISSING = new Set(["retrieval_failed", "answer_failed", "judge_failed", "harness_failed"]);

  /** Return an item's score, 0..100, half-up, from its claims; a contradicted central claim caps it at 25. */
  function itemHundredths(verdict) {
    if (verdict.referenceInsufficient || verdict.claims.length === 0) return INSUFFICIENT;
    const words = verdict.claims.map((claim) => claim.verdict);
    const points = words.reduce((sum, word) => sum + (word === "SUPPORTS" ? 2 : word === "HEDGES" ? 1 : 0), 0);
    const score = Math.floor((100 * points + words.length) / (2 * words.length));
    return verdict.centralContradicted ? Math.min(score, CAP) : score;
  }

  /** Return refused, abstained, retrieval_empty or ok, in this precedence; `retrieval` is not failed. */
  function statusOf(verdict, retrieval) {
    if (verdict.answerKind === "refusal") return "refused";
    if (verdict.answerKind === "abstention") return "abstained";
    return retrieval === "empty" ? "retrieval_empty" : "ok";
  }

  /** Write num/den (den > 0) with `places` decimals, half-up. */
  function ratioString(num, den, places = 4) {
    const scaled = (2n * BigInt(num) * 10n ** BigInt(places) + BigInt(den)) / (2n * BigInt(den));
    const digits = String(scaled).padStart(places + 1, "0");
    return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  }

  /** Return Σ hundredths over 100 × scored items, null where nothing was scored; throws `RangeError` outside 0..100. */
  function runScore(hundredths) {
    const scored = hundredths.filter((score) => score !== null);
    if (scored.some((score) => score < 0 || score > 100)) {
      throw new RangeError("an item score is an integer from 0 to 100 hundredths");
    }
    if (scored.length === 0) return null;
    const num = scored.reduce((sum, score) => sum + score, 0);
    const den = 100 * scored.length;
    return { num, den, decimal: ratioString(num, den) };
  }

  /** Return the counts of a run's rows. */
  function count(rows) {
    const ended = (status) => rows.filter((row) => row.status === status).length;
    const scored = rows.filter((row) => !MISSING.has(row.status));
    return {
      asked: rows.length,
      scored: scored.length,
      insufficient: scored.filter(isInsufficient).length,
      unjudged: ended("judge_failed"),
      answerFailed: ended("answer_failed"),
      retrievalFailed: ended("retrieval_failed"),
      harnessFailed: ended("harness_failed"),
      retrievalEmpty: scored.filter((row) => row.retrieval === "empty").length,
      abstained: ended("abstained"),
      refused: ended("refused"),
      filled: rows.filter((row) => row.fill !== null).length,
    };
  }

  function isInsufficient(row) {
    return row.verdict !== null && (row.verdict.referenceInsufficient || row.claims.length === 0);
  }

  ragassay.score = { MISSING, itemHundredths, statusOf, ratioString, runScore, count };
})();
