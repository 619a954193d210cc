"""Judgements that are made after a run was published: added beside it, scanned, and never half there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from release_lab import NOW, PANEL_LITERAL, JudgeLab, make, published, ready, refusals, released, seen, tree

from ragassay.manifest.folder import read_run
from ragassay.manifest.judgement_folder import read_judgement
from ragassay.publish.decisions import DecisionFile
from ragassay.publish.detect.hit import Hit
from ragassay.publish.looking import Look, Wanted, look
from ragassay.records.publication import FindingKind
from ragassay.run.workspace import Workspace
from ragassay.site.publications import PUBLIC, load_public
from ragassay.verify import Unpinned
from ragassay.verify.judgement import verify_judgement


class Killed(BaseException):
    """Stands for a SIGKILL: no handler of ours may catch it."""


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> JudgeLab:
    """A board that was run once for all tests."""
    return make(tmp_path_factory.mktemp("judged"), JudgeLab)


@pytest.fixture
def lab(ran: JudgeLab, tmp_path: Path) -> JudgeLab:
    """A copy of it in which everything was decided, signed off and published."""
    shutil.copytree(ran.folder, tmp_path / "board")
    lab = JudgeLab(tmp_path / "board", 3)
    (lab.folder / "docs" / "page-001.md").write_bytes((ran.folder / "docs" / "page-001.md").read_bytes())
    published(ready(lab.space))
    return lab


def judge(lab: JudgeLab) -> None:
    """Judge every run by literals, as a panel of the board does."""
    lab.judge(tables=PANEL_LITERAL, panel=True)


def names(space: Workspace) -> dict[str, tuple[str, ...]]:
    """Return the judgements that each publication lists."""
    return {run: one.judgements for run, one in load_public(space.root, NOW).publications.items()}


def test_judgements_made_later_are_added_to_what_is_public(lab: JudgeLab) -> None:
    """They are named before, added once, verify against the public bundle, and not a byte of the run is another."""
    before = tree(lab.space.root / PUBLIC)
    judge(lab)
    assert {run: len(later.added) for run, later in seen(lab.space).later.items()} == dict.fromkeys(names(lab.space), 1)
    done = released(lab.space)
    assert done.runs == ()
    assert {run: len(added) for run, added in done.judgements.items()} == dict.fromkeys(names(lab.space), 1)
    after = tree(lab.space.root / PUBLIC)
    assert {name for name in before if after[name] != before[name]} == {
        f"{run}/publication.json" for run in names(lab.space)
    }
    for run, listed in names(lab.space).items():
        folder = lab.space.root / PUBLIC / run
        (name,) = listed
        report = verify_judgement(
            read_judgement(folder / "judgements" / name).files,
            run_files=read_run(folder / "run").files,
            policy=Unpinned(),
            now=NOW,
        )
        assert report.ok()
    assert all(one.document for run in load_public(lab.space.root, NOW).runs for one in run.judgements)
    assert released(lab.space).judgements == {}
    assert tree(lab.space.root / PUBLIC) == after


@pytest.mark.parametrize("at", ["rename", "publication"])
def test_a_kill_while_judgements_are_added_leaves_whole_ones(
    lab: JudgeLab, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """What no publication lists yet is not drawn, and the next publication lists it."""
    judge(lab)

    def kill(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"ragassay.publish.store.{'write_files' if at == 'publication' else 'write_whole'}", kill)
        with pytest.raises(Killed):
            released(lab.space)
    public = load_public(lab.space.root, NOW)
    assert len(public.publications) == 2
    assert not any(one.document for run in public.runs for one in run.judgements)
    if at == "publication":
        assert {one.code for run in public.runs for one in run.judgements} == {"BUNDLE_NAME"}
    released(lab.space)
    assert all(len(listed) == 1 for listed in names(lab.space).values())


def test_a_judgement_that_cannot_be_verified_is_left_out_by_name(lab: JudgeLab) -> None:
    """A judgement with a changed verdict is not added; the publication says which and why."""
    judge(lab)
    run = next(iter(names(lab.space)))
    (folder,) = (lab.space.root / "judgements" / run).iterdir()
    path = folder / "verdicts.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score":', b'"score": ', 1))
    found = seen(lab.space)
    assert [one.judgement for one in found.left_out[run]] == [folder.name]
    done = released(lab.space)
    assert run not in {name for name, added in done.judgements.items() if added}
    (left,) = load_public(lab.space.root, NOW).publications[run].left_out
    assert left.judgement == folder.name
    assert "could not be verified" in left.reason
    assert released(lab.space).judgements == {}


def test_a_judgement_beside_which_something_else_lies_is_not_written_over(lab: JudgeLab) -> None:
    """A folder of that name that nobody published is an error which names it."""
    judge(lab)
    run = next(iter(names(lab.space)))
    (folder,) = (lab.space.root / "judgements" / run).iterdir()
    place = lab.space.root / PUBLIC / run / "judgements" / folder.name
    place.mkdir(parents=True)
    (place / "verdicts.jsonl").write_bytes(b"{}\n")
    assert "publication.json does not list it" in refusals(lab.space)["damaged"]
    shutil.rmtree(place)
    assert released(lab.space).judgements


class Finds:
    """A detector that finds what a judgement alone says: that it is by a panel."""

    name = "test"
    kinds: frozenset[FindingKind] = frozenset({"secret"})

    def find(self, text: str) -> Iterator[Hit]:
        """Yield the word where it is the whole text."""
        if text == "panel":
            yield Hit(kind="secret", start=0, end=len(text), detector="test")


def test_what_a_judge_wrote_is_scanned_before_it_is_added(lab: JudgeLab) -> None:
    """A finding in a judgement refuses until it is decided, and withheld it leaves the judgement out whole."""
    judge(lab)

    def looked() -> Look:
        return look(lab.space, None, Wanted(), [Finds()], now=NOW)

    (found,) = looked().scan.findings
    assert {place.file.partition("/")[0] for place in found.places} == {"judgements"}
    assert all("undecided" in {one.code for one in verdict.refusals} for verdict in looked().verdicts)
    DecisionFile(lab.space.root).add(found, "withhold", reason="it names a product", by="Ann")
    assert not any(later.added for later in looked().later.values())
    assert {one.reason for gone in looked().left_out.values() for one in gone} == {"it holds a text that is withheld"}


def test_a_public_judgement_that_would_be_left_out_now_is_not_taken_away_silently(lab: JudgeLab) -> None:
    """A decision that touches a public judgement alone refuses it, as one that touches the run does."""
    judge(lab)
    released(lab.space)
    run, listed = next((run, listed) for run, listed in names(lab.space).items() if listed)
    path = lab.space.root / "judgements" / run / listed[0]
    shutil.rmtree(path)
    assert not refusals(lab.space), "what is public stays, wherever its source went"
    (lab.space.root / PUBLIC / run / "judgements" / listed[0] / "verdicts.jsonl").write_bytes(b"")
    assert "its public judgement" in refusals(lab.space)["damaged"]
