"""What every embedder promises, as a pytest class: subclass it, say how yours is made, and run pytest."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Literal

import numpy as np

from ragassay import canon
from ragassay.seams import Embedder
from ragassay.testing.stack_contract import QUESTIONS, TEXTS

KINDS: tuple[Literal["document", "query"], ...] = ("document", "query")


class EmbedderContract:
    """Subclass and set `embedder` to what makes a new one, for example your class."""

    embedder: ClassVar[Callable[[], Embedder]]

    def make_embedder(self) -> Embedder:
        """Return a new embedder."""
        return type(self).embedder()

    def test_shape_type_and_finiteness(self) -> None:
        """One float32 row per text, every number finite, the dimension the same for documents and queries."""
        embedder = self.make_embedder()
        widths = set()
        for kind in KINDS:
            rows = embedder.embed(TEXTS, kind)
            assert rows.dtype == np.float32
            assert rows.shape[0] == len(TEXTS)
            assert np.isfinite(rows).all()
            widths.add(rows.shape[1])
        assert len(widths) == 1

    def test_no_texts_give_no_rows(self) -> None:
        """An empty list gives shape (0, dimension)."""
        embedder = self.make_embedder()
        assert embedder.embed([], "document").shape == (0, embedder.embed(["x"], "document").shape[1])

    def test_a_text_has_one_vector(self) -> None:
        """A row depends on its text alone: not on the batch, its order, or what was embedded before."""
        embedder = self.make_embedder()
        texts = [*TEXTS, *QUESTIONS]
        together = embedder.embed(texts, "document")
        backwards = embedder.embed(texts[::-1], "document")[::-1]
        alone = np.concatenate([embedder.embed([text], "document") for text in texts])
        assert np.array_equal(together, backwards)
        assert np.array_equal(together, alone)

    def test_two_embedders_agree(self) -> None:
        """A second one gives the same rows."""
        rows = [self.make_embedder().embed(TEXTS, "query") for _ in range(2)]
        assert np.array_equal(rows[0], rows[1])

    def test_concurrent_calls_agree(self) -> None:
        """Four threads get what one gets."""
        embedder = self.make_embedder()
        alone = [embedder.embed([text], "query") for text in QUESTIONS]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda text: embedder.embed([text], "query"), QUESTIONS))
        assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))

    def test_description_is_canonical_and_stable(self) -> None:
        """`describe()` can be signed and does not change by use."""
        embedder = self.make_embedder()
        before = canon.canonical(embedder.describe())
        embedder.embed(["x"], "document")
        assert before == canon.canonical(embedder.describe())
        assert embedder.describe()
