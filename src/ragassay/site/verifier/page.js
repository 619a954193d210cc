// The page: takes files and a pin from whoever reads it, asks `ragassay.verify`, shows what it says. No network.
(() => {
  "use strict";

  const { sourcesOf, embedded, bytesOf, readLogFolder } = ragassay.sources;
  const { visible, verdictOf, reportArticle, brokenArticle, summary } = ragassay.view;
  const MAX_SMALL_BYTES = 1 << 20;
  const at = (id) => document.getElementById(id);
  const state = { sources: [], pin: null, registry: null, log: null, refused: new Map(), turn: 0 };

  function say(id, words, trouble = false) {
    at(id).textContent = visible(words);
    at(id).classList.toggle("trouble", trouble);
  }

  // --- what to check ------------------------------------------------------------------------------------------------

  async function take(given) {
    state.sources = await sourcesOf(given);
    const names = state.sources.map((source) => source.name).join(", ");
    say("run-said", given.length > 0 ? `Chosen: ${names}` : "");
    at("check").disabled = state.sources.length === 0;
    await check();
  }

  // --- whom to trust ------------------------------------------------------------------------------------------------

  const NOBODY = "No key is pinned: a signature will be checked, but not whose it is. Nothing is trusted yet.";

  async function pin(name, bytes) {
    try {
      state.pin = ragassay.pins.readPin(bytes, name);
      say("pin-said", `Pinned: ${state.pin.words}`);
    } catch (error) {
      state.pin = null;
      say("pin-said", `Not pinned: ${error.message.replace(/[.]$/u, "")}. Nothing is trusted yet.`, true);
    }
    at("pin-clear").hidden = false;
    await recheck();
  }

  async function forget() {
    state.pin = null;
    at("pin-text").value = "";
    at("pin-file").value = "";
    at("pin-clear").hidden = true;
    say("pin-said", NOBODY);
    await recheck();
  }

  async function takePinFile() {
    const [file] = at("pin-file").files;
    if (file === undefined) return;
    at("pin-text").value = "";
    const bytes = await bytesOf(file, MAX_SMALL_BYTES, "a policy").catch((error) => error);
    if (bytes instanceof Uint8Array) return pin(file.name, bytes);
    state.pin = null;
    say("pin-said", `Not pinned: ${bytes.message.replace(/[.]$/u, "")}. Nothing is trusted yet.`, true);
    return recheck();
  }

  async function takePinText() {
    const written = at("pin-text").value.trim();
    if (written === "") return at("pin-file").files.length > 0 ? undefined : forget();
    at("pin-file").value = "";
    return pin("the text", new TextEncoder().encode(written));
  }

  /** A registry or log that was given and cannot be used stands against every run: it never goes unnoticed. */
  function refuse(what, error, code) {
    state.refused.set(what, { code: error.code ?? code, message: error.message });
    say(`${what}-said`, `Cannot be used: ${error.message}`, true);
  }

  async function takeRegistry() {
    const [file] = at("registry-file").files;
    state.registry = null;
    state.refused.delete("registry");
    say("registry-said", "");
    if (file !== undefined) {
      try {
        state.registry = await bytesOf(file, MAX_SMALL_BYTES, "a registry");
        say("registry-said", `Chosen: ${file.name}`);
      } catch (error) {
        refuse("registry", error, "ENVELOPE_MALFORMED");
      }
    }
    await recheck();
  }

  async function takeLog() {
    const given = [...at("log-folder").files];
    state.log = null;
    state.refused.delete("log");
    say("log-said", "");
    if (given.length > 0) {
      try {
        state.log = await readLogFolder(given);
        say("log-said", `Read: ${state.log.checkpoint.origin}, ${state.log.entries.length} entries`);
      } catch (error) {
        refuse("log", error, "LOG_INCLUSION");
      }
    }
    await recheck();
  }

  // --- the check ----------------------------------------------------------------------------------------------------

  async function reportOn(source) {
    const { files, problems } = await source.read();
    return ragassay.verify({
      files,
      policy: state.pin ? state.pin.policy : ragassay.pins.nobody(),
      now: Math.floor(Date.now() / 1000),
      log: state.log,
      registry: state.registry,
      problems: [...problems, ...state.refused.values()],
    });
  }

  async function articleOf(source, strict) {
    try {
      const report = await reportOn(source);
      return [reportArticle(source.name, report, strict), verdictOf(report, strict)];
    } catch (error) {
      return [brokenArticle(source.name, String(error)), "no"];
    }
  }

  /** Check every source and show the results, unless another check was asked for meanwhile. */
  async function check() {
    const turn = ++state.turn;
    const strict = at("strict").checked;
    at("result").removeAttribute("data-done");
    const found = [];
    for (const source of state.sources) {
      if (turn !== state.turn) return;
      found.push(await articleOf(source, strict));
    }
    if (turn !== state.turn) return;
    const heading = found.length > 1 ? [summary(found.map(([, verdict]) => verdict))] : [];
    at("result").replaceChildren(...heading, ...found.map(([article]) => article));
    at("result").setAttribute("data-done", String(turn));
  }

  async function recheck() {
    if (at("result").childElementCount > 0) await check();
  }

  // --- dropping files -----------------------------------------------------------------------------------------------

  function listenForDrops() {
    const zone = at("drop");
    const mark = (event) => {
      event.preventDefault();
      zone.classList.toggle("over", event.type === "dragover");
    };
    for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, mark);
    document.addEventListener("drop", (event) => {
      const given = [...(event.dataTransfer?.files ?? [])];
      if (given.length > 0 && !zone.hidden) take(given);
    });
  }

  function listen() {
    at("run-files").addEventListener("change", () => take([...at("run-files").files]));
    at("pin-file").addEventListener("change", takePinFile);
    at("pin-text").addEventListener("change", takePinText);
    at("pin-clear").addEventListener("click", forget);
    at("registry-file").addEventListener("change", takeRegistry);
    at("log-folder").addEventListener("change", takeLog);
    at("strict").addEventListener("change", recheck);
    at("check").addEventListener("click", check);
    listenForDrops();
  }

  async function start() {
    const why = await ragassay.keys.unsupported();
    if (why !== null) {
      at("unable").textContent = `This page can check nothing here: ${why}.`;
      at("unable").hidden = false;
      for (const control of at("verifier").querySelectorAll("input, button")) control.disabled = true;
      return;
    }
    const own = embedded();
    if (own !== null) {
      state.sources = [own];
      at("drop").hidden = true;
      at("check").disabled = false;
    }
    say("pin-said", NOBODY);
    listen();
    at("verifier").setAttribute("data-ready", "");
  }

  if (typeof document !== "undefined") start(); // the same script also answers outside of a page
})();
