// The text folds under which a judge's quote must stand in the answer: case and white space: ragassay/fold.py (QUOTE).
(() => {
  "use strict";

  const { isSpace, caseFolded } = ragassay.characters;

  /** Return `text` in lower case (full case folding) with every run of white space as one space. */
  function fold(text) {
    let found = "";
    let spaces = false;
    for (const char of text) {
      for (const folded of caseFolded(char)) {
        if (isSpace(folded)) {
          spaces = true;
          continue;
        }
        if (spaces) found += " ";
        spaces = false;
        found += folded;
      }
    }
    return spaces ? `${found} ` : found;
  }

  /** Return `text` without white space at its ends, as Python's `str.strip` has it. */
  function strip(text) {
    let start = 0;
    let end = text.length;
    while (start < end && isSpace(text[start])) start++;
    while (end > start && isSpace(text[end - 1])) end--;
    return text.slice(start, end);
  }

  /** Tell whether `needle` stands in `haystack`, exactly or under the folds. */
  function stands(needle, haystack) {
    if (needle !== "" && haystack.includes(needle)) return true;
    const wanted = strip(fold(needle));
    return wanted !== "" && fold(haystack).includes(wanted);
  }

  ragassay.fold = { fold, strip, stands };
})();
