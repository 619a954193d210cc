"use strict";
// One question on the screen: its words, the passage that it rests on, and what the lint says.

const WORDS = {
  exact: "The evidence stands on this page, character for character.",
  missing: "The evidence stands nowhere in the documentation.",
  none: "The question has no evidence.",
};
const ORIGIN = {
  author: "Author", tool: "Tool", created: "Created", reviewedBy: "Reviewed, says the file", derivedFromSystem: "Derived from a system under test",
};

function when(seconds) { return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC"; }

function fill(item) {
  complain(null);
  $("item-title").textContent = `${item.name} · ${state.at + 1} of ${state.order.length} · ${item.state}`;
  $("stands").textContent = told(item);
  $("author-note").hidden = !item.isAuthor;
  $("question").textContent = item.form.input;
  $("target").textContent = item.form.target;
  $("no-claims").hidden = item.form.claims.length > 0;
  $("claims").hidden = item.form.claims.length === 0;
  $("claims").replaceChildren(...item.form.claims.map(claimNode));
  $("topic").textContent = item.form.topic ? `Topic: ${item.form.topic}` : "";
  $("edited-part").hidden = item.edited === null;
  $("edited").replaceChildren(...(item.edited === null ? [] : changes(item.form, item.edited)));
  origin(item.provenance);
  $("near-part").hidden = item.neighbours.length === 0;
  $("near").replaceChildren(...item.neighbours.map(nearNode));
  around(item);
}

function told(item) {
  const one = item.decision;
  if (item.state === "carried") return `The version before was reviewed by ${item.carriedBy} with the same words, and that review carries over.`;
  if (one === null) return "Nobody has decided it.";
  const verb = { accept: "Accepted", edit: "Edited", reject: "Rejected" }[one.decision];
  const why = one.reason === null ? "" : `: ${one.reason}`;
  const own = one.byAuthor ? ", its author," : "";
  const stale = item.state === "stale" ? " The question has changed since, so this does not hold any more." : "";
  return `${verb} by ${one.reviewer}${own} ${when(one.at)}${why}.${stale}`;
}

function literals(claim) {
  const all = [...claim.must.map((list) => `must hold ${list.map((one) => `“${one}”`).join(" or ")}`)];
  if (claim.must_not.length) all.push(`must not hold ${claim.must_not.map((one) => `“${one}”`).join(", ")}`);
  return all.join("; ");
}

function claimNode(claim) {
  const line = element("li", "", { dir: "auto" });
  line.append(element("span", claim.text));
  if (claim.central) line.append(" ", element("span", "central", { class: "tag" }));
  if (literals(claim)) line.append(element("span", literals(claim), { class: "sub" }));
  return line;
}

function changes(before, after) { // what an edit changed, field by field
  const text = { input: (form) => form.input, target: (form) => form.target, evidence: (form) => form.evidence.join("\n"),
    page: (form) => form.page, topic: (form) => form.topic,
    claims: (form) => form.claims.map((one) => `${one.text}${one.central ? " (central)" : ""}${literals(one) ? `; ${literals(one)}` : ""}`).join("\n") };
  const names = { input: "Question", target: "Target", evidence: "Evidence", page: "Page", topic: "Topic", claims: "Claims" };
  return Object.keys(names).filter((name) => text[name](before) !== text[name](after)).flatMap((name) => [
    element("dt", names[name]), element("dd", text[name](after) || "(none)", { dir: "auto" }),
  ]);
}

function origin(given) {
  const told = Object.entries(ORIGIN).filter(([name]) => name in given).map(([name, words]) => [words, given[name] === true ? "yes" : given[name] === false ? "no" : given[name]]);
  if (!("author" in given)) told.unshift(["Author", "(none named)"]);
  $("origin").replaceChildren(...told.flatMap(([words, value]) => [element("dt", words), element("dd", value, { dir: "auto" })]));
}

function nearNode(one) {
  const line = element("li", "");
  line.append(button(one.name, () => open(one.id).catch(complain), { class: "plain" }), ` ${one.shared}% of the words${one.samePage ? ", the same page" : ""}: `, element("span", one.input, { dir: "auto" }));
  return line;
}

// --- what stands beside the form that is looked at: the question's own, or an edited one ----------------------------

function around(given) {
  $("no-corpus").hidden = given.corpus;
  $("lint").replaceChildren(...given.lint.map(findingNode));
  if (given.lint.length === 0) $("lint").append(element("li", given.corpus ? "Nothing." : "Nothing of the words; the evidence was not looked up.", { class: "note" }));
  $("refused").hidden = given.refusals.length === 0;
  $("refused").textContent = given.refusals.length === 0 ? "" : "It cannot be accepted as it is: edit it, reject it, or waive the rule.";
  $("passages").replaceChildren(...given.passages.map(passageNode));
  const shown = given.passages.filter((one) => one.page !== null);
  $("more-around").hidden = shown.length === 0;
  $("more-around").disabled = state.reach >= REACHES.length - 1 || shown.every((one) => one.start === 0 && one.end === one.length);
}

function findingNode(one) {
  const line = element("li", "", { class: one.waived === null && one.severity === "error" ? "open" : "" });
  const more = one.othersMore ? ` and ${one.othersMore} more` : "";
  const others = one.others.length ? ` (with ${one.others.join(", ")}${more})` : "";
  line.append(element("b", `${one.waived === null ? one.severity : "waived"}: ${one.rule}`), others, element("p", one.message, { dir: "auto" }));
  if (one.waived !== null) line.append(element("p", `Waived: ${one.waived}`, { class: "note", dir: "auto" }));
  if (one.places.length) line.append(element("p", `at ${one.places.join("; ")}`, { class: "note" }));
  return line;
}

function found(one) {
  if (one.state === "folded") return `The evidence stands on this page under folds: ${one.folds.join(", ")}.`;
  if (one.inside) return "The evidence stands here only inside a longer word or number.";
  return WORDS[one.state];
}

function passageNode(one) {
  const part = element("section", "", { class: "passage" });
  const name = one.alternative === null || one.alternative === 0 ? "" : `Alternative ${one.alternative + 1}. `;
  part.append(element("p", `${name}${found(one)}`, { class: one.state === "missing" ? "loud" : "note" }));
  if (one.declared !== null && one.declaredExists === false) part.append(element("p", `The documentation has no page ${one.declared}.`, { class: "loud" }));
  else if (one.declared !== null && one.page !== null && one.declared !== one.page) part.append(element("p", `The question names the page ${one.declared}.`, { class: "loud" }));
  if (one.repeats) part.append(element("p", `It stands ${one.repeats} more times on this page.`, { class: "note" }));
  const more = one.othersMore ? ` and ${one.othersMore} more` : "";
  if (one.others.length) part.append(element("p", `It stands on other pages too: ${one.others.join(", ")}${more}.`, { class: "loud" }));
  if (one.page === null) return part;
  const where = element("p", "", { class: "label" });
  where.append(element("b", one.page), one.title ? ` · ${one.title}` : "", " · ", address(one.address));
  const from = `characters ${one.start} to ${one.end} of ${one.length}`;
  const text = element("blockquote", "", { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": `Passage, ${from}` });
  text.append(...pieceNodes(one.pieces));
  part.append(where, text, element("p", from, { class: "note" }));
  return part;
}

function address(text) {
  if (text === null) return element("span", "address not known", { class: "note" });
  if (!/^https?:\/\//.test(text)) return element("span", text);
  return element("a", text, { href: text, rel: "noreferrer noopener", target: "_blank" });
}

function pieceNodes(pieces) { // the evidence is one mark, whatever in it was written out
  const made = [];
  let mark = null;
  for (const piece of pieces) {
    const text = piece.hidden ? element("span", piece.text, { class: "written-out" }) : piece.text;
    if (!piece.marked) {
      mark = null;
      made.push(text);
      continue;
    }
    if (mark === null) made.push(mark = element("mark", ""));
    mark.append(text);
  }
  return made;
}

function selectedWords() { // the words selected in a passage, without what the page wrote out for hidden characters
  const selection = window.getSelection();
  if (selection.rangeCount === 0 || selection.isCollapsed) return "";
  const range = selection.getRangeAt(0);
  if (!range.commonAncestorContainer.parentElement?.closest(".passage blockquote") && !range.commonAncestorContainer.closest?.(".passage blockquote")) return "";
  const copy = range.cloneContents();
  for (const one of copy.querySelectorAll(".written-out")) one.remove();
  return copy.textContent.trim();
}
