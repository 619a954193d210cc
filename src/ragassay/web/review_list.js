"use strict";
// The runs that are up for publishing, all findings, and signing off.

function showList() {
  const focused = document.activeElement?.closest?.("[data-run]")?.dataset.run;
  see("list");
  const read = progress();
  const left = state.units.length - read;
  const unsigned = runs().filter((run) => !signedHere(run));
  $("list-sentence").textContent = listSentence(left, unsigned.length);
  showScan();
  $("go-on").disabled = state.units.length === 0;
  $("go-on").textContent = left === 0 ? "Read again" : read === 0 && state.place === null ? "Begin to read" : "Go on reading";
  $("go-on").classList.toggle("main-button", left > 0);
  $("sign-all").hidden = left > 0 || unsigned.length === 0;
  $("sign-all").textContent = `Sign off ${unsigned.length === 1 ? "the run" : `all ${unsigned.length} runs`} that you have not signed`;
  $("rows").replaceChildren(...state.rows.map(rowNode));
  $("refused-part").hidden = state.refused.length === 0;
  $("refused").replaceChildren(...state.refused.map((one) => element("li", `${one.run}: ${one.reason}`)));
  if (focused) document.querySelector(`[data-run="${CSS.escape(focused)}"] button`)?.focus({ preventScroll: true });
}

function listSentence(left, unsigned) {
  if (state.units.length === 0) return "There is no verified run to read. `ragassay run` makes them.";
  if (left > 0) return `${plural(left, "output")} of ${state.units.length} left to read.`;
  if (unsigned > 0) return `You have read every output; ${plural(unsigned, "run")} left to sign off.`;
  return "You have signed off every run. Next: `ragassay publish`, in the terminal.";
}

function signedHere(run) { return run.signed.some((one) => one.reader === state.reader); }

function showScan() {
  const scan = state.scan;
  const more = Object.entries(scan.more).map(([words, count]) => `${count} more ${words} than can be listed`);
  if (scan.running) $("scan").textContent = "The scan for personal data and secrets is under way; nothing can be signed off before it is done.";
  else if (scan.problem) $("scan").textContent = `Nothing was scanned, so nothing can be signed off: ${scan.problem}`;
  else {
    const missing = scan.notDetected.length ? ` Not looked for: ${scan.notDetected.join(", ")}.` : "";
    $("scan").textContent = `${plural(scan.findings, "finding")} of the scan, ${scan.open} undecided.${more.length ? ` ${more.join("; ")}.` : ""}${missing}`;
  }
}

function rowNode(row) {
  const section = element("section", "", { class: "row" });
  const title = element("h2", row.name);
  title.append(" ", element("span", `stack ${row.stack}`, { class: "note" }));
  section.append(title);
  if (row.reason) section.append(element("p", row.reason, { class: "note" }));
  const list = element("ul", "", { class: "runs" });
  list.append(...row.runs.map(runNode));
  section.append(list);
  const unsigned = row.runs.filter((run) => !signedHere(run));
  if (unsigned.length > 1) {
    section.append(button(`Sign off all ${unsigned.length} runs of this row`, () => askToSign(unsigned), { class: "sign-row" }));
  }
  return section;
}

function runNode(run) {
  const read = run.units.filter((place) => state.seen.has(state.units[place].key)).length;
  const item = element("li", "", { "data-run": run.run, title: run.run });
  const scanned = !state.scan.running && !state.scan.problem;
  const open = run.open ? element("span", `${plural(run.open, "finding")} undecided`, { class: "loud" })
    : element("span", scanned ? plural(run.findings, "finding") : "not scanned yet", { class: "note" });
  const signed = run.signed.length
    ? element("span", `signed off by ${run.signed.map((one) => one.reader).join(", ")}`)
    : element("span", run.lapsed.length ? run.lapsed.map((one) => `${one.reader}’s sign-off does not hold any more: ${one.why}`).join("; ") : "not signed off", { class: run.lapsed.length ? "loud" : "note" });
  const does = element("span", "", { class: "do moves" });
  const name = `${run.row}, pass ${run.pass}`;
  does.append(button("Read", () => readRun(run), { class: "read", "aria-label": `Read ${name}` }));
  if (!signedHere(run)) does.append(button("Sign off", () => askToSign([run]), { class: "sign", "aria-label": `Sign off ${name}` }));
  item.append(element("span", `pass ${run.pass} of ${run.of}`), element("span", `${read} of ${run.units.length} read`), open, signed, does);
  return item;
}

async function readRun(run) {
  state.only = run.run;
  clearFilter();
  reorder(null);
  state.at = Math.max(0, nextUnread(0));
  await show();
}

