"""What code says against proposed claims: added facts, duplicates, literals, form; and nothing against sound ones."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.question import load_benchmark
from ragassay.question.asserted import asserted, unfounded, unknown_names
from ragassay.question.claim_checks import MAX_CLAIMS, MAX_TEXT, check_claims, forbidding
from ragassay.records import Claim, Question

ROOT = Path(__file__).resolve().parents[3]
QUESTION = Question(
    id="wait",
    input="How long do uv cache commands wait by default for other uv processes, and which variable changes that?",
    target="5 minutes; `UV_LOCK_TIMEOUT` changes it.",
    claims=(Claim(id=1, text="5 minutes; `UV_LOCK_TIMEOUT` changes it.", central=True),),
    evidence=("By default, they wait five minutes (5 min). Change that with UV_LOCK_TIMEOUT, from uv 0.5.2 on.",),
    unsplit=True,
)
SOUND = Claim(id=1, text="By default uv cache commands wait 5 minutes.", central=True, must=(("5 min",),))
SECOND = Claim(id=2, text="UV_LOCK_TIMEOUT changes the wait.", central=False, must=(("UV_LOCK_TIMEOUT",),))


def rules(*claims: Claim, sufficient: bool = True, severity: str = "error") -> set[str]:
    """Return the rules of that severity that the claims break."""
    return {one.rule for one in check_claims(QUESTION, claims, sufficient) if one.severity == severity}


def with_text(text: str, **other: object) -> Claim:
    """Return the sound claim with another text and no literals."""
    return msgspec.structs.replace(SOUND, **{"text": text, "must": (), **other})


def test_sound_claims_have_nothing_against_them() -> None:
    """Two claims that say what the target says break no rule."""
    assert check_claims(QUESTION, (SOUND, SECOND), True) == []


@pytest.mark.parametrize("name", ["bundled", "uv-docs", "postgresql-docs"])
def test_no_reviewed_claim_is_refused(name: str, request: pytest.FixtureRequest) -> None:
    """None of the claims of the reviewed sets has an error against it."""
    folder = ROOT / "examples" / name if name == "bundled" else request.getfixturevalue("shared_data") / name
    benchmark = load_benchmark(folder / "questions.json")
    assert len(benchmark.questions) >= 30
    assert [one for q in benchmark.questions for one in forbidding(check_claims(q, q.claims, True))] == []


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("uv cache commands wait 6 minutes.", "6"),
        ("uv cache commands wait seven minutes.", "seven"),
        ("uv cache commands wait 50 minutes.", "50"),
        ("uv cache commands wait 5.5 minutes.", "5.5"),
        ("`UV_CACHE_TIMEOUT` changes the wait.", "UV_CACHE_TIMEOUT"),
        ("UV_LOCK_TIMEOUT_MS changes the wait.", "UV_LOCK_TIMEOUT_MS"),
        ("uv cache commands take --wait.", "--wait"),
        ("uv cache commands read uv.toml.", "uv.toml"),
        ("uv cache commands read /etc/uv.", "/etc/uv"),
        ("uv cache commands wait as PyPI asks.", "PyPI"),
        ("The wait changed in v0.6.0.", "v0.6.0"),
        ("uv cache commands wait 5 minutes and a dozen seconds.", "dozen"),
    ],
)
def test_a_claim_that_adds_a_fact_is_refused(text: str, added: str) -> None:
    """A number, name, option or piece of code that nothing of the question holds is an error that quotes it."""
    found = [one for one in check_claims(QUESTION, (with_text(text),), True) if one.rule == "adds-facts"]
    assert len(found) == 1
    assert f'"{added}"' in found[0].message


@pytest.mark.parametrize(
    "text",
    [
        "uv cache commands have a 5-minute wait.",
        "uv cache commands wait five minutes.",
        "The wait can be changed since v0.5.2.",
        "The wait can be changed since version 0.5.2.",
        "`UV_LOCK_TIMEOUT` changes the wait of uv's cache commands.",
        "uv cache commands wait 5 minutes and/or longer.",
        "uv cache commands wait, e.g., 5 min.",
    ],
)
def test_another_spelling_of_a_fact_is_none_that_is_added(text: str) -> None:
    """Number words, hyphens, a version's v, possessives and written-out abbreviations are no new facts."""
    assert unfounded(text, (QUESTION.input, QUESTION.target, *QUESTION.evidence)) == []


