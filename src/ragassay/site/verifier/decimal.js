// Decimal numbers written as text, compared exactly: the part of Python's `decimal` that the verifier relies on.
(() => {
  "use strict";

  const { strip } = ragassay.fold;
  const { digitOf } = ragassay.characters;
  const MAX_EXPONENT = 999999999999999999n;
  const MIN_EXPONENT = -1999999999999999997n;
  const SHORTEST = /^-?(0|[1-9][0-9]{0,400})(\.[0-9]{0,800}[1-9])?$/;
  const NUMBER = /^([-+]?)(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))(?:[eE]([-+]?[0-9]+))?$/;

  /**
   * Return {negative, digits, point} of a finite number as Python's `Decimal(text)` reads it, else null.
   *
   * Its value is 0.digits · 10^point; `digits` neither begins nor ends with 0, and is empty for zero. Like Python, it
   * allows white space around, underscores inside and the decimal digits of every script.
   */
  function parseDecimal(text) {
    const plain = Array.from(strip(text).replace(/_/g, ""), (char) => digitOf(char) ?? char).join("");
    const shape = NUMBER.exec(plain);
    if (shape === null) return null;
    const whole = shape[2] || "";
    const fraction = shape[3] || shape[4] || "";
    const exponent = BigInt(shape[5] || 0) - BigInt(fraction.length);
    const significant = (whole + fraction).replace(/^0+/, "");
    const adjusted = exponent + BigInt(Math.max(significant.length, 1)) - 1n;
    if (adjusted > MAX_EXPONENT || exponent < MIN_EXPONENT) return null;
    const digits = significant.replace(/0+$/, "");
    const point = exponent + BigInt(significant.length);
    return { negative: shape[1] === "-" && digits !== "", digits, point };
  }

  /** Tell whether a number is written in the one shortest form that telemetry uses. */
  function isShortest(text) {
    return SHORTEST.test(text);
  }

  /** Return a negative number, 0 or a positive one, as `one` is less than, equal to or more than `other`. */
  function compareDecimals(one, other) {
    if (one.negative !== other.negative) return one.negative ? -1 : 1;
    return one.negative ? compareSizes(other, one) : compareSizes(one, other);
  }

  function compareSizes(one, other) {
    if (one.digits === "" || other.digits === "") return one.digits.length - other.digits.length;
    if (one.point !== other.point) return one.point < other.point ? -1 : 1;
    if (one.digits === other.digits) return 0;
    return one.digits < other.digits ? -1 : 1;
  }

  ragassay.decimal = { parseDecimal, isShortest, compareDecimals };
})();
