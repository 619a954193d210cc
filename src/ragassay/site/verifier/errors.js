// What can be wrong with bytes, as exceptions; `verify` turns each into a finding and lets none escape.
(() => {
  "use strict";

  /** A document does not hold what it claims; `code` is a reason code of the table `ragassay.data.codes`. */
  class VerifyError extends Error {
    constructor(message, code) {
      super(message);
      this.name = "VerifyError";
      this.code = code;
    }
  }

  /** The bytes are no canonical JSON document, or the value cannot be written as one. */
  class NotCanonical extends Error {
    constructor(message) {
      super(message);
      this.name = "NotCanonical";
    }
  }

  /** Something that the person who verifies gave (a key, a policy) cannot be used as it is. */
  class InputError extends Error {
    constructor(message) {
      super(message);
      this.name = "InputError";
    }
  }

  /** Run `read` and turn the `NotCanonical` that it throws into a `VerifyError` with `code`. */
  function asVerifyError(code, prefix, read) {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof NotCanonical)) throw error;
      throw new VerifyError(`${prefix}: ${error.message}`, code);
    }
  }

  ragassay.errors = { VerifyError, NotCanonical, InputError, asVerifyError };
})();
