// The lines of a run's two row files, and the digest of their content: ragassay/manifest/encoding.py and rows.py.
(() => {
  "use strict";

  const { VerifyError, NotCanonical } = ragassay.errors;
  const { utf8, hex } = ragassay.bytes;
  const { canonicalText, loadCanonical } = ragassay.strict;
  const { convert } = ragassay.shapes;
  const LINE_FEED = 0x0a;
  const COMMA = 0x2c;

  /** Throw BUNDLE_TOO_LARGE where a file has more bytes than its kind may, or more values than any may. */
  function checkSize(name, bytes) {
    const { files, commas } = ragassay.data.limits;
    const most = files[name];
    if (bytes.length > most) {
      throw new VerifyError(`${name} has ${bytes.length} bytes; ${most} are allowed`, "BUNDLE_TOO_LARGE");
    }
    let count = 0;
    for (let at = bytes.indexOf(COMMA); at >= 0; at = bytes.indexOf(COMMA, at + 1)) count++;
    if (count > commas) {
      throw new VerifyError(`${name} has ${count} commas, so too many values; ${commas} are allowed`, "BUNDLE_TOO_LARGE");
    }
  }

  /** Return the lines of a JSON Lines file each ended by a line feed; throws `NotCanonical`, also over a limit. */
  function splitLines(bytes) {
    if (bytes.length > 0 && bytes[bytes.length - 1] !== LINE_FEED) {
      throw new NotCanonical("the last line does not end in a line feed: the file is torn or was cut");
    }
    const lines = [];
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LINE_FEED, start);
      if (lines.length === ragassay.data.limits.rows) throw new NotCanonical("more lines than are allowed");
      if (end - start > ragassay.data.limits.row) throw new NotCanonical("a line has more bytes than are allowed");
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    return lines;
  }

  /** Return the lines of a file as records, each shown to `seen` as members and bytes; throws ROW_MALFORMED. */
  function readRows(bytes, name, kind, seen = () => {}) {
    checkSize(name, bytes);
    const rows = [];
    try {
      for (const line of splitLines(bytes)) {
        const members = loadCanonical(line, line.length);
        rows.push(convert(members, kind));
        seen(members, line);
      }
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      throw new VerifyError(`${name}, line ${rows.length + 1}: ${error.message}`, "ROW_MALFORMED");
    }
    return rows;
  }

  /** Return the two leaves of a row of telemetry: of the row without texts of the judge's replies, and of its line. */
  function figureLeaves(members, line) {
    const leaf = ragassay.tree.leafHash(line);
    const replies = members.judgeReplies;
    if (replies === undefined || replies.length === 0) return [leaf, leaf];
    const kept = replies.map((reply) => ({ ...reply, text: reply.text !== null, problem: reply.problem !== null }));
    return [ragassay.tree.leafHash(utf8(canonicalText({ ...members, judgeReplies: kept }))), leaf];
  }

  /**
   * Read `outputs.jsonl`, or its public form `name`, as {rows, content, verdicts, leaves}.
   *
   * Throws ROW_MALFORMED naming the first bad line.
   *
   * `content` is the SHA-256 over the lines without their members `run` and `pass`, so that two runs of one content
   * have one digest whoever ran them and as whichever pass; `verdicts` leaves out the texts that may be withheld too;
   * `leaves` are the leaf hashes of the lines as they stand.
   */
  function decodeOutputs(bytes, name = "outputs.jsonl") {
    const content = new ragassay.Sha256();
    const verdicts = new ragassay.Sha256();
    const leaves = [];
    const rows = readRows(bytes, name, "OutputRow", (members, line) => {
      delete members.run;
      delete members.pass;
      content.update(utf8(`${canonicalText(members)}\n`));
      verdicts.update(utf8(`${canonicalText(withoutTexts(members))}\n`));
      leaves.push(ragassay.tree.leafHash(line));
    });
    return { rows, content: hex(content.digest()), verdicts: hex(verdicts.digest()), leaves };
  }

  /** Return what of a row, given without run and pass, no redaction may touch. */
  function withoutTexts(members) {
    const { answer, chunks, claims, failure } = members;
    const kept = {
      ...members,
      answer: answer !== null,
      chunks: chunks.map(({ text, ...chunk }) => chunk),
      claims: claims.map(({ quote, reason, ...claim }) => claim),
    };
    if (failure) kept.failure = (({ message, ...rest }) => rest)(failure);
    return kept;
  }

  /** Read `telemetry.jsonl`, or its public form `name`, as {rows, leaves}, two leaves for each row; throws as above. */
  function decodeTelemetry(bytes, name = "telemetry.jsonl") {
    const leaves = [];
    const rows = readRows(bytes, name, "TelemetryRow", (members, line) => leaves.push(...figureLeaves(members, line)));
    return { rows, leaves };
  }

  /** Return the verdict that a row carries, its claims with it, or null. */
  function verdictOf(row) {
    return row.verdict === null ? null : { ...row.verdict, claims: row.claims };
  }

  ragassay.rows = { checkSize, splitLines, readRows, decodeOutputs, decodeTelemetry, verdictOf };
})();
