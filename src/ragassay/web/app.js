"use strict";
// What the scripts of every page share. Every text is set as text; what is shown as stored is what the server said.

const $ = (id) => document.getElementById(id);

async function ask(path, body) {
  const options = { cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw new Error("The program does not answer; is it still running in the terminal?");
  }
  const value = await reply.json().catch(() => ({}));
  if (!reply.ok) {
    const error = new Error(value.problem || `The program refused (${reply.status}).`);
    error.status = reply.status;
    error.refused = value.refused;
    throw error;
  }
  return value;
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function button(text, does, attributes = {}) {
  const made = element("button", text, { type: "button", ...attributes });
  made.addEventListener("click", does);
  return made;
}

function plural(count, word) { return `${count} ${word}${count === 1 ? "" : "s"}`; }

function say(text) { $("status").textContent = text; }

function complain(error) {
  $("problem").textContent = error ? error.message : "";
  $("problem").hidden = !error;
  if (error) $("problem").scrollIntoView({ block: "nearest" });
}
