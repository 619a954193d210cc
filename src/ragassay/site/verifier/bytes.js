// Bytes and texts: UTF-8, hex, base64 that re-encodes, SHA-256. Everything here is synchronous.
(() => {
  "use strict";

  const { VerifyError, NotCanonical } = ragassay.errors;
  const ENCODER = new TextEncoder();
  const LONE_SURROGATE = /\p{Surrogate}/u;
  const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const PLACES = new Map([...STANDARD].map((char, at) => [char, at]));

  /** Return the UTF-8 bytes of a text; throws `NotCanonical` where it holds half a surrogate pair. */
  function utf8(text) {
    if (LONE_SURROGATE.test(text)) throw new NotCanonical("a text holds half a surrogate pair");
    return ENCODER.encode(text);
  }

  /** Return the text of strict UTF-8 bytes, a byte order mark kept as a character; throws `NotCanonical`. */
  function text(bytes) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new NotCanonical("the bytes are not UTF-8");
    }
  }

  function equal(one, other) {
    return one.length === other.length && one.every((byte, at) => byte === other[at]);
  }

  function concat(...parts) {
    const found = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      found.set(part, at);
      at += part.length;
    }
    return found;
  }

  function hex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** Return standard base64, padded. */
  function base64(bytes) {
    const found = [];
    for (let at = 0; at < bytes.length; at += 3) {
      const word = (bytes[at] << 16) | ((bytes[at + 1] || 0) << 8) | (bytes[at + 2] || 0);
      const left = bytes.length - at;
      found.push(
        STANDARD[word >> 18] +
          STANDARD[(word >> 12) & 63] +
          (left > 1 ? STANDARD[(word >> 6) & 63] : "=") +
          (left > 2 ? STANDARD[word & 63] : "="),
      );
    }
    return found.join("");
  }

  /** Return the bytes of standard base64; null where the text is none. The last bits are not checked. */
  function looseBase64(text) {
    const shape = /^([A-Za-z0-9+/]*)(=*)$/.exec(text);
    if (shape === null) return null;
    const [, data, padding] = shape;
    const tail = data.length % 4;
    const fits = tail === 0 ? padding === "" || data !== "" : tail !== 1 && padding.length === 4 - tail;
    if (!fits) return null;
    const found = new Uint8Array(Math.floor((data.length * 3) / 4));
    for (let at = 0, to = 0; at < data.length; at += 4) {
      let word = 0;
      for (let i = 0; i < 4; i++) word = (word << 6) | (at + i < data.length ? PLACES.get(data[at + i]) : 0);
      for (let shift = 16; shift >= 0 && to < found.length; shift -= 8) found[to++] = (word >> shift) & 255;
    }
    return found;
  }

  /** Decode standard base64 that re-encodes to the same characters; throws `VerifyError` otherwise. */
  function decodeBase64(text) {
    const found = looseBase64(text);
    if (found === null) throw new VerifyError("a part of the envelope is no base64", "ENVELOPE_MALFORMED");
    if (base64(found) !== text) {
      const message = "a part of the envelope is base64 that does not re-encode to the same characters";
      throw new VerifyError(message, "ENVELOPE_NOT_CANONICAL");
    }
    return found;
  }

  /** Return unpadded base64url, as JSON Web Keys carry it. */
  function base64url(bytes) {
    return base64(bytes).replace(/=+$/, "").replace(/\+/g, "-").replace(/\//g, "_");
  }

  /** Decode unpadded base64url that re-encodes to the same characters; null otherwise. */
  function decodeBase64url(text) {
    if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
    const standard = text.replace(/-/g, "+").replace(/_/g, "/");
    const found = looseBase64(standard + "=".repeat((4 - (standard.length % 4)) % 4));
    return found !== null && base64url(found) === text ? found : null;
  }

  function sha256(bytes) {
    return new ragassay.Sha256().update(bytes).digest();
  }

  function sha256Hex(bytes) {
    return hex(sha256(bytes));
  }

  ragassay.bytes = {
    utf8,
    text,
    equal,
    concat,
    hex,
    base64,
    decodeBase64,
    base64url,
    decodeBase64url,
    sha256,
    sha256Hex,
  };
})();
