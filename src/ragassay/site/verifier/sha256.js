// SHA-256 (FIPS 180-4). Written out because a run of 10,000 questions has some 50,000 texts to hash: one asynchronous
// call into crypto.subtle for each would take longer than the hashing. Vectors and the differential tests hold it.
(() => {
  "use strict";

  const ROUNDS = roundConstants();

  /** Return the first 32 fractional bits of the cube roots of the first 64 primes, by integers alone. */
  function roundConstants() {
    const found = new Int32Array(64);
    for (let candidate = 2, at = 0; at < 64; candidate++) {
      let prime = true;
      for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) prime = false;
      if (prime) found[at++] = Number(cubeRoot(BigInt(candidate) << 96n) & 0xffffffffn) | 0;
    }
    return found;
  }

  function cubeRoot(value) {
    let low = 0n;
    let high = 1n << 36n;
    while (low < high) {
      const middle = (low + high + 1n) >> 1n;
      if (middle * middle * middle <= value) low = middle;
      else high = middle - 1n;
    }
    return low;
  }

  /** Hashes bytes that come in pieces: `update` any number of times, then `digest` once. */
  class Sha256 {
    constructor() {
      this.state = new Int32Array([
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
      ]);
      this.schedule = new Int32Array(64);
      this.block = new Uint8Array(64);
      this.filled = 0;
      this.length = 0;
    }

    update(bytes) {
      this.length += bytes.length;
      let at = 0;
      if (this.filled > 0) {
        at = Math.min(64 - this.filled, bytes.length);
        this.block.set(bytes.subarray(0, at), this.filled);
        this.filled += at;
        if (this.filled < 64) return this;
        this.compress(this.block, 0);
      }
      for (; at + 64 <= bytes.length; at += 64) this.compress(bytes, at);
      this.block.set(bytes.subarray(at), 0);
      this.filled = bytes.length - at;
      return this;
    }

    digest() {
      const bits = this.length * 8;
      const tail = new Uint8Array(this.filled < 56 ? 64 - this.filled : 128 - this.filled);
      tail[0] = 0x80;
      const view = new DataView(tail.buffer);
      view.setUint32(tail.length - 8, Math.floor(bits / 2 ** 32));
      view.setUint32(tail.length - 4, bits >>> 0);
      this.update(tail);
      const found = new Uint8Array(32);
      const words = new DataView(found.buffer);
      this.state.forEach((word, at) => words.setInt32(at * 4, word));
      return found;
    }

    compress(bytes, offset) {
      const w = this.schedule;
      for (let t = 0, at = offset; t < 16; t++, at += 4) {
        w[t] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
      }
      for (let t = 16; t < 64; t++) {
        const x = w[t - 15];
        const y = w[t - 2];
        const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        w[t] = (w[t - 16] + low + w[t - 7] + high) | 0;
      }
      const s = this.state;
      let a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
      for (let t = 0; t < 64; t++) {
        const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const one = (h + sum1 + ((e & f) ^ (~e & g)) + ROUNDS[t] + w[t]) | 0;
        const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const two = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + one) | 0;
        d = c;
        c = b;
        b = a;
        a = (one + two) | 0;
      }
      s[0] += a;
      s[1] += b;
      s[2] += c;
      s[3] += d;
      s[4] += e;
      s[5] += f;
      s[6] += g;
      s[7] += h;
    }
  }

  ragassay.Sha256 = Sha256;
})();
