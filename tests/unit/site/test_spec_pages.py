"""The specification as pages of a site: both forms say the same, links lead somewhere, hostile text stays text."""

from __future__ import annotations

import re
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
import site_factory as make
import spec_factory as spec
import test_republish_site as republish
from lxml import html
from markdown_it import MarkdownIt

from ragassay import canon
from ragassay.records import Claim, Provenance, Publication, ScanSummary, SignOff
from ragassay.records.publication import LeftOut
from ragassay.site import build_board, load_runs, site_files
from ragassay.site.record import BoardPlan
from ragassay.site.spec import render_html, render_markdown, spec_document
from ragassay.site.spec.samples import chosen_questions
from ragassay.testing.logged_run import KEY_POLICY, WITNESS_KEY, Story, planned_id, tell
from ragassay.testing.logged_run import NOW as LOGGED

HOSTILE = "<script>alert(1)</script>|*b*`c`\n# x \x1b[2J\u202e{{ 7*7 }}"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with control, oracle and three rows."""
    make.small_board(tmp_path, make.benchmark(20))
    return tmp_path


def parsed(data: str) -> Any:
    """Return HTML as a tree."""
    return html.document_fromstring(data)


def files_of(workspace: Path) -> dict[str, bytes]:
    """Return the site of a workspace."""
    board, runs = spec.built(workspace)
    return site_files(board, runs)


def test_the_site_holds_the_page_in_both_forms(workspace: Path) -> None:
    """spec.html and spec.md are part of the site, and every page leads to the first."""
    files = files_of(workspace)
    assert {"spec.html", "spec.md"} <= files.keys()
    assert b'href="spec.html"' in files["index.html"]
    assert b'href="../spec.html"' in next(data for path, data in files.items() if path.startswith("questions/"))


def test_both_forms_say_the_same(workspace: Path) -> None:
    """The words of the HTML page are those of the Markdown page."""
    files = files_of(workspace)
    main = parsed(files["spec.html"].decode()).get_element_by_id("main")
    for navigation in main.xpath(".//nav|.//p[@class='sentence']"):
        navigation.drop_tree()
    rendered = MarkdownIt("commonmark").enable("table").render(files["spec.md"].decode())
    read = parsed(rendered)
    assert "".join(main.text_content().split()) == "".join(read.text_content().split())


def test_every_link_leads_to_a_page_of_the_site(workspace: Path) -> None:
    """Each link of either form is a file of the site, or a section of the page itself."""
    files = files_of(workspace)
    page = parsed(files["spec.html"].decode())
    links = page.xpath("//main//a/@href")
    assert len(links) > 40
    assert [link for link in links if not link.startswith("#") and link not in files] == []
    assert [link for link in links if link.startswith("#") and not page.xpath(f"//*[@id='{link[1:]}']")] == []
    found = re.findall(r"\]\(([^)]*)\)", files["spec.md"].decode())
    assert [link for link in found if link not in files] == []


def test_the_command_prints_the_hash_of_the_served_file(workspace: Path) -> None:
    """The path after sha256sum is served, and its SHA-256 is the one printed below it."""
    files = files_of(workspace)
    text = files["spec.md"].decode()
    (path,) = re.findall(r"^sha256sum (\S+)$", text, flags=re.M)
    assert f"{sha256(files[path]).hexdigest()}  {path}" in text


def test_links_of_a_page_elsewhere_begin_with_the_base(workspace: Path) -> None:
    """With a base every link leads into the site from wherever the page lies."""
    board, runs = spec.built(workspace)
    document = spec_document(board, runs)
    page = parsed(render_html(document, board, "../board/").decode())
    assert all(link.startswith(("../board/", "#")) for link in page.xpath("//main//a/@href"))
    assert "](../board/index.html)" in render_markdown(document, "../board/").decode()


def test_scope_stands_in_the_first_line(workspace: Path) -> None:
    """The first line says whether the board is a local preview or public."""
    board, runs = spec.built(workspace)
    assert render_markdown(spec_document(board, runs)).startswith(
        b"# Test specification (local preview, not published)\n"
    )
    public = build_board(runs, now=spec.NOW, scope="public")
    text = spec.plain(spec_document(public, runs))
    assert text.startswith("Test specification (public board)\n")
    assert "Nothing on it is published" not in text


def test_a_local_board_has_no_scan_and_no_sign_off(workspace: Path) -> None:
    """Scan and sign-off are recorded for public boards only, and the page says so."""
    assert "Both are recorded for public boards only; this one is a local preview" in spec.said(workspace)


def publication(run: str, **changes: object) -> Publication:
    """Return how a run was published."""
    scan = ScanSummary(version="1", detectors=("a",), not_detected=("names of persons",), texts=40, findings=3,
                       allowed=2, redacted=1, withheld=0)  # fmt: skip
    sign = SignOff(run=run, manifest="m", reader="Ada", at=1, items=20, shown="s", decisions="d")
    fields = {"run": run, "manifest": "m", "row": "r", "pass_": 1, "at": 1, "signer": "k", "scan": scan}
    return Publication(**{**fields, "sign_offs": (sign,), **changes})  # type: ignore[arg-type]


def test_a_public_board_says_how_it_was_scanned_and_who_read_it(workspace: Path) -> None:
    """Texts, findings, what the scan does not find, and the readers come from the publications."""
    runs = [msgspec.structs.replace(run, publication=publication(run.id)) for run in load_runs(workspace, now=spec.NOW)]
    text = spec.plain(spec_document(build_board(runs, now=spec.NOW, scope="public"), runs))
    assert "15 of 15 runs were scanned before publication for personal data, secrets and error messages" in text
    assert (
        "each by itself: 600 texts in all gave 45 findings (30 allowed with a reason and 15 redacted; what stands in "
        "several runs counts in each)." in text
    )
    assert "What the scan does not find: names of persons." in text
    assert "All answers were read and signed off by Ada." in text
    silent = [
        msgspec.structs.replace(
            run, publication=publication(run.id, sign_offs=(), left_out=(LeftOut(judgement="j", reason="r"),))
        )
        for run in runs
    ]
    text = spec.plain(spec_document(build_board(silent, now=spec.NOW, scope="public"), silent))
    assert "15 of 15 runs were signed off by nobody." in text


def test_an_empty_workspace_says_that_there_is_nothing_yet(tmp_path: Path) -> None:
    """No run, no specification: one sentence, in both forms, and no number."""
    board, runs = spec.built(tmp_path, BoardPlan(name="Acme"))
    text = spec.plain(spec_document(board, runs))
    assert "There is no run yet, so there is nothing to specify. ragassay run makes runs." in text
    assert b"nothing to specify" in render_html(spec_document(board, runs), board)
    public = build_board((), now=spec.NOW, scope="public")
    assert "Nothing is published yet, so there is nothing to specify." in spec.plain(spec_document(public, ()))


def test_a_workspace_of_refused_runs_has_nothing_to_specify(tmp_path: Path) -> None:
    """Where no run verifies, the page counts them and specifies nothing."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(5), make.losing_first(2), passes=1)
    for run in (tmp_path / "runs").iterdir():
        (run / "outputs.jsonl").write_bytes(b"")
    text = spec.said(tmp_path)
    assert "There is no run that stands, so there is nothing to specify. 1 run could not be verified." in text


