// Checkpoints of a log with their witnesses, and proofs that it holds an entry (C2SP tlog-checkpoint, tlog-cosignature,
// tlog-proof): ragassay/manifest/checkpoint.py and proof.py. What checks a signature returns a promise.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { utf8, equal } = ragassay.bytes;
  const { MAX_NOTE_BYTES, nameProblem, parseNote, signatureBy, base64Or } = ragassay.note;
  const { leafHash, rootFromInclusion } = ragassay.tree;
  const MAX_EXTENSIONS = 16;
  const MAX_HASHES = 64;
  const PROOF_HEADER = "c2sp.org/tlog-proof@v1";

  const noCheckpoint = (problem) => {
    throw new VerifyError(`this is no checkpoint of a log: ${problem}`, "LOG_INCLUSION");
  };
  const noProof = (problem) => {
    throw new VerifyError(`this is no proof of inclusion: ${problem}`, "LOG_INCLUSION");
  };

  const cosignatureTime = async (note, key) => {
    const value = signatureBy(note, key);
    if (value === null || key.kind !== "witness" || value.length !== 72 || ragassay.keys.isWeak(key.x)) return null;
    const time = new DataView(value.buffer, value.byteOffset, 8).getBigUint64(0);
    if (time < 1n || time > BigInt(Number.MAX_SAFE_INTEGER)) return null;
    const message = utf8(`cosignature/v1\ntime ${time}\n${note.text}`);
    return (await ragassay.keys.checkSignature(key.x, value.slice(8), message)) ? Number(time) : null;
  };

  /** Return {origin, size, root, note, data, signedBy(log key), witnessed(keys) → Map of key → time}. */
  const parseCheckpoint = (data) => {
    const note = parseNote(data);
    const lines = note.text.split("\n").slice(0, -1);
    if (lines.length < 3 || lines.length > 3 + MAX_EXTENSIONS || lines.some((line) => line === "")) {
      noCheckpoint("origin, size and root hash, each on a line of its own, are expected");
    }
    const [origin, digits] = lines;
    const size = Number(digits);
    if (!/^(0|[1-9][0-9]{0,15})$/.test(digits) || !Number.isSafeInteger(size)) {
      noCheckpoint("the size is no whole number without leading zeros");
    }
    const problem = nameProblem(origin);
    if (problem !== null) noCheckpoint(`its origin cannot name a log: ${problem}`);
    const root = base64Or(lines[2], noCheckpoint, "the root is no canonical base64");
    if (root.length !== 32) noCheckpoint(`the root has ${root.length} bytes, not 32`);
    return {
      origin,
      size,
      root,
      note,
      data,
      async signedBy(log) {
        const signature = signatureBy(note, log);
        if (signature === null || log.kind !== "log" || log.name !== origin) return false;
        if (ragassay.keys.isWeak(log.x)) return false;
        return ragassay.keys.checkSignature(log.x, signature, utf8(note.text));
      },
      async witnessed(keys) {
        const times = new Map();
        for (const key of keys) {
          const time = await cosignatureTime(note, key);
          if (time !== null) times.set(key, time);
        }
        return times;
      },
    };
  };

  const splitProof = (data) => {
    const at = data.findIndex((byte, index) => byte === 10 && data[index + 1] === 10);
    const head = at < 0 ? data : data.slice(0, at);
    if (head.some((byte) => byte > 127)) noProof("it holds characters that have no place in one");
    const lines = String.fromCharCode(...head).split("\n");
    if (at < 0 || lines.shift() !== PROOF_HEADER) {
      noProof(`its first line is not ${PROOF_HEADER}, or no checkpoint follows after an empty line`);
    }
    return [lines, data.slice(at + 2)];
  };

  /** Return {index, hashes, checkpoint, extra, signed(), includes(entry)}; no hash is checked before `includes`. */
  const decodeProof = (data) => {
    if (data.length > MAX_NOTE_BYTES) noProof(`${data.length} bytes are more than the ${MAX_NOTE_BYTES} allowed`);
    const [lines, checkpoint] = splitProof(data);
    const line64 = (encoded) => base64Or(encoded, noProof, "a line is no canonical base64");
    const extra = lines[0]?.startsWith("extra ") ? line64(lines.shift().slice(6)) : null;
    const digits = /^index (0|[1-9][0-9]{0,15})$/.exec(lines.shift() ?? "")?.[1];
    const index = Number(digits);
    if (digits === undefined || !Number.isSafeInteger(index)) {
      noProof("the line `index` with a whole number without leading zeros is missing");
    }
    if (lines.length > MAX_HASHES) noProof(`it has ${lines.length} hashes; ${MAX_HASHES} are allowed`);
    const hashes = lines.map(line64);
    if (hashes.some((value) => value.length !== 32)) noProof("a hash has not 32 bytes");
    const signed = parseCheckpoint(checkpoint);
    const includes = async (entry) => {
      const root = rootFromInclusion(index, signed.size, leafHash(entry), hashes);
      return root !== null && equal(root, signed.root);
    };
    return { index, hashes, checkpoint, extra, signed: () => signed, includes };
  };

  ragassay.tlog = { parseCheckpoint, decodeProof };
})();
