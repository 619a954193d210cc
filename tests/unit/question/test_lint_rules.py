"""Each rule of the lint finds a fault in a small set of its own, and leaves sound questions of all kinds alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest

from ragassay.question import LintFinding, Waiver, lint
from ragassay.question.rules import RULES
from ragassay.records import Benchmark, Claim, Page, Provenance, Question

PAGES = {
    "net.md": "# Net\n\nThe Acme server listens on port 8080 by default. "
    + "It has more to say. " * 20
    + "A client waits "
    "5 seconds for the Acme server. It stops after three attempts.",
    "log.md": "# Log\n\nAcme writes its log to `server.log`. The option --quiet switches the log off.",
    "flow.md": "# Flow\n\nThe flumador of Acme keeps a flumador and a flumador. Its colour is green.",
}
ORIGIN = Provenance(author="A. Writer", created="2026-11-30", reviewed_by="B. Reader", derived_from_system=False)


def pages(**more: str) -> list[Page]:
    """Return the pages, some with more text; the name of a page stands without its suffix."""
    texts = {name: text + more.get(name.removesuffix(".md"), "") for name, text in PAGES.items()}
    return [
        Page(id=name, title=name, text=text, format="markdown", sha256=_sha(text), source_sha256=_sha(text))
        for name, text in texts.items()
    ]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def claim(text: str, *must: str, **other: Any) -> Claim:
    """Return a claim with one literal per list."""
    return Claim(**{"id": 1, "text": text, "central": True, "must": tuple((one,) for one in must), **other})


def port(**other: Any) -> Question:
    """Return the question about the port with some fields changed."""
    sound: dict[str, Any] = {
        "id": "port",
        "page": "net.md",
        "input": "On which port does the Acme server listen by default?",
        "target": "Port 8080.",
        "evidence": ("The Acme server listens on port 8080 by default.",),
        "claims": (claim("The port is 8080.", "8080"),),
        "provenance": ORIGIN,
    }
    return Question(**{**sound, **other})


def log(**other: Any) -> Question:
    """Return the question about the log with some fields changed."""
    sound: dict[str, Any] = {
        "id": "log",
        "page": "log.md",
        "input": "To which file does Acme write its log?",
        "target": "server.log",
        "evidence": ("Acme writes its log to `server.log`.",),
        "claims": (claim("The file is server.log.", "server.log"),),
        "provenance": ORIGIN,
    }
    return Question(**{**sound, **other})


def found(*questions: Question, read: Sequence[Page] | None = None, **other: Any) -> list[LintFinding]:
    """Return what the lint says of questions."""
    return lint(Benchmark(name="set", questions=questions), read, **other)


def alike(texts: Sequence[str]) -> list[list[float]]:
    """Find every two texts 0.9 alike."""
    return [[1.0 if a == b else 0.9 for b in texts] for a in texts]


QUESTION_FAULTS: dict[str, list[dict[str, Any]]] = {
    "deictic": [
        {"input": "On which port does the Acme server of this section listen?"},
        {"input": "Which port is given for the Acme server in the following?"},
        {"input": "What does the page say about the Acme port?"},
        {"target": "Port 8080 (see above)."},
    ],
    "pronoun": [
        {"input": "On which port does it listen by default in Acme?"},
        {"input": "Which port did she give the Acme server?"},
        {"input": "On which port do we let the Acme server listen?"},
    ],
    "unnamed": [{"input": "Which port did the presenter give Acme?"}, {"input": "Who spoke of Acme at the meeting?"}],
    "time-deictic": [{"input": "Which port got Acme two weeks ago?"}, {"input": "Which port has Acme currently?"}],
    "subject": [{"input": "On which port does the server listen by default?"}, {"input": "Which HTTP port is open?"}],
    "several-asked": [
        {"input": "On which port does the Acme server listen, and how does one change that?"},
        {"input": "On which port does Acme listen? Who may use the port?"},
        {"input": "On which port does Acme listen, and is the port open?"},
        {"input": "In Acme, which port is open; how does one close the port?"},
    ],
    "no-question": [{"input": "Name the port of the Acme server."}, {"input": "Which port has Acme"}],
    "yes-no": [
        {"input": "Does the Acme server listen on a port?", "target": "Yes, 8080."},
        {"input": "When Acme starts, is port 8080 or 80 open?"},
    ],
    "multiple-choice": [
        {"input": "Which of the following is the port of Acme: 80 or 443?"},
        {"input": "Which port has Acme: a) 80 b) 443?"},
    ],
    "negated": [
        {"input": "Which port is NOT closed by Acme?"},
        {"input": "Which port doesn't Acme leave not open?"},
        {"input": "Isn't there a port of Acme, and which?"},
    ],
    "question-long": [{"input": f"On which port does Acme listen when {'it is so that ' * 12}nobody set one?"}],
    "placeholder": [{"target": "TBD: 8080"}],
    "untidy": [
        {"input": "On which port  does Acme listen?"},
        {"target": "Port 8080. "},
        {"target": "Cafe\u0301 8080."},
    ],
    "target-long": [{"target": f"Port 8080{', which is open' * 20}."}, {"target": f"Port 8080{', as is known' * 14}."}],
    "target-restates": [
        {
            "target": "The Acme server does listen by default on the port with the number 8080, always.",
            "input": "On which port number does the Acme server listen by default always?",
        }
    ],
    "target-unfounded": [{"target": "Port 8080, as RFC 1149 says."}],
    "answer-type": [
        {"input": "How many ports has Acme?", "target": "Ports above."},
        {"input": "How long does Acme wait?", "target": "Patiently."},
        {"input": "Which environment variable sets the port of Acme?", "target": "The usual one for ports."},
        {"input": "Which port has Acme?", "target": "The usual one."},
        {"input": "Who wrote Acme?", "target": "some people"},
        {"input": "Does Acme listen on a port?", "target": "On 8080."},
    ],
    "answer-count": [{"input": "Which three ports has Acme?", "target": "8080 and 443."}],
    "answer-in-question": [
        {
            "input": "On which default port of the Acme server may one listen?",
            "target": "The default port.",
            "claims": (claim("The default port.", must=()),),
            "unsplit": False,
        },
        {
            "input": "On which port, 8080 aside, does Acme listen?",
            "claims": (claim("It is 8080 over TCP.", "8080", "TCP"),),
            "target": "8080 over TCP.",
        },
    ],
    "target-fails": [{"claims": (claim("The port is 8081.", "8081"),)}],
    "question-answers": [{"input": "Why is 8080 the port of Acme?"}],
    "must-not-hits": [{"claims": (claim("The port is 8080.", "8080", must_not=("Port",)),)}],
    "key-literal": [{"evidence": ("The Acme server listens on port 8081 by default.",)}],
    "claim-beyond-target": [{"claims": (claim("The port is 8080 over TCP.", "8080"),)}],
    "target-uncovered": [{"target": "Port 8080 over TCP."}],
    "claim-repeated": [{"claims": (claim("The port is 8080.", "8080"), claim("the port is 8080", "8080", id=2))}],
    "unsplit": [{"claims": (claim("Port 8080.", must=()),), "unsplit": True}],
    "evidence-none": [{"evidence": ()}],
    "evidence-short": [{"evidence": ("8080",)}],
    "evidence-long": [{"evidence": (f"port 8080 {'and so on ' * 120}",)}],
    "evidence-missing": [{"evidence": ("The Acme server listens on port 8080 by chance.",)}],
    "evidence-elsewhere": [{"page": "log.md"}],
    "page-unknown": [{"page": "gone.md"}],
    "author-missing": [{"provenance": None}],
    "derived-unknown": [{"provenance": Provenance(author="A. Writer")}],
    "derived-from-system": [{"provenance": Provenance(author="A. Writer", derived_from_system=True)}],
    "self-reviewed": [
        {"provenance": Provenance(author="A. Writer", reviewed_by="a.  writer", derived_from_system=False)}
    ],
    "created-no-date": [{"provenance": Provenance(author="A. Writer", created="May", derived_from_system=False)}],
}
OTHERS = {
    "evidence-twice",
    "evidence-repeats",
    "answered-elsewhere",
    "passage-shared",
    "passage-near",
    "page-shared",
    "question-repeated",
    "near-duplicate",
    "same-meaning",
    "waiver-wrong",
    "waiver-unused",
}


def test_every_rule_has_a_fault_here() -> None:
    """No rule stands in the table without a test."""
    assert {rule.name for rule in RULES} == set(QUESTION_FAULTS) | OTHERS
    assert not set(QUESTION_FAULTS) & OTHERS


@pytest.mark.parametrize(
    ("rule", "number"), [(rule, n) for rule, all_ in QUESTION_FAULTS.items() for n in range(len(all_))]
)
def test_a_fault_of_one_question_is_found_there(rule: str, number: int) -> None:
    """The rule names the changed question, has something to say, and is silent about the sound one."""
    changed = port(**QUESTION_FAULTS[rule][number])
    findings = [finding for finding in found(changed, log(), read=pages()) if finding.rule == rule]
    assert findings
    assert all(finding.questions == ("port",) and finding.message for finding in findings)
    assert not [finding for finding in found(port(), log(), read=pages()) if finding.rule == rule]


def test_a_sound_set_has_no_finding() -> None:
    """With and without a corpus nothing is said of questions that keep every rule."""
    assert found(port(), log(), read=pages()) == []
    assert found(port(), log()) == []


@pytest.mark.parametrize(
    "text",
    [
        "What does `uv run` do when the file that it is given does not exist?",
        "How does Acme treat sizes above 10 MB?",
        "Which page size does Acme use for each index page?",
        "Which table of Acme's catalogue lists the following rows of a window?",
        "Who is the author of the Acme fork?",
        "Which two ports, 80 aside, does Acme keep open?",
        "How long does it take Acme to start?",
        "Which setting of Acme is now() compared with?",
        'Why does Acme put no text such as "as shown above" in front?',
        "A client of Acme sends its name. What does the server do with it?",
        "Which options does Acme not accept?",
        "What is the flumador's colour?",
        "When Acme fills a folder, which option empties this folder?",
        "Which setting that limits the uploads does Acme read first?",
        "Which of Acme's options does a server take after those options of its file?",
        "Why is doing so many passes costly for Acme?",
        "The Acme server opens one port in the mode which it starts in; which port is that?",
        "Ports and which other thing does Acme open?",
        "Where, when Acme has started, does its port stand?",
    ],
)
def test_wording_that_only_looks_wrong_is_left_alone(text: str) -> None:
    """Code, quotes, sizes, table rows and pronouns with something before them stand alone well enough."""
    wording = {
        "pronoun",
        "unnamed",
        "time-deictic",
        "subject",
        "several-asked",
        "no-question",
        "negated",
        "multiple-choice",
    }
    if "following rows" not in text:
        wording.add("deictic")
    findings = found(port(input=text), log(), read=pages())
    assert [finding for finding in findings if finding.rule in wording] == []


def test_evidence_on_two_pages_or_twice_on_one_is_told_with_every_place() -> None:
    """Other pages and repeats are two rules."""
    text = "\n\nThe Acme server listens on port 8080 by default."
    (twice,) = [finding for finding in found(port(), read=pages(log=text)) if finding.rule == "evidence-twice"]
    assert [place.page for place in twice.places] == ["net.md", "log.md"]
    (again,) = [finding for finding in found(port(), read=pages(net=text)) if finding.rule == "evidence-repeats"]
    assert [place.page for place in again.places] == ["net.md", "net.md"]


def test_a_second_answer_on_another_page_is_hinted_at() -> None:
    """The literals beside most words of the question are enough; the literals alone are not."""
    text = "\n\nBy default the Acme server will listen on 8080, its port."
    (hint,) = [finding for finding in found(port(), read=pages(flow=text)) if finding.rule == "answered-elsewhere"]
    assert (hint.severity, [place.page for place in hint.places]) == ("warning", ["flow.md"])
    assert not [one for one in found(port(), read=pages(flow="\n\nIt costs 8080.")) if one.rule == "answered-elsewhere"]


@pytest.mark.parametrize(
    ("evidence", "rule"),
    [
        ("server listens on port 8080", "passage-shared"),
        ("It has more to say. It has more to say.", "passage-near"),
        ("It stops after three attempts.", "page-shared"),
    ],
)
def test_two_questions_of_one_page_are_told_by_how_near_they_are(evidence: str, rule: str) -> None:
    """One passage is an error, neighbours and one page are warnings, and a pair is told once."""
    other = log(page="net.md", evidence=(evidence,))
    findings = found(port(), other, read=pages())
    pairs = [finding for finding in findings if finding.rule in ("passage-shared", "passage-near", "page-shared")]
    assert [(pair.rule, pair.questions, len(pair.places)) for pair in pairs] == [(rule, ("port", "log"), 2)]
    assert pairs[0].severity == ("error" if rule == "passage-shared" else "warning")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("on which port does the ACME server  listen by default?", "question-repeated"),
        ("By default, on which of the ports does an Acme server listen?", "near-duplicate"),
        ("What number must a client of Acme dial?", "same-meaning"),
    ],
)
def test_the_same_question_twice_is_told_once(text: str, rule: str) -> None:
    """Typography, words and meaning are looked at in this order, and the first tells the pair."""
    findings = found(port(), log(input=text), read=pages(), similar=alike)
    twins = [finding for finding in findings if finding.rule in ("question-repeated", "near-duplicate", "same-meaning")]
    assert [(twin.rule, twin.questions) for twin in twins] == [(rule, ("port", "log"))]


def test_what_is_so_of_a_whole_set_is_one_finding() -> None:
    """Three questions without provenance give one finding each rule, and `*` waives it."""
    names = ("a", "b", "c")
    questions = [log(id=name, provenance=None) for name in names]
    waivers = (Waiver(rule="author-missing", questions=("*",), reason="known"),)
    told = {
        one.rule: one for one in found(*questions, waivers=waivers) if one.rule in ("author-missing", "derived-unknown")
    }
    assert told["author-missing"].questions == names
    assert (told["author-missing"].waived, told["derived-unknown"].waived) == ("known", None)


@pytest.mark.parametrize(
    ("waiver", "rule", "severity"),
    [
        (Waiver(rule="target-fails", questions=("port",), reason="idle", line=7), "waiver-unused", "warning"),
        (Waiver(rule="evidence-twice", questions=("port",), reason="idle", line=7), None, ""),
        (Waiver(rule="same-meaning", questions=("port", "log"), reason="idle", line=7), None, ""),
        (Waiver(rule="no-such-rule", questions=("port",), reason="why", line=7), "waiver-wrong", "error"),
        (Waiver(rule="target-fails", questions=("gone",), reason="why", line=7), "waiver-wrong", "error"),
        (Waiver(rule="yes-no", questions=("port",), reason=" ", line=7), "waiver-wrong", "error"),
        (Waiver(rule="yes-no", questions=("port", "*"), reason="why", line=7), "waiver-wrong", "error"),
        (Waiver(rule="waiver-unused", questions=("port",), reason="why", line=7), "waiver-wrong", "error"),
    ],
)
def test_a_waiver_that_is_wrong_or_idle_is_a_finding_with_its_line(
    waiver: Waiver, rule: str | None, severity: str
) -> None:
    """One for a rule that was not looked at is neither."""
    findings = found(port(), log(), waivers=(waiver,))
    assert [(finding.rule, finding.severity) for finding in findings] == ([(rule, severity)] if rule else [])
    assert all(finding.message.startswith("line 7 of the waivers: ") for finding in findings)


def test_a_waiver_without_a_reason_waives_nothing() -> None:
    """The error stands, and that the reason is missing is another."""
    wrong = port(claims=(claim("The port is 8081.", "8081"),))
    waiver = Waiver(rule="target-fails", questions=("port",), reason="")
    failing = {finding.rule for finding in found(wrong, log(), waivers=(waiver,)) if finding.fails}
    assert failing >= {"target-fails", "waiver-wrong"}
