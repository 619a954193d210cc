"use strict";
// One output on the screen: its texts with what is marked in them, and what counts as having read it.

const PARTS = { question: "asked", reference: "asked", evidence: "asked", chunk: "delivered" };
let watching = null;

function barHeight() { // what it hides of the screen: nothing where it stands below the texts
  return getComputedStyle($("bar")).position === "fixed" ? $("bar").offsetHeight : 0;
}

function watchEnd() {
  if (watching) watching.disconnect();
  watching = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting) || state.unit === null) return;
    state.ended = true;
    markWords();
  }, { rootMargin: `0px 0px -${barHeight()}px 0px`, threshold: 1 });
  watching.observe($("end"));
}

function markWords() {
  const unit = state.unit;
  const more = unit !== null && unit.page + 1 < unit.pages;
  const read = unit !== null && state.seen.has(unit.key);
  $("mark").disabled = unit === null;
  $("mark-words").textContent = !state.ended ? "Scroll" : more ? "Next page" : read ? "Go on" : "Read, go on";
}

function clearUnit() {
  if (watching) watching.disconnect();
  state.unit = null;
  state.ended = false;
  state.current = null;
  for (const id of ["asked", "said", "delivered", "here-findings"]) $(id).replaceChildren();
}

async function show({ page = null, stay = false } = {}) { // without a page: the first that was not read to its end
  const turn = stay ? state.turn : ++state.turn;
  if (state.order.length === 0) {
    finished("No output matches");
    return;
  }
  const key = state.units[state.order[state.at]].key;
  if (!stay) clearUnit(); // keys act on nothing until the next output is there
  let unit;
  try {
    unit = await ask(`/review/unit/${encodeURIComponent(key)}?reader=${encodeURIComponent(state.reader)}${page === null ? "" : `&page=${page}`}`);
  } catch (error) {
    if (turn !== state.turn) return;
    see("unit");
    complain(error);
    markWords();
    return;
  }
  if (turn !== state.turn) return;
  const { current, ended } = state;
  const at = window.scrollY;
  clearUnit();
  see("unit");
  complain(null);
  fill(unit);
  state.unit = unit;
  state.ended = stay && ended;
  state.current = stay && unit.findings.some((one) => one.id === current) ? current : firstOpen(unit.findings);
  showCurrent(false);
  moves();
  window.scrollTo(0, stay ? at : 0);
  if (!stay) $("unit-title").focus({ preventScroll: true });
  watchEnd();
  keepPlace(key);
}

function moves() {
  $("previous").disabled = state.at === 0;
  $("next").disabled = state.at >= state.order.length - 1;
  $("undo").disabled = state.last === null && !state.seen.has(state.unit?.key);
  markWords();
}

function fill(unit) {
  const read = state.seen.has(unit.key) ? " · read" : "";
  $("unit-title").textContent = `${unit.item} · ${state.at + 1} of ${state.order.length}${read}`;
  const rows = new Map();
  for (const one of unit.stands) rows.set(one.row, [...(rows.get(one.row) ?? []), one.pass]);
  const words = [...rows].map(([row, passes]) => `${row}, ${passes.length === 1 ? "pass" : "passes"} ${passes.join(", ")}`);
  const score = unit.score === null ? "no score" : `score ${(unit.score / 100).toFixed(2)}`;
  $("stands").textContent = `${words.join(" · ")} · ${score}`;
  $("page-note").hidden = unit.pages === 1;
  $("page-note").textContent = `Page ${unit.page + 1} of ${unit.pages}: this output is long, and counts as read after its last page.`;
  for (const block of unit.blocks) $(PARTS[block.part] ?? "said").append(...blockNodes(block, unit.findings));
  $("delivered-title").hidden = $("delivered").childElementCount === 0;
  $("end").textContent = unit.page + 1 < unit.pages ? `End of page ${unit.page + 1} of ${unit.pages}.` : "End of this output.";
  $("here").hidden = unit.findings.length === 0;
  $("here-findings").append(...unit.findings.map((one) => findingNode(one)));
}

function blockNodes(block, findings) {
  const words = [block.label, block.verdict, block.central ? "central" : "", block.note && block.segments !== null ? block.note : ""];
  const label = element("p", words.filter(Boolean).join(" · ") + (block.continues ? " (continued)" : ""), { class: "label" });
  if (block.segments === null) return [label, element("p", block.note || "no text", { class: "note" })];
  const kind = block.part === "chunk" ? "chunk" : block.part === "answer" ? "answer" : "";
  const text = element(block.part === "chunk" ? "div" : "blockquote", "", { class: kind, dir: "auto", "data-part": block.part });
  block.segments.forEach((piece, place) => text.append(...pieceNodes(piece, block.segments[place + 1], findings)));
  if (block.segments.length === 0) text.append(element("span", "(empty)", { class: "note" }));
  return block.more ? [label, text, element("p", "goes on on the next page", { class: "note" })] : [label, text];
}

