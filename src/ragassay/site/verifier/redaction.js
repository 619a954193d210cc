// Which texts of a run are withheld, and is nothing else missing or changed in what is published of it?
// ragassay/verify/redaction.py, manifest/redaction_statement.py and manifest/withheld_texts.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { sha256Hex } = ragassay.bytes;
  const { same } = ragassay.references;
  const { RUN_ID, isSubject, commonProblem, reasonProblem } = ragassay.announce;
  const REDACTION = "redaction.dsse.json";
  const WITHHELD = "withheld.jsonl";
  const PUBLIC_OUTPUTS = "outputs.public.jsonl";
  const PUBLIC_TELEMETRY = "telemetry.public.jsonl";
  const IN_TELEMETRY = "telemetry/";
  const KIND = "https://ragassay.dev/attestation/benchmark-run-redaction/";
  const SHA256 = /^[0-9a-f]{64}$/;

  const isChunk = (field) => field.startsWith("chunks/");
  const fileOf = (field) => (field.startsWith(IN_TELEMETRY) ? PUBLIC_TELEMETRY : PUBLIC_OUTPUTS);
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  /** Tell whether these files are a run with texts withheld: its rows in their public form alone. */
  function isRedacted(files) {
    return !files.has("outputs.jsonl") && (files.has(PUBLIC_OUTPUTS) || files.has(REDACTION));
  }

  /** Read a redaction as `decodeIntent` reads an announcement. */
  function decodeRedaction(bytes) {
    const signed = ragassay.announce.decode(bytes, "RedactionStatement", KIND, "a redaction");
    return ragassay.announce.checked(signed, formProblem(signed));
  }

  function formProblem({ subject, predicate }) {
    const { of, runId, pass, outputs, telemetry, withheld, created } = predicate;
    if (!isSubject(subject, PUBLIC_OUTPUTS, outputs.sha256)) {
      return `the only subject must be ${PUBLIC_OUTPUTS} with its digest`;
    }
    if (!RUN_ID.test(runId)) return "the run's id must be 32 lower-case hex digits";
    if (!(pass.k >= 1 && pass.k <= pass.of)) return `there is no pass ${pass.k} of ${pass.of}`;
    if (!(withheld.rows >= 1 && withheld.rows <= withheld.texts)) {
      return "a redaction withholds at least one text, and of each row that it names";
    }
    return commonProblem(created, [of, outputs, withheld.digest, telemetry].filter((digest) => digest !== null));
  }

  /** What a redaction says is missing: fields by question, and the leaf of each signed line that is not shown. */
  class Hidden {
    constructor(rows) {
      this.rows = rows;
      this.fields = new Map(rows.map(({ id, texts }) => [id, new Set(texts.map((text) => text.field))]));
      this.lines = leavesOf(rows, "line");
      this.telemetryLines = leavesOf(rows, "telemetryLine");
    }

    has(id, field) {
      const fields = this.fields.get(id);
      return fields !== undefined && fields.has(field);
    }

    /** Return the leaves of the signed rows, given those of the rows that are shown. */
    leaves(ids, shown) {
      return shown.map((leaf, at) => this.lines.get(ids[at]) ?? leaf);
    }

    /** Return both leaves of each signed row of telemetry, given those of the rows that are shown. */
    telemetryLeaves(ids, shown) {
      return shown.map((leaf, at) => (at % 2 === 1 ? this.telemetryLines.get(ids[(at - 1) / 2]) ?? leaf : leaf));
    }
  }

  function leavesOf(rows, name) {
    return new Map(rows.filter((row) => row[name] !== null).map((row) => [row.id, bytesOf(row[name])]));
  }

  function bytesOf(text) {
    if (!SHA256.test(text)) return new Uint8Array();
    return Uint8Array.from({ length: 32 }, (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16));
  }

  /** Return {signed, hidden} of a redacted run, where that can be read; the signature is checked elsewhere. */
  function readRedaction(run, files, now, findings) {
    if (!files.has(REDACTION)) {
      findings.add("FILE_MISSING", `${REDACTION}, which says what is withheld, is missing`, REDACTION);
      findings.notMade("redaction", `${REDACTION} is not there`);
      return null;
    }
    const signed = attempt(() => decodeRedaction(files.get(REDACTION)), REDACTION, findings);
    if (signed === null) {
      findings.notMade("redaction", `${REDACTION} cannot be read`);
      return null;
    }
    for (const problem of misfits(signed.predicate, run, now)) findings.add("REDACTION_MISMATCH", problem, REDACTION);
    const hidden = readHidden(signed.predicate, files, findings);
    findings.made("redaction");
    return { signed, hidden };
  }

  function attempt(read, where, findings) {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      findings.error(error, where);
      return null;
    }
  }

  function misfits(said, run, now) {
    const of = run.statement.predicate;
    const { SLACK_S } = ragassay.policy;
    const problems = [];
    if (of.lines === null) problems.push("the manifest is of version v0.1: nothing of such a run can be withheld");
    if (said.of.sha256 !== sha256Hex(run.data)) {
      problems.push("it is of another run, or of another manifest of this one");
    }
    if (!["runId", "row", "pass"].every((name) => same(said[name], of[name]))) {
      problems.push("its run id, row or pass is not that of the run");
    }
    if (said.telemetry !== null && of.telemetry === null) problems.push("it names telemetry, and the run has none");
    if (said.created > now + SLACK_S) problems.push(`it was signed ${said.created - now} seconds in the future`);
    if (of.window !== null && said.created < of.window.end - SLACK_S) {
      problems.push(`it was signed ${of.window.end - said.created} seconds before the run's last answer`);
    }
    return problems;
  }

  function readHidden({ withheld, telemetry }, files, findings) {
    if (!files.has(WITHHELD)) {
      findings.add("FILE_MISSING", `${WITHHELD} is missing`, WITHHELD);
      return null;
    }
    const add = (message) => findings.add("REDACTION_MISMATCH", message, WITHHELD);
    const data = files.get(WITHHELD);
    if (sha256Hex(data) !== withheld.digest.sha256) add(`${WITHHELD} is not the file that was signed`);
    const rows = attempt(() => ragassay.rows.readRows(data, WITHHELD, "WithheldRow"), WITHHELD, findings);
    if (rows === null) return null;
    if (rows.length !== withheld.rows || sum(rows.map(({ texts }) => texts.length)) !== withheld.texts) {
      add("it counts other texts or rows than are listed");
    }
    const times = countOf(rows.map(({ id }) => id));
    for (const [id, count] of times) if (count > 1) add(`${id} is listed ${count} times`);
    for (const row of rows) {
      const problem = entryProblem(row);
      if (problem !== null) add(`${row.id}: ${problem}`);
    }
    if (rows.some((row) => row.telemetryLine !== null) !== (telemetry !== null)) {
      add(`${PUBLIC_TELEMETRY} is named where texts of it are listed`);
    }
    return new Hidden(rows);
  }

  function countOf(values) {
    const found = new Map();
    for (const value of values) found.set(value, (found.get(value) || 0) + 1);
    return found;
  }

  function entryProblem({ line, telemetryLine, texts }) {
    const fields = texts.map(({ field }) => field);
    if (fields.length === 0 || new Set(fields).size !== fields.length) return "it lists no text, or one twice";
    const inside = fields.some((field) => field.startsWith(IN_TELEMETRY));
    const outside = fields.some((field) => !field.startsWith(IN_TELEMETRY));
    if ((line !== null) !== outside || (telemetryLine !== null) !== inside) {
      return "the leaf of a line stands where a text of that line is listed, and nowhere else";
    }
    const digests = [...texts.map(({ saltedSha256 }) => saltedSha256), line, telemetryLine];
    if (!digests.every((digest) => digest === null || SHA256.test(digest))) {
      return "a SHA-256 is written as 64 lower-case hex digits";
    }
    return texts.map(({ reason }) => reasonProblem(reason)).find((problem) => problem !== null) ?? null;
  }

  /** Return {texts, rows, reasons}: how many texts are withheld, and for which reasons, in the order of the first. */
  function keptOf({ rows }) {
    const reasons = countOf(rows.flatMap(({ texts }) => texts.map(({ reason }) => reason)));
    return {
      texts: sum(rows.map(({ texts }) => texts.length)),
      rows: rows.length,
      reasons: [...reasons].map(([reason, texts]) => ({ reason, texts })),
    };
  }

  /** Check that exactly the listed texts are missing in the rows that lost any; note each of them. */
  function checkTexts(hidden, rows, telemetry, findings) {
    const byId = new Map(rows.map((row) => [row.id, row]));
    const tookById = new Map((telemetry || []).map((took) => [took.id, took]));
    const places = new Map(rows.map((row, at) => [row.id, at]));
    const listed = hidden.rows.filter(({ id }) => places.has(id)).map(({ id }) => places.get(id));
    if (listed.some((place, at) => at > 0 && listed[at - 1] > place)) {
      findings.add("REDACTION_MISMATCH", "the listed rows are not in the order of the rows", WITHHELD);
    }
    for (const entry of hidden.rows) {
      const shown = byId.has(entry.id) ? textsOf(byId.get(entry.id)) : new Map();
      const inTelemetry = tookById.has(entry.id) ? textsOf(tookById.get(entry.id)) : new Map();
      checkEntry(entry, shown, inTelemetry, findings);
    }
    findings.made("texts that are withheld");
    const { texts, rows: count } = keptOf(hidden);
    findings.notMade(
      "digests and quotes of the texts that are withheld",
      `${texts} of them, in ${count} of the questions`,
    );
  }

  function checkEntry({ id, line, telemetryLine, texts }, shown, inTelemetry, findings) {
    const add = (code, field, message) => findings.add(code, `${field} ${message}`, `${fileOf(field)}: ${id}`);
    const all = new Map([...shown, ...inTelemetry]);
    for (const { field, reason } of texts) {
      const text = all.get(field);
      if (text === undefined) add("REDACTION_MISMATCH", field, "is listed, and there is no such text");
      else if (!looksWithheld(field, text)) add("REDACTION_MISMATCH", field, "is listed as withheld, and stands there");
      else {
        const inPart = text !== null && text.includes("[redacted]");
        add("TEXT_WITHHELD", field, `is ${inPart ? "shown in part" : "withheld"}: ${reason}`);
      }
    }
    const listed = new Set(texts.map(({ field }) => field));
    const changed = [...(line !== null ? shown.keys() : []), ...(telemetryLine !== null ? inTelemetry.keys() : [])];
    for (const field of changed) {
      if (!listed.has(field) && looksWithheld(field, all.get(field))) {
        add("REDACTION_MISMATCH", field, "is withheld, and is not listed");
      }
    }
  }

  function looksWithheld(field, text) {
    if (isChunk(field)) return text === null;
    return text !== null && (text === "[withheld]" || text.includes("[redacted]"));
  }

  /** Return each text of a row that may be withheld by its field; what stands twice under one name has none. */
  function textsOf(row) {
    const found = new Map();
    const twice = new Set();
    for (const [field, text] of fieldsOf(row)) {
      if (found.has(field)) twice.add(field);
      found.set(field, text);
    }
    for (const field of twice) found.delete(field);
    return found;
  }

  function fieldsOf({ answer = null, chunks = [], claims = [], failure = null, judgeReplies = [] }) {
    const replies = judgeReplies.flatMap(({ text, problem }, at) => [
      [`${IN_TELEMETRY}judgeReplies/${at}/text`, text],
      [`${IN_TELEMETRY}judgeReplies/${at}/problem`, problem],
    ]);
    return [
      ...(answer !== null ? [["answer", answer]] : []),
      ...chunks.map(({ rank, text }) => [`chunks/${rank}/text`, text]),
      ...claims.flatMap(({ id, quote, reason }) => [
        [`claims/${id}/quote`, quote],
        [`claims/${id}/reason`, reason],
      ]),
      ...(failure !== null ? [["failure/message", failure.message]] : []),
      ...replies.filter(([, text]) => text !== null),
    ];
  }

  const NOTHING_HIDDEN = new Hidden([]);
  /** The form of a run that is shown whole. */
  const WHOLE = { outputs: "outputs.jsonl", telemetry: "telemetry.jsonl", redaction: null, hidden: NOTHING_HIDDEN };

  /** Return the form of a redacted run: which files hold its rows; `redaction` is null where it cannot be read. */
  function publicForm(redaction, files) {
    const hidden = redaction === null ? null : redaction.hidden;
    return {
      outputs: PUBLIC_OUTPUTS,
      telemetry: shownTelemetry(redaction, files),
      redaction,
      hidden: hidden || NOTHING_HIDDEN,
      unknown: hidden === null,
    };
  }

  function shownTelemetry(redaction, files) {
    if (redaction !== null) return redaction.signed.predicate.telemetry === null ? WHOLE.telemetry : PUBLIC_TELEMETRY;
    return files.has(PUBLIC_TELEMETRY) && !files.has(WHOLE.telemetry) ? PUBLIC_TELEMETRY : WHOLE.telemetry;
  }

  ragassay.redaction = { WHOLE, isRedacted, decodeRedaction, readRedaction, publicForm, keptOf, checkTexts };
})();
