// Signed notes as C2SP signed-note says, and the keys that sign them: ragassay/manifest/note.py.
(() => {
  "use strict";

  const { VerifyError, InputError } = ragassay.errors;
  const { utf8, text, hex, concat, sha256, decodeBase64 } = ragassay.bytes;
  const MAX_NOTE_BYTES = 1 << 16;
  const MAX_SIGNATURES = 64;
  const MAX_NAME = 200;
  const ALGORITHMS = { log: 0x01, witness: 0x04 };
  const MARK = "\u2014 ";

  const noNote = (problem) => {
    throw new VerifyError(`this is no signed note: ${problem}`, "LOG_INCLUSION");
  };

  /** Return the bytes of canonical base64; anything else is refused with `problem`. */
  const base64Or = (encoded, refuse, problem) => {
    try {
      return decodeBase64(encoded);
    } catch {
      return refuse(problem);
    }
  };

  const nameProblem = (name) => {
    if (name === "") return "it is empty";
    if (name.length > MAX_NAME) return `it has ${name.length} characters; ${MAX_NAME} are allowed`;
    return /^[!-*,-~]+$/.test(name) ? null : "a name is printable ASCII without a space or plus sign";
  };

  /** Return {name, kind: "log" | "witness", x, keyId: 8 hex digits, vkey}; throws InputError, also for a weak key. */
  const parseVkey = (given) => {
    const line = ragassay.fold.strip(given);
    const [name, id, ...rest] = line.split("+");
    const encoded = rest.join("+");
    if (rest.length === 0 || !/^[0-9a-f]{8}$/.test(id)) {
      throw new InputError(`“${line.slice(0, 80)}” is no key of a log or witness`);
    }
    let material;
    try {
      material = decodeBase64(encoded);
    } catch {
      throw new InputError(`the key ${name.slice(0, 80)} does not end in standard base64`);
    }
    const kind = Object.keys(ALGORITHMS).find((one) => ALGORITHMS[one] === material[0]);
    if (kind === undefined || material.length !== 33) {
      throw new InputError(`the key ${name.slice(0, 80)} is neither an Ed25519 log key (1) nor a witness key (4)`);
    }
    const problem = nameProblem(name);
    if (problem !== null) throw new InputError(`“${name.slice(0, 80)}” cannot name a key of a log: ${problem}`);
    const x = material.slice(1);
    if (ragassay.keys.isWeak(x)) throw new InputError(`${name} is a weak key (KEY_WEAK): anyone can sign under it`);
    const keyId = hex(sha256(concat(utf8(`${name}\n`), material))).slice(0, 8);
    if (keyId !== id) throw new InputError(`the key ${name} has the id ${keyId}, not ${id}: it was changed or torn`);
    return { name, kind, x, keyId, vkey: line };
  };

  const signatureOf = (line) => {
    const rest = line.slice(MARK.length);
    const space = rest.indexOf(" ");
    const name = space < 0 ? rest : rest.slice(0, space);
    if (!line.startsWith(MARK) || space < 0 || nameProblem(name) !== null) {
      noNote("a signature line is not an em dash, a name and base64");
    }
    const value = base64Or(rest.slice(space + 1), noNote, "a signature is no canonical base64");
    if (value.length < 5) noNote("a signature has no bytes after the key's id");
    return { name, keyId: hex(value.slice(0, 4)), signature: value.slice(4) };
  };

  /** Return {text, signatures: [{name, keyId, signature}]}, none of them checked. */
  const parseNote = (data) => {
    if (data.length > MAX_NOTE_BYTES) noNote(`${data.length} bytes are more than the ${MAX_NOTE_BYTES} allowed`);
    let all;
    try {
      all = text(data);
    } catch {
      noNote("it is no UTF-8");
    }
    if (/[\0-\t\x0b-\x1f\x7f]/.test(all)) noNote("it holds a control character");
    const at = all.lastIndexOf("\n\n");
    if (at < 0 || !all.endsWith("\n")) {
      noNote("a text, an empty line and signature lines, each ended by a line feed, are expected");
    }
    const lines = all.slice(at + 2).split("\n").slice(0, -1);
    if (lines.length === 0 || lines.length > MAX_SIGNATURES) {
      noNote(`it has ${lines.length} signatures; 1 to ${MAX_SIGNATURES} are allowed`);
    }
    const signatures = lines.map(signatureOf);
    if (new Set(signatures.map((one) => `${one.name} ${one.keyId}`)).size !== signatures.length) {
      noNote("two signatures are by one key");
    }
    return { text: all.slice(0, at + 1), signatures };
  };

  const signatureBy = (note, key) =>
    note.signatures.find((one) => one.name === key.name && one.keyId === key.keyId)?.signature ?? null;

  ragassay.note = { MAX_NOTE_BYTES, nameProblem, parseVkey, parseNote, signatureBy, base64Or };
})();
