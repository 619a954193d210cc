"use strict";
// What all parts of the review page share.

const NAME = "ragassay-reader";
const VIEWS = ["start", "list", "findings", "unit", "done"];
const state = {
  reader: null, view: "start",
  scan: null, rows: [], refused: [], units: [], seen: new Set(), place: null,
  order: [], at: 0, // the units that are read now, as places in units; at is the place in order
  only: null, // the run that is read alone
  unit: null, page: 0, ended: false, // what is on the screen, and whether its end was
  current: null, last: null, // the finding that keys decide; the unit that was marked last
  turn: 0, busy: false, timer: null,
};

function send(path, body) { return ask(path, { reader: state.reader, ...body }); }

let waiting = Promise.resolve();

function alone(work) { // what is stored is stored one after the other, and none is dropped
  const done = waiting.then(work);
  waiting = done.catch(() => {});
  return done;
}

function see(view) {
  state.view = view;
  for (const id of VIEWS) $(id).hidden = id !== view;
  $("bar").hidden = view === "start";
  $("reading").hidden = view !== "unit";
  $("who").hidden = view === "start";
  if (view !== "unit") filterOpen(false);
}

function progress() {
  const count = state.units.filter((unit) => state.seen.has(unit.key)).length;
  $("progress").textContent = state.units.length ? `${count} of ${state.units.length} read` : "";
  return count;
}

async function refresh() {
  const given = await ask(`/review/state?reader=${encodeURIComponent(state.reader)}`);
  state.reader = given.reader;
  Object.assign(state, { scan: given.scan, rows: given.rows, refused: given.refused, units: given.units });
  state.seen = new Set(given.seen);
  state.place = given.at;
  if (state.last === null && given.seen.length) state.last = given.seen[given.seen.length - 1];
  progress();
  clearTimeout(state.timer);
  if (given.scan.running) watchScan(1000);
}

let lost = false;

function watchScan(wait) { // asks in a few bytes whether it is done, and for everything only then
  clearTimeout(state.timer);
  state.timer = setTimeout(async () => {
    try {
      if ((await ask("/review/scan")).running) watchScan(1000);
      else await again();
      if (lost) complain(null);
      lost = false;
    } catch (error) {
      lost = true;
      complain(error);
      if (error.status !== 403) watchScan(5000); // it may answer again; under another token it will not
    }
  }, wait);
}

async function again() {
  const key = state.unit === null ? null : state.unit.key;
  const waited = state.scan.running;
  const before = state.units.map((unit) => unit.key).join();
  await refresh();
  if (before !== state.units.map((unit) => unit.key).join()) reorder(key);
  if (state.view === "list") showList();
  if (state.view === "unit" && waited && !state.scan.running) await show({ page: state.unit?.page ?? null, stay: true });
}

// --- which units are read, in which order ---------------------------------------------------------------------------

function matches(unit, words) {
  const text = [unit.item, unit.question, ...unit.stands.map((one) => one.row)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function reorder(key) {
  const words = $("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const of = state.only === null ? null : new Set(runs().find((run) => run.run === state.only)?.units ?? []);
  state.order = [];
  state.units.forEach((unit, place) => {
    if (of !== null && !of.has(place)) return;
    if ($("filter-unread").checked && state.seen.has(unit.key)) return;
    if ($("filter-open").checked && unit.open === 0) return;
    if (matches(unit, words)) state.order.push(place);
  });
  const found = state.order.findIndex((place) => state.units[place].key === key);
  state.at = found < 0 ? 0 : found;
}

function runs() { return state.rows.flatMap((row) => row.runs); }

function nextUnread(from) {
  for (let step = 0; step < state.order.length; step += 1) {
    const at = (from + step) % state.order.length;
    if (!state.seen.has(state.units[state.order[at]].key)) return at;
  }
  return -1;
}

function clearFilter() {
  $("filter-text").value = "";
  $("filter-unread").checked = false;
  $("filter-open").checked = false;
}

function filterOpen(open) {
  $("filter").hidden = !open;
  $("to-filter").setAttribute("aria-expanded", String(open));
}
