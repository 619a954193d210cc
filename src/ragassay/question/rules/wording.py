"""Does a question stand alone: no pointing at a page, no pronoun or person without a name, no day of asking."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.question.rules.names import names_in
from ragassay.question.rules.words import AUXILIARIES, prose
from ragassay.records import Question

_TEXT = (
    r"(?:pages?|sections?|subsections?|documents?|docs?|documentation|guide|article|passages?|paragraphs?|chapters?|"
    r"tutorial|texts?|examples?|tables?|figures?|diagrams?|snippets?|excerpts?|listings?|code block|screenshots?|"
    r"references?|appendix|footnote|notes?|context|release notes|changelog|website|site|source)"
)
_SAYS = (
    r"(?:sa(?:y|ys|id)|shows?|shown|states?|lists?|mentions?|describes?|recommends?|suggests?|gives?|names?|tells?|"
    r"explains?|uses?|warns?|discuss(?:es)?|claims?|advises?|refers?|defines?|notes?)"
)
_SEEN = r"(?:shown|described|seen|noted|mentioned|discussed|explained|stated|listed|given|defined|named|illustrated)"
_SMALL = r"(?:the|an?|its|their|your|our|each|every|all|no|some|any)"
_OWNED = r"(?! (?:of|for|about|on|that|which|from|in (?!question\b|use\b)) ?\w)"
_DEICTIC = re.compile(
    rf"\b(?:this|these|that|those) (?:(?!{_SMALL} )\w+ )?{_TEXT}\b(?! of)"
    rf"|\bthe (?:\w+ )?{_TEXT} (?:above|below|here)\b"
    rf"|\bthe (?:above|following|preceding|aforementioned|said)\b|\bthe (?:previous|next|last|first|current|present|"
    rf"given|provided) {_TEXT}\b(?! (?:of|in|for))"
    rf"|\b{_SEEN} (?:above|below|here|earlier|previously|so far)\b"
    rf"|\bas {_SEEN}\b(?! (?:in|by|on|at|for) )|\bas {_SEEN} (?:in|by|on) the {_TEXT}\b{_OWNED}"
    rf"|\b(?:according to|in|on|from|by|per|does|do|did) the {_TEXT}\b(?= {_SAYS}\b|,|\?|$)"
    rf"|\b(?:see|refer to|cf\.?) (?:above|below|the {_TEXT}|(?:sub)?section \d)"
    r"|\b(?:we|I)(?:'ve| have)? (?:already )?(?:looked at|saw|discussed|talked about|went over)\b"
    r"|\b(?:we|I|you)(?:'ve| have)? just (?:looked at|saw|seen|read|discussed|talked about|covered|went over)\b"
    r"|(?<![\w-])here\b(?! documents?\b)|\b(?:above|below)(?=[?.,;]|$)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"(?<![\w./'-])(?:it|they|them|itself|themselves|(?:this|that) (?:directory|folder|option|setting|variable|"
    r"parameter|module|method)|this (?:flag|command|feature|step|error|version|limit)|(?:these|those) (?:directories|"
    r"folders|options|settings|variables|parameters|modules|methods|flags|commands|features|steps|errors|versions|limits))"
    r"(?![\w/-])",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:an?|the|this|that|these|those|every|each|any|some|no|my|your|another|both|two|three) \w|"
    r"[.;:,]\s",
    re.IGNORECASE,
)
"""What a pronoun may stand for: something with an article or a number, or what an earlier part of the text said."""
_HUMAN = re.compile(r"(?<![\w./'-])(?:he|she|him|his|her|hers|we|our|ours|us|ourselves|himself|herself)(?![\w./-])")
_DOING = re.compile(
    rf"^(?:(?:why|how|when|where|what|which)(?: \w+)? )?(?:{'|'.join(sorted(AUXILIARIES))}) "
    r"doing (?:so|this|that|it)\b(?! (?:many|much|few|little|often|well)\b)",
    re.IGNORECASE,
)
"""A deed that nothing before it tells, because the question begins with it."""
_EXPLETIVE = re.compile(
    r"it(?:self)? (?:is|was|be|has been)? ?(?:not )?(?:possible|necessary|impossible|safe|allowed|required|recommended|"
    r"advisable|enough|takes?|took|costs?|means?|matters?|comes? to|turns? out|follows?|happens?)\b",
    re.IGNORECASE,
)
_PEOPLE = (
    r"(?:speakers?|authors?|writers?|presenters?|narrators?|interviewers?|interviewees?|participants?|attendees?|"
    r"panelists?|bloggers?|reporters?|audience|lecturers?|professors?|instructors?|teachers?|protagonists?|characters "
    r"in the|man|woman|men|women|person|people|guy|couple|boy|girl)"
)
_SCENES = (
    r"(?:meetings?|conversation|interview|talk|presentation|podcast|episode|video|lecture|webinar|discussion|transcript|"
    r"recording|speech|debate|story|party|conference|keynote|slides?|clip)"
)
_UNNAMED = re.compile(
    rf"\b(?:the|this|that|these|those|both|two) (?:\w+ )?{_PEOPLE}\b"
    rf"(?! (?:of (?:an?|each|every|any|the)|field|in a|in an|named|called|tag|"
    rf"attribute|key)\b|'s (?:name|email)|[-_])"
    rf"|\b(?:the|this|that) {_SCENES}\b(?! (?:of|for|table|command|API|type|format|id|on|about)\b|[-_])",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\b(?:yesterday|tomorrow|tonight|(?:last|next) (?:night|week|month|year|spring|summer|autumn|fall|winter|quarter|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)|this (?:morning|afternoon|evening|week|month|year|"
    r"quarter|spring|summer|autumn|winter)|(?:a|an|one|two|three|few|\d+) (?:days?|weeks?|months?|years?|hours?) ago|"
    r"long ago|the other day)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:currently|nowadays|today|recently|lately|at present|at the moment|these days|as of now|right now|just now|"
    r"now(?! ?\()|the (?:newest|most recent|upcoming|latest|current|next) (?:version|release)(?= ?(?:\?|$)))(?![\w(-])",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\b(?:TODO|TBD|FIXME|XXX+|TBC)\b|\?\?\?|\blorem ipsum\b|\[(?:insert|fill in)[^\]]*\]")


def stands_alone(material: Material) -> Iterator[LintFinding]:
    """Yield what keeps a question from being understood without a text, a speaker or a day beside it."""
    for question in material.benchmark.questions:
        asked = prose(question.input)
        for name, text in (("question", asked), ("target", prose(question.target))):
            if found := _DEICTIC.search(text):
                message = f"the {name} points at {_shown(found)}, which its reader does not see; name what is meant"
                yield broken("deictic", question.id, message)
        yield from _pronouns(question, material)
        if found := _UNNAMED.search(asked):
            message = f"{_shown(found)} has no name; say who or what it is"
            yield broken("unnamed", question.id, message)
        if (found := _THEN.search(asked)) or (found := _NOW.search(asked)):
            mild = _THEN.search(asked) is None
            message = f"{_shown(found)} depends on the day of asking; name the version or the date"
            yield broken("time-deictic", question.id, message, mild=mild)


def tidy(material: Material) -> Iterator[LintFinding]:
    """Yield notes that were left in, and spaces and letters that `--fix` mends."""
    for question in material.benchmark.questions:
        for name, text in (("question", question.input), ("target", question.target)):
            if found := _PLACEHOLDER.search(prose(text)):
                yield broken("placeholder", question.id, f"the {name} holds {_shown(found)}; finish it")
            if tidied(text) != text:
                message = f"the {name} holds outer or doubled spaces, or letters that are not composed; --fix mends it"
                yield broken("untidy", question.id, message)


def tidied(text: str) -> str:
    """Return `text` composed (NFC), without outer spaces, runs of white space as one space outside of code."""
    parts = re.split(r"(`[^`]*`)", unicodedata.normalize("NFC", text).strip())
    return "".join(part if part.startswith("`") else re.sub(r"\s+", " ", part) for part in parts)


def _pronouns(question: Question, material: Material) -> Iterator[LintFinding]:
    asked = prose(question.input)
    if found := _DOING.search(asked.strip()):
        yield broken("pronoun", question.id, f"{_shown(found)} stands for nothing told before it; say what is done")
        return
    for pattern in (_PERSONAL, _HUMAN):
        found = pattern.search(asked)
        if found is None or _EXPLETIVE.match(asked, found.start()):
            continue
        before = question.input[: found.start()]
        if pattern is _PERSONAL and (_THING.search(before) or names_in(before, material.benchmark)):
            continue
        if pattern is _HUMAN and re.search(r"\w [A-Z][a-z]+", before):
            continue
        yield broken("pronoun", question.id, f"{_shown(found)} stands for nothing named before it; name it")
        return


def _shown(found: re.Match[str]) -> str:
    return f'"{found[0].strip()}"'
