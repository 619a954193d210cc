"use strict";
// Filters the map of questions and moves through it by keyboard; without it the whole map stands there all the same.
for (const block of document.querySelectorAll(".questions")) {
  const roles = block.dataset.roles.split(" ");
  const table = block.querySelector(".heat");
  const names = [...table.querySelectorAll("thead th")].slice(1).map((cell) => cell.textContent.trim());
  const bodies = [...table.tBodies].map((body) => ({ body, topic: body.querySelector("th.topic")?.textContent ?? "" }));
  const lines = bodies.flatMap(({ body, topic }) =>
    [...body.rows].filter((row) => row.cells.length > 1).map((row) => ({ row, topic, cells: [...row.cells].slice(1) })),
  );
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const bar = make("p", "");
  bar.className = "filters";
  const pick = (label, options) => {
    const box = make("label", `${label} `);
    const select = document.createElement("select");
    for (const [value, text] of options) select.append(Object.assign(make("option", text), { value }));
    select.addEventListener("change", apply);
    box.append(select);
    bar.append(box);
    return select;
  };
  const check = (label) => {
    const box = make("label", "");
    const input = Object.assign(document.createElement("input"), { type: "checkbox" });
    input.addEventListener("change", apply);
    box.append(input, ` ${label}`);
    bar.append(box);
    return input;
  };
  const rows = names.map((name, index) => [String(index), name]);
  const topics = [...new Set(bodies.map(({ topic }) => topic))].filter(Boolean);
  const lost = check("only lost");
  const topic = topics.length > 1 ? pick("topic", [["", "all"], ...topics.map((name) => [name, name])]) : null;
  const first = pick("where", [["", "–"], ...rows]);
  const second = pick("and", [["", "–"], ...rows]);
  bar.append("differ ");
  const said = make("span", "");
  said.setAttribute("role", "status");
  bar.append(said);
  const mean = (cell) => cell.textContent.replace(/[a-z?]+$/, "").trim();
  const failed = (cell) => cell.querySelector("sub") !== null;
  function keeps({ cells, topic: own }) {
    const [a, b] = [first.value, second.value];
    if (topic && topic.value && topic.value !== own) return false;
    if (a && b && mean(cells[a]) === mean(cells[b])) return false;
    if (!lost.checked) return true;
    const asked = a ? [a, ...(b ? [b] : [])].map((index) => cells[index]) : cells.filter((_, i) => roles[i] === "row");
    return asked.some(failed);
  }
  function apply() {
    for (const line of lines) line.row.hidden = !keeps(line);
    for (const { body } of bodies) body.hidden = ![...body.rows].some((row) => row.cells.length > 1 && !row.hidden);
    const kept = lines.filter((line) => !line.row.hidden).length;
    said.textContent = kept === lines.length ? "" : `${kept} of ${lines.length} questions`;
  }
  const link = (line) => line.row.cells[0].querySelector("a");
  block.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input")) return;
    const shown = lines.filter((line) => !line.row.hidden);
    const at = shown.findIndex((line) => line.row.contains(document.activeElement));
    if (event.key === "j" || event.key === "k") {
      const to = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)))];
      if (to) link(to).focus();
    } else if (event.key === "Escape") {
      lost.checked = false;
      for (const select of [topic, first, second]) if (select) select.value = "";
      apply();
      block.querySelector(".frame").focus();
    } else return;
    event.preventDefault();
  });
  bar.append(make("span", "Keys in the map: j and k move, Enter opens, Escape shows all."));
  block.prepend(bar);
}
