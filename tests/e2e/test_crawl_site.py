"""`ragassay corpus crawl` as a person runs it: a real manual, a kill in the middle, Ctrl-C, boards and JSON."""

from __future__ import annotations

import json
import math
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragassay.cli.corpus_crawl import crawl_
from ragassay.corpus.crawl.folder import folder_name, load_crawl
from ragassay.errors import InputError
from site_server import Answer, Site

RAGASSAY = [sys.executable, "-m", "ragassay"]
MEASURED = """
import sys
from ragassay.cli import main
sys.argv[0] = "ragassay"
try:
    main()
finally:
    # not ru_maxrss, which a child inherits from the process that started it
    with open("/proc/self/status") as status:
        print(*(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""
ARCHIVE = "postgresql-docs/html.tar.xz"
PAGES = 1_169


def run(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `ragassay corpus crawl` in a folder, allowed to reach this machine and without pace."""
    command = [*RAGASSAY, "corpus", "crawl", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@contextmanager
def manual(archive: Path) -> Iterator[str]:
    """Serve an archive from a process of its own."""
    command = [sys.executable, str(Path(__file__).parents[1] / "site_server.py"), str(archive)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
            server.wait(10)


def test_a_real_manual_is_crawled_in_time_and_in_little_memory(tmp_path: Path, shared_data: Path) -> None:
    """The 1,169 pages of the PostgreSQL manual take at most a minute and 300 MB, and are the pages that were served."""
    options = ("--allow-private", "--rate", "0", "--out", "crawl", "--json")
    with manual(shared_data / ARCHIVE) as url:
        command = [sys.executable, "-c", MEASURED, "corpus", "crawl", f"{url}/html/", *options]
        began = time.monotonic()
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        took_s = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    peak_bytes = int(done.stderr.splitlines()[-1]) * 1024
    counts = json.loads(done.stdout)["counts"]
    assert (counts["pages"], counts["seen"], counts["leftOut"]) == (PAGES, PAGES, 0)
    assert took_s <= 60
    assert peak_bytes < 300_000_000
    assert len(load_crawl(tmp_path / "crawl").pages) == PAGES


@pytest.mark.parametrize("discovery", ["sitemap", "links"])
def test_a_kill_in_the_middle_costs_what_was_in_flight(tmp_path: Path, discovery: str) -> None:
    """After kill -9 the same command asks for nothing that it had, but for what was under way."""
    names = [f"/p{n}" for n in range(60)]
    with Site(wait_s=0.03) as site:
        site.sitemap("/sitemap.xml", ["/", *names])
        site.page("/", links=names)
        for name in names:
            site.page(name)
        arguments = (f"{site.url}/", "--allow-private", "--rate", "0", "--from", discovery, "--out", "crawl", "--json")
        for killed_after in (15, 40):
            site.held_after = killed_after
            command = [*RAGASSAY, "corpus", "crawl", *arguments]
            with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
                while len(site.requests) < killed_after:
                    assert child.poll() is None
                    time.sleep(0.005)
                child.send_signal(signal.SIGKILL)
                child.communicate()
            assert not (tmp_path / "crawl").exists()
        site.held_after = math.inf
        found = json.loads(run(tmp_path, *arguments).stdout)
        twice = [target for target, number in site.asked.items() if number > 1]
    assert found["counts"]["pages"] == 61
    assert found["resumed"] >= 30
    assert len(twice) <= 2 * 4
    assert site.asked["/robots.txt"] == 1
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["crawl"]


@pytest.mark.slow
@pytest.mark.parametrize("discovery", ["sitemap", "links"])
def test_ten_kills_at_any_moment_end_in_the_same_pages(tmp_path: Path, discovery: str) -> None:
    """At random moments and around the swap, over two crawls: the place is always whole, and in the end new."""
    dice = random.Random(discovery)
    folder, built = tmp_path / "crawl", tmp_path / "crawl.crawling" / "crawl.json"
    with Site() as site:
        site.sitemap("/sitemap.xml", ["/", *(f"/p{n}" for n in range(300))])
        arguments = (f"{site.url}/", "--allow-private", "--rate", "0", "--from", discovery, "--out", "crawl", "--json")
        for text in ("first", "second"):
            site.page("/", links=[f"/p{n}" for n in range(0, 300, 7)], text=text)
            for n in range(300):
                site.page(f"/p{n}", links=[f"/p{(n + 1) % 300}"], text=text)
            for at_swap in (False, True, False, True, True):
                command = [*RAGASSAY, "corpus", "crawl", *arguments]
                with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
                    until = time.monotonic() + (10 if at_swap else dice.uniform(0.2, 1.5))
                    while child.poll() is None and time.monotonic() < until and not (at_swap and built.exists()):
                        time.sleep(0.0005)
                    time.sleep(dice.uniform(0, 0.05) if at_swap else 0)
                    child.kill()
                    child.communicate()
                if folder.exists():
                    assert len(load_crawl(folder).pages) == 301
            run(tmp_path, *arguments)
            crawled = load_crawl(folder)
            assert len(crawled.pages) == 301
            assert all(text.encode() in crawled.data(page) for page in crawled.pages)
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["crawl"]
    assert not (tmp_path / ".crawl.before").exists()


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    """An interrupt lets what is under way end, keeps it, exits with 130, and the same command goes on."""
    names = [f"/p{n}" for n in range(40)]
    with Site(wait_s=0.05) as site:
        site.held_after = 15
        site.sitemap("/sitemap.xml", names)
        for name in names:
            site.page(name)
        arguments = (f"{site.url}/", "--allow-private", "--rate", "0")
        command = [*RAGASSAY, "corpus", "crawl", *arguments]
        with subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_restored
        ) as child:
            while len(site.requests) < 15:
                assert child.poll() is None
                time.sleep(0.005)
            child.send_signal(signal.SIGINT)
            site.held_after = math.inf
            _, said = child.communicate(timeout=20)
        assert child.returncode == 130
        assert "the same command goes on where it stopped" in said
        assert "Traceback" not in said
        assert "addresses were settled before" in run(tmp_path, *arguments).stderr
        assert max(site.asked.values()) == 1


def _restored() -> None:
    """Let a child take Ctrl-C whatever its parents ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_board_names_its_site(tmp_path: Path) -> None:
    """The site of a board's [corpus] table is crawled into the board's workspace; a second crawl counts changes."""
    with Site() as site:
        site.page("/docs/", links=("/docs/a.html",))
        site.page("/docs/a.html", text="<table><tr><td>one")
        board = tmp_path / "board.toml"
        board.write_text(f'[corpus]\ncrawl = "{site.url}/docs/"\n')
        first = run(tmp_path, "--allow-private", "--rate", "0")
        assert "from      links" in first.stdout
        folder = tmp_path / ".ragassay" / "crawl" / folder_name(f"{site.url}/docs/")
        assert len(load_crawl(folder).pages) == 2
        site.page("/docs/a.html", text="two")
        second = run(tmp_path, "board.toml", "--allow-private", "--rate", "0", "--fresh")
        assert "0 new, 1 changed, 1 the same, 0 gone" in second.stdout
        built = subprocess.run(
            [*RAGASSAY, "corpus", "build"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert built.returncode == 0, built.stderr
        assert "pages     2" in built.stdout


def test_what_cannot_be_crawled_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No board, a board without a site, no address, and a private address are wrong input, each with what to do."""
    monkeypatch.chdir(tmp_path)

    def said(*arguments: str) -> str:
        error = CliRunner().invoke(crawl_, arguments).exception
        assert isinstance(error, InputError)
        return str(error)

    assert "board.toml does not exist" in said()
    (tmp_path / "board.toml").write_text('[corpus]\npath = "docs"\n')
    assert "has no `crawl`" in said()
    (tmp_path / "board.toml").write_text('[corpus]\npath = "docs"\ncrawl = "https://example.org/"\n')
    assert "both `path` and `crawl`" in said()
    (tmp_path / "board.toml").write_text("[corpus]\npdf = 1\ncrawl = 'https://example.org/'\n")
    assert "true or false" in said()
    (tmp_path / "board.toml").write_text("[corpus")
    assert "cannot be read as TOML" in said()
    assert "https://example.org/" in said("example.org")
    assert "--allow-private" in said("http://localhost/")
    assert "--rate must not be below 0" in said("https://example.org/", "--rate", "-1")
    assert list(tmp_path.iterdir()) == [tmp_path / "board.toml"]


def test_a_site_that_is_down_is_code_3(tmp_path: Path) -> None:
    """Where the server wants to be left alone the verb ends with code 3, and says so as JSON too."""
    with Site() as site:
        site.handlers["/robots.txt"] = Answer(status=503, headers=(("Retry-After", "7200"),))
        refused = run(tmp_path, f"{site.url}/", "--allow-private", "--rate", "0", "--json", code=3)
    assert json.loads(refused.stdout)["complete"] is False
    assert "7,200 s" in refused.stderr


def test_what_a_site_says_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Control characters in what a server sends are written out; the folder and its lock are all that is written."""
    with Site() as site:
        site.page("/", links=("/a", "/b"))
        site.handlers["/a"] = Answer(media="evil/\x9b31mred")
        site.handlers["/b"] = Answer(status=302, headers=(("Location", "foo:\x9b2Jbar"),))
        done = run(tmp_path, f"{site.url}/", "--allow-private", "--rate", "0", "--out", "made")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".made.lock", "made"]
    assert "\x9b" not in done.stdout + done.stderr
    assert "31mred is no page" in done.stdout
