"""From what an endpoint supports to what stands on the board: whether it can be used so, and what to change. Pure."""

from __future__ import annotations

from ragassay.plugins.embedders.openai_check import EmbeddingFindings
from ragassay.plugins.models.openai_check import ChatFindings
from ragassay.run.board_file import JudgeTable, ModelTable

Advice = tuple[bool, list[str]]
"""Whether the board as it is cannot use the endpoint, and what to change on it."""


def answer_advice(template: str, table: ModelTable, found: ChatFindings) -> Advice:
    """Return what the answering model's table has to change."""
    wrong = _template(template, found)
    wrong += _parameters(table, found, "[answer]")
    if table.params.get("temperature") is not None and found.temperature_0 is False:
        wrong.append("take temperature out of params in [answer]: the endpoint refuses it")
    return bool(wrong), [*wrong, *_notes(found)]


def judge_advice(judge: JudgeTable, table: ModelTable, found: ChatFindings) -> Advice:
    """Return what a judge's tables have to change; a format that the judge can fall back from is only a note."""
    wrong = _parameters(table, found, "the judge's model")
    temperature = judge.params.get("temperature", table.params.get("temperature", 0))
    if found.temperature_0 is False and temperature == 0:
        wrong.append("write omit = ['temperature'] in the judge's table: the endpoint refuses 0")
    if found.systems == "none":
        wrong.append("take another model as judge: this endpoint takes no system message, and the rubric is one")
    return bool(wrong), [*wrong, *_format(judge, found), *_notes(found)]


def embedder_advice(dimension: object, found: EmbeddingFindings) -> Advice:
    """Return what an embedder's entry has to change."""
    if found.dimension is None or dimension == found.dimension or (dimension is None and found.unit_length is None):
        return False, []
    return True, [f"write dimension = {found.dimension} in the embedder's table"]


def _template(template: str, found: ChatFindings) -> list[str]:
    if template == "chunks-as-system/1" and found.systems in ("one", "none", "several taken, not all seen"):
        other = "user-context/1" if found.systems == "none" else "single-system/1"
        return [
            f"write template = '{other}' in [answer]: with chunks-as-system/1 each delivered chunk is a system "
            f"message, and the endpoint takes {_TAKES[found.systems]}"
        ]
    if template == "single-system/1" and found.systems == "none":
        return ["write template = 'user-context/1' in [answer]: the endpoint takes no system message"]
    return []


_TAKES = {
    "one": "one",
    "none": "none",
    "several taken, not all seen": "several and shows the model only some of them",
}


def _parameters(table: ModelTable, found: ChatFindings, place: str) -> list[str]:
    for name in ("max_tokens", "max_completion_tokens"):
        if name in table.params and found.tokens_name != name:
            value = table.params[name]
            if found.tokens_name is None:
                return [f"the endpoint refuses {name} in {place}, and the only other name for it"]
            return [f"write params = {{ {found.tokens_name} = {value} }} in {place}, in place of {name}"]
    return []


def _format(judge: JudgeTable, found: ChatFindings) -> list[str]:
    """Return the response format to pin, where the strict schema that the judge asks for is not what is given."""
    if found.format == "json_schema" or "response_format" in judge.params:
        return []
    how = "takes a JSON schema and ignores it" if found.schema_ignored else "refuses a JSON schema"
    what = (
        "omit = ['response_format']"
        if found.format == "none"
        else "params = { response_format = { type = 'json_object' } }"
    )
    return [f"write {what} in the judge's table: the endpoint {how}, and the row then names what was asked"]


def _notes(found: ChatFindings) -> list[str]:
    if found.finish_reason == "length":
        return ["raise the output limit in params: it cut off a reply of a few words, as with a model that thinks long"]
    return []
