"""The board and the log: runs are held against policy and log of their workspace, and the site hands the log out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ragassay.manifest.tiles import read_log
from ragassay.site import build_board, load_runs, render_text, write_preview
from ragassay.testing.logged_run import KEY_POLICY, NOW, Bundle, Story, planned_id, tell, void_run


def workspace(folder: Path, bundle: Bundle, *, policy: bytes | None = KEY_POLICY) -> Path:
    """Write a workspace that holds one run, its log, and a policy."""
    space = folder / ".ragassay"
    files = {f"runs/{planned_id(1)}/{name}": data for name, data in bundle.files.items()}
    files |= {f"log/{path}": data for path, data in (bundle.log or {}).items()}
    if policy is not None:
        files["policy.json"] = policy
    for name, data in files.items():
        (space / name).parent.mkdir(parents=True, exist_ok=True)
        (space / name).write_bytes(data)
    return space


def codes(space: Path) -> set[str]:
    """Return the reason codes of the workspace's runs."""
    return {check.code for run in load_runs(space, now=NOW) for check in run.checks if check.code}


def test_an_announced_and_witnessed_run_has_no_warning(tmp_path: Path) -> None:
    """By the workspace's policy and log nothing is left to say, and the board says so in one line."""
    space = workspace(tmp_path, tell(Story(), with_log=True))
    assert codes(space) == set()
    board = build_board(load_runs(space, now=NOW), now=NOW)
    assert board.attested == "announced before the first answer, and witnessed: 1 of 1 run"
    assert board.attested in render_text(board)


def test_without_a_policy_no_witness_is_trusted(tmp_path: Path) -> None:
    """The log alone says nothing of time: the board does not call such a run witnessed."""
    space = workspace(tmp_path, tell(Story(), with_log=True), policy=None)
    assert {"SIGNER_UNPINNED", "UNWITNESSED"} <= codes(space)
    assert build_board(load_runs(space, now=NOW), now=NOW).attested is None


@pytest.mark.parametrize(
    ("story", "code"),
    [(Story(after=void_run()), "RUN_VOIDED"), (Story(others=()), "PASS_MISSING")],
    ids=["voided", "missing passes"],
)
def test_what_the_log_holds_against_a_run_is_shown(tmp_path: Path, story: Story, code: str) -> None:
    """A voided run is not drawn; passes that never ended are told."""
    space = workspace(tmp_path, tell(story, with_log=True))
    assert code in codes(space)
    assert build_board(load_runs(space, now=NOW), now=NOW).refused == () or code == "RUN_VOIDED"


def test_a_damaged_log_stands_against_every_run(tmp_path: Path) -> None:
    """Entries that are not those of the checkpoint are told at the run, and its number is not drawn."""
    bundle = tell(Story(), with_log=True)
    assert bundle.log is not None
    torn = {path: data[:-1] if "entries" in path else data for path, data in bundle.log.items()}
    space = workspace(tmp_path, msgspec.structs.replace(bundle, log=torn))
    assert "LOG_FORK" in codes(space)


def test_the_site_hands_out_the_log(tmp_path: Path) -> None:
    """Under `log/` stand the files of the published state, as any reader of such logs asks for them."""
    space = workspace(tmp_path, tell(Story(), with_log=True))
    site = tmp_path / "site"
    write_preview(space, site, now=NOW)
    log = {str(p.relative_to(site / "log")): p.read_bytes() for p in (site / "log").rglob("*") if p.is_file()}
    assert read_log(log).checkpoint.size == 4
    assert 'href="log/checkpoint"' in (site / "index.html").read_text(encoding="utf-8")


def test_a_site_without_a_log_links_none(tmp_path: Path) -> None:
    """A workspace of older runs has no log, and its board names none."""
    space = workspace(tmp_path, tell(Story()))
    write_preview(space, tmp_path / "site", now=NOW)
    assert not (tmp_path / "site" / "log").exists()
    assert "log/checkpoint" not in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
