// The text folds under which a judge's quote must stand in the answer: case and white space: ragassay/fold.py (QUOTE).
(() => {
  "use strict";

  const { SPACE_RUNS, isSpace, caseFolded } = ragassay.characters;
  /** Return `text` in lower case (full case folding) with every run of white space as one space. */
  function fold(text) {
    const ascii = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
    return ascii.replace(/[^\0-\x7f]/gu, caseFolded).replace(SPACE_RUNS, " ");
  }

  /** Return `text` without white space at its ends, as Python's `str.strip` has it. */
  function strip(text) {
    let start = 0;
    let end = text.length;
    while (start < end && isSpace(text[start])) start++;
    while (end > start && isSpace(text[end - 1])) end--;
    return text.slice(start, end);
  }

  /** Return what tells whether a quote stands in `text`, exactly or under the folds; `text` is folded once at most. */
  function quotesOf(text) {
    let folded = null;
    return (quote) => {
      if (strip(quote) === "") return false;
      if (text.includes(quote)) return true;
      folded ??= fold(text);
      return folded.includes(strip(fold(quote)));
    };
  }

  ragassay.fold = { fold, strip, quotesOf };
})();
