"""How long a board takes to build, in seconds of this processor."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import site_factory as make

from ragassay.site import write_preview

LIMIT_S = 30


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "passes"), [(20, 10), (66, 3)], ids=["20 rows", "66 rows"])
def test_two_hundred_runs_of_sixty_questions_take_less_than_thirty_seconds(
    tmp_path: Path, rows: int, passes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading, verifying, estimating, drawing and writing, for few rows of many passes and for many of few."""
    bench = make.benchmark(60)
    for index in range(rows):
        kind = {0: "none", 1: "oracle"}.get(index, "bm25")
        make.write_row(
            tmp_path / "work",
            f"row-{index:02d}",
            kind,
            bench,
            make.losing(lambda n, index=index: (7 * n + index) % (5 + index % 9) == 0),  # type: ignore[misc]
            passes=passes,
            reached=lambda n, index=index: (n + index) % 6 != 0,  # type: ignore[misc]
        )
    began = time.process_time()
    board = write_preview(tmp_path / "work", tmp_path / "site", now=make.START + 9_999)
    took = time.process_time() - began
    with capsys.disabled():
        print(f"\n{rows * passes} runs of 60 questions, {rows} rows: {took:.1f} s of processor time")
    assert board.refused == ()
    assert took < LIMIT_S
