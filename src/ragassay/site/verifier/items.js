// Each row by itself: texts against digests and benchmark, status against content, score against verdicts:
// ragassay/verify/items.py.
(() => {
  "use strict";

  const { utf8, sha256Hex } = ragassay.bytes;
  const { quotesOf } = ragassay.fold;
  const { MISSING, itemHundredths, statusOf } = ragassay.score;
  const { verdictOf } = ragassay.rows;
  const { same } = ragassay.references;
  const QUOTED = new Set(["SUPPORTS", "HEDGES", "CONTRADICTS"]);
  const DIGEST = /^[0-9a-f]{64}$/;
  /** The most that quotes may cost: for each its characters and 64 more, times those of the answer it is sought in. */
  const MAX_QUOTE_WORK = 2 ** 35;

  /** Check every row; `questions` is by id and may lack some, `profile` is null where the metric names none known. */
  function checkItems(rows, questions, predicate, profile, findings, hidden) {
    const republished = predicate.provenance.sourceKind === "republished";
    const judge = predicate.judge.digest ? predicate.judge.digest.sha256 : null;
    const quoting = profile === "factual-consistency/2" && affordable(rows, findings);
    for (const row of rows) {
      const add = (code, message) => findings.add(code, message, `outputs.jsonl: ${row.id}`);
      const verdict = verdictOf(row);
      checkChunks(row, hidden, add);
      if (questions.has(row.id)) checkQuestion(row, questions.get(row.id), profile, add);
      const problem = republished ? republishedProblem(row) : statusProblem(row, verdict);
      if (problem !== null) add("STATUS", `the status is ${row.status}, but ${problem}`);
      if (row.answer !== null && !predicate.provenance.modelInvoked && !republished) {
        add("STATUS", "there is an answer in a run that says no model was invoked");
      }
      checkScore(row, verdict, profile, republished, add);
      if (quoting && row.answer !== null) checkQuotes(row, hidden, add);
      checkJudge(row, judge, republished, add);
    }
    findings.made("rows");
    if (republished) findings.notMade("item scores", "a republished run carries scores without verdicts");
    else findings.made("item scores");
  }

  function checkJudge(row, judge, republished, add) {
    const judged = row.verdict !== null || row.status === "judge_failed";
    const wrong = judged ? row.judge !== judge : row.judge !== null;
    if (wrong && !(republished && row.judge === null)) {
      add("JUDGE_MIXED", `judged by ${row.judge}, the run by ${judge}`);
    }
  }

  function checkChunks(row, hidden, add) {
    if (row.chunks.some((chunk, at) => chunk.rank !== at + 1)) {
      add("CHUNK_DIGEST", "the ranks of the retrieved chunks are not 1, 2, 3, …");
    }
    for (const chunk of row.chunks) {
      if (chunk.text === null) {
        const told = hidden.has(row.id, `chunks/${chunk.rank}/text`); // with its reason
        if (!told) add("TEXT_WITHHELD", `the text of chunk ${chunk.id} is withheld`);
      } else if (sha256Hex(utf8(chunk.text)) !== chunk.sha256) {
        add("CHUNK_DIGEST", `the text of chunk ${chunk.id} is not the one of its digest`);
      }
      if (!DIGEST.test(chunk.sha256)) add("CHUNK_DIGEST", `the digest of chunk ${chunk.id} is no SHA-256`);
      if (!spanFits(chunk)) add("CHUNK_DIGEST", `the span of chunk ${chunk.id} is not as long as its text`);
    }
    if (new Set(row.chunks.map((chunk) => chunk.id)).size !== row.chunks.length) {
      add("CHUNK_DIGEST", "a chunk is delivered twice, and each is credited once");
    }
  }

  /** Tell whether a span is whole (page, start and end, or neither end) and as long as a text that is known. */
  function spanFits({ text, page, start, end }) {
    if (start === null || end === null) return start === null && end === null;
    const length = text !== null ? characters(text) : end - start;
    return page !== null && start >= 0 && start <= end && end - start === length;
  }

  /** Return the number of code points; a span counts those and not UTF-16 code units. */
  function characters(text) {
    let pairs = 0;
    for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs++;
    return text.length - pairs;
  }

  function checkQuestion(row, question, profile, add) {
    if (row.question !== question.input) add("ROW_CHANGED", "the question that was asked is not the benchmark's");
    if (profile === "factual-consistency/2" && row.verdict !== null) {
      const frozen = (claims) => claims.map(({ id, text, central }) => ({ id, text, central }));
      if (!same(frozen(row.claims), frozen(question.claims))) {
        add("ROW_CHANGED", "the judged claims are not the benchmark's frozen ones");
      }
    }
  }

  /** Return what a row of scores that were taken over cannot say: more than a score, or that there is none, and why. */
  function republishedProblem({ verdict, claims, chunks, retrieval, status, failure }) {
    if (verdict !== null || claims.length > 0 || chunks.length > 0 || retrieval !== "off") {
      return "a republished run records neither retrieval nor verdict";
    }
    if (status !== "ok" && status !== "judge_failed") {
      return "a republished item is scored or unjudged, for no more is known of it";
    }
    return (failure !== null) === MISSING.has(status) ? null : "a failure stands on every missing item and on no other";
  }

  function statusProblem(row, verdict) {
    if ((row.retrieval === "ok") !== row.chunks.length > 0) {
      return `retrieval is ${row.retrieval} with ${row.chunks.length} chunks`;
    }
    if ((row.failure !== null) !== MISSING.has(row.status)) {
      return "a failure stands on every missing item and on no other";
    }
    if (row.claims.length > 0 && verdict === null) return "there are claims without a verdict";
    if (MISSING.has(row.status)) return missingProblem(row, verdict);
    if (verdict === null) return null; // SCORED_FAILURE says so
    if (row.answer === null) return "there is no answer to judge";
    if (row.retrieval === "failed") return "retrieval failed";
    const expected = statusOf(verdict, row.retrieval);
    return row.status === expected ? null : `its verdict makes it ${expected}`;
  }

  function missingProblem(row, verdict) {
    if (verdict !== null) return "there is a verdict";
    if (row.status === "harness_failed") {
      const { kind } = row.failure;
      const isService = ragassay.data.serviceFailures.includes(kind);
      return isService ? `its failure is ${kind}, which is that of a service` : null;
    }
    if ((row.retrieval === "failed") !== (row.status === "retrieval_failed")) return `retrieval is ${row.retrieval}`;
    if ((row.answer !== null) !== (row.status === "judge_failed")) {
      return "an answer stands on items whose judge failed and on no other missing one";
    }
    return null;
  }

  function checkScore(row, verdict, profile, republished, add) {
    if (MISSING.has(row.status)) {
      if (row.score !== null) add("SCORED_FAILURE", `the item ended as ${row.status} and carries a score`);
    } else if (row.score === null) {
      add("SCORED_FAILURE", `the item ended as ${row.status} and carries no score`);
    } else if (verdict === null) {
      if (!republished) add("SCORED_FAILURE", "the item carries a score without a verdict");
      else if (row.score < 0 || row.score > 100) add("ITEM_SCORE", `${row.score} is no number of hundredths`);
    } else {
      const problem = verdictProblem(verdict, profile);
      const expected = itemHundredths(verdict);
      if (problem !== null) add("ITEM_SCORE", problem);
      else if (row.score !== expected) {
        add("ITEM_SCORE", `the score is ${row.score}, its verdicts make it ${expected}`);
      }
    }
  }

  function verdictProblem(verdict, profile) {
    if (profile === "factual-consistency/1") {
      return verdict.answerKind !== null ? "answer kinds are known in profile 2 only" : null;
    }
    if (profile === "factual-consistency/2" && verdict.answerKind === null) {
      return "profile 2 names the kind of every answer";
    }
    if (verdict.claims.length === 0) return "there is no claim to score";
    if (verdict.referenceInsufficient) return "a frozen reference cannot be insufficient";
    const central = verdict.claims.some((claim) => claim.central && claim.verdict === "CONTRADICTS");
    return verdict.centralContradicted !== central ? "centralContradicted does not follow from the claims" : null;
  }

  /** Tell whether all quotes can be sought in their answers in bounded time; where not, say so. */
  function affordable(rows, findings) {
    let work = 0;
    for (const { answer, claims } of rows) {
      const quoted = answer === null ? [] : claims.filter(({ verdict }) => QUOTED.has(verdict));
      if (quoted.length === 0) continue;
      work += characters(answer) * quoted.reduce((sum, { quote }) => sum + 64 + characters(quote), 0);
    }
    if (work <= MAX_QUOTE_WORK) return true;
    findings.add("BUNDLE_TOO_LARGE", "quotes and answers are too long to be compared", "outputs.jsonl");
    findings.notMade("quotes in answers", "quotes and answers are too long");
    return false;
  }

  function checkQuotes({ id: name, answer, claims }, hidden, add) {
    if (hidden.has(name, "answer")) return;
    const stands = quotesOf(answer);
    for (const { id, verdict, quote } of claims) {
      if (hidden.has(name, `claims/${id}/quote`)) continue;
      if (QUOTED.has(verdict) && !stands(quote)) {
        add("QUOTE_NOT_IN_ANSWER", `claim ${id} is ${verdict} by words that the answer lacks`);
      }
    }
  }

  ragassay.items = { checkItems };
})();
