// The text folds under which a judge's quote must stand in the answer: case and white space: ragassay/fold.py (QUOTE).
(() => {
  "use strict";

  const { isSpace, caseFolded } = ragassay.characters;
  const ASCII = /^[\0-\x7f]*$/;
  const ASCII_SPACES = /[\t-\r\x1c-\x20]+/g;

  /** Return `text` in lower case (full case folding) with every run of white space as one space. */
  function fold(text) {
    if (ASCII.test(text)) return text.toLowerCase().replace(ASCII_SPACES, " ");
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
