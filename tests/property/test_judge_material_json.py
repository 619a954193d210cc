"""What a judge is shown is JSON as the standard library writes it, of the visible text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragassay.judge.visible import _inert, material, visible

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
PARTS = st.recursive(TEXT | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=12)


def shown(value: Any) -> Any:
    """Return the value with its strings made visible; keys are ours and stay."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: shown(member) for key, member in value.items()}
    return [shown(member) for member in value] if isinstance(value, list) else value


@given(st.dictionaries(TEXT, PARTS, max_size=4))
def test_material_says_what_the_parts_say(parts: dict[str, Any]) -> None:
    """Read back it is the visible parts; but for what is escaped it is `json.dumps` to the letter."""
    written = material(parts)
    assert json.loads(written) == shown(parts)
    assert written == _inert(json.dumps(shown(parts), ensure_ascii=False, indent=1))