function pieceNodes(piece, next, findings) {
  const after = [];
  let node = document.createTextNode(piece.t);
  const wrap = (attributes) => {
    const outer = element("mark", "", attributes);
    outer.append(node);
    node = outer;
  };
  if (piece.evidence) wrap({ class: "evidence" });
  for (const quote of piece.quotes ?? []) {
    const [number, verdict] = quote.split(" ");
    wrap({ class: verdict });
    if (!(next?.quotes ?? []).includes(quote)) node.append(element("sup", number));
  }
  for (const id of piece.findings ?? []) {
    const finding = findings.find((one) => one.id === id);
    wrap({ class: `finding ${finding?.open ? "open" : "decided"}`, "data-finding": id });
    if (!(next?.findings ?? []).includes(id)) after.push(element("span", finding ? short(finding) : "finding", { class: "tag" }));
  }
  return [node, ...after];
}

// --- findings -------------------------------------------------------------------------------------------------------

const ACTIONS = { allow: "allowed", redact: "redacted", withhold: "withheld" };

function short(finding) {
  return `${finding.kind.replace("_", " ")}: ${finding.decision && !finding.open ? ACTIONS[finding.decision.action] : "undecided"}`;
}

function firstOpen(findings) {
  return (findings.find((one) => one.open) ?? findings[0])?.id ?? null;
}

function findingNode(finding, whole = false) {
  const item = element("li", "", { "data-id": finding.id, class: finding.open ? "open" : "decided", tabindex: "-1" });
  const words = element("p", finding.before, { class: "words" });
  words.append(element("b", finding.text), finding.after);
  const places = whole ? `${plural(finding.places, "place")} in ${plural(finding.runs, "run")}: ` : "in ";
  const more = finding.more ? ` and ${finding.more} more` : "";
  item.append(element("p", `${finding.words} · ${short(finding)}`, { class: "label" }), words);
  item.append(element("p", `${places}${finding.where.join(", ")}${more}`, { class: "note" }));
  const decision = finding.decision;
  if (decision) {
    const lapsed = finding.open ? ", which cannot be carried out any more" : "";
    item.append(element("p", `${ACTIONS[decision.action]} by ${decision.by}${decision.reason ? `: ${decision.reason}` : ""}${lapsed}`, { class: "note" }));
  }
  const does = element("p", "", { class: "moves" });
  for (const [action, key, word] of [["allow", "a", "Allow"], ["redact", "r", "Redact"], ["withhold", "w", "Withhold"]]) {
    const made = button("", () => decide(finding, action), { "data-action": action });
    made.append(element("kbd", key), ` ${word}`);
    made.disabled = !finding.possible.includes(action);
    does.append(made);
  }
  if (whole && finding.unit) does.append(button("Open the output", () => openUnit(finding.unit)));
  item.append(does);
  if (finding.possible.length === 1) {
    const why = finding.kind === "error_text" ? "An answer that is the text of an error is no answer." : standsFixed(finding);
    item.append(element("p", `${why} Allow it with a reason, or do not publish the run.`, { class: "note" }));
  }
  item.addEventListener("focusin", () => {
    state.current = finding.id;
    showCurrent(false);
  });
  return item;
}

function standsFixed({ fixed, moreFixed }) {
  const more = moreFixed ? `; and ${plural(moreFixed, "more place")}` : "";
  return `It stands where nothing can be replaced: ${fixed.join("; ")}${more}.`;
}

function showCurrent(move) {
  const list = $(state.view === "findings" ? "all-findings" : "here-findings");
  for (const item of list.children) {
    if (item.dataset.id === state.current) item.setAttribute("aria-current", "true");
    else item.removeAttribute("aria-current");
    if (move && item.dataset.id === state.current) item.focus();
  }
  for (const mark of document.querySelectorAll("#unit mark.finding")) {
    mark.classList.toggle("current", mark.dataset.finding === state.current);
  }
}

function moveFinding(step) {
  const items = [...$(state.view === "findings" ? "all-findings" : "here-findings").children];
  if (items.length === 0) return;
  const at = items.findIndex((item) => item.dataset.id === state.current);
  const to = Math.min(items.length - 1, Math.max(0, at + step));
  state.current = items[to].dataset.id;
  showCurrent(true);
}

function shownFindings() { return state.view === "findings" ? state.findings : state.unit?.findings ?? []; }

async function decideCurrent(action) {
  const finding = shownFindings().find((one) => one.id === state.current);
  if (!finding) say("There is no finding to decide here.");
  else if (!finding.possible.includes(action)) say("This finding can only be allowed, with a reason.");
  else await decide(finding, action);
}

async function decide(finding, action) {
  state.current = finding.id;
  if (action !== "allow") {
    await store(finding, action, "");
    return;
  }
  $("allow-words").textContent = `${finding.words}: ${finding.text}`;
  $("allow-reason").value = finding.decision?.action === "allow" ? finding.decision.reason : "";
  $("allow").dataset.finding = finding.id;
  $("allow").showModal();
  $("allow-reason").focus();
}

async function store(finding, action, reason) {
  try {
    await alone(() => send("/review/decide", { finding: finding.id, action, reason }));
    say(`Stored: ${finding.kind.replace("_", " ")} ${ACTIONS[action]}.`);
    await refresh();
    complain(null);
  } catch (error) {
    say("Not stored.");
    complain(error);
    return;
  }
  if (state.view === "findings") await showFindings(true);
  else if (state.view === "unit") await show({ page: state.unit?.page ?? null, stay: true });
  const left = shownFindings().find((one) => one.open);
  if (left) state.current = left.id;
  showCurrent(true);
}
