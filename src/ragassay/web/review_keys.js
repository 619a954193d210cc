"use strict";
// What a person does: keys, buttons, marking as read, and the beginning.

async function mark() {
  const unit = state.unit;
  if (unit === null || state.busy) return;
  if (!state.ended) {
    window.scrollBy(0, Math.max(80, window.innerHeight - barHeight() - 60));
    return;
  }
  state.busy = true;
  const turn = state.turn;
  let given;
  try {
    given = await send("/review/seen", { unit: unit.key, page: unit.page, form: unit.form });
    complain(null);
  } catch (error) {
    state.busy = false;
    say("Not stored.");
    if (error.status === 409) await show({ page: unit.page });
    complain(error);
    return;
  }
  state.busy = false;
  if (given.read) {
    state.seen.add(unit.key);
    state.last = unit.key;
    say(`Stored as read: ${unit.item}. ${progress()} of ${state.units.length}.`);
  }
  if (turn !== state.turn) return; // somebody has gone on meanwhile
  if (!given.read) { // the next page, or one before this one that was passed over
    const next = given.missing.find((page) => page > unit.page);
    await show({ page: next ?? given.missing[0] });
    if (next === undefined) say(`Page ${given.missing[0] + 1} was not on the screen to its end yet.`);
    return;
  }
  if (unit.page + 1 < unit.pages) {
    await show({ page: unit.page + 1 });
    return;
  }
  const next = nextUnread(state.at);
  if (next < 0) await finishedReading();
  else {
    state.at = next;
    await show();
  }
}

async function finishedReading() {
  const turn = ++state.turn;
  clearUnit();
  await refresh();
  if (turn !== state.turn) return;
  finished(state.order.length === state.units.length ? "Everything is read" : "Everything of this selection is read");
}

async function move(step) {
  const at = state.at + step;
  if (state.busy || at < 0 || at >= state.order.length) return;
  state.at = at;
  say("");
  await show();
}

async function undo() {
  const shown = state.unit !== null && state.seen.has(state.unit.key) ? state.unit.key : state.last;
  if (shown === null) return;
  try {
    await alone(() => send("/review/unread", { unit: shown }));
    if (state.last === shown) state.last = null;
    await refresh();
    complain(null);
  } catch (error) {
    say("Not stored.");
    complain(error);
    return;
  }
  const at = state.order.findIndex((place) => state.units[place].key === shown);
  if (at >= 0) state.at = at;
  await show();
  say("Taken back: it counts as not read.");
}

let placing = Promise.resolve();
let wanted = null;

function keepPlace(key) {
  wanted = key;
  state.place = key;
  placing = placing.then(async () => {
    if (wanted === null) return;
    const unit = wanted;
    wanted = null;
    await send("/review/place", { unit }).catch(() => {}); // a bookmark only; what cannot be reached is said elsewhere
  });
}

