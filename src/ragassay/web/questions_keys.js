"use strict";
// Keys, the filter, the list, and the beginning.

function filterOpen(open) {
  $("filter").hidden = !open;
  $("to-filter").setAttribute("aria-expanded", String(open));
  if (open) $("filter-text").focus();
}

function clearFilter() {
  $("filter-text").value = "";
  $("filter-state").value = "";
  $("filter-lint").checked = false;
  reorder(state.item?.id ?? null);
}

async function applyFilter() {
  reorder(state.item?.id ?? null);
  filterOpen(false);
  say(`${state.order.length} of ${plural(state.questions.length, "question")} in this selection.`);
  await show();
}

async function open(id) {
  $("list").close();
  if (!state.order.includes(id)) clearFilter();
  state.at = Math.max(0, state.order.indexOf(id));
  await show();
}

function showList() {
  const rows = state.order.map(entry).filter(Boolean).map((one) => {
    const line = element("li", "");
    const counts = one.errors === null ? "not looked at yet" : [one.errors && plural(one.errors, "error"), one.warnings && plural(one.warnings, "warning")].filter(Boolean).join(", ");
    const by = one.by === null ? "" : ` by ${one.by}`;
    line.append(button(one.name, () => open(one.id).catch(complain), { class: "plain" }), ` ${one.state}${by}${counts ? `, ${counts}` : ""}: `, element("span", one.input, { dir: "auto", class: "note" }));
    return line;
  });
  $("all").replaceChildren(...rows);
  $("list-title").textContent = `${plural(rows.length, "question")} in this selection`;
  $("list").showModal();
}

async function more() {
  if (state.item === null || $("more-around").disabled || state.reach >= REACHES.length - 1) return;
  state.reach += 1;
  if (state.editing) await check();
  else await show();
}

const KEYS = {
  a: accept, e: openEditor, r: askWhy, u: undo, j: () => move(1), ArrowRight: () => move(1), k: () => move(-1),
  ArrowLeft: () => move(-1), m: more, "/": () => filterOpen($("filter").hidden), l: showList, "?": () => $("help").showModal(),
};

function pressed(event) {
  if (event.defaultPrevented || event.repeat || document.querySelector("dialog[open]") || state.view === "start") return;
  let does = null;
  if (state.editing) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) does = save;
    else if (event.key === "Escape") does = leave;
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape" && !$("filter").hidden) does = () => { filterOpen(false); $("item-title").focus({ preventScroll: true }); };
  } else {
    does = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  }
  if (does === null) return;
  event.preventDefault();
  Promise.resolve(does()).catch(complain);
}

async function begin(name) {
  const given = await ask(`/questions/state?reviewer=${encodeURIComponent(name)}`);
  state.reviewer = given.reviewer;
  state.last = null;
  take(given);
  sessionStorage.setItem(NAME, state.reviewer);
  $("name").textContent = state.reviewer;
  complain(null);
  progress();
  reorder(null);
  if (state.questions.length && !state.questions.some(isOpen)) state.at = state.order.length;
  await show();
  if (state.unknown.length) say(`Decisions stand about ${plural(state.unknown.length, "question")} that the file does not hold: ${state.unknown.slice(0, 5).join(", ")}`);
}

function askName() {
  state.turn += 1;
  state.item = null;
  closeEditor();
  sessionStorage.removeItem(NAME);
  $("progress").textContent = "";
  $("name-field").value = "";
  see("start");
  $("name-field").focus();
}

async function start() {
  try {
    const given = await ask("/questions/begin");
    for (const place of document.querySelectorAll(".file")) place.textContent = given.file;
    for (const place of document.querySelectorAll(".decisions")) place.textContent = given.decisions;
    const name = sessionStorage.getItem(NAME) || given.reviewer;
    if (name) await begin(name);
    else askName();
  } catch (error) {
    complain(error);
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
on("accept", accept);
on("edit", openEditor);
on("reject", askWhy);
on("why-form", reject, "submit");
on("undo", undo);
on("previous", () => move(-1));
on("next", () => move(1));
on("to-filter", () => filterOpen($("filter").hidden));
on("filter", applyFilter, "submit");
on("filter-clear", () => { clearFilter(); return applyFilter(); });
on("to-list", showList);
on("to-help", () => $("help").showModal());
on("more-around", more);
on("save", save);
on("cancel", leave);
on("editor", (event) => event.preventDefault(), "submit");
on("editor", changed, "input");
on("editor", changed, "change");
on("add-evidence", () => { $("edit-evidence").append(evidenceNode("")); number(); $("edit-evidence").lastElementChild.firstElementChild.focus(); });
on("take-selection", takeSelection);
$("take-selection").addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
on("add-claim", () => {
  $("edit-claims").append(claimFields({ text: "", central: $("edit-claims").children.length === 0, must: [], must_not: [] }));
  number();
  $("edit-claims").lastElementChild.querySelector(".claim-text").focus();
  changed();
});
for (const close of document.querySelectorAll("dialog .close")) close.addEventListener("click", () => close.closest("dialog").close());
document.addEventListener("keydown", pressed);
window.addEventListener("beforeunload", (event) => { if (dirty()) event.preventDefault(); });
start();
