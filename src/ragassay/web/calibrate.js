"use strict";
// The page on which people rate answers.

const NAME = "ragassay-rater";
const state = {
  rubric: null, rater: null, items: [], ratings: {}, last: null,
  at: 0, // the place in items; items.length is the end
  shown: null, // the key of the answer that is on the screen: nothing else can be rated
  turn: 0, busy: false,
};

function written(level) {
  return level === 0 ? "0" : level === 100 ? "1" : "." + String(level).replace(/0$/, "");
}

function see(section) {
  for (const id of ["start", "rating", "done"]) $(id).hidden = id !== section;
  $("bar").hidden = section === "start";
  $("who").hidden = section === "start";
}

function ratedCount() { return state.items.filter((key) => key in state.ratings).length; }

function describe(given) {
  if (!given) return "not rated";
  if (given.level !== null) return `rated ${written(given.level)}`;
  return `cannot say (${given.reason})`;
}

// --- what is on the screen -----------------------------------------------------------------------------------------

function showRubric() {
  const rubric = state.rubric;
  for (const place of document.querySelectorAll(".task")) place.textContent = rubric.task;
  for (const list of document.querySelectorAll(".levels")) {
    for (const { level, text } of [...rubric.levels].reverse()) list.append(element("dt", written(level)), element("dd", text));
  }
  for (const list of document.querySelectorAll(".rulings")) list.append(...rubric.rulings.map((text) => element("li", text)));
  for (const { key, level, text } of rubric.levels) {
    const button = element("button", "", {
      type: "button", "data-level": level, "aria-keyshortcuts": key, "aria-pressed": "false", title: text,
      "aria-label": `${written(level)}, key ${key}: ${text}`,
    });
    button.append(element("kbd", key), written(level));
    button.addEventListener("click", () => rate({ level }));
    $("levels").append(button);
  }
  for (const { key, reason, text } of rubric.reasons) {
    const button = element("button", "", { type: "button", "data-reason": reason, "aria-keyshortcuts": key, "aria-pressed": "false" });
    button.append(element("kbd", key), ` ${text}`);
    button.addEventListener("click", () => rate({ reason }));
    $("reasons").append(button);
  }
}

function marks() {
  const given = state.ratings[state.shown];
  for (const button of $("levels").children) button.setAttribute("aria-pressed", String(given !== undefined && given.level === Number(button.dataset.level)));
  for (const button of $("reasons").children) button.setAttribute("aria-pressed", String(given !== undefined && given.reason === button.dataset.reason));
  $("cannot").setAttribute("aria-pressed", String(given !== undefined && given.reason !== null));
  $("progress").textContent = `${ratedCount()} of ${state.items.length} rated`;
  $("undo").disabled = state.last === null;
  $("previous").disabled = state.at === 0;
  $("next").disabled = state.at >= state.items.length;
  for (const button of [...$("levels").children, $("cannot")]) button.disabled = state.shown === null;
}

function reasons(open) {
  $("reasons").hidden = !open;
  $("levels").hidden = open; // while reasons are asked, the keys 1 to 4 are theirs
  $("cannot").setAttribute("aria-expanded", String(open));
}

async function show() {
  const turn = ++state.turn;
  state.shown = null;
  reasons(false);
  if (state.at >= state.items.length) {
    end();
    return;
  }
  const key = state.items[state.at];
  let item;
  try {
    item = await ask(`/calibrate/item/${encodeURIComponent(key)}`);
  } catch (error) {
    if (turn === state.turn) {
      complain(error);
      marks();
    }
    return;
  }
  if (turn !== state.turn) return;
  fill(item);
  state.shown = key;
  see("rating");
  marks();
  window.scrollTo(0, 0);
  $("place").focus({ preventScroll: true });
}

function fill(item) {
  $("place").textContent = `Answer ${state.at + 1} of ${state.items.length}, ${describe(state.ratings[item.key])}`;
  $("question").textContent = item.question;
  $("reference").textContent = item.reference;
  $("claims-part").hidden = item.claims.length === 0;
  $("claims").replaceChildren(...item.claims.map(({ text, central }) => {
    const line = element("li", text, { dir: "auto" });
    if (central) {
      line.className = "central";
      line.append(element("span", " (central)"));
    }
    return line;
  }));
  $("evidence-part").hidden = item.evidence.length === 0;
  $("evidence").replaceChildren(...item.evidence.map((text) => element("blockquote", text, { dir: "auto" })));
  const blank = item.answer.trim() === "";
  $("answer").textContent = blank ? "(this answer is empty)" : item.answer;
  $("answer").classList.toggle("note", blank);
  $("cut").hidden = item.cut === null;
  $("cut").textContent = item.cut === null ? "" : `Shown are the first characters of ${item.cut}; a judge sees no more either.`;
}

