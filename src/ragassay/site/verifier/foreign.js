// A question set as somebody else published it, read as far as it can be: ragassay/manifest/foreign.py and
// ragassay/verify/foreign.py.
(() => {
  "use strict";

  const { VerifyError, NotCanonical } = ragassay.errors;
  const { text: decodeText } = ragassay.bytes;
  const { scanDepth, Reader } = ragassay.strict;
  const { strip } = ragassay.fold;
  const { isObject } = ragassay.shapes;
  const FOREIGN = "benchmark.foreign";
  const MAX_READ_BYTES = 8 << 20;
  const MAX_ITEMS = 100000;
  const MAX_DEPTH = 500;
  const LONE_SURROGATE = /\p{Surrogate}/u;

  /** Reads JSON with numbers of any form, which are no text; no key may stand twice. */
  class LooseReader extends Reader {
    number() {
      const token = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
      token.lastIndex = this.at;
      if (token.exec(this.source) === null) this.fail("no value");
      this.at = token.lastIndex;
      return 0;
    }
  }

  function parse(source) {
    const reader = new LooseReader(source);
    const value = reader.value();
    reader.space();
    if (reader.at !== source.length) reader.fail("something stands after the document");
    return value;
  }

  /** Return the items {id, input} of a foreign set in their order; throws `NotCanonical`, whatever the bytes are. */
  function readForeign(bytes) {
    if (bytes.length > MAX_READ_BYTES) throw new NotCanonical(`at most ${MAX_READ_BYTES} bytes are read`);
    const whole = decodeText(bytes).replace(/^\ufeff/, "");
    if (!strip(whole).startsWith("{")) return items(cells(whole));
    scanDepth(bytes, MAX_DEPTH);
    const first = firstObject(whole);
    if (first === null || !("samples" in first)) return items(lines(whole));
    if (!Array.isArray(first.samples)) throw new NotCanonical("samples is no list");
    return items(first.samples);
  }

  /** Return the one JSON object that the whole text is, or null where it is no single document. */
  function firstObject(whole) {
    try {
      const value = parse(whole);
      return isObject(value) ? value : null;
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      return null;
    }
  }

  function lines(whole) {
    return whole
      .split("\n")
      .filter((line) => strip(line) !== "")
      .map(parse);
  }

  function cells(whole) {
    const records = ragassay.csv.parseCsv(whole).filter((record) => record.some((cell) => strip(cell) !== ""));
    if (records.length === 0) return [];
    const header = records[0].map(strip);
    if (!header.includes("id") || !header.includes("input") || new Set(header).size !== header.length) {
      throw new NotCanonical("it is neither JSON nor CSV with one column id and one column input");
    }
    return records.slice(1).map((record) => {
      if (record.length !== header.length) throw new NotCanonical("a line has not as many cells as the header");
      return Object.assign(Object.create(null), Object.fromEntries(header.map((name, at) => [name, record[at]])));
    });
  }

  function items(found) {
    if (found.length === 0 || found.length > MAX_ITEMS) throw new NotCanonical(`it has ${found.length} items`);
    const read = found.map(item);
    if (new Set(read.map(({ id }) => id)).size !== read.length) throw new NotCanonical("an id stands twice");
    return read;
  }

  function item(value) {
    if (!isObject(value)) throw new NotCanonical("an item is no object");
    const target = value.target ?? null;
    if (target !== null) checkText(target, "target");
    return { id: textOf(value, "id"), input: textOf(value, "input"), target: target ?? "", claims: [] };
  }

  function textOf(value, name) {
    checkText(value[name], name);
    if (strip(value[name]) === "") throw new NotCanonical(`${name} of an item is empty`);
    return value[name];
  }

  function checkText(value, name) {
    if (typeof value !== "string") throw new NotCanonical(`${name} of an item is no text`);
    if (LONE_SURROGATE.test(value)) throw new NotCanonical(`${name} of an item holds half a surrogate pair`);
  }

  /** Return the questions of a foreign item set, or null after saying which checks cannot be made and why. */
  function checkForeignSet(predicate, files, rows, findings) {
    if (predicate.provenance.sourceKind !== "republished") {
      const message = "only a republished run may keep a foreign item set";
      findings.add("BENCHMARK_MISMATCH", message, FOREIGN);
    }
    if (!files.has(FOREIGN)) return null;
    let samples;
    try {
      ragassay.rows.checkSize(FOREIGN, files.get(FOREIGN));
      samples = readForeign(files.get(FOREIGN));
    } catch (error) {
      if (error instanceof VerifyError) {
        findings.error(error, FOREIGN);
        return null;
      }
      if (!(error instanceof NotCanonical)) throw error;
      findings.notMade("ids, order and question texts", `${FOREIGN} is in no form that is read: ${error.message}`);
      checkRows(rows || [], predicate.benchmark.items, findings);
      return null;
    }
    if (samples.length !== predicate.benchmark.items) {
      const message = `${FOREIGN} has ${samples.length} items, the manifest says ${predicate.benchmark.items}`;
      findings.add("BENCHMARK_MISMATCH", message, FOREIGN);
    }
    findings.made("question set");
    return { samples };
  }

  function checkRows(rows, count, findings) {
    const times = new Map();
    for (const row of rows) times.set(row.id, (times.get(row.id) || 0) + 1);
    for (const [name, found] of times) {
      if (found > 1) findings.add("ROW_DUPLICATE", `question ${name} has ${found} rows`, "outputs.jsonl");
    }
    if (rows.length !== count) {
      const code = rows.length < count ? "ROW_MISSING" : "ROW_UNKNOWN";
      findings.add(code, `there are ${rows.length} rows for the ${count} items of the manifest`, "outputs.jsonl");
    }
  }

  ragassay.foreign = { readForeign, checkForeignSet };
})();
