// The files of a log as plain servers lay them out (C2SP tlog-tiles): ragassay/manifest/tiles.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { concat, equal } = ragassay.bytes;
  const { leafHash, rootOf } = ragassay.tree;
  const TILE_WIDTH = 256;

  const forked = (problem) => {
    throw new VerifyError(`the log is not the one that was signed: ${problem}`, "LOG_FORK");
  };

  const numberPath = (number) => {
    const parts = String(number).padStart(Math.ceil(String(number).length / 3) * 3, "0").match(/.{3}/g);
    return parts.map((part, at) => (at < parts.length - 1 ? `x${part}` : part)).join("/");
  };
  const tilePath = (level, number, width) =>
    `tile/${level}/${numberPath(number)}${width === TILE_WIDTH ? "" : `.p/${width}`}`;

  const decodeEntries = (data, path) => {
    const entries = [];
    for (let at = 0; at < data.length; ) {
      const end = at + 2 + data[at] * 256 + data[at + 1];
      if (at + 2 > data.length || end > data.length || entries.length === TILE_WIDTH) {
        forked(`${path}: the bundle is cut, or holds more than 256 entries`);
      }
      entries.push(data.slice(at + 2, end));
      at = end;
    }
    return entries;
  };

  const widths = (count) =>
    Array.from({ length: Math.ceil(count / TILE_WIDTH) }, (_, n) => [n, Math.min(TILE_WIDTH, count - n * TILE_WIDTH)]);

  const checkTiles = (files, leafHashes) => {
    for (let level = 0, row = leafHashes; row.length > 0; level += 1) {
      const above = [];
      for (const [number, width] of widths(row.length)) {
        const hashes = row.slice(number * TILE_WIDTH, number * TILE_WIDTH + width);
        const path = tilePath(level, number, width);
        if (files.has(path) && !equal(files.get(path), concat(...hashes))) {
          forked(`${path} does not hold the hashes of the entries`);
        }
        if (width === TILE_WIDTH) above.push(rootOf(hashes));
      }
      row = above;
    }
  };

  /** Return {checkpoint, entries, leafHashes} of a log given as Map of path → bytes; its signature is not checked. */
  const readLog = (files) => {
    if (!files.has("checkpoint")) throw new VerifyError("the log has no checkpoint", "LOG_INCLUSION");
    const checkpoint = ragassay.tlog.parseCheckpoint(files.get("checkpoint"));
    if (checkpoint.size > TILE_WIDTH * files.size) {
      forked(`its checkpoint counts ${checkpoint.size} entries, but the files hold fewer`);
    }
    const entries = [];
    for (const [number, width] of widths(checkpoint.size)) {
      const path = tilePath("entries", number, width);
      const data = files.get(path) ?? files.get(tilePath("entries", number, TILE_WIDTH));
      if (data === undefined) forked(`${path} is missing`);
      const found = decodeEntries(data, path);
      if (found.length < width) forked(`${path} holds ${found.length} entries, not ${width}`);
      entries.push(...found.slice(0, width));
    }
    const leafHashes = [];
    for (const entry of entries) leafHashes.push(leafHash(entry));
    if (!equal(rootOf(leafHashes), checkpoint.root)) forked("its entries do not give the root of its checkpoint");
    checkTiles(files, leafHashes);
    return { checkpoint, entries, leafHashes };
  };

  ragassay.tiles = { readLog };
})();