function end() {
  const rated = state.items.filter((key) => state.ratings[key] && state.ratings[key].level !== null).length;
  const unsaid = ratedCount() - rated;
  const left = state.items.length - ratedCount();
  $("done-title").textContent = left === 0 ? "All answers are rated" : "The end of the list";
  $("done-text").textContent = `${rated} rated, ${unsaid} could not be said, ${left} left.`;
  see("done");
  marks();
  $("done-title").focus({ preventScroll: true });
}

// --- what a person does --------------------------------------------------------------------------------------------

function nextOpen() {
  const count = state.items.length;
  for (let step = 1; step <= count; step += 1) {
    const place = (state.at + step) % count;
    if (!(state.items[place] in state.ratings)) return place;
  }
  return count;
}

async function change(path, body, after) {
  if (state.busy) return;
  state.busy = true;
  try {
    const given = await ask(path, { rater: state.rater, ...body });
    state.ratings = given.ratings;
    state.last = given.last;
    complain(null);
    after();
  } catch (error) {
    say("Not stored.");
    complain(error);
    marks();
    return;
  } finally {
    state.busy = false;
  }
  await show();
}

async function rate(what) {
  const key = state.shown;
  if (key === null || state.busy) return;
  await change("/calibrate/rate", { item: key, ...what }, () => {
    say(`Stored: ${describe(state.ratings[key])}. ${ratedCount()} of ${state.items.length} rated.`);
    state.at = nextOpen();
  });
}

async function undo() {
  if (state.last === null || state.busy) return;
  const { item, rating } = state.last;
  await change("/calibrate/undo", { item, rating }, () => {
    state.at = state.items.indexOf(item);
    say(`Taken back; this answer is ${describe(state.ratings[item])} now. ${ratedCount()} of ${state.items.length} rated.`);
  });
}

async function move(step) {
  const place = state.at + step;
  if (state.busy || place < 0 || place > state.items.length) return;
  state.at = place;
  say("");
  await show();
}

function toggleReasons() {
  if (state.shown === null) return;
  const open = $("reasons").hidden;
  reasons(open);
  (open ? $("reasons").firstElementChild : $("cannot")).focus();
  if (open) say("Why can you not say? 1 to 4 choose, Escape goes back.");
}

function pressed(event) {
  if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if ($("bar").hidden || event.target.closest("input")) return;
  const key = event.key;
  const asked = !$("reasons").hidden;
  const level = state.rubric.levels.find((one) => one.key === key);
  const reason = state.rubric.reasons.find((one) => one.key === key);
  if (asked && reason) rate({ reason: reason.reason });
  else if (asked && (key === "Escape" || key === "0")) toggleReasons();
  else if (asked) return;
  else if (level) rate({ level: level.level });
  else if (key === "0") toggleReasons();
  else if (key === "u") undo();
  else if (key === "j") move(1);
  else if (key === "k") move(-1);
  else return;
  event.preventDefault();
}

async function begin(name) {
  const given = await ask(`/calibrate/state?rater=${encodeURIComponent(name)}`);
  Object.assign(state, { rater: given.rater, items: given.items, ratings: given.ratings, last: given.last });
  sessionStorage.setItem(NAME, given.rater);
  $("name").textContent = given.rater;
  complain(null);
  say("");
  state.at = -1;
  state.at = nextOpen();
  await show();
}

function askName() {
  state.turn += 1;
  state.shown = null;
  sessionStorage.removeItem(NAME);
  $("progress").textContent = "";
  $("name-field").value = "";
  see("start");
  $("name-field").focus();
}

async function start() {
  try {
    state.rubric = await ask("/calibrate/rubric");
    showRubric();
    const name = sessionStorage.getItem(NAME) || state.rubric.rater;
    if (name) await begin(name);
    else askName();
  } catch (error) {
    if (state.rubric !== null) see("start"); // else there is nothing to rate, and the problem says why
    complain(error);
  }
}

$("name-form").addEventListener("submit", (event) => {
  event.preventDefault();
  begin($("name-field").value).catch(complain);
});
$("change").addEventListener("click", askName);
$("cannot").addEventListener("click", toggleReasons);
$("undo").addEventListener("click", undo);
$("previous").addEventListener("click", () => move(-1));
$("next").addEventListener("click", () => move(1));
document.addEventListener("keydown", pressed);
start();