async function backToList() {
  const turn = ++state.turn;
  try {
    await refresh();
  } catch (error) {
    complain(error);
  }
  if (turn !== state.turn) return;
  showList();
  $("list-title").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function toggleFilter() {
  filterOpen($("filter").hidden);
  if (!$("filter").hidden) $("filter-text").focus();
}

async function applyFilter() {
  state.only = null;
  reorder(state.unit?.key ?? null);
  filterOpen(false);
  say(`${state.order.length} of ${plural(state.units.length, "output")} in this selection.`);
  await show();
}

function moveRun(step) {
  const all = [...document.querySelectorAll("#rows .read")];
  const at = all.indexOf(document.activeElement?.closest?.("[data-run]")?.querySelector(".read"));
  const to = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
  to?.focus();
}

function signFocused() {
  const id = document.activeElement?.closest?.("[data-run]")?.dataset.run;
  const run = runs().find((one) => one.run === id);
  if (run) askToSign([run]);
}

const KEYS = {
  unit: {
    " ": mark, j: () => move(1), ArrowRight: () => move(1), k: () => move(-1), ArrowLeft: () => move(-1), u: undo,
    n: () => moveFinding(1), p: () => moveFinding(-1), a: () => decideCurrent("allow"), r: () => decideCurrent("redact"),
    w: () => decideCurrent("withhold"), "/": toggleFilter, f: () => showFindings(), Escape: backToList,
  },
  list: {
    j: () => moveRun(1), ArrowDown: () => moveRun(1), k: () => moveRun(-1), ArrowUp: () => moveRun(-1), s: signFocused,
    f: () => showFindings(), Enter: goOn, "/": () => goOn().then(toggleFilter),
  },
  findings: {
    j: () => moveFinding(1), ArrowDown: () => moveFinding(1), k: () => moveFinding(-1), ArrowUp: () => moveFinding(-1),
    n: () => moveFinding(1), p: () => moveFinding(-1), a: () => decideCurrent("allow"), r: () => decideCurrent("redact"),
    w: () => decideCurrent("withhold"), Enter: openCurrent, Escape: backToList,
  },
  done: { Escape: backToList, Enter: backToList, u: undo },
  start: {},
};

async function openCurrent() {
  const finding = shownFindings().find((one) => one.id === state.current);
  if (finding?.unit) await openUnit(finding.unit);
  else say("It stands outside the outputs.");
}

function pressed(event) {
  if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea")) {
    if (event.key === "Escape" && !$("filter").hidden) {
      filterOpen(false);
      $("unit-title").focus({ preventScroll: true });
      event.preventDefault();
    }
    return;
  }
  if ((event.key === " " || event.key === "Enter") && event.target.closest("button, a, summary")) return;
  if (event.key === "?") $("help").showModal();
  else {
    const does = KEYS[state.view][event.key];
    if (!does) return;
    Promise.resolve(does()).catch(complain);
  }
  event.preventDefault();
}

async function begin(name) {
  state.reader = name;
  state.last = null;
  await refresh();
  sessionStorage.setItem(NAME, state.reader);
  $("name").textContent = state.reader;
  complain(null);
  reorder(state.place);
  showList();
  $("go-on").focus({ preventScroll: true });
}

function askName() {
  state.turn += 1;
  clearUnit();
  sessionStorage.removeItem(NAME);
  $("progress").textContent = "";
  $("name-field").value = "";
  see("start");
  $("name-field").focus();
}

async function start() {
  try {
    const name = sessionStorage.getItem(NAME) || (await ask("/review/begin")).reader;
    if (name) await begin(name);
    else askName();
  } catch (error) {
    complain(error);
    if (state.view === "start") see("start");
  }
}

function on(id, does, event = "click") {
  $(id).addEventListener(event, (given) => {
    if (event === "submit") given.preventDefault();
    Promise.resolve(does(given)).catch(complain);
  });
}

on("name-form", () => begin($("name-field").value), "submit");
on("change", askName);
on("go-on", goOn);
on("to-findings", () => showFindings());
on("reload", async () => { await refresh(); reorder(state.place); showList(); });
on("mark", mark);
on("previous", () => move(-1));
on("next", () => move(1));
on("undo", undo);
on("to-filter", toggleFilter);
on("to-list", backToList);
on("done-list", backToList);
on("to-help", () => $("help").showModal());
on("filter", applyFilter, "submit");
on("filter-clear", () => { clearFilter(); return applyFilter(); });
on("sign-form", signNow, "submit");
on("allow-form", async () => {
  const finding = shownFindings().find((one) => one.id === $("allow").dataset.finding);
  $("allow").close();
  if (finding) await store(finding, "allow", $("allow-reason").value);
}, "submit");
for (const close of document.querySelectorAll("dialog .close")) close.addEventListener("click", () => close.closest("dialog").close());
document.addEventListener("keydown", pressed);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && state.view === "list") again().catch(complain);
});
window.addEventListener("resize", () => { if (state.view === "unit" && state.unit !== null) watchEnd(); });
start();
