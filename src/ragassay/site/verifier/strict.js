// Canonical JSON (RFC 8785 with integers only) and the strict readers that accept nothing else: ragassay/canon.py.
(() => {
  "use strict";

  const { NotCanonical } = ragassay.errors;
  const { utf8, text } = ragassay.bytes;
  const MAX_DEPTH = 64;
  const QUOTE = 0x22;
  const BACKSLASH = 0x5c;

  /** Return the RFC 8785 text of a value; throws `NotCanonical` for fractions, wide integers and lone surrogates. */
  function canonicalText(value) {
    if (value === null || typeof value === "boolean") return String(value);
    if (typeof value === "string") return quoted(value);
    if (typeof value === "number") {
      if (!Number.isSafeInteger(value)) throw new NotCanonical("a number is no integer within ±(2^53 - 1)");
      return String(value);
    }
    if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
    // The default order of `sort` is that of UTF-16 code units, which is the one that RFC 8785 asks for.
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${quoted(name)}:${canonicalText(value[name])}`).join(",")}}`;
  }

  /** Return the RFC 8785 bytes of a value; throws like `canonicalText`. */
  function canonical(value) {
    return utf8(canonicalText(value));
  }

  /** RFC 8785 took its strings from ECMAScript, save that half a surrogate pair is an error and no escape. */
  function quoted(value) {
    const found = JSON.stringify(value);
    if (found.includes("\\ud")) utf8(value);
    return found;
  }

  /** Throw `NotCanonical` where bytes nest deeper than `maxDepth`, before any parser sees them. */
  function scanDepth(bytes, maxDepth) {
    let depth = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      } else if (byte === 0x5b || byte === 0x7b) {
        depth += 1;
        if (depth > maxDepth) throw new NotCanonical(`nested deeper than ${maxDepth} levels`);
      } else if (byte === 0x5d || byte === 0x7d) {
        depth -= 1;
      }
    }
  }

  function open(bytes, maxBytes, maxDepth) {
    if (bytes.length > maxBytes) throw new NotCanonical(`${bytes.length} bytes are more than the ${maxBytes} allowed`);
    scanDepth(bytes, maxDepth);
    return text(bytes);
  }

  /**
   * Parse UTF-8 JSON without duplicate keys, fractional numbers, NaN, a byte order mark or wide integers.
   *
   * Throws `NotCanonical` for anything else, whatever the bytes are. Objects have no prototype.
   */
  function loadStrict(bytes, maxBytes, maxDepth = MAX_DEPTH) {
    const reader = new Reader(open(bytes, maxBytes, maxDepth));
    const value = reader.value();
    reader.space();
    if (reader.at !== reader.source.length) reader.fail("something stands after the document");
    return value;
  }

  /**
   * Parse canonical JSON: the bytes equal the canonical encoding of what they say.
   *
   * The engine's own parser is enough here: whatever it forgives (a key twice, 1.0, 1e2, -0, white space) is written
   * another way, so the comparison refuses it.
   */
  function loadCanonical(bytes, maxBytes, maxDepth = MAX_DEPTH) {
    const source = open(bytes, maxBytes, maxDepth);
    let value;
    try {
      value = JSON.parse(source);
    } catch {
      throw new NotCanonical("no JSON");
    }
    if (canonicalText(value) !== source) throw new NotCanonical("valid JSON but not in canonical form (RFC 8785)");
    return value;
  }

  /** Reads one JSON text; its depth was bounded before. */
  class Reader {
    constructor(source) {
      this.source = source;
      this.at = 0;
    }

    fail(why) {
      throw new NotCanonical(`not strict JSON at character ${this.at}: ${why}`);
    }

    space() {
      while (" \t\n\r".includes(this.source[this.at] || "x")) this.at++;
    }

    take(char) {
      if (this.source[this.at] !== char) return false;
      this.at++;
      return true;
    }

    value() {
      this.space();
      const char = this.source[this.at];
      if (char === "{") return this.object();
      if (char === "[") return this.array();
      if (char === '"') return this.string();
      for (const [word, value] of [["null", null], ["true", true], ["false", false]]) {
        if (this.source.startsWith(word, this.at)) {
          this.at += word.length;
          return value;
        }
      }
      return this.number();
    }

    object() {
      const found = Object.create(null);
      this.at++;
      this.space();
      if (this.take("}")) return found;
      do {
        this.space();
        if (this.source[this.at] !== '"') this.fail("a key must stand here");
        const name = this.string();
        if (name in found) this.fail("a key stands twice in an object");
        this.space();
        if (!this.take(":")) this.fail("a colon must stand here");
        found[name] = this.value();
        this.space();
      } while (this.take(","));
      if (!this.take("}")) this.fail("an object does not end");
      return found;
    }

    array() {
      const found = [];
      this.at++;
      this.space();
      if (this.take("]")) return found;
      do {
        found.push(this.value());
        this.space();
      } while (this.take(","));
      if (!this.take("]")) this.fail("an array does not end");
      return found;
    }

    string() {
      const start = this.at++;
      while (this.at < this.source.length && this.source[this.at] !== '"') this.at += this.source[this.at] === "\\" ? 2 : 1;
      this.at++;
      try {
        return JSON.parse(this.source.slice(start, this.at)); // one string token: escapes and control characters
      } catch {
        return this.fail("a string is malformed or does not end");
      }
    }

    number() {
      const token = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
      token.lastIndex = this.at;
      const found = token.exec(this.source);
      if (found === null) return this.fail("no value");
      const value = Number(found[0]);
      if (/[.eE]/.test(found[0]) || found[0] === "-0" || !Number.isSafeInteger(value)) {
        this.fail(`the number ${found[0].slice(0, 40)} is no integer within ±(2^53 - 1)`);
      }
      this.at = token.lastIndex;
      return value;
    }
  }

  ragassay.strict = { MAX_DEPTH, canonical, canonicalText, scanDepth, loadStrict, loadCanonical, Reader };
})();
