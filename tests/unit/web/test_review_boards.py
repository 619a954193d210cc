"""The boards inside the app: the very bytes of the site, each under a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import calibration_lab
import review_lab as lab

from ragassay.errors import InputError
from ragassay.site.board import build_board
from ragassay.site.calibration.files import load_sample, store_sample
from ragassay.site.calibration.ledger import Ledger
from ragassay.site.judgefiles import load_known
from ragassay.site.pages import site_files
from ragassay.site.runs import load_log, load_runs
from ragassay.web.app import Link, create_app
from ragassay.web.calibrate import Drawn, living_calibrate_page
from ragassay.web.guard import POLICY, Session
from ragassay.web.preview import NOTHING, Scope, SiteOf, policy_of, preview_page
from ragassay.web.sites import drawn_of, sites_of
from ragassay.web.snapshot import Snapshot, Snapshots

HASH = "'sha256-" + "A" * 43 + "='"
LINKS = (Link("/board", "Board"), Link("/calibrate", "Calibrate"))
INLINE = re.compile(r"<(script|style)([^>]*)>(.*?)</\1>", re.DOTALL)


def open_boards(workspace: Path, site_of: SiteOf | None = None) -> calibration_lab.Visitor:
    """Return a visitor of the app with boards and calibration."""
    session = Session(calibration_lab.PORT)
    snapshots = Snapshots(workspace, lambda: None, lambda: (lab.Mails(),))
    pages = (
        preview_page(snapshots, site_of or sites_of(workspace), links=LINKS),
        living_calibrate_page(Ledger(workspace), drawn_of(snapshots), links=LINKS),
    )
    return calibration_lab.Visitor(create_app(pages, session), session)


def test_every_file_is_served_as_the_site_holds_it(tmp_path: Path) -> None:
    """Byte for byte but for the time of building, with a type of its own; the workspace stays as it was."""
    lab.write(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    visitor = open_boards(tmp_path)
    runs = load_runs(tmp_path)
    shown = visitor.get("/board/preview/board.json").json["generated"]
    board = build_board(runs, plan=None, now=shown, known=load_known(tmp_path))
    for path, data in site_files(board, runs, load_log(tmp_path)).items():
        reply = visitor.get(f"/board/preview/{path}")
        assert (reply.status, reply.body == data) == (200, True), path
        assert reply.headers["x-content-type-options"] == "nosniff"
        if not path.endswith(".html"):
            assert reply.headers["content-security-policy"] == NOTHING
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_policy_of_a_page_names_what_stands_in_it(tmp_path: Path) -> None:
    """Every inline script that runs and every inline style is there by its hash, and no script by any other right."""
    lab.write(tmp_path)
    visitor = open_boards(tmp_path)
    runs = load_runs(tmp_path)
    files = site_files(build_board(runs, plan=None, now=1_800_000_000), runs)
    paths = [path for path in files if path.endswith(".html")]
    assert {"index.html", "verify.html"} < set(paths)
    scripts = 0
    for path in paths:
        reply = visitor.get(f"/board/preview/{path}")
        policy = reply.headers["content-security-policy"]
        assert policy != NOTHING
        assert policy.endswith("frame-ancestors 'none'")
        given = {words[0]: words[1:] for part in policy.split(";") if (words := part.split())}
        for name, attributes, text in INLINE.findall(reply.body.decode()):
            if "type=" in attributes:
                continue  # data: the browser runs none of it
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in given[f"{name}-src"], (path, name)
            scripts += name == "script"
        assert "'unsafe-inline'" not in given.get("script-src", given["default-src"])
    assert scripts >= 2


@pytest.mark.parametrize(
    "policy",
    [
        "",
        "default-src 'self'",
        "default-src *",
        "script-src 'none'",
        "default-src 'none'; script-src 'unsafe-inline'",
        f"default-src 'none'; script-src {HASH} 'unsafe-inline'",
        f"default-src 'none'; script-src {HASH} 'unsafe-eval'",
        f"default-src 'none'; script-src {HASH} https://evil.example",
        "default-src 'none'; script-src data:",
        "default-src 'none'; script-src 'self'",
        "default-src 'none'; script-src 'nonce-1'",
        "default-src 'none'; SCRIPT-SRC 'unsafe-inline'",
        "default-src 'none'; script-src-elem 'unsafe-inline'",
        "default-src 'none'; connect-src 'self'",
        "default-src 'none'; form-action *",
        "default-src 'none'; style-src 'unsafe-inline'\r\nset-cookie: x=1",
        "default-src 'none'; img-src h\u00e9",
        "default-src 'none'; img-src *",
        "default-src 'none'; img-src 'self'",
        "default-src 'none'; img-src https://evil.example",
        "default-src 'none'; style-src 'self'",
        "default-src 'none'; style-src https://evil.example",
        "default-src 'none'; font-src http:",
    ],
)
def test_a_page_with_an_open_policy_gets_none(policy: str) -> None:
    """Nothing runs in a page whose policy would let a script run that it does not name by hash."""
    page = f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{policy}"><p>x'
    assert policy_of(page.encode()) == NOTHING


def test_a_closed_policy_is_sent_as_it_stands() -> None:
    """With our own word on framing; one that stands behind the words of a run is not looked at."""
    policy = (
        f"default-src 'none'; script-src {HASH}; style-src {HASH} 'unsafe-inline'; img-src data:; connect-src 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    assert policy_of(meta.encode()) == f"{policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    assert policy_of(("x" * 5000 + meta).encode()) == NOTHING
    assert policy_of(b"\xff\xfe" + meta.encode()) != NOTHING


@pytest.mark.parametrize(
    "path", ["nothing.html", "", "../index.html", "%2e%2e/x", "<script>alert(1)</script>", "a\x00b"]
)
def test_what_the_board_has_not_is_said_as_text(tmp_path: Path, path: str) -> None:
    """404 with the path as text, and nothing of the disk."""
    lab.write(tmp_path)
    reply = open_boards(tmp_path).get(f"/board/preview/{path}")
    if path == "":
        assert reply.headers["location"] == "/board/preview/index.html"
        return
    assert reply.status == 404
    assert b"<script>" not in reply.body
    assert reply.headers["content-security-policy"] == NOTHING


def test_the_public_board_is_of_what_was_published(tmp_path: Path) -> None:
    """Nothing is, so there is no run on it; the preview has them all."""
    lab.write(tmp_path)
    visitor = open_boards(tmp_path)
    public, preview = (visitor.get(f"/board/{scope}/board.json").json for scope in ("public", "preview"))
    assert (public["scope"], public["tables"]) == ("public", [])
    assert (preview["scope"], len(preview["tables"])) == ("local", 1)


def test_a_board_is_built_once_until_the_workspace_changes(tmp_path: Path) -> None:
    """Each scope for itself; a new run makes both anew."""
    lab.write(tmp_path)
    built: list[Scope] = []

    def site_of(_: Snapshot, scope: Scope) -> Mapping[str, bytes]:
        built.append(scope)
        return {"index.html": b"x"}

    visitor = open_boards(tmp_path, site_of)
    for _ in range(3):
        visitor.get("/board/preview/index.html")
        visitor.get("/board/public/index.html")
    assert built == ["preview", "public"]
    lab.write(tmp_path, rows=("dense",), passes=1)
    visitor.get("/board/preview/index.html")
    assert built == ["preview", "public", "preview"]


def test_a_board_is_built_anew_when_people_have_rated(tmp_path: Path) -> None:
    """What they said of the judges is on it, and lies where no file of a run does; so does the sample to rate."""
    lab.write(tmp_path)
    built: list[Scope] = []

    def site_of(_: Snapshot, scope: Scope) -> Mapping[str, bytes]:
        built.append(scope)
        return {"index.html": b"x"}

    visitor = open_boards(tmp_path, site_of)
    visitor.get("/board/preview/index.html")
    (tmp_path / "calibration").mkdir()
    (tmp_path / "calibration" / "report.json").write_bytes(b"{}")
    visitor.get("/board/preview/index.html")
    visitor.get("/board/preview/index.html")
    assert built == ["preview", "preview"]


def test_another_sample_is_rated_at_once(tmp_path: Path) -> None:
    """One that `ragassay calibrate` drew meanwhile takes the place of the one that the app began with."""
    lab.write(tmp_path)
    visitor = open_boards(tmp_path)
    items = visitor.get("/calibrate/state?rater=ann").json["items"]
    sample = load_sample(tmp_path)
    assert sample is not None
    store_sample(tmp_path, msgspec.structs.replace(sample, size=2, items=sample.items[:2]))
    assert len(items) > 2
    assert sorted(visitor.get("/calibrate/state?rater=ann").json["items"]) == sorted(sample.items[:2])


def test_a_board_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    """As text, without any script."""

    def site_of(_: Snapshot, __: Scope) -> Mapping[str, bytes]:
        raise InputError("a <b>file</b> cannot be \x1bread")

    reply = open_boards(tmp_path, site_of).get("/board/preview/index.html")
    assert reply.status == 409
    assert b"a &lt;b&gt;file&lt;/b&gt; cannot be [U+001B]read" in reply.body


def test_the_app_keeps_its_own_policy(tmp_path: Path) -> None:
    """A policy that one reply was given is not that of the next."""
    lab.write(tmp_path)
    visitor = open_boards(tmp_path)
    assert visitor.get("/board/preview/index.html").headers["content-security-policy"] != POLICY
    assert visitor.get("/board").headers["content-security-policy"] == POLICY
    assert visitor.get("/calibrate").headers["content-security-policy"] == POLICY


def test_each_page_links_to_the_others(tmp_path: Path) -> None:
    """And says which one it is; a single page has no links."""
    lab.write(tmp_path)
    body = open_boards(tmp_path).get("/calibrate").body.decode()
    assert '<a href="/board">Board</a>' in body
    assert '<a href="/calibrate" aria-current=page>Calibrate</a>' in body
    session = Session(calibration_lab.PORT)
    alone = create_app([living_calibrate_page(Ledger(tmp_path), _nothing)], session)
    assert b"<nav" not in calibration_lab.Visitor(alone, session).get("/calibrate").body


def _nothing() -> Drawn:
    raise InputError("there is nothing")


def test_calibration_goes_with_the_workspace(tmp_path: Path) -> None:
    """Without runs the page is told why there is nothing to rate; once there are some it has a sample."""
    (tmp_path / "runs").mkdir()
    visitor = open_boards(tmp_path)
    assert visitor.get("/calibrate").status == 200
    reply = visitor.get("/calibrate/rubric")
    assert (reply.status, "no verified run" in reply.json["problem"]) == (422, True)
    lab.write(tmp_path)
    assert visitor.get("/calibrate/rubric").status == 200
    items = visitor.get("/calibrate/state?rater=ann").json["items"]
    assert len(items) == 6
    assert visitor.post("/calibrate/rate", {"rater": "ann", "item": items[0], "level": 75}).status == 200
