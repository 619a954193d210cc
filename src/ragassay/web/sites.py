"""Builds both sites of a workspace in memory, as `ragassay board` builds them on the disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ragassay.errors import InputError
from ragassay.records.calibration import FOLDER as CALIBRATION
from ragassay.site.board import build_board
from ragassay.site.calibration.files import SAMPLE
from ragassay.site.calibration.items import Item
from ragassay.site.calibration.load import prepare_sample
from ragassay.site.calibration.material import material_of
from ragassay.site.judgefiles import load_known
from ragassay.site.kept_name import kept_name
from ragassay.site.pages import site_files
from ragassay.site.runs import load_log
from ragassay.site.write import public_board_of
from ragassay.web.calibrate import Drawn
from ragassay.web.preview import Scope, SiteOf
from ragassay.web.snapshot import Snapshot, Snapshots, Stamp, stamp_of


def sites_of(workspace: Path) -> SiteOf:
    """Return what builds the sites of a workspace (its `.ragassay` folder); nothing is written."""

    def build(snapshot: Snapshot, scope: Scope) -> Mapping[str, bytes]:
        if scope == "public":
            board, runs = public_board_of(workspace, snapshot.plan)
            return site_files(board, runs, load_log(workspace))
        known, name = load_known(workspace), kept_name(workspace)
        board = build_board(snapshot.runs, plan=snapshot.plan, name=name, now=int(time.time()), known=known)
        return site_files(board, snapshot.runs, load_log(workspace))

    return build


def drawn_of(snapshots: Snapshots) -> Callable[[], Drawn]:
    """Return what draws the sample that is rated: that of the workspace, drawn anew where its runs ask for it.

    What it returns is kept until the workspace or its stored sample changes, and so is why there is nothing to rate
    (`InputError`).
    """
    kept: list[tuple[Snapshot, Stamp, Drawn | InputError]] = []
    folder = snapshots.workspace / CALIBRATION

    def drawn() -> Drawn:
        snapshot = snapshots.now()
        sample = tuple(one for one in stamp_of(folder) if one[0] == f"/{SAMPLE}")
        if not kept or kept[0][0] is not snapshot or kept[0][1] != sample:
            kept[:] = [(snapshot, sample, _drawn(snapshots.workspace, snapshot))]
        found = kept[0][2]
        if isinstance(found, InputError):
            raise InputError(found.message, found.problems)
        return found

    return drawn


def _drawn(workspace: Path, snapshot: Snapshot) -> Drawn | InputError:
    try:
        material = material_of(snapshot.runs, snapshot.plan)
        sample, _ = prepare_sample(workspace, material)
    except InputError as error:
        return error
    items: dict[str, Item] = {key: material.pool.items[key] for key in sample.items if key in material.pool.items}
    return Drawn(items=items, seed=sample.seed)
