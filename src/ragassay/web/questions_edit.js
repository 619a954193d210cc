"use strict";
// Editing: a form whose every state is checked by the server without being stored, and taken only as it was checked.

const CHECK_AFTER_MS = 350;
const editor = { checked: null, text: "", timer: null, turn: 0, dropping: false };

function openEditor() {
  if (state.item === null || state.busy || state.editing) return;
  const form = state.item.edited ?? state.item.form;
  state.editing = true;
  $("edit-input").value = form.input;
  $("edit-target").value = form.target;
  $("edit-page").value = form.page;
  $("edit-topic").value = form.topic;
  $("edit-evidence").replaceChildren(...form.evidence.map(evidenceNode));
  $("edit-claims").replaceChildren(...form.claims.map(claimFields));
  $("hidden-note").hidden = !/\[U\+[0-9A-F]{4,6}\]/.test(JSON.stringify(form));
  $("shown").hidden = true;
  $("editor").hidden = false;
  number();
  buttons();
  editor.opened = JSON.stringify(formNow());
  $("edit-input").focus();
  say("Nothing is stored before you accept what you edited.");
  check();
}

function closeEditor() {
  state.editing = false;
  editor.turn += 1;
  editor.checked = null;
  editor.dropping = false;
  clearTimeout(editor.timer);
  $("editor").hidden = true;
  $("shown").hidden = false;
}

function dirty() { return state.editing && JSON.stringify(formNow()) !== editor.opened; }

function leave() {
  if (dirty() && !editor.dropping) {
    editor.dropping = true;
    say("What you typed is not stored. Escape once more drops it.");
    return;
  }
  closeEditor();
  fill(state.item);
  buttons();
  say("Left as it was.");
  $("item-title").focus({ preventScroll: true });
}

// --- the fields ------------------------------------------------------------------------------------------------------

function evidenceNode(text) {
  const row = element("div", "", { class: "evidence-row" });
  const field = element("textarea", "", { rows: "3", dir: "auto" });
  field.value = text;
  row.append(field, button("Remove", () => { row.remove(); changed(); }, { class: "remove" }));
  return row;
}

function lines(list) { return list.join("\n"); }

function listField(list) { // one list of literals; where it is left alone it is sent as it came
  const field = element("textarea", "", { rows: String(Math.max(1, Math.min(6, list.length))), spellcheck: "false", dir: "auto" });
  field.value = lines(list);
  field.ragassayCame = { text: field.value, list };
  return field;
}

function listNow(field) {
  if (field.value === field.ragassayCame.text) return field.ragassayCame.list;
  return field.value.split("\n").map((one) => one.trim()).filter((one) => one !== "");
}

function mustRow(list) {
  const row = element("div", "", { class: "must-row" });
  row.append(listField(list), button("Remove", () => { row.remove(); changed(); }, { class: "remove" }));
  return row;
}

function claimFields(claim) {
  const box = element("fieldset", "", { class: "claim" });
  box.append(element("legend", ""));
  const text = element("textarea", "", { rows: "2", dir: "auto", class: "claim-text" });
  text.value = claim.text;
  const central = element("input", "", { type: "checkbox", class: "claim-central" });
  central.checked = claim.central;
  const label = element("label", "");
  label.append(central, " central: it answers the question");
  const must = element("div", "", { class: "musts" });
  must.append(...claim.must.map(mustRow));
  const not = listField(claim.must_not);
  not.classList.add("must-not");
  const moves = element("p", "", { class: "moves" });
  moves.append(
    button("Add a list of literals", () => { must.append(mustRow([])); number(); must.lastElementChild.firstElementChild.focus(); changed(); }),
    button("Remove this claim", () => { box.remove(); number(); changed(); }, { class: "remove" }),
  );
  box.append(text, label, must, element("label", "Must not hold", { class: "not-label" }), not, moves);
  return box;
}

let numbered = 0;

