// The Merkle tree of a log, and what its proofs show (RFC 6962, RFC 9162): ragassay/manifest/tree.py.
(() => {
  "use strict";

  const { concat, equal, sha256 } = ragassay.bytes;
  const EMPTY_ROOT = sha256(new Uint8Array());

  const leafHash = (entry) => sha256(concat(Uint8Array.of(0), entry));
  const nodeHash = (left, right) => sha256(concat(Uint8Array.of(1), left, right));
  const half = (number) => Math.floor(number / 2);
  const odd = (number) => number % 2 === 1;

  const rootOf = (leafHashes) => {
    if (leafHashes.length === 0) return EMPTY_ROOT;
    let row = leafHashes;
    while (row.length > 1) {
      const above = [];
      for (let at = 0; at + 1 < row.length; at += 2) above.push(nodeHash(row[at], row[at + 1]));
      if (odd(row.length)) above.push(row[row.length - 1]);
      row = above;
    }
    return row[0];
  };

  /** Return the root that a proof leads to, null where it has not the length for this place (RFC 9162, 2.1.3.2). */
  const rootFromInclusion = (index, size, leaf, proof) => {
    if (!(index >= 0 && index < size)) return null;
    let place = index;
    let last = size - 1;
    let root = leaf;
    for (const sibling of proof) {
      if (last === 0) return null;
      if (odd(place) || place === last) {
        root = nodeHash(sibling, root);
        while (place !== 0 && !odd(place)) [place, last] = [half(place), half(last)];
      } else {
        root = nodeHash(root, sibling);
      }
      [place, last] = [half(place), half(last)];
    }
    return last === 0 ? root : null;
  };

  /** Tell whether a proof shows that the new tree begins with all of the old one (RFC 9162, 2.1.4.2). */
  const consistent = (oldSize, oldRoot, newSize, newRoot, proof) => {
    if (!(oldSize >= 0 && oldSize <= newSize)) return false;
    if (oldSize === newSize) {
      return proof.length === 0 && equal(oldRoot, newRoot) && (oldSize > 0 || equal(oldRoot, EMPTY_ROOT));
    }
    if (oldSize === 0) return proof.length === 0 && equal(oldRoot, EMPTY_ROOT);
    if (proof.length === 0) return false;
    let place = oldSize - 1;
    let last = newSize - 1;
    while (odd(place)) [place, last] = [half(place), half(last)];
    const hashes = place === 0 ? [oldRoot, ...proof] : proof;
    let before = hashes[0];
    let after = hashes[0];
    for (const sibling of hashes.slice(1)) {
      if (last === 0) return false;
      if (odd(place) || place === last) {
        before = nodeHash(sibling, before);
        after = nodeHash(sibling, after);
        while (place !== 0 && !odd(place)) [place, last] = [half(place), half(last)];
      } else {
        after = nodeHash(after, sibling);
      }
      [place, last] = [half(place), half(last)];
    }
    return last === 0 && equal(before, oldRoot) && equal(after, newRoot);
  };

  ragassay.tree = { leafHash, nodeHash, rootOf, rootFromInclusion, consistent };
})();
