"""LangSmith's tracing is off while a row is built and searched, whatever the environment asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("langchain_core", reason="pip install 'ragassay[langchain]'")

from foreign_factory import built, written
from langsmith import utils

CODE = """
    from langchain_core.runnables import RunnableLambda
    from langsmith import utils

    seen = [utils.tracing_is_enabled()]
    def search(question):
        seen.append(utils.tracing_is_enabled())
        return []
    def make():
        seen.append(utils.tracing_is_enabled())
        return RunnableLambda(search)
"""


def test_no_trace_is_made_of_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when the module is imported, nor in the factory, nor in a search; afterwards it is as it was."""
    import sys

    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "fake")
    utils.get_env_var.cache_clear()
    try:
        assert utils.tracing_is_enabled()
        built("langchain", written(tmp_path, "of_tracing", CODE), "of_tracing:make", corpus="own").search("fox", 1)
        assert sys.modules["of_tracing"].seen == [False, False, False]
        assert utils.tracing_is_enabled()
    finally:
        monkeypatch.undo()
        utils.get_env_var.cache_clear()