def test_republished_scores_say_what_is_not_recorded(tmp_path: Path) -> None:
    """Of scores computed elsewhere stacks, model, prompt, corpus and verdicts are not recorded, nor invented."""
    republish.write(tmp_path, republish.own_set("https://example.org/theirs"))
    text = spec.said(tmp_path)
    for sentence in (
        "The scores here were computed elsewhere and taken over: 5 questions, judged by gpt.",
        "No control came with these scores",
        "Nothing is recorded of the corpus",
        "Which stacks stand behind these scores, and with which parameters, is not recorded.",
        "Which model answered, its parameters, its prompt and the order of asking are not recorded.",
        "Its rubric, its prompt and its verdicts are not recorded",
        "A republished run enters no window and no ranking",
        "Scores were computed elsewhere. theirs (source: https://example.org/theirs).",
        "The scores were computed by scorer.",
    ):
        assert sentence in text
    for wrong in ("every item's score from its verdicts", "eligible", "Further passes", "One question is"):
        assert wrong not in text
    files = files_of(tmp_path)
    assert [link for link in re.findall(r"\]\(([^)#]*)\)", files["spec.md"].decode()) if link not in files] == []


def logged(folder: Path, story: Story, policy: bytes | None = KEY_POLICY) -> str:
    """Return the specification of a workspace with one logged run."""
    bundle = tell(story, with_log=True)
    files = {f"runs/{planned_id(1)}/{name}": data for name, data in bundle.files.items()}
    files |= {f"log/{path}": data for path, data in (bundle.log or {}).items()}
    files |= {"policy.json": policy} if policy is not None else {}
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    runs = load_runs(folder, now=LOGGED)
    return spec.plain(spec_document(build_board(runs, now=LOGGED), runs))


def test_a_missing_witness_changes_the_sentence(tmp_path: Path) -> None:
    """Witnessed, announced only, and unpinned runs read differently, and so do the limitations."""
    seen = logged(tmp_path / "seen", Story())
    assert "1 of 1 run was announced before the first answer, in the log example.org/log." in seen
    assert f"1 of 1 run was seen by the witness {WITNESS_KEY.name}, the announcement before the first answer" in seen
    assert "The log is not witnessed." not in seen
    alone = logged(tmp_path / "alone", Story(announced_at=None, seen_at=None))
    assert "0 of 1 run were seen by a witness that is trusted here." in alone
    assert "The log is not witnessed. The run was seen by no witness that is trusted here" in alone
    unpinned = logged(tmp_path / "unpinned", Story(), policy=None)
    assert "The signer is not known. 1 of 1 run is signed by a key that was not pinned" in unpinned
    assert "The signer is not known." not in seen


