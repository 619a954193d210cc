// Ed25519 keys and signatures: thumbprints, the refusal of weak keys, one check: ragassay/manifest/sign.py.
(() => {
  "use strict";

  const { InputError, NotCanonical } = ragassay.errors;
  const { text, hex, base64url, decodeBase64, decodeBase64url, sha256 } = ragassay.bytes;
  const { canonical, loadStrict } = ragassay.strict;
  const FIELD_PRIME = 2n ** 255n - 19n;
  const SPKI_ED25519 = "302a300506032b6570032100";
  const MAX_KEY_BYTES = 16384;
  const KINDS = ["run", "log", "root", "witness"];

  /** Tell whether a 32-byte public key is of small order or not the canonical encoding of its point. */
  function isWeak(x) {
    const y = BigInt(`0x${hex(x.slice().reverse())}`) & ((1n << 255n) - 1n);
    return ragassay.data.weakKeys.includes(hex(x)) || y >= FIELD_PRIME;
  }

  /** Return the 32 bytes of a public key written as base64url that re-encodes to the same characters; else null. */
  function decodeX(written) {
    const x = decodeBase64url(written);
    return x !== null && x.length === 32 ? x : null;
  }

  /** Return the fingerprint of a public key: its RFC 7638 thumbprint (SHA-256, unpadded base64url). */
  function thumbprint(x) {
    return base64url(sha256(canonical({ crv: "Ed25519", kty: "OKP", x: base64url(x) })));
  }

  /** Say why this browser cannot check a signature, or null where it can. */
  async function unsupported() {
    if (typeof crypto === "undefined" || !crypto.subtle) {
      return "this page has no cryptography: open it from a file or over https";
    }
    try {
      const point = decodeX("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"); // the first key of RFC 8032, section 7.1
      await crypto.subtle.importKey("raw", point, { name: "Ed25519" }, false, ["verify"]);
      return null;
    } catch {
      return "this browser knows no Ed25519: use Chromium 137, Firefox 130, Safari 17 or newer";
    }
  }

  /** Tell whether `signature` over `message` is by `x`; false for every malformed input, never an exception. */
  async function checkSignature(x, signature, message) {
    try {
      const key = await crypto.subtle.importKey("raw", x, { name: "Ed25519" }, false, ["verify"]);
      return await crypto.subtle.verify({ name: "Ed25519" }, key, signature, message);
    } catch {
      return false;
    }
  }

  /** Read a public key (JSON Web Key or PEM) as {x, kid, name, kind}; throws `InputError` (private, weak, …). */
  function parsePublicKey(bytes, name) {
    if (bytes.length > MAX_KEY_BYTES) throw new InputError(`${name} is too long for a public key file`);
    let key;
    try {
      const written = text(bytes);
      if (written.includes("PRIVATE KEY")) throw new InputError(`${name} is a private key; give its public key file`);
      key = written.trimStart().startsWith("-----") ? { x: fromPem(written), name, kind: null } : fromJwk(bytes, name);
    } catch (error) {
      if (error instanceof InputError) throw error;
      throw new InputError(`${name} is neither a JSON Web Key nor a PEM public key: ${error.message}`);
    }
    if (isWeak(key.x)) throw new InputError(`${name} is a weak key (KEY_WEAK): anyone can sign under it`);
    return { ...key, kid: thumbprint(key.x) };
  }

  /** Return a key that may sign runs; throws `InputError` for one that calls itself another's, such as a log's. */
  function runKey(key) {
    if (key.kind !== null && key.kind !== "run") {
      throw new InputError(`${key.name} is the key of a ${key.kind}, and runs are signed by run keys`);
    }
    return key;
  }

  function fromPem(written) {
    const shape = /^\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----\s*$/.exec(written);
    if (shape === null) throw new NotCanonical("not the form of a PEM public key");
    const der = hex(decodeBase64(shape[1].replace(/\s/g, "")));
    if (der.length !== 88 || !der.startsWith(SPKI_ED25519)) {
      throw new NotCanonical("a public key of another kind; runs are signed with Ed25519");
    }
    return Uint8Array.from(der.slice(24).match(/../g), (pair) => parseInt(pair, 16));
  }

  function fromJwk(bytes, name) {
    const value = loadStrict(bytes, MAX_KEY_BYTES, 4);
    if (!ragassay.shapes.isObject(value) || value.kty !== "OKP" || value.crv !== "Ed25519") {
      throw new NotCanonical('a JSON Web Key for Ed25519 has "kty":"OKP" and "crv":"Ed25519"');
    }
    if ("d" in value) throw new InputError(`${name} holds a private key (member d); give a public key file`);
    const x = typeof value.x === "string" ? decodeX(value.x) : null;
    if (x === null) throw new NotCanonical("the member x is no 32 bytes of base64url");
    if (value.kid !== undefined && value.kid !== null && value.kid !== thumbprint(x)) {
      throw new InputError(`${name} names another fingerprint than that of its key, ${thumbprint(x)}`);
    }
    const kind = KINDS.find((one) => one === value.kind) ?? null;
    return { x, name: typeof value.name === "string" ? value.name : name, kind };
  }

  ragassay.keys = { isWeak, decodeX, encodeX: base64url, thumbprint, unsupported, checkSignature, parsePublicKey, runKey };
})();