function number() { // every field has a name that says which it is
  [...$("edit-evidence").children].forEach((row, at) => {
    row.firstElementChild.setAttribute("aria-label", `Evidence ${at + 1}`);
    row.lastElementChild.setAttribute("aria-label", `Remove evidence ${at + 1}`);
  });
  [...$("edit-claims").children].forEach((box, at) => {
    box.querySelector("legend").textContent = `Claim ${at + 1}`;
    box.querySelector(".claim-text").setAttribute("aria-label", `Text of claim ${at + 1}`);
    [...box.querySelectorAll(".must-row")].forEach((row, list) => {
      row.firstElementChild.setAttribute("aria-label", `Literals of claim ${at + 1}, list ${list + 1}: one of these`);
      row.lastElementChild.setAttribute("aria-label", `Remove list ${list + 1} of claim ${at + 1}`);
    });
    const not = box.querySelector(".must-not");
    not.id = not.id || `must-not-${(numbered += 1)}`;
    box.querySelector(".not-label").setAttribute("for", not.id);
  });
}

function formNow() {
  return {
    input: $("edit-input").value,
    target: $("edit-target").value,
    page: $("edit-page").value,
    topic: $("edit-topic").value,
    evidence: [...$("edit-evidence").children].map((row) => row.firstElementChild.value).filter((text) => text.trim() !== ""),
    claims: [...$("edit-claims").children].map((box) => ({
      text: box.querySelector(".claim-text").value,
      central: box.querySelector(".claim-central").checked,
      must: [...box.querySelectorAll(".must-row")].map((row) => listNow(row.firstElementChild)).filter((list) => list.length > 0),
      must_not: listNow(box.querySelector(".must-not")),
    })),
  };
}

// --- checking and storing --------------------------------------------------------------------------------------------

function changed() {
  number();
  editor.checked = null;
  editor.dropping = false;
  $("save").disabled = true;
  clearTimeout(editor.timer);
  editor.timer = setTimeout(check, CHECK_AFTER_MS);
}

async function check() {
  if (!state.editing) return;
  clearTimeout(editor.timer);
  const turn = ++editor.turn;
  const form = formNow();
  const text = JSON.stringify(form);
  $("save").disabled = true;
  let given;
  try {
    given = await ask("/questions/check", { id: state.item.id, form, reach: REACHES[state.reach] });
  } catch (error) {
    if (turn === editor.turn && state.editing) complain(error);
    return;
  }
  if (turn !== editor.turn || !state.editing || JSON.stringify(formNow()) !== text) return;
  complain(null);
  editor.text = text;
  editor.checked = given;
  told_(given);
  $("save").disabled = given.problems.length > 0 || given.same || given.refusals.length > 0;
}

function told_(given) {
  if (given.problems.length) {
    $("refused").hidden = false;
    $("refused").textContent = "This is no question yet:";
    $("lint").replaceChildren(...given.problems.map((one) => element("li", one, { class: "open" })));
    return;
  }
  around(given);
  if (given.same) say("Nothing is changed.");
  else if (given.refusals.length) say(`${plural(given.refusals.length, "error")}: it cannot be accepted so.`);
  else say("It can be accepted so.");
}

async function save() {
  if (!state.editing || state.busy) return;
  const form = formNow();
  if (editor.checked === null || JSON.stringify(form) !== editor.text) await check();
  const given = editor.checked;
  if (given === null || JSON.stringify(form) !== editor.text) return;
  told_(given);
  if (given.problems.length || given.same || given.refusals.length) return;
  await decide("edit", { form }, given);
}

async function takeAnew() { // the question, its page or its decision changed: what was typed stays and is checked again
  const asked = new URLSearchParams({ reviewer: state.reviewer, id: state.item.id, reach: REACHES[state.reach] });
  const item = await ask(`/questions/item?${asked}`);
  state.item = item;
  $("stands").textContent = told(item);
  $("item-title").textContent = `${item.name} · ${item.state}`;
  await check();
}

function takeSelection() {
  const words = selectedWords();
  if (!words) {
    say("Select words in the passage first.");
    return;
  }
  const rows = [...$("edit-evidence").children];
  const empty = rows.find((row) => row.firstElementChild.value.trim() === "") ?? (rows.length === 1 ? rows[0] : null);
  if (empty) empty.firstElementChild.value = words;
  else $("edit-evidence").append(evidenceNode(words));
  changed();
  say("Taken as evidence.");
}
