"""A begun pass is never continued under anything that could change a number: the field that differs is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "unit" / "run"))

from run_lab import Lab

from ragassay.errors import InputError, StackError
from ragassay.judge import profile2


def answer(id_: str = "m", port: int = 9, temperature: str = "0.0") -> str:
    """Return the answering model's table; nothing listens there, and nothing is asked."""
    url = f"http://127.0.0.1:{port}/v1"
    return f'kind = "openai"\nid = "{id_}"\nbase_url = "{url}"\nparams = {{ temperature = {temperature} }}'


def judge(id_: str = "j", max_tokens: int = 100) -> str:
    """Return the judge's table."""
    model = f'{{ kind = "openai", id = "{id_}", base_url = "http://127.0.0.1:9/v1" }}'
    return f'kind = "llm"\nmodel = {model}\nparams = {{ max_tokens = {max_tokens} }}'


def down(*args: Any, **options: Any) -> Any:
    """Be a stack that is down, so that a pass is begun and held open before any model is asked."""
    raise StackError("connection refused")


CHANGES: dict[str, tuple[dict[str, str], str]] = {
    "another model": ({"answer": answer(id_="other")}, "measure.answer.id was 'm' and is now 'other'"),
    "another address": ({"answer": answer(port=10)}, "measure.answer.describe.base_url was"),
    "another temperature": ({"answer": answer(temperature="0.7")}, "temperature was '0' and is now '0.7'"),
    "another template": ({"answer": answer() + '\ntemplate = "single-system/1"'}, "measure.answer.template."),
    "another judge": ({"judge": judge(id_="k")}, "measure.judge.id was 'j' and is now 'k'"),
    "other parameters of the judge": ({"judge": judge(max_tokens=200)}, "measure.judge.describe.params.max_tokens"),
    "a judge of another kind": ({"judge": 'kind = "literal"'}, "measure.judge.kind was 'llm' and is now 'literal'"),
    "another k": ({"row": "top_k = 3"}, "measure.topK was 2 and is now 3"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_reused_under_another_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """Model, address, temperature, template, judge and k: resume refuses and says what differs (CASES 6)."""
    lab = begun(tmp_path, monkeypatch)
    lab.write(**{"answer": answer(), "judge": judge(), **CHANGES[change][0]})
    refused(lab, CHANGES[change][1])


def test_nothing_is_reused_under_another_rubric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word of the judge's prompt is part of the measure, by the prompt's digest (CASES 6)."""
    lab = begun(tmp_path, monkeypatch)
    monkeypatch.setattr(profile2, "SYSTEM", profile2.SYSTEM + " Be kind.")
    refused(lab, "measure.judge.describe.prompt was")


def test_nothing_is_reused_under_another_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page more is another corpus (CASES 6)."""
    lab = begun(tmp_path, monkeypatch)
    (lab.folder / "docs" / "more.md").write_text("# More\n\nMore.\n", encoding="utf-8")
    refused(lab, "measure.corpus.digest was")


def begun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a board of which one pass is begun and held open, its stack being down."""
    monkeypatch.setattr("ragassay.run.passes.STACK_ATTEMPTS", 1)
    monkeypatch.setattr("ragassay.run.passes.search", down)
    lab = Lab(folder, 2)
    lab.write(answer=answer(), judge=judge())
    lab.run()
    return lab


def refused(lab: Lab, field: str) -> None:
    """Assert that going on is refused with this field, and that no answer is stored."""
    with pytest.raises(InputError, match="cannot be continued") as caught:
        lab.run()
    assert any(field in problem for problem in caught.value.problems), caught.value.problems
    assert '"answered"' not in lab.everything_written()
