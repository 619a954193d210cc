"""What a board says of its questions: whether rows could find them, whether rows knew them, who looked at them."""

from __future__ import annotations

from ragassay.records import Record


class RowFairness(Record, frozen=True):
    """Where the evidence of the `questions` stands for one row, as its runs record it, by question id.

    `present` counts those whose evidence is in the row's texts character for character; with `folded`, `absent` and
    `unknowable` it adds up to `questions`. `split` and `unread` are parts of what is there. `seen` of `seen_of`
    questions with evidence had it in what the window's runs delivered; None where no delivered text can be seen.
    """

    questions: int
    present: int
    folded: tuple[str, ...]
    absent: tuple[str, ...]
    unknowable: tuple[str, ...]
    own_texts: bool
    split: tuple[str, ...]
    unread: tuple[str, ...] | None
    """None where the row has no embedder, or one cannot say how far it reads."""
    seen: int | None = None
    seen_of: int | None = None


class ExposureLine(Record, frozen=True):
    """What one row says of its exposure to the questions, and what the runs show.

    `earlier` counts other configurations of a row of this name that were run on these questions before it, over
    `earlier_runs` runs, the `first` of which ended at that Unix second.
    """

    row: str
    key: str
    declared: str | None
    earlier: int = 0
    earlier_runs: int = 0
    first: int | None = None

    @property
    def contradicted(self) -> bool:
        """Tell whether the row says that it was not shaped on these questions, and its earlier runs otherwise."""
        return self.declared == "none" and self.earlier > 0


class ControlScore(Record, frozen=True):
    """One question as the control answered it: the mean over its scored passes, and each pass in hundredths."""

    id: str
    mean: str
    passes: tuple[int | None, ...]
    """None for a pass without a score, which is in no mean."""
    abstained: int = 0
    refused: int = 0
    """Passes in which the model declined, which are scored as what they say."""


class ClosedBook(Record, frozen=True):
    """Which questions the answering model answers without retrieval, as one control row shows.

    `known` are those with a mean of `least` or more, `unscored` those without a scored pass: of them it is not known.
    An extractive `reader` has nothing to know anything by.
    """

    row: str
    key: str
    model: str
    judge: str
    reader: bool
    least: str
    questions: int
    runs: tuple[str, ...]
    known: tuple[ControlScore, ...]
    unscored: tuple[str, ...]


class ReviewedBy(Record, frozen=True):
    """A reviewer as the questions name them, and how many questions name them."""

    reviewer: str
    questions: int
