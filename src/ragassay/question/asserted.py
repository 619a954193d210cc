"""What a sentence asserts that can be looked up: code, options, names, numbers; and whether other texts hold it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragassay.fold import LITERAL, fold
from ragassay.literals import hits

_CODE = re.compile(r"`([^`\n]+)`")
_BEFORE = "\"'“”‘’«»()[]{}<>*,;:!?…"
_AFTER = _BEFORE + "."
_POSSESSIVE = re.compile(r"['’]s$")
_WRITTEN_OUT = re.compile(r"[a-z]\.(?:[a-z]\.?)*", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W\d_]+(?:[/-][^\W\d_]+)+")
_JOINED = re.compile(r"\w[/\\@=:.]\w|^[/@$.~]\w|^--?\w")
_CAMEL = re.compile(r"[a-z][A-Z]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"(?<=[\w,;)`'’] )[A-Z][a-z]{2,}\b")
_WORDS = {
    word: str(value)
    for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_COUNTING = "|".join([*(word for word in _WORDS if word != "one"), "dozen", "hundred", "thousand", "million"])
_NUMBER_WORD = re.compile(rf"\b(?:{_COUNTING})\b")


def asserted(text: str) -> list[str]:
    """Return the code, options, names with inner capitals or marks, and numbers of `text`, each once, in order."""
    found = dict.fromkeys(span.strip() for span in _CODE.findall(text) if span.strip())
    for word in _CODE.sub(" ", text).split():
        token = _POSSESSIVE.sub("", word.lstrip(_BEFORE).rstrip(_AFTER))
        if token and _stands_out(token):
            found[token] = None
    return list(found)


def unfounded(text: str, sources: Sequence[str]) -> list[str]:
    """Return what `text` asserts and none of `sources` holds; a number may be a word there, and the other way."""
    tokens = [token for token in asserted(text) if not _founded(token, sources)]
    spoken = _NUMBER_WORD.findall(_CODE.sub(" ", text).lower())
    return tokens + [word for word in dict.fromkeys(spoken) if not _held(_ways(word), sources)]


def unknown_names(text: str, sources: Sequence[str]) -> list[str]:
    """Return the capitalised words inside the sentences of `text` that none of `sources` holds."""
    names = dict.fromkeys(_NAME.findall(_CODE.sub(" ", text)))
    return [name for name in names if not _held((name,), sources)]


def words(text: str) -> frozenset[str]:
    """Return the words of `text` under the folds of the literal judge."""
    return frozenset(re.findall(r"\w+", fold(text, LITERAL).text))


def _stands_out(token: str) -> bool:
    if any(map(str.isdigit, token)) or "_" in token or _CAMEL.search(token) or sum(map(str.isupper, token)) > 1:
        return True
    if _PLAIN.fullmatch(token) or _WRITTEN_OUT.fullmatch(token):
        return False
    return _JOINED.search(token) is not None


def _founded(token: str, sources: Sequence[str]) -> bool:
    if _held(_ways(token), sources):
        return True
    if re.search(r"[_/\\@=:`\s]", token) or not any(map(str.isdigit, token)):
        return False
    return all(_held(_ways(part), sources) for part in _parts(token))


def _parts(token: str) -> Iterator[str]:
    """Yield the numbers and the words of a token such as `5-minute`, `v1.2` or `2GB`; a version's `v` is no word."""
    yield from _NUMBER.findall(token)
    yield from (part for part in _LETTERS.findall(token) if part not in ("v", "V"))


def _ways(token: str) -> tuple[str, ...]:
    plural = (token[:-1],) if token.endswith("s") and token[:-1].isupper() else ()
    if token in _WORDS:
        return token, _WORDS[token]
    return (token, *plural, *(word for word, digits in _WORDS.items() if digits == token))


def _held(ways: Sequence[str], sources: Sequence[str]) -> bool:
    return any(hits(way, source) is not None for way in ways for source in sources)
