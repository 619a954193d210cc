// Bytes become the values of a run, strictly; the only errors are `VerifyError`s: ragassay/manifest/decode.py.
(() => {
  "use strict";

  const { VerifyError, NotCanonical, asVerifyError } = ragassay.errors;
  const { equal, sha256Hex } = ragassay.bytes;
  const { MAX_DEPTH, canonical, loadStrict, loadCanonical, scanDepth } = ragassay.strict;
  const { convert, isObject } = ragassay.shapes;
  const { measureProblem, benchmarkProblem } = ragassay.sense;
  const { checkSize } = ragassay.rows;

  const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
  const PAYLOAD_TYPE = "application/vnd.in-toto+json";
  const RUN_KIND = "https://ragassay.dev/attestation/benchmark-run/";
  const VERSIONS = ["v0.1", "v0.2"];
  const MAX_SLOW_BYTES = 8 << 20;

  function fail(code, message) {
    throw new VerifyError(message, code);
  }

  /** Read the statement of a run; throws TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED, ENVELOPE_NOT_CANONICAL. */
  function decodeStatement(payloadType, payload) {
    if (payloadType !== PAYLOAD_TYPE) fail("TYPE_UNKNOWN", `the payload type is not ${PAYLOAD_TYPE}`);
    const [value, written] = asVerifyError("ENVELOPE_MALFORMED", "the signed payload is no strict JSON", () => {
      const found = loadStrict(payload, ragassay.dsse.MAX_ENVELOPE_BYTES, 16);
      return [found, canonical(found)];
    });
    if (!equal(written, payload)) {
      fail("ENVELOPE_NOT_CANONICAL", "the signed payload is not in canonical form (RFC 8785)");
    }
    if (!isObject(value) || value._type !== STATEMENT_TYPE) {
      fail("TYPE_UNKNOWN", `the payload is no in-toto statement of type ${STATEMENT_TYPE}`);
    }
    const version = versionOf(value.predicateType);
    const lacks = "the statement lacks the form of a run";
    const statement = asVerifyError("ENVELOPE_MALFORMED", lacks, () => convert(value, "Statement"));
    const problem = formProblem(statement, version);
    if (problem !== null) fail("ENVELOPE_MALFORMED", problem);
    return statement;
  }

  function versionOf(type) {
    if (typeof type !== "string" || !type.startsWith(RUN_KIND)) fail("TYPE_UNKNOWN", "the statement is not a run");
    const version = type.slice(RUN_KIND.length);
    if (!VERSIONS.includes(version)) {
      fail("VERSION_UNKNOWN", `the run is of version ${version.slice(0, 40)}; this verifier knows ${VERSIONS.join(", ")}`);
    }
    return version;
  }

  function formProblem({ subject, predicate }, version) {
    if (subject.length !== 1 || subject[0].name !== "outputs.jsonl") return "the only subject must be outputs.jsonl";
    if (predicate.metric.itemDen !== 100 || !predicate.metric.higherIsBetter) {
      return "item scores are hundredths, and higher is better";
    }
    if (!/^[0-9a-f]{32}$/.test(predicate.runId)) return "the run's id must be 32 lower-case hex digits";
    const { k, of } = predicate.pass;
    if (!(k >= 1 && k <= of)) return `there is no pass ${k} of ${of}`;
    const wrong = ["verdicts", "lines"].find((name) => (predicate[name] === null) !== (version === VERSIONS[0]));
    if (wrong !== undefined) return `${wrong} stands in every version but ${VERSIONS[0]}; this is ${version}`;
    if ((predicate.figures === null) !== (version === VERSIONS[0] || predicate.telemetry === null)) {
      return `figures stands where telemetry does, but in ${VERSIONS[0]}`;
    }
    if (predicate.provenance.sourceKind === "republished") {
      return predicate.provenance.modelInvoked ? "a republished run invokes no model: modelInvoked is false" : null;
    }
    const missing = ["config", "telemetry", "corpus", "stack", "model"].find((name) => predicate[name] === null);
    if (missing !== undefined) return `${missing} may be null in a republished run only`;
    return predicate.judge.digest === null ? "judge.digest may be null in a republished run only" : null;
  }

  /** Read `config.json` as {config, rowKey}; throws CONFIG_DIGEST where it is no canonical configuration. */
  function decodeConfig(bytes) {
    checkSize("config.json", bytes);
    const [value, config] = asVerifyError("CONFIG_DIGEST", "config.json is no canonical configuration", () => {
      const found = loadCanonical(bytes, bytes.length);
      return [found, convert(found, "Config")];
    });
    const problem = measureProblem(config.measure);
    if (problem !== null) fail("CONFIG_DIGEST", `config.json is no configuration: ${problem}`);
    // The key is taken over the members as they stand in the file, so that later defaults change no older key.
    const measure = sha256Hex(canonical(value.measure));
    return { config, rowKey: sha256Hex(canonical({ name: config.row, measure })) };
  }

  /** Read `benchmark.json`; throws BENCHMARK_DIGEST where it is no canonical question set. */
  function decodeBenchmark(bytes) {
    checkSize("benchmark.json", bytes);
    const benchmark = asVerifyError("BENCHMARK_DIGEST", "benchmark.json is no canonical question set", () => {
      const found = convert(loadCanonical(bytes, bytes.length, MAX_DEPTH + 1), "Benchmark");
      if (!isQuick(found.corpus)) {
        if (bytes.length > MAX_SLOW_BYTES) throw new NotCanonical(`more than ${MAX_SLOW_BYTES} bytes`);
        scanDepth(bytes, MAX_DEPTH);
      }
      return found;
    });
    const problem = benchmarkProblem(benchmark);
    if (problem !== null) fail("BENCHMARK_DIGEST", `benchmark.json is no question set: ${problem}`);
    return benchmark;
  }

  /**
   * Return the name of the file that holds a run's questions.
   *
   * A manifest gives a foreign set one digest twice, that of its bytes; our form has another for its published form.
   */
  function questionFile({ itemSet, digest }) {
    return itemSet.sha256 === digest.sha256 ? "benchmark.foreign" : "benchmark.json";
  }

  /**
   * Tell whether the other verifier takes its quick way through the free-form part of a question set.
   *
   * It does where code points sort like UTF-16 code units and the part is small; else the whole file has the depth and
   * the size of slow reading. Both verifiers thus refuse the same files.
   */
  function isQuick(corpus) {
    const written = canonical(corpus);
    return written.length <= ragassay.data.limits.files["config.json"] && sortsAlike(corpus);
  }

  function sortsAlike(value) {
    if (typeof value !== "object" || value === null) return true;
    if (!Array.isArray(value)) {
      const names = Object.keys(value).sort();
      if (names.some((name, at) => at > 0 && ragassay.report.byCodePoint(names[at - 1], name) > 0)) return false;
    }
    return Object.values(value).every(sortsAlike);
  }

  ragassay.decode = { decodeStatement, decodeConfig, decodeBenchmark, questionFile };
})();