def test_what_stands_out_is_found_whole() -> None:
    """Code spans, options, paths, versions and names with inner capitals are tokens; plain words are none."""
    text = "Set `--max wait` or -v in uv.toml, (McpClient) from 2,000 on; client/server and built-in are plain."
    assert asserted(text) == ["--max wait", "-v", "uv.toml", "McpClient", "2,000"]


@given(st.lists(st.sampled_from(["`a b`", "UV_X", "5", "--flag", "v1.2", "plain", "words", "uv.toml"]), min_size=1))
def test_a_text_adds_nothing_to_itself(parts: list[str]) -> None:
    """Whatever a text asserts, it holds."""
    text = " ".join(parts)
    assert unfounded(text, (text,)) == []


def test_a_name_that_nobody_gave_is_a_warning() -> None:
    """A capitalised word inside a sentence is only warned of, since it may be ordinary in its language."""
    assert unknown_names("The wait of uv by Astral is long.", ("uv",)) == ["Astral"]
    assert "names" in rules(with_text("The wait of uv by Astral is 5 minutes."), severity="warning")


@pytest.mark.parametrize(
    "text", ["It waits 5 minutes.", "They wait 5 minutes.", "This is 5 minutes.", "The former is 5."]
)
def test_a_claim_that_begins_with_a_pronoun_is_warned_of(text: str) -> None:
    """A claim has to stand alone."""
    assert "self-contained" in rules(with_text(text), severity="warning")


def test_a_claim_that_points_at_its_page_or_says_two_things_is_warned_of() -> None:
    """No answer shows the page, and two statements cannot be judged as one."""
    assert "self-contained" in rules(with_text("The page says 5 minutes."), severity="warning")
    assert "atomic" in rules(with_text("uv waits 5 minutes. UV_LOCK_TIMEOUT changes that."), severity="warning")
    assert "atomic" not in rules(SOUND, severity="warning")


@pytest.mark.parametrize(
    "text", ["by default, uv cache commands wait 5 minutes", "By default uv cache commands wait for 5 minutes."]
)
def test_a_claim_that_says_what_an_earlier_one_says_is_refused(text: str) -> None:
    """Equal and nearly equal claims would count one fact twice."""
    assert "duplicate" in rules(SOUND, msgspec.structs.replace(with_text(text), id=2, central=False))


def test_claims_that_differ_in_a_number_are_no_duplicates() -> None:
    """The same words about another value or another name are another claim."""
    assert "duplicate" not in rules(SOUND, with_text("By default uv cache commands wait 0.5.2 minutes.", id=2))


def test_how_many_with_which_ids_and_one_central() -> None:
    """No claim, nine claims, ids with a hole and no central claim are errors; several central ones are a warning."""
    assert "count" in rules()
    assert "count" in rules(*(with_text(f"{'very ' * n}long", id=n) for n in range(1, MAX_CLAIMS + 2)))
    assert "ids" in rules(SOUND, msgspec.structs.replace(SECOND, id=3))
    assert "central" in rules(SECOND)
    both = (SOUND, msgspec.structs.replace(SECOND, central=True))
    assert (rules(*both), rules(*both, severity="warning")) == (set(), {"several-central"})


def test_an_insufficient_reference_is_an_error_whatever_the_claims() -> None:
    """No claim can be right where the reference is not, and other claims would not mend it."""
    found = check_claims(QUESTION, (SOUND, SECOND), False)
    assert [(one.rule, one.severity, one.of_question) for one in found] == [("insufficient", "error", True)]


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "x" * (MAX_TEXT + 1), "a\x1b[31mred", "a\u202eb", "two\nlines"])
def test_a_text_that_cannot_be_shown_is_refused(text: str) -> None:
    """Blank, overlong and steering texts are errors."""
    assert "text" in rules(with_text(text))


def test_literals_are_checked_as_the_literal_judge_reads_them() -> None:
    """Empty lists, blanks, literals outside target, claim or evidence, echoes and forbidden hits are errors."""
    assert "literals" in rules(msgspec.structs.replace(SOUND, must=((),)))
    assert "literals" in rules(msgspec.structs.replace(SOUND, must=((" ",),)))
    assert "target-fails" in rules(msgspec.structs.replace(SOUND, must=(("by default",),)))
    assert "claim-fails" in rules(msgspec.structs.replace(SOUND, must=(("UV_LOCK_TIMEOUT",),)))
    assert "question-answers" in rules(msgspec.structs.replace(SOUND, must=(("uv cache commands",),)))
    assert "must-not-hits" in rules(msgspec.structs.replace(SOUND, must_not=("0.5.2",)))
    assert "key-literal" in rules(msgspec.structs.replace(SOUND, must=(("5 minutes",),)))
