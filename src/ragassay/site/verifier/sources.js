// What is put on the page as bytes: bundles, loose files, the run of the page itself, small files, a log's folder.
(() => {
  "use strict";

  const { InputError } = ragassay.errors;
  const MAX_LOG_BYTES = 64 << 20;
  const MAX_LOG_FILES = 4096;

  async function isZip(file) {
    if (file.name.toLowerCase().endsWith(".zip")) return true;
    const head = await file
      .slice(0, 4)
      .arrayBuffer()
      .then((buffer) => new Uint8Array(buffer))
      .catch(() => new Uint8Array());
    return head[0] === 0x50 && head[1] === 0x4b && [3, 5].includes(head[2]);
  }

  async function readZip(file) {
    const most = ragassay.data.limits.bundle;
    const refused = (code, message) => ({ files: new Map(), problems: [{ code, message }] });
    if (file.size > most) return refused("BUNDLE_TOO_LARGE", `the bundle has ${file.size} bytes; ${most} are allowed`);
    const bytes = await file.arrayBuffer().catch(() => null);
    if (bytes === null) return refused("BUNDLE_DAMAGED", "the file cannot be read; is it a folder?");
    return ragassay.readBundle(new Uint8Array(bytes));
  }

  /** Return one source per bundle, and one for all files that are none: {name, read() → {files, problems}}. */
  async function sourcesOf(given) {
    const sources = [];
    const loose = [];
    for (const file of given) {
      if (await isZip(file)) sources.push({ name: file.name, read: () => readZip(file) });
      else loose.push(file);
    }
    if (loose.length > 0) {
      const name = loose.length === 1 ? loose[0].name : `${loose.length} files`;
      sources.push({ name, read: () => ragassay.readLoose(loose) });
    }
    return sources;
  }

  /** Return the run that stands in this page, or null. */
  function embedded() {
    const holder = document.getElementById("bundle");
    if (holder === null) return null;
    const bytes = () => Uint8Array.from(atob(holder.textContent.trim()), (char) => char.charCodeAt(0));
    const read = () => ragassay.readBundle(bytes());
    return { name: "The run of this page", read };
  }

  /** Return the bytes of a small file; throws `InputError` over `most` of them, or where it cannot be read. */
  async function bytesOf(file, most, what) {
    if (file.size > most) throw new InputError(`${file.name} has more than the ${most} bytes that ${what} may have.`);
    try {
      return new Uint8Array(await file.arrayBuffer());
    } catch {
      throw new InputError(`${file.name} cannot be read.`);
    }
  }

  /** Read a log from the files of its folder; throws as `ragassay.tiles.readLog` does. */
  async function readLogFolder(given) {
    const total = given.reduce((sum, file) => sum + file.size, 0);
    if (given.length > MAX_LOG_FILES || total > MAX_LOG_BYTES) {
      throw new InputError(`this page reads ${MAX_LOG_FILES} files of a log with ${MAX_LOG_BYTES} bytes.`);
    }
    const files = new Map();
    for (const file of given) {
      const path = file.webkitRelativePath.split("/").slice(1).join("/");
      if (path === "checkpoint" || path.startsWith("tile/")) files.set(path, new Uint8Array(await file.arrayBuffer()));
    }
    return ragassay.tiles.readLog(files);
  }

  ragassay.sources = { sourcesOf, embedded, bytesOf, readLogFolder };
})();
