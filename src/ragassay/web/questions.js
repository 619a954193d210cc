"use strict";
// What all parts of the page share.

const NAME = "ragassay-reviewer";
const VIEWS = ["start", "item", "done"];
const REACHES = [700, 4000, 20000];
const OPEN = ["unreviewed", "stale"];
const state = {
  reviewer: null, view: "start",
  questions: [], unknown: [], corpus: false,
  order: [], at: 0, // the ids that are gone through now; at is the place in order, its length the end
  item: null, reach: 0, // what is on the screen: nothing else can be decided; how far around the evidence
  last: null, // the question that this reviewer decided last
  editing: false, turn: 0, busy: false,
};

function see(view) {
  state.view = view;
  for (const id of VIEWS) $(id).hidden = id !== view;
  $("bar").hidden = view === "start";
  $("who").hidden = view === "start";
}

function take(given) {
  state.questions = given.questions;
  state.unknown = given.unknown;
  state.corpus = given.corpus;
}

function entry(id) { return state.questions.find((one) => one.id === id); }

function isOpen(one) { return OPEN.includes(one.state); }

function reviewedCount() { return state.questions.filter((one) => !isOpen(one)).length; }

function progress() {
  $("progress").textContent = `${reviewedCount()} of ${state.questions.length} reviewed`;
}

// --- which questions, in which order ---------------------------------------------------------------------------------

function chosen(one) {
  const words = $("filter-text").value.trim().toLowerCase();
  const wanted = $("filter-state").value;
  if (words && !`${one.name} ${one.input}`.toLowerCase().includes(words)) return false;
  if (wanted && (wanted === "open" ? !isOpen(one) : one.state !== wanted)) return false;
  return !$("filter-lint").checked || one.errors + one.warnings > 0;
}

function reorder(keep) { // those that are not reviewed first, each in the order of the file
  const found = state.questions.filter(chosen);
  state.order = [...found.filter(isOpen), ...found.filter((one) => !isOpen(one))].map((one) => one.id);
  const place = keep === null ? -1 : state.order.indexOf(keep);
  state.at = place >= 0 ? place : 0;
}

function nextOpen() { // the next one that is not reviewed, from here on and then from the beginning; the end if none
  const count = state.order.length;
  for (let step = 1; step <= count; step += 1) {
    const place = (state.at + step) % count;
    const one = entry(state.order[place]);
    if (one && isOpen(one)) return place;
  }
  return count;
}

async function refresh() {
  take(await ask(`/questions/state?reviewer=${encodeURIComponent(state.reviewer)}`));
  const known = new Set(state.questions.map((one) => one.id));
  const here = state.order[state.at];
  state.order = state.order.filter((id) => known.has(id));
  const place = state.order.indexOf(here);
  state.at = place >= 0 ? place : Math.min(state.at, state.order.length);
  progress();
}

async function show() {
  const turn = ++state.turn;
  state.item = null;
  closeEditor();
  buttons();
  if (state.at >= state.order.length) {
    end();
    return;
  }
  const id = state.order[state.at];
  const asked = new URLSearchParams({ reviewer: state.reviewer, id, reach: REACHES[state.reach] });
  let item;
  try {
    item = await ask(`/questions/item?${asked}`);
  } catch (error) {
    if (turn === state.turn) complain(error);
    return;
  }
  if (turn !== state.turn) return;
  state.item = item;
  fill(item);
  see("item");
  buttons();
  window.scrollTo(0, 0);
  $("item-title").focus({ preventScroll: true });
}

function end() {
  const left = state.questions.filter(isOpen).length;
  const counts = ["accepted", "edited", "rejected", "carried"].map((name) => [state.questions.filter((one) => one.state === name).length, name])
    .filter(([count, name]) => count > 0 || name !== "carried").map(([count, name]) => `${count} ${name}`);
  $("done-title").textContent = left === 0 ? "All questions are reviewed" : "The end of this list";
  $("done-text").textContent = `${counts.join(", ")}, ${left} not reviewed.`;
  see("done");
  buttons();
  $("done-title").focus({ preventScroll: true });
}

function mine() { return state.item !== null && state.item.decision !== null && state.item.decision.reviewer === state.reviewer; }

function buttons() {
  const item = state.item;
  $("reading").hidden = state.editing;
  $("editing").hidden = !state.editing;
  $("accept").disabled = item === null || item.refusals.length > 0;
  for (const id of ["edit", "reject"]) $(id).disabled = item === null;
  $("undo").disabled = !mine() && state.last === null;
  $("previous").disabled = state.at === 0;
  $("next").disabled = state.at >= state.order.length;
}

// --- what a person decides -------------------------------------------------------------------------------------------

async function store(path, body) { // true where it is stored
  state.busy = true;
  try {
    take(await ask(path, { reviewer: state.reviewer, ...body }));
    complain(null);
    progress();
    return true;
  } catch (error) {
    say("Not stored.");
    if (error.status !== 409) {
      complain(error);
      return false;
    }
    await refresh().catch(() => {});
    if (state.editing) await takeAnew(); // what was typed stays
    else await show();
    say("Not stored; what is shown now is what is there.");
    complain(error);
    return false;
  } finally {
    state.busy = false;
    buttons();
  }
}

async function decide(decision, more, digests) {
  const item = state.item;
  if (item === null || state.busy) return;
  const { material, pageSha256, shown } = digests;
  const sent = { id: item.id, decision, material, pageSha256, shown, reach: REACHES[state.reach], ...more };
  if (!await store("/questions/decide", sent)) return;
  state.last = item.id;
  say(`Stored: ${item.name} is ${entry(item.id)?.state ?? "gone"}.`);
  state.at = nextOpen();
  await show();
}

async function accept() {
  if (state.item === null) return;
  if (state.item.refusals.length) say("It cannot be accepted as it is; see what the lint says.");
  else await decide("accept", {}, state.item);
}

function askWhy() {
  if (state.item === null || state.busy) return;
  $("why").dataset.question = state.item.id;
  $("why-reason").value = "";
  $("why").showModal();
  $("why-reason").focus();
}

async function reject() {
  $("why").close();
  if (state.item?.id === $("why").dataset.question) await decide("reject", { reason: $("why-reason").value }, state.item);
}

async function undo() {
  if (state.busy) return;
  if (!mine() && state.last !== null) { // first to the question, then back
    const id = state.last;
    if (!state.order.includes(id)) clearFilter();
    state.at = Math.max(0, state.order.indexOf(id));
    await show();
  }
  if (!mine()) {
    state.last = null;
    buttons();
    say("There is no decision of yours to take back here.");
    return;
  }
  const { id, name, decision } = state.item;
  if (!await store("/questions/undo", { id, line: decision.line })) return;
  state.last = null;
  await show();
  say(`Taken back: ${name} is ${entry(id)?.state ?? "gone"}.`);
}

async function move(step) {
  const place = state.at + step;
  if (state.busy || place < 0 || place > state.order.length) return;
  state.at = place;
  say("");
  await show();
}
