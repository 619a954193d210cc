"use strict";
// Shows and hides rows of one question and leads to the next; without it every row stands there all the same.
const rows = [...document.querySelectorAll(".rows > article")];
const bar = document.createElement("p");
bar.className = "filters";
for (const row of rows) {
  const box = document.createElement("label");
  const input = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
  input.addEventListener("change", () => {
    row.hidden = !input.checked;
  });
  box.append(input, ` ${row.querySelector("h3").textContent.trim()}`);
  bar.append(box);
}
if (rows.length > 1) document.querySelector(".rows")?.before(bar);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const to = { j: "a[rel=next]", k: "a[rel=prev]", Escape: "header.top a" }[event.key];
  if (to) document.querySelector(to)?.click();
});
