// What a configuration and a question set must say beyond their form: ragassay/manifest/sense.py.
(() => {
  "use strict";

  const { parseDecimal } = ragassay.decimal;

  /** Return what makes a measurement impossible, or null. */
  function measureProblem(measure) {
    if (measure.topK < 1) return `measure.topK is ${measure.topK}; it counts from 1`;
    if (measure.threshold !== null && !isFinite(measure.threshold)) return "measure.threshold is no decimal number";
    for (const name of ["stack", "answer", "judge"]) {
      for (const member of ["id", "kind"]) {
        const given = ragassay.references.own(measure[name], member);
        if (given !== undefined && typeof given !== "string") return `measure.${name}.${member} is no text`;
      }
    }
    return null;
  }

  function isFinite(text) {
    return [...text].length <= 400 && parseDecimal(text) !== null;
  }

  /** Return why questions cannot be told apart or there are none, or null. */
  function benchmarkProblem(benchmark) {
    const questions = benchmark.samples;
    if (questions.length === 0) return "it holds no question";
    if (questions.some((question) => question.id === "")) return "a question has no id";
    if (new Set(questions.map((question) => question.id)).size !== questions.length) return "a question stands twice";
    for (const { id, claims } of questions) {
      if (new Set(claims.map((claim) => claim.id)).size !== claims.length) {
        return `two claims of the question ${id.slice(0, 80)} have one id`;
      }
      if (claims.length > 0 && !claims.some((claim) => claim.central)) {
        return `no claim of the question ${id.slice(0, 80)} is central`;
      }
    }
    return null;
  }

  ragassay.sense = { measureProblem, benchmarkProblem };
})();
