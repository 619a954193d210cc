"""The log probabilities in a chat completion's choice become records, without I/O."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ragassay.records import TokenLogprob

MOST = 100
"""How many alternatives are read; servers give up to 20."""
_TOKEN_CHARS = 200


def first_tokens_of(logprobs: object, scrub: Callable[[str], str] = str) -> tuple[TokenLogprob, ...] | None:
    """Return the tokens that could have come first, likeliest first, the one that came among them.

    None where the choice holds none of the form `{"content": [{"token", "logprob", "top_logprobs": […]}, …]}`: what a
    server says besides its answer never makes the answer unusable. `scrub` takes the key out.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    if not isinstance(first, dict):
        return None
    others = first.get("top_logprobs")
    found: dict[str, float] = {}
    for entry in [*(others[:MOST] if isinstance(others, list) else []), first]:
        if (read := _read(entry)) is not None:
            found.setdefault(*read)
    order = sorted(found, key=lambda token: -found[token])
    return tuple(TokenLogprob(token=scrub(token), logprob=found[token]) for token in order) or None


def _read(entry: Any) -> tuple[str, float] | None:
    token, logprob = (entry.get("token"), entry.get("logprob")) if isinstance(entry, dict) else (None, None)
    if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return None
    # A probability is at most 1; rounding may put its logarithm a little above 0.
    usable = math.isfinite(logprob) and logprob <= 1e-3
    return (token[:_TOKEN_CHARS], min(0.0, float(logprob))) if usable else None
