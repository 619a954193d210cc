"""`ragassay models check`: what each endpoint of a board supports is found out, never guessed, and no key is shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragassay.cli import root
from ragassay.errors import InputError
from ragassay.testing.provider_imitations import (
    PROVIDERS,
    completion,
    embeddings,
    gemini,
    mind,
    ollama,
    openai_error,
    openai_reasoning,
    vllm,
)
from ragassay.testing.provider_servers import Asked, Imitation, ProviderServer, Said, streamed

KEY = "sk-check-0123456789"


def board(tmp_path: Path, answer: str, judge: str = "kind = 'literal'", rows: str = "", more: str = "") -> Path:
    """Write a board and return its path."""
    path = tmp_path / "board.toml"
    path.write_text(
        f"name = 'b'\n[corpus]\npath = 'docs'\n[benchmark]\nfile = 'q.json'\n[answer]\n{answer}\n[judge]\n{judge}\n"
        f"{more}\n[[rows]]\nname = 'none'\nstack = {{ kind = 'none' }}\n{rows}",
        encoding="utf-8",
    )
    return path


def run(path: Path, *options: str, env: Mapping[str, str | None] | None = None) -> tuple[int, str]:
    """Run the verb; return exit code and output."""
    result = CliRunner().invoke(root, ["models", "check", str(path), *options], standalone_mode=False, env=env)
    if result.exception is not None:
        raise result.exception
    return int(result.return_value), result.output


def toml(value: Any) -> str:
    """Return a value as TOML writes it in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


def table(server: ProviderServer, id: str = "m", **more: Any) -> str:
    """Return the lines of a model's table over a server."""
    lines = {"kind": "openai", "id": id, "base_url": server.base_url, **more}
    return "\n".join(f"{key} = {toml(value)}" for key, value in lines.items())


def inline(server: ProviderServer, **more: Any) -> str:
    """Return the same as an inline table."""
    return "{ " + table(server, **more).replace("\n", ", ") + " }"


def found(tmp_path: Path, imitation: Imitation, **more: Any) -> dict[str, Any]:
    """Return what is found out about one answering endpoint, with its exit code under `code`."""
    with ProviderServer(imitation) as server:
        code, output = run(board(tmp_path, table(server, **more)), "--json")
    (one,) = json.loads(output)
    return {**one, **one["findings"], "code": code}


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_is_told_apart(tmp_path: Path, name: str) -> None:
    """Each imitated provider shows what it takes, with one call where nothing is refused."""
    one = found(tmp_path, PROVIDERS[name], id="@cf/zai-org/glm-5.3-flash")
    one_system = name in ("vllm", "llamacpp-server")
    assert one["systems"] == ("one" if one_system else "several")
    assert one["format"] == "json_schema"
    assert one["temperature_0"] is (name != "openai")
    assert one["tokens_name"] == ("max_completion_tokens" if name == "openai" else "max_tokens")
    assert one["calls"] == {"openai": 3, "vllm": 2, "llamacpp-server": 2}.get(name, 1)
    assert one["usable"] is (name not in ("openai", "vllm", "llamacpp-server"))
    assert one["code"] == (0 if one["usable"] else 3)
    assert one["served"] == "@cf/zai-org/glm-5.3-flash"
    assert one["input_tokens"] == 20


def test_what_to_write_is_said(tmp_path: Path) -> None:
    """An answering model that takes neither max_tokens nor several system messages is told what to write instead."""

    def picky(asked: Asked) -> Said:
        return (
            vllm(asked) if sum(m["role"] == "system" for m in asked.body["messages"]) > 1 else openai_reasoning(asked)
        )

    one = found(tmp_path, picky, params={"max_tokens": 900})
    assert not one["usable"]
    advice = " ".join(one["advice"])
    assert "template = 'single-system/1'" in advice
    assert "params = { max_completion_tokens = 900 }" in advice


def test_a_board_that_follows_the_advice_is_usable(tmp_path: Path) -> None:
    """With the other name of the limit and without max_tokens beside it, a reasoning model is usable."""
    one = found(tmp_path, openai_reasoning, params={"max_completion_tokens": 900})
    assert (one["usable"], one["code"], one["tokens_name"]) == (True, 0, "max_completion_tokens")


