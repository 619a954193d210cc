// A report as elements of the page. Every text goes in as text, with what steers a display written out.
(() => {
  "use strict";

  const STEERING = new RegExp(ragassay.data.steering, "gu");

  /** Return `text` with every steering character written as [U+202E]; tabs and line feeds stay (site/safe.py). */
  function visible(text) {
    return String(text).replace(STEERING, (char) => {
      const point = char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      return `[U+${point}]`;
    });
  }

  /** Return an element; `children` are elements or texts, and a text is made visible. */
  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    for (const child of children) made.append(typeof child === "string" ? visible(child) : child);
    return made;
  }

  function utc(seconds) {
    return Number.isSafeInteger(seconds) && seconds > 0 && seconds < 253402300800
      ? `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`
      : "–";
  }

  const { severity, ok } = ragassay.report;

  /** Return "yes", "unpinned" (nothing speaks against it, but nobody is trusted) or "no". */
  function verdictOf(report, strict) {
    if (!ok(report, strict)) return "no";
    const unpinned = !report.pinned || report.findings.some((finding) => finding.code === "SIGNER_UNPINNED");
    return unpinned ? "unpinned" : "yes";
  }

  function count(number, noun, nouns = `${noun}s`) {
    return `${number} ${number === 1 ? noun : nouns}`;
  }

  function verdictWords(report, verdict, strict) {
    const fails = report.findings.filter((finding) => severity(finding.code, strict) === "fail").length;
    const warns = report.findings.length - fails;
    const beside = warns > 0 ? ` ${count(warns, "warning")}.` : "";
    if (verdict === "no") return ["No.", ` ${count(fails, "reason")} against this run.${beside}`];
    if (verdict === "unpinned") {
      return ["Unchanged since it was signed, but nobody vouches for it yet.", ` You have pinned no key.${beside}`];
    }
    return [strict ? "Yes, strictly." : "Yes.", ` The run holds, and you pinned whoever signed it.${beside}`];
  }

  const ICONS = { yes: "✓", unpinned: "?", no: "✕" };

  function verdictLine(report, verdict, strict) {
    const [first, rest] = verdictWords(report, verdict, strict);
    const icon = element("span", { class: "icon", "aria-hidden": "true" }, ICONS[verdict]);
    return element("p", { class: "verdict-line" }, icon, element("strong", {}, first), rest);
  }

  function fact(name, value) {
    return element("div", {}, element("dt", {}, name), element("dd", {}, value));
  }

  function scoreText(report) {
    const { score } = report;
    return score === null ? "none" : `${score.decimal} (${score.num}/${score.den})`;
  }

  const LOST = [
    ["unjudged", "unjudged"],
    ["answerFailed", "without an answer"],
    ["retrievalFailed", "without retrieval"],
    ["harnessFailed", "lost by the harness"],
  ];

  function countsText(counts) {
    const lost = LOST.filter(([name]) => counts[name] > 0).map(([name, words]) => `${counts[name]} ${words}`);
    return [`${counts.scored} of ${counts.asked} scored`, ...lost].join(", ");
  }

  function facts(report) {
    const list = element("dl", { class: "facts" });
    list.append(
      fact("Row", report.row),
      fact("Pass", `${report.passK} of ${report.passOf}`),
      fact("Kind of run", report.sourceKind),
      fact("Questions", report.benchmark),
      fact("Measure", report.metric),
      fact("Score that it states", scoreText(report)),
      fact("Counts that it states", report.counts ? countsText(report.counts) : "–"),
      fact("Run", report.runId),
    );
    return list;
  }

  function recomputed(report) {
    const says = (made, codes) =>
      !report.made.includes(made)
        ? "not recomputed"
        : report.findings.some((finding) => codes.includes(finding.code))
          ? "recomputed, and different"
          : "recomputed, and the same";
    const checkable = report.made.includes("item scores");
    const items = checkable ? says("item scores", ["ITEM_SCORE", "SCORED_FAILURE"]) : "not checkable";
    const given = report.findings.some((finding) => finding.code.endsWith("_DIGEST"))
      ? " These are the figures of the files as they were given, which are not the ones that were signed."
      : "";
    return element(
      "p",
      {},
      `Item scores from their verdicts: ${items}. Score from the items: ${says("run score", ["RUN_SCORE"])}. ` +
        `Counts from the rows: ${says("counts", ["COUNTS"])}.${given}`,
    );
  }

  function signerLine(report) {
    const codes = new Set(report.findings.map((finding) => finding.code));
    if (codes.has("SIGNATURE_INVALID")) return "It claims the key below, but the signature does not hold";
    if (codes.has("KEY_UNKNOWN")) return "Signed by a key that you did not pin";
    if (codes.has("KEY_WEAK") || !report.made.includes("signature")) {
      return "It names the key below; no signature shows it";
    }
    return report.pinned ? "Signed by the key that you pinned" : "Signed by a key that you have not pinned";
  }

  function signer(report) {
    const status = report.keyStatus ? ` The pinned registry calls it ${report.keyStatus}.` : "";
    const name = report.signerName ? ` It calls itself “${report.signerName}”, which proves nothing.` : "";
    return element(
      "div",
      {},
      element("p", { class: "label" }, `${signerLine(report)}. Its fingerprint:`),
      element("span", { class: "fingerprint" }, report.fingerprint),
      element("p", { class: "small" }, `Compare it with what its owner gave you by another way.${status}${name}`),
    );
  }

  function passesText({ published, voided, missing }) {
    const listed = (numbers) => (numbers.length > 0 ? numbers.join(", ") : "none");
    return ` Passes published: ${listed(published)}; void: ${listed(voided)}; missing: ${listed(missing)}.`;
  }

  function announcedText(announced) {
    if (!announced) return "It names no announcement.";
    const { log, index, planned, witnessedAt, passes } = announced;
    const plan = planned === null ? "" : `, which plans ${count(planned, "pass", "passes")}`;
    const seen = witnessedAt === null ? "no trusted witness says when" : `witnessed ${utc(witnessedAt)}`;
    const ended = passes ? passesText(passes) : "";
    return `It names as its announcement entry ${index} of the log ${log}${plan}; ${seen}.${ended}`;
  }

  function times(report) {
    const at = report.witnessedAt;
    const seen = at === null ? "No trusted witness says when the run was signed." : `The run was witnessed ${utc(at)}.`;
    return `${seen} ${announcedText(report.announced)}`;
  }

  const MOST_REASONS = 5;

  /** Return what its publisher keeps back of the run, and why, the most frequent reasons first. */
  function withheld({ texts, rows, reasons }) {
    const list = element("ul", { class: "withheld" });
    const sorted = [...reasons].sort((one, other) => other.texts - one.texts);
    for (const { reason, texts: number } of sorted.slice(0, MOST_REASONS)) {
      list.append(element("li", {}, `${count(number, "text")}, because: ${reason.slice(0, 400)}`));
    }
    const more = sorted.length - MOST_REASONS;
    if (more > 0) list.append(element("li", {}, `and for ${count(more, "more reason")}`));
    const said =
      `Its publisher keeps back ${count(texts, "text")} of ${count(rows, "question")}, or words of them. ` +
      "Verdicts, scores and figures are the signed ones; what could not be checked is listed below. The reasons given:";
    return element("div", { class: "kept" }, element("p", {}, said), list);
  }

  function findingItem({ code, message, where }, strict) {
    const level = severity(code, strict);
    const { meaning } = ragassay.data.codes[code];
    const words = element("span", {}, element("code", {}, code), ` ${message}`);
    if (where) words.append(" ", element("span", { class: "where" }, `[${where}]`));
    if (message !== meaning) words.append(element("span", { class: "meaning" }, meaning));
    return element("li", { class: level }, element("b", {}, level === "fail" ? "against" : "warning"), words);
  }

  function findings(report, strict) {
    const list = element("ul", { class: "checks" });
    const order = [...report.findings].sort(
      (one, other) => (severity(one.code, strict) === "warn") - (severity(other.code, strict) === "warn"),
    );
    for (const finding of order) list.append(findingItem(finding, strict));
    const line = (kind, word, words) =>
      list.append(element("li", { class: kind }, element("b", {}, word), element("span", {}, words)));
    if (report.made.length > 0) line("ok", "checked", report.made.join(", "));
    for (const { check, why } of report.notMade) line("not_made", "not checked", `${check}: ${why}`);
    return list;
  }

  /** Return the article that says everything about one run. */
  function reportArticle(name, report, strict) {
    const verdict = verdictOf(report, strict);
    const article = element("article", { class: `verdict-${verdict}`, "data-verdict": verdict });
    article.append(element("h3", {}, name), verdictLine(report, verdict, strict));
    if (report.runId !== null && report.runId !== undefined) {
      article.append(signer(report), element("p", {}, times(report)), facts(report), recomputed(report));
      if (report.withheld) article.append(withheld(report.withheld));
    }
    article.append(element("p", { class: "label" }, "Every finding, and what was checked"), findings(report, strict));
    return article;
  }

  /** Return the article of a run for which the page itself failed: no answer, and never a yes. */
  function brokenArticle(name, error) {
    const article = element("article", { class: "verdict-no", "data-verdict": "broken" });
    const icon = element("span", { class: "icon", "aria-hidden": "true" }, ICONS.no);
    const why = ` This page failed while checking it, which is a fault of the page: ${error}`;
    article.append(element("h3", {}, name));
    article.append(element("p", { class: "verdict-line" }, icon, element("strong", {}, "No answer."), why));
    return article;
  }

  /** Return the line over several results. */
  function summary(verdicts) {
    const yes = verdicts.filter((verdict) => verdict === "yes").length;
    const open = verdicts.filter((verdict) => verdict === "unpinned").length;
    const parts = [`${yes} of ${count(verdicts.length, "run")} verified`];
    if (open > 0) parts.push(`${open} unchanged but by nobody you pinned`);
    return element("p", { class: "summary" }, `${parts.join(", ")}.`);
  }

  ragassay.view = { visible, element, verdictOf, reportArticle, brokenArticle, summary };
})();
