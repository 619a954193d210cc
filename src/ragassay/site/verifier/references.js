// Does the manifest say what its configuration and its question set say? ragassay/verify/references.py.
(() => {
  "use strict";

  const { NotCanonical } = ragassay.errors;
  const { sha256Hex, equal } = ragassay.bytes;
  const { canonical } = ragassay.strict;

  /** Return a member of a free-form object, undefined where it has none of its own. */
  function own(table, name) {
    return Object.prototype.hasOwnProperty.call(table, name) ? table[name] : undefined;
  }

  /** Tell whether two JSON values are the same. */
  function same(one, other) {
    return equal(canonical(one), canonical(other));
  }

  function digest(value) {
    return { sha256: sha256Hex(canonical(value)) };
  }

  /** Return the members of a predicate that follow from a configuration; throws `NotCanonical` where it lacks one. */
  function configRefs({ measure }) {
    const judge = text(measure.judge, "id", "kind");
    const stack = { stack: measure.stack, threshold: measure.threshold, topK: measure.topK };
    return {
      corpus: corpusRef(measure.corpus),
      stack: { name: text(measure.stack, "kind"), digest: digest(stack) },
      model: { id: text(measure.answer, "id", "kind"), digest: digest(measure.answer) },
      judge: { id: judge, digest: digest(measure.judge) },
      metric: { id: `${measure.scorer}-judged-by-${judge}`, itemDen: 100, higherIsBetter: true },
    };
  }

  function corpusRef(corpus) {
    const named = own(corpus, "digest") ?? null;
    if (named !== null && typeof named !== "string") throw new NotCanonical("measure.corpus.digest is no text");
    const [pages, chunks] = ["pages", "chunks"].map((name) => own(corpus, name) ?? null);
    if ([pages, chunks].some((number) => number !== null && !(Number.isSafeInteger(number) && number >= 0))) {
      throw new NotCanonical("measure.corpus.pages and .chunks must be integers from 0, or null");
    }
    return { pages, chunks, digest: named === null ? null : { sha256: named } };
  }

  function text(table, ...names) {
    const found = names.map((name) => own(table, name)).find((value) => typeof value === "string" && value !== "");
    if (found === undefined) throw new NotCanonical(`the configuration names no ${names.join(" or ")}`);
    return found;
  }

  /** Recompute every member of the manifest that follows from `config.json`. */
  function checkConfig(predicate, read, findings) {
    for (const name of differences(predicate, read)) {
      findings.add("CONFIG_MISMATCH", `${name} of the manifest does not follow from config.json`, "config.json");
    }
    const { id, version, items, digest: whole, itemSet } = predicate.benchmark;
    const flat = { id, version, items, digest: whole.sha256, itemSet: itemSet.sha256 };
    if (!same(read.config.measure.benchmark, flat)) {
      const message = "config.json names another question set than the manifest";
      findings.add("BENCHMARK_MISMATCH", message, "config.json");
    }
    findings.made("configuration");
  }

  function differences(predicate, { config, rowKey }) {
    const pairs = [
      ["row.name", predicate.row.name, config.row],
      ["row.key", predicate.row.key, rowKey],
      ["pass.of", predicate.pass.of, config.circumstance.passes],
      ["provenance.evaluator.version", predicate.provenance.evaluator.version, config.circumstance.harness],
    ];
    const found = pairs.filter(([, claimed, follows]) => claimed !== follows).map(([name]) => name);
    let refs;
    try {
      refs = configRefs(config);
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      return [...found, `stack, model, judge, corpus and metric (${error.message})`];
    }
    const names = ["corpus", "stack", "model", "judge", "metric"];
    return [...found, ...names.filter((name) => !same(predicate[name], refs[name]))];
  }

  /** Recompute what the manifest says of the question set. */
  function checkBenchmark(predicate, benchmark, findings) {
    const samples = benchmark.samples.map(({ id, input, target }) => ({ id, input, target }));
    const follows = {
      id: benchmark.name,
      version: benchmark.version,
      items: samples.length,
      itemSet: digest({ samples, scorerKey: benchmark.scorerKey }),
    };
    for (const name of Object.keys(follows)) {
      if (!same(follows[name], predicate.benchmark[name])) {
        const message = `benchmark.${name} of the manifest is not that of benchmark.json`;
        findings.add("BENCHMARK_MISMATCH", message, "benchmark.json");
      }
    }
    findings.made("question set");
  }

  ragassay.references = { own, same, configRefs, checkConfig, checkBenchmark };
})();