def formats(*taken: str, words: str = "response_format is not supported") -> Imitation:
    """Return an imitation that takes these response formats, and none is always taken."""

    def imitate(asked: Asked) -> Said:
        form = asked.body.get("response_format")
        if form and form["type"] not in taken:
            return openai_error(words)
        return Said(body=completion(asked.body, mind(asked.body)))

    return imitate


def ignores_schema(asked: Asked) -> Said:
    """Take a schema and write JSON as if there were none."""
    plain = {name: value for name, value in asked.body.items() if name != "response_format"}
    return Said(body=completion(asked.body, mind(plain)))


@pytest.mark.parametrize(
    ("imitation", "format", "write"),
    [
        (formats("json_schema", "json_object"), "json_schema", ""),
        (formats("json_object"), "json_object", "params = { response_format = { type = 'json_object' } }"),
        (formats(), "none", "omit = ['response_format']"),
        (formats("json_object", words="Invalid input"), "json_object", "type = 'json_object'"),
        (formats(words="Bad request"), "none", "omit = ['response_format']"),
        (ignores_schema, "json_object", "ignores it"),
    ],
)
def test_the_judges_response_format(tmp_path: Path, imitation: Imitation, format: str, write: str) -> None:
    """What a judge's endpoint takes is found out whatever words refuse the rest; the board is told what to pin."""
    with ProviderServer(ollama) as answering, ProviderServer(imitation) as server:
        path = board(tmp_path, table(answering), f"kind = 'llm'\nmodel = {inline(server)}")
        code, output = run(path, "--json")
        judge = json.loads(output)[1]
    assert (code, judge["usable"], judge["findings"]["format"]) == (0, True, format)
    assert write in " ".join(judge["advice"])
    assert bool(judge["advice"]) == bool(write)


def test_a_pinned_format_is_not_advised_again(tmp_path: Path) -> None:
    """A judge whose parameters name the format that is taken needs no advice."""
    with ProviderServer(formats("json_object")) as server:
        judge = f"kind = 'llm'\nmodel = {inline(server)}\nparams = {{ response_format = {{ type = 'json_object' }} }}"
        _, output = run(board(tmp_path, "kind = 'reader'", judge), "--json")
    assert json.loads(output)[1]["advice"] == []


def test_a_judge_that_refuses_temperature_is_not_usable(tmp_path: Path) -> None:
    """Every verdict would be refused: the check says so before, and what to leave out."""
    with ProviderServer(openai_reasoning) as server:
        model = inline(server, params={"max_completion_tokens": 9})
        code, output = run(board(tmp_path, "kind = 'reader'", f"kind = 'llm'\nmodel = {model}"), "--json")
        judge = json.loads(output)[1]
        assert (code, judge["usable"]) == (3, False)
        assert "omit = ['temperature']" in " ".join(judge["advice"])
        more = f"kind = 'llm'\nomit = ['temperature']\nmodel = {model}"
        assert run(board(tmp_path, "kind = 'reader'", more), "--json")[0] == 0


def test_system_messages_that_get_lost_are_noticed(tmp_path: Path) -> None:
    """A server that takes several system messages and shows the model only the last is found out."""

    def keeps_the_last(asked: Asked) -> Said:
        told = [m for m in asked.body["messages"] if m["role"] == "system"][-1:]
        kept = [*told, *(m for m in asked.body["messages"] if m["role"] != "system")]
        return Said(body=completion(asked.body, mind({**asked.body, "messages": kept})))

    one = found(tmp_path, keeps_the_last)
    assert one["systems"] == "several taken, not all seen"
    assert (one["usable"], one["code"]) == (False, 3)
    assert "only some" in " ".join(one["advice"])


