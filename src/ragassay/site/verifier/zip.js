// A run as one ZIP file, read strictly from bytes in memory; or as loose files: ragassay/manifest/bundle.py, folder.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { text, concat } = ragassay.bytes;
  const { STORED, FLAG_UTF8, readMembers, shown } = ragassay.zipform;
  const LINK = 0x400;
  const FOLDER = 0x10;
  const TYPE = 0o170000;
  const TYPE_FILE = 0o100000;
  const TYPE_FOLDER = 0o040000;
  const SLASH = 0x2f;
  const FEED = 1 << 14; // deflate makes at most some 1,032 bytes of one, so that one piece stays below 17 MiB
  let lenient; // whether this engine inflates a stream with bytes after its end
  const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });

  function fail(code, message) {
    throw new VerifyError(message, code);
  }

  function crc32(bytes) {
    let value = -1;
    for (let at = 0; at < bytes.length; at++) value = CRC_TABLE[(value ^ bytes[at]) & 255] ^ (value >>> 8);
    return ~value >>> 0;
  }

  function capOf(name) {
    const { files, beside } = ragassay.data.limits;
    if (Object.hasOwn(files, name)) return files[name];
    return Object.hasOwn(beside, name) ? beside[name] : null;
  }

  /** Where every member lies in one and the same folder, say that once for all of them. */
  function refuseOneFolder(members) {
    const cut = members.map((member) => member.rawName.indexOf(SLASH));
    if (members.length === 0 || cut.includes(-1)) return;
    const tops = new Set(members.map((member, n) => shown(member.rawName.subarray(0, cut[n]))));
    const [top] = tops;
    if (tops.size !== 1 || ["''", "'.'", "'..'"].includes(top)) return;
    fail("BUNDLE_NAME", `everything lies in the folder ${top}; zip the files themselves`);
  }

  function nameOf(member) {
    const what = shown(member.rawName);
    let name;
    try {
      name = text(member.rawName);
    } catch {
      fail("BUNDLE_NAME", `the name ${what} is neither ASCII nor UTF-8 that says so`);
    }
    if (!(member.flags & FLAG_UTF8) && member.rawName.some((byte) => byte > 127)) {
      fail("BUNDLE_NAME", `the name ${what} is neither ASCII nor UTF-8 that says so`);
    }
    if (name === "" || name.includes("\0")) fail("BUNDLE_NAME", `the name ${what} is empty or holds NUL`);
    if (name.startsWith("/") || name.includes("\\") || /^[A-Za-z]:/.test(name)) {
      fail("BUNDLE_NAME", `the name ${what} is absolute or holds a backslash`);
    }
    if (name.includes("/") || name === "." || name === "..") {
      fail("BUNDLE_NAME", `the name ${what} has a folder part; a bundle holds files only`);
    }
    return name;
  }

  function checkKind(member) {
    const what = shown(member.rawName);
    const kind = (member.attributes >>> 16) & TYPE;
    if (![0, TYPE_FILE, TYPE_FOLDER].includes(kind) || member.attributes & LINK) {
      fail("BUNDLE_LINK", `${what} is a link or special; a bundle holds files only`);
    }
    if (kind === TYPE_FOLDER || member.attributes & FOLDER) {
      fail("BUNDLE_NAME", `${what} is a folder; a bundle holds files only`);
    }
  }

  async function feed(writable, data) {
    const writer = writable.getWriter();
    for (let at = 0; at < data.length; at += FEED) {
      await writer.ready;
      await writer.write(data.slice(at, at + FEED));
    }
    await writer.close();
  }

  /** Return what `data` inflates to where that is exactly `size` bytes and ends with the stream, else null. */
  async function inflateExactly(data, size) {
    const found = await inflate(data, size);
    // Some engines pass over bytes after the end of the stream: then the last byte is not needed.
    lenient ??= (await inflate(Uint8Array.of(3, 0, 0), 0)) !== null;
    return lenient && (await inflate(data.subarray(0, -1), size)) !== null ? null : found;
  }

  async function inflate(data, size) {
    const stream = new DecompressionStream("deflate-raw");
    const fed = feed(stream.writable, data).catch(() => false);
    const reader = stream.readable.getReader();
    const parts = [];
    let found = 0;
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        found += piece.value.length;
        if (found > size) {
          await reader.cancel();
          return null;
        }
        parts.push(piece.value);
      }
    } catch {
      return null;
    }
    return (await fed) !== false && found === size ? concat(...parts) : null;
  }

  async function contentOf(name, member) {
    const cap = capOf(name);
    if (cap === null) return new Uint8Array(); // refused by its name: its bytes are not needed
    if (member.size > cap) fail("BUNDLE_TOO_LARGE", `${name} has ${member.size} bytes; ${cap} are allowed`);
    const content = member.method === STORED ? member.data : await inflateExactly(member.data, member.size);
    if (content === null) {
      fail("BUNDLE_DAMAGED", `${name} is damaged: it does not inflate to the ${member.size} bytes that it says`);
    }
    if (crc32(content) !== member.crc) fail("BUNDLE_DAMAGED", `${name} is damaged: its CRC-32 is another`);
    return content;
  }

  function openMembers(data) {
    const { bundle, total } = ragassay.data.limits;
    if (data.length > bundle) fail("BUNDLE_TOO_LARGE", `the bundle has ${data.length} bytes; ${bundle} are allowed`);
    const members = readMembers(data);
    const sum = members.reduce((found, member) => found + member.size, 0);
    if (sum > total) fail("BUNDLE_TOO_LARGE", `the bundle inflates to ${sum} bytes; ${total} are allowed`);
    refuseOneFolder(members);
    return members;
  }

  function refuseDuplicate(name, seen, files) {
    const folded = name.toLowerCase().toUpperCase().toLowerCase();
    if (!seen.has(folded)) {
      seen.set(folded, name);
      return;
    }
    const earlier = seen.get(folded);
    files.delete(earlier);
    const how = earlier === name ? `“${name}” is there twice` : `“${earlier}” and “${name}” differ in case only`;
    fail("BUNDLE_DUPLICATE", how);
  }

  /** Return `read()`; a `VerifyError` becomes a problem and gives undefined. */
  async function orProblem(problems, read) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      problems.push({ code: error.code, message: error.message });
      return undefined;
    }
  }

  /** Return {files: Map of name → bytes, problems: [{code, message}]} of a bundle, whatever its bytes are. */
  async function readBundle(data) {
    const files = new Map();
    const problems = [];
    const seen = new Map();
    const members = (await orProblem(problems, () => openMembers(data))) ?? [];
    for (const member of members) {
      await orProblem(problems, async () => {
        const name = nameOf(member);
        refuseDuplicate(name, seen, files);
        checkKind(member);
        files.set(name, await contentOf(name, member));
      });
    }
    return { files, problems };
  }

  async function loose(name, size, bytes) {
    const cap = capOf(name);
    if (cap === null) return new Uint8Array();
    if (size > cap) fail("BUNDLE_TOO_LARGE", `${name} has more than the ${cap} bytes allowed`);
    return bytes();
  }

  /** Return what `readBundle` does for the files of a run that lie beside each other (as `File` objects). */
  async function readLoose(given) {
    const files = new Map();
    const problems = [];
    const seen = new Map();
    const most = ragassay.data.limits.members;
    if (given.length > most) {
      const message = `${given.length} files were given; ${most} are allowed`;
      return { files, problems: [{ code: "BUNDLE_TOO_LARGE", message }] };
    }
    for (const file of given) {
      await orProblem(problems, async () => {
        refuseDuplicate(file.name, seen, files);
        const read = () => file.arrayBuffer().catch(() => fail("BUNDLE_DAMAGED", `${file.name} cannot be read`));
        files.set(file.name, new Uint8Array(await loose(file.name, file.size, read)));
      });
    }
    return { files, problems };
  }

  Object.assign(ragassay, { readBundle, readLoose });
})();