async function goOn() {
  state.only = null;
  clearFilter();
  reorder(state.place);
  const unread = nextUnread(state.at);
  if (unread >= 0) state.at = unread;
  await show();
}

async function openUnit(key) {
  state.only = null;
  clearFilter();
  reorder(key);
  await show();
}

async function showFindings(stay = false) {
  const turn = stay ? state.turn : ++state.turn;
  const given = await ask("/review/findings");
  if (turn !== state.turn) return; // somebody has gone on meanwhile
  const at = window.scrollY;
  state.findings = given.findings;
  see("findings");
  $("all-findings").replaceChildren(...given.findings.map((one) => findingNode(one, true)));
  if (given.findings.length === 0) {
    const none = state.scan.running ? "The scan is under way." : state.scan.problem || "The scan found nothing.";
    $("all-findings").append(element("li", none));
  }
  if (state.scan.running) findingsOnceScanned();
  if (!stay) {
    state.current = firstOpen(given.findings);
    $("findings-title").focus({ preventScroll: true });
  }
  window.scrollTo(0, stay ? at : 0);
  showCurrent(false);
}

function findingsOnceScanned() { // the list is empty until the scan is done, and fills by itself then
  setTimeout(() => {
    if (state.view !== "findings") return;
    if (state.scan.running) findingsOnceScanned();
    else showFindings().catch(complain);
  }, 500);
}

function finished(title) {
  const left = state.units.length - progress();
  clearUnit();
  see("done");
  $("done-title").textContent = title;
  $("done-text").textContent = left === 0 ? "You have read every output of these runs. What is left is to sign them off." : `${plural(left, "output")} left to read elsewhere.`;
  $("done-title").focus({ preventScroll: true });
}

// --- signing off ----------------------------------------------------------------------------------------------------

function askToSign(list) {
  state.signing = list;
  const total = new Set(list.flatMap((run) => run.units)).size; // equal outputs of several passes are read once
  $("sign-words").textContent = `${state.reader} has read all ${plural(total, "different output")} of ${plural(list.length, "run")} and says that they may be published, with what was decided of the findings:`;
  $("sign-runs").replaceChildren(...list.map((run) => {
    const decided = Object.entries(run.decided).filter(([, count]) => count).map(([action, count]) => `${count} ${ACTIONS[action]}`);
    return element("li", `${run.row}, pass ${run.pass}: ${plural(run.items, "output")}; ${[...decided, ...(run.open ? [`${run.open} undecided`] : [])].join(", ") || "no finding"}`);
  }));
  $("sign-refused").hidden = true;
  if (!$("sign").open) $("sign").showModal();
  $("sign-now").focus({ preventScroll: true }); // what is signed is read from its beginning
}

const AT_ONCE = 50; // runs in one request, whose size is limited

async function signNow() {
  const names = state.signing.map(({ run, manifest, decisions }) => ({ run, manifest, decisions }));
  try {
    let signed = 0;
    for (let at = 0; at < names.length; at += AT_ONCE) {
      const given = await alone(() => send("/review/sign", { runs: names.slice(at, at + AT_ONCE) }));
      signed += given.signed.length;
    }
    $("sign").close();
    say(`Stored: ${plural(signed, "run")} signed off.`);
  } catch (error) {
    showRefused(error);
  }
  await refresh();
  if (state.view === "list") showList();
}

const LISTED = 50;

function showRefused(error) {
  const parts = [element("p", `Not signed off: ${error.message}`, { class: "loud" })];
  for (const one of error.refused ?? []) {
    parts.push(element("p", `${one.row ?? one.run}${one.pass ? `, pass ${one.pass}` : ""}${one.why.length ? `: ${one.why.join("; ")}` : ""}`, { class: "label" }));
    parts.push(...missing("not read", one.unread, (it) => it.item, (it) => openUnit(it.unit)));
    parts.push(...missing("undecided", one.undecided, (it) => `${it.kind} ${it.text}`, () => showFindings()));
  }
  $("sign-refused").replaceChildren(...parts);
  $("sign-refused").hidden = false;
}

function missing(word, list, name, open) {
  if (!list?.length) return [];
  const found = element("ul", "", { class: "plain-list" });
  for (const it of list.slice(0, LISTED)) {
    const item = element("li", `${word}: `);
    item.append(button(name(it), () => { $("sign").close(); open(it).catch(complain); }, { class: "plain" }));
    found.append(item);
  }
  if (list.length > LISTED) found.append(element("li", `and ${list.length - LISTED} more`));
  return [found];
}

$("sign-all").addEventListener("click", () => askToSign(runs().filter((run) => !signedHere(run))));