def test_a_stream_missing_usage_and_a_spent_limit_are_shown(tmp_path: Path) -> None:
    """A server that only streams, counts nothing and cuts off its reply is usable, and all of that is said."""

    def streams(asked: Asked) -> Said:
        text = mind(asked.body)
        return streamed(
            [
                {"model": "m", "choices": [{"index": 0, "delta": {"content": text}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
            ]
        )

    with ProviderServer(streams) as server:
        code, output = run(board(tmp_path, table(server)))
    assert code == 0
    assert "in a stream only" in output
    assert "usage is not given" in output
    assert "raise the output limit" in output


@pytest.mark.parametrize(
    ("imitation", "words"),
    [
        (lambda _: openai_error(f"bad key: {KEY}", status=401), "HTTP 401"),
        (lambda _: openai_error("the model `m` does not exist", status=404), "does not exist"),
        (lambda _: Said(status=302, headers={"Location": "https://elsewhere.example"}), "redirects"),
        (lambda _: Said(status=503, body={"error": {"message": "Loading model"}}), "Loading"),
        (lambda _: Said(raw=b"<html><body>Sign in</body></html>"), "HTML"),
        (lambda _: openai_error("you may not"), "you may not"),
    ],
)
def test_an_endpoint_that_does_not_answer_is_not_usable(
    tmp_path: Path, imitation: Callable[[Asked], Said], words: str
) -> None:
    """A refused key, an unknown model, a redirect or a page: exit code 3, the reason, and never the key."""
    with ProviderServer(imitation) as server:
        path = board(tmp_path, table(server, key_env="CHECKED_KEY"))
        code, output = run(path, env={"CHECKED_KEY": KEY})
        as_json = run(path, "--json", env={"CHECKED_KEY": KEY})[1]
    assert code == 3
    assert words in output
    assert "NOT usable" in output
    assert KEY not in output + as_json


def test_a_missing_key_is_named_and_nothing_is_asked(tmp_path: Path) -> None:
    """An endpoint whose variable is not set is not usable; the others are checked all the same."""
    with ProviderServer(ollama) as server:
        path = board(tmp_path, table(server, key_env="NOT_SET_KEY"), f"kind = 'llm'\nmodel = {inline(server)}")
        code, output = run(path, env={"NOT_SET_KEY": None})
        assert len(server.asked) == 1
    assert code == 3
    assert "export NOT_SET_KEY=" in output
    assert "1 of 2 usable" in output


def test_the_right_address_is_found(tmp_path: Path) -> None:
    """Where /v1 is missing, the address with it is tried and, when it answers, written out."""
    with ProviderServer(ollama) as server:
        short = server.base_url.removesuffix("/v1")
        code, output = run(board(tmp_path, table(server).replace(server.base_url, short)))
    assert code == 3
    assert f"write base_url = '{short}/v1'" in output


def test_every_endpoint_of_a_board_is_checked_once(tmp_path: Path) -> None:
    """Answer, judge, further judges and each embedder once: place, dimension, cost and limits are said."""

    def vectors(asked: Asked) -> Said:
        return Said(body=embeddings(asked.body, 768))

    with ProviderServer(gemini) as answering, ProviderServer(ollama) as other, ProviderServer(vectors) as embedding:
        price = "price = { input_usd_per_mtok = '1', output_usd_per_mtok = '2' }"
        dense = "{ kind = 'dense', embedder = " + inline(embedding, dimension=512) + " }"
        rows = f"[[rows]]\nname = 'd'\nstack = {dense}\n"
        rows += f"[[rows]]\nname = 'h'\nstack = {{ kind = 'hybrid', of = [ {dense} ] }}"
        panel = f"[[panel]]\nname = 'second'\nkind = 'llm'\nmodel = {inline(other)}\n"
        panel += "[[panel]]\nname = 'lit'\nkind = 'literal'"
        path = board(tmp_path, f"{table(answering)}\n{price}", f"kind = 'llm'\nmodel = {inline(other)}", rows, panel)
        code, output = run(path)
        assert (len(answering.asked), len(other.asked), len(embedding.asked)) == (1, 2, 1)
    assert code == 3
    for words in ("answer: openai m", "judge: openai m", "panel 'second': openai m", "row 'd', embedder: openai m"):
        assert words in output
    assert "768, not of length 1" in output
    assert "write dimension = 768" in output
    assert "the check cost 0.00" in output
    assert "2 have no price" not in output


def test_local_models_are_asked_too(tmp_path: Path) -> None:
    """The reader answers without an endpoint; a plugin that cannot run is unusable, with the reason."""
    code, output = run(board(tmp_path, "kind = 'reader'"))
    assert (code, "answer: reader: usable" in output) == (0, True)
    code, output = run(board(tmp_path, "kind = 'no-such-model'"))
    assert code == 3
    assert "no-such-model" in output


def test_a_board_that_is_none_is_an_input_error(tmp_path: Path) -> None:
    """A file with problems is refused before anything is asked."""
    with pytest.raises(InputError):
        run(tmp_path / "absent.toml")
