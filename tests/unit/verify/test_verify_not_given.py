"""Of published passes that were not given to the verifier, the terminal says which."""

from __future__ import annotations

from ragassay.cli.verify_lines import summary_lines
from ragassay.manifest.tiles import read_log
from ragassay.testing.logged_run import KEY_POLICY, NOW, Story, tell
from ragassay.verify import load_policy, verify


def test_published_passes_that_are_not_among_the_runs_are_named() -> None:
    """One of three published passes was given: the other two stand in the line of the announcement."""
    bundle = tell(Story(), with_log=True)
    assert bundle.log is not None
    report = verify(bundle.files, policy=load_policy(KEY_POLICY), now=NOW, log=read_log(bundle.log))
    assert report.ok(strict=True)
    assert "intent 0 bm25: 3 of 3 published, pass 2, 3 not among these runs" in summary_lines([report], strict=True)
