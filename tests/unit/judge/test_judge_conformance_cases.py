"""The cases that ship: well formed, right by our arithmetic, balanced, with literals that a question could carry."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragassay import canon
from ragassay.errors import InputError
from ragassay.judge.conformance import Case, read_cases, shipped_cases
from ragassay.literals import first_hit, judge_claim, judgeable
from ragassay.records import to_json
from ragassay.score import item_hundredths

CASES, DIGEST = shipped_cases()
IDS = [case.id for case in CASES]
OWN = [case for case in CASES if case.id.startswith("K")]


def test_ids_are_unique_and_the_digest_is_the_files() -> None:
    """No id stands twice, and what is recorded as the set's digest is that of its bytes."""
    assert len(set(IDS)) == len(CASES) == 145
    path = Path(__file__).resolve().parents[3] / "src" / "ragassay" / "judge" / "conformance.jsonl"
    assert canon.sha256(path.read_bytes()) == DIGEST


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_hundredths_follow_from_the_verdicts(case: Case) -> None:
    """The item score of a case is what the arithmetic makes of its right verdicts."""
    assert item_hundredths(case.right()) == case.hundredths
    assert all(text.strip() for text in (case.kind, case.case, case.domain, case.question, case.reference, case.note))


def test_every_kind_has_two_cases_or_more() -> None:
    """No kind's accuracy rests on one case."""
    assert {kind: count for kind, count in Counter(case.kind for case in CASES).items() if count < 2} == {}
    assert len({case.kind for case in CASES}) == 34


def test_no_word_of_the_verdicts_carries_the_set() -> None:
    """A judge of one word is right on at most half of the claims, and every word stands 24 times or more."""
    words = Counter(word for case in CASES for word in case.verdicts)
    assert words == {"SUPPORTS": 161, "OMITS": 101, "CONTRADICTS": 43, "HEDGES": 24}
    assert max(words.values()) * 2 <= sum(words.values())
    scores = Counter(case.hundredths for case in CASES)
    assert max(scores.values()) < 0.4 * len(CASES)


def test_domains_are_many() -> None:
    """The cases are not about software alone: twenty-one domains, none of which has a sixth of the cases."""
    domains = Counter(case.domain for case in CASES)
    assert len(domains) == 21
    assert max(domains.values()) < len(CASES) / 6


def test_the_first_set_is_carried_whole(shared_data: Path) -> None:
    """The 21 cases of the first set ship as they are, with kind, domain and literals added."""
    lines = (shared_data / "judge" / "conformance.jsonl").read_text(encoding="utf-8").splitlines()
    shipped = {case.id: to_json(case) for case in CASES}
    for line in lines:
        given: dict[str, Any] = json.loads(line)
        found = shipped[given["id"]]
        for claim in found["claims"]:
            del claim["must"], claim["must_not"]
        assert canon.canonical({name: found[name] for name in given}) == canon.canonical(given)
    assert len(lines) + len(OWN) == len(CASES)


def test_literals_are_such_as_a_question_may_carry() -> None:
    """Each reference passes its own claims, no `must_not` hits it, and the question alone passes none whole."""
    seen = 0
    for case in CASES:
        if not all(judgeable(claim) for claim in case.claims):
            assert case.reference_insufficient
            continue
        seen += 1
        assert {judge_claim(claim, case.reference)[0] for claim in case.claims} == {"SUPPORTS"}, case.id
        assert first_hit([one for claim in case.claims for one in claim.must_not], case.reference) is None, case.id
        assert {judge_claim(claim, case.question)[0] for claim in case.claims} != {"SUPPORTS"}, case.id
    assert seen == 143


def test_one_question_has_one_reference_and_one_list_of_claims() -> None:
    """Cases that share a question share everything but the answer."""
    by_question: dict[str, set[bytes]] = {}
    for case in CASES:
        material = canon.canonical({"reference": case.reference, "claims": to_json(case.claims)})
        by_question.setdefault(case.question, set()).add(material)
    assert {question for question, found in by_question.items() if len(found) > 1} == set()
    answers = Counter((case.question, case.answer) for case in CASES)
    assert max(answers.values()) == 1


def line(**changes: Any) -> bytes:
    """Return the first case as a line, with changed members."""
    return json.dumps({**to_json(CASES[0]), **changes}).encode() + b"\n"


def test_every_problem_of_a_file_is_said_at_once() -> None:
    """A wrong score, a wrong count, ids, centrality, broken lines and unknown words are listed with their lines."""
    claims = to_json(CASES[0].claims)
    data = b"".join(
        [
            line(id="A", hundredths=99),
            line(id="B", verdicts=["SUPPORTS"]),
            line(id="C", claims=claims[::-1]),
            line(id="D", claims=[{**claim, "central": False} for claim in claims]),
            b"{nothing\n",
            line(id="E", verdicts=["SUPPORTS", "MAYBE"]),
            line(id="F", score=1),
            line(id="G") * 2,
            b"\xff\n",
        ]
    )
    with pytest.raises(InputError, match="no usable set of cases") as caught:
        read_cases(data, "cases.jsonl")
    said = "\n".join(caught.value.problems)
    wanted = [
        "line 1: A: its verdicts score 100, not 99",
        "line 2: B: 2 claims have 1",
        "line 3: C: claims are",
        "line 4: D: exactly one",
        *("line 5: ", "line 6: ", "line 7: ", "line 10: "),
        "'G' stands 2 times",
    ]
    for part in wanted:
        assert part in said


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_file_without_cases_is_refused(data: bytes) -> None:
    """Nothing is no conformance."""
    with pytest.raises(InputError, match="there is none"):
        read_cases(data, "cases.jsonl")


def test_a_case_reads_back() -> None:
    """The JSON form of a case is that of the file."""
    assert read_cases(b"".join(msgspec.json.encode(case) + b"\n" for case in CASES), "again") == CASES