def test_warnings_are_counted_with_their_meaning(tmp_path: Path) -> None:
    """Each reason code of the valid runs stands in a table with its count and meaning; without any the page says so."""
    text = logged(tmp_path / "a", Story(announced_at=None, seen_at=None))
    assert "UNWITNESSED | 1 of 1 | No log and witness that you trust" in text
    assert "No valid run has a warning." in logged(tmp_path / "b", Story(others=(2, 3)))


def test_hostile_names_stay_text_in_both_forms(tmp_path: Path) -> None:
    """Names, topics, authors, pages, parameters and reasons full of markup make no element and steer no display."""
    bench = make.benchmark(
        4,
        name=HOSTILE,
        topic=HOSTILE,
        page=HOSTILE,
        input=HOSTILE,
        target=HOSTILE,
        evidence=(HOSTILE,),
        claims=(Claim(id=1, text=HOSTILE, central=True),),
        provenance=Provenance(author=HOSTILE, tool=HOSTILE, created=HOSTILE, reviewed_by=HOSTILE),
    )
    stack = {
        "kind": HOSTILE,
        "entry": {"kind": HOSTILE, HOSTILE: HOSTILE},
        "describe": {"kind": HOSTILE, HOSTILE: None},
    }
    answer = {"kind": "openai", "id": HOSTILE, "template": {"name": HOSTILE}, "describe": {HOSTILE: HOSTILE}}
    for name in (f"a{HOSTILE}", f"b{HOSTILE}"):
        make.write_row(tmp_path, name, HOSTILE, bench, make.losing_first(2), stack=stack, answer=answer)
    files = files_of(tmp_path)
    page, text = files["spec.html"].decode(), files["spec.md"].decode()
    assert "<script" not in page
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in rendered
    assert not re.search("[\x1b\u202e]", page + text)
    assert "[U+202E]" in page
    assert "[U+202E]" in rendered
    assert rendered.count("<h1>") == 1
    assert [link for link in re.findall(r'href="([^"]*)"', rendered) if link not in files] == []


def test_the_three_questions_follow_a_rule() -> None:
    """One of each of the first three topics, else the next of the file; all of a file of three or fewer."""
    topics = ("a", "a", "b", None, "b", "c", "d")
    asked = [make.question(n, topic=topic) for n, topic in enumerate(topics, 1)]
    assert [q.id for q in chosen_questions(asked)] == ["q-001", "q-003", "q-006"]
    assert [q.id for q in chosen_questions(asked[:5])] == ["q-001", "q-002", "q-003"]
    assert [q.id for q in chosen_questions(asked[:2])] == ["q-001", "q-002"]
    assert chosen_questions([]) == []


def test_a_part_of_several_rows_is_listed_once(tmp_path: Path) -> None:
    """An embedder of two rows stands once; a stack that is a row of its own is named by that row."""
    embedder = {"kind": "mini", "dimension": 384, "pooling": "mean", "normalised": True, "tokens": 256}
    dense = {"kind": "dense", "embedder": embedder, "metric": "cosine", "numpy": "2", "truncated_chunks": 46}
    hybrid = {"kind": "hybrid", "of": [dense, {"kind": "bm25"}], "rrf_k": 60}
    bench = make.benchmark(10)
    for name, described in (("dense", dense), ("hybrid", hybrid)):
        stack = {"kind": name, "entry": {"kind": name}, "describe": described}
        make.write_row(tmp_path, name, name, bench, make.losing_first(len(name)), stack=stack)
    text = spec.said(tmp_path)
    assert text.count("dimension | 384") == 1
    assert "of[1] | as in the row dense" in text
    assert "46 chunks in dense and hybrid" in text


def test_the_page_is_the_same_for_the_same_board(workspace: Path) -> None:
    """Two builds of one board give equal bytes."""
    first, second = files_of(workspace), files_of(workspace)
    assert (first["spec.md"], first["spec.html"]) == (second["spec.md"], second["spec.html"])
    assert canon.sha256(first["spec.md"])


def test_a_large_board_is_specified_quickly(tmp_path: Path) -> None:
    """Twelve rows with 36 runs take well under a second of the processor."""
    bench = make.benchmark(60)
    for n in range(12):
        make.write_row(tmp_path, f"row-{n:02d}", "bm25", bench, make.losing_first(n))
    board, runs = spec.built(tmp_path)
    started = time.process_time()
    document = spec_document(board, runs)
    assert time.process_time() - started < 1.5
    assert "7 more" in spec.plain(document)


def test_questions_that_all_stacks_answer_alike_are_said_in_one_number(tmp_path: Path) -> None:
    """Where all questions separate nothing, the page does not set a number against itself."""
    bench = make.benchmark(6)
    for row, kind in (("a", "bm25"), ("b", "dense")):
        make.write_row(tmp_path, row, kind, bench, lambda n, k: "supports")
    assert "Every stack answers all of 6 questions, so nothing is left to rank by." in spec.said(tmp_path)


def test_kinds_of_warning_are_counted_as_kinds(workspace: Path) -> None:
    """One warning beside fifteen runs is one kind, and the table says how many runs have it."""
    assert " kind of warning stands beside the valid runs." in spec.said(workspace) or (
        " kinds of warning stand beside the valid runs." in spec.said(workspace)
    )
