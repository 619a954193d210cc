"""`ragassay corpus crawl`: fetch the pages of a site politely into a crawl folder, from which a corpus is built."""

from __future__ import annotations

import asyncio
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.counting import counting
from ragassay.errors import InputError
from ragassay.records import JSON
from ragassay.site.safe import visible

if TYPE_CHECKING:
    from ragassay.corpus.crawl.crawl import Finished
    from ragassay.corpus.crawl.folder import NotTaken
    from ragassay.corpus.crawl.settings import CrawlSettings, Manner

SHOWN = 20
CHOSEN = ("outside", "excluded", "moved", "page cap", "byte cap")
"""Reasons of which the number is enough: whoever asked chose so."""


@click.command("crawl")
@click.argument("site", required=False, metavar="[URL|BOARD]")
@click.option(
    "--from",
    "discovery",
    type=click.Choice(["auto", "sitemap", "llms", "links"]),
    default="auto",
    show_default=True,
    help="Where addresses come from; auto takes the first of the others that names a page.",
)
@click.option("--prefix", metavar="URL", help="Take only pages below it [default: the folder of URL].")
@click.option("--include", multiple=True, metavar="GLOB", help="Take only paths that fit; may be repeated.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out paths that fit; may be repeated.")
@click.option("--max-pages", type=int, metavar="N", help="Pages at most [default: 20000].")
@click.option("--max-page-bytes", type=int, metavar="N", help="Bytes of one page at most [default: 16 MiB].")
@click.option("--max-bytes", type=int, metavar="N", help="Bytes of all pages at most [default: 1 GiB].")
@click.option("--depth", type=int, metavar="N", help="Links from the start at most [default: 20].")
@click.option("--pdf", is_flag=True, help="Take PDF pages too.")
@click.option("--agent", metavar="TEXT", help="User-Agent, and the name robots.txt knows [default: ragassay/VERSION].")
@click.option("--allow-private", is_flag=True, help="Connect to addresses of this machine and network too.")
@click.option("--concurrency", type=int, default=4, show_default=True, metavar="N", help="Requests at once.")
@click.option("--rate", type=float, default=5.0, show_default=True, metavar="N", help="Requests a second; 0: no pace.")
@click.option("--timeout", type=float, default=30.0, show_default=True, metavar="S", help="Seconds for one page.")
@click.option("--max-time", type=float, metavar="S", help="Seconds for all; what is missing then can be resumed.")
@click.option("--fresh", is_flag=True, help="Fetch every page whole, whether it has changed or not.")
@click.option("--allow-failures", is_flag=True, help="Put a crawl in place though some addresses failed.")
@click.option("--restart", is_flag=True, help="Forget a crawl that was cut short, and begin anew.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The crawl folder [default: .ragassay/crawl/NAME beside the board, for a URL in the current folder].",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def crawl_(site: str | None, out: Path | None, as_json: bool, **options: Any) -> int:
    """Fetch the pages of a site into a folder from which a corpus is built.

    URL is where the documentation begins; BOARD is a board.toml, whose [corpus] table names crawl = "https://…".
    Without an argument it is ./board.toml. robots.txt is obeyed. The folder of the crawl before is replaced only when
    this one is complete; one that was cut short goes on where it stopped.
    """
    from ragassay.corpus.crawl.crawl import Incomplete
    from ragassay.corpus.crawl.folder import folder_name

    start, options["pdf"], workspace = _start(site or "board.toml", options["pdf"])
    settings, manner = _asked(start, options)
    folder = out or workspace / "crawl" / folder_name(settings.start)
    try:
        finished = asyncio.run(_crawled(settings, manner, folder))
    except Incomplete as incomplete:
        if as_json:
            _print({"complete": False, "why": str(incomplete), "folder": str(folder)})
        if not incomplete.interrupted:
            raise
        click.echo(f"ragassay: {incomplete}", err=True)
        return 130
    if as_json:
        _print(_json(finished))
    else:
        for line in _lines(finished):
            click.echo(visible(line))
    return 0


async def _crawled(settings: CrawlSettings, manner: Manner, folder: Path) -> Finished:
    from ragassay.cli.interrupts import interruptible
    from ragassay.corpus.crawl.crawl import Watch, crawl
    from ragassay.run.status import RunStatus

    status = RunStatus()
    told: list[str] = []

    def stopped() -> bool:
        if status.stop and not told:
            told.append(status.phase)
            _say(status.phase)
        return status.stop

    with interruptible(status), counting("addresses") as progress:
        watch = Watch(stopped=stopped, progress=progress, say=_say)
        return await crawl(settings, manner, folder, watch=watch)


def _say(line: str) -> None:
    click.echo(visible(f"  {line}"), err=True)


def _start(given: str, pdf: bool) -> tuple[str, bool, Path]:
    """Return the start address, whether PDF pages are taken, and the workspace folder."""
    if "://" in given or not given.lower().endswith(".toml"):
        return given, pdf, Path(".ragassay")
    board = Path(given)
    try:
        table = tomllib.loads(board.read_bytes().decode("utf-8")).get("corpus")
    except FileNotFoundError:
        raise InputError(f"{board} does not exist; name the address of a site, or a board.toml that does") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{board} cannot be read as TOML: {error}") from error
    start = table.get("crawl") if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(start, str) or not start:
        raise InputError(f'{board}: [corpus] has no `crawl`; write for example crawl = "https://example.org/docs/"')
    if "path" in table:
        raise InputError(f"{board}: [corpus] has both `path` and `crawl`; which is meant? Take one away")
    if not isinstance(asked := table.get("pdf", False), bool):
        raise InputError(f"{board}: corpus.pdf must be true or false")
    return start, pdf or asked, board.parent / ".ragassay"


def _asked(start: str, options: JSON) -> tuple[CrawlSettings, Manner]:
    from ragassay.corpus.crawl.settings import CrawlSettings, Manner, checked

    if "://" not in start:
        raise InputError(f"{start} is no address; write it whole, for example https://{start.strip('/')}/")
    shaping = {name: value for name in _SHAPING if (value := options[name]) is not None}
    settings = CrawlSettings(start=start, **shaping)
    manner = Manner(
        concurrency=options["concurrency"],
        rate_per_s=options["rate"],
        timeout_s=options["timeout"],
        max_time_s=options["max_time"],
        fresh=options["fresh"],
        allow_failures=options["allow_failures"],
        restart=options["restart"],
    )
    return checked(settings, manner), manner


_SHAPING = (
    "discovery",
    "prefix",
    "include",
    "exclude",
    "max_pages",
    "max_page_bytes",
    "max_bytes",
    "depth",
    "pdf",
    "agent",
    "allow_private",
)


def _print(value: JSON) -> None:
    import msgspec

    click.echo(msgspec.json.encode(value).decode())


def _json(finished: Finished) -> JSON:
    from ragassay.records import to_json

    return {
        "complete": True,
        "folder": str(finished.folder),
        **to_json(finished.header),
        "leftOutBy": dict(_by_reason(finished.left_out)),
        "changes": None if finished.changes is None else to_json(finished.changes),
        "requests": finished.requests,
        "resumed": finished.resumed,
        "retried": finished.retried,
        "notes": list(finished.notes),
    }


def _by_reason(left_out: tuple[NotTaken, ...]) -> list[tuple[str, int]]:
    counted: Counter[str] = Counter(left.reason for left in left_out)
    return counted.most_common()


def _lines(finished: Finished) -> Iterator[str]:
    header = finished.header
    counts = header.counts
    yield f"start     {header.start}"
    yield f"from      {header.discovery['used']}, within {header.discovery['prefix']}"
    unchanged = f", {counts['notModified']:,} of them not modified since" if counts["notModified"] else ""
    yield f"pages     {counts['pages']:,} ({counts['bytes']:,} bytes){unchanged}"
    yield f"left out  {counts['leftOut']:,} of {counts['seen']:,} addresses seen"
    yield from (f"  {reason}: {number:,}" for reason, number in _by_reason(finished.left_out))
    told = [left for left in finished.left_out if left.reason not in CHOSEN]
    yield from (f"  {left.url}: {left.detail or left.reason}" for left in told[:SHOWN])
    if counts["leftOut"] > len(told[:SHOWN]):
        yield "  all are listed in left-out.jsonl"
    if (changes := finished.changes) is not None:
        yield (
            f"before    {changes.new:,} new, {changes.changed:,} changed, {changes.same:,} the same, "
            f"{changes.gone:,} gone since the crawl before"
        )
    retried = "".join(f", {kind} {number:,}" for kind, number in sorted(finished.retried.items()))
    resumed = f", {finished.resumed:,} addresses were settled before" if finished.resumed else ""
    yield f"requests  {finished.requests:,}" + (f" (asked again for:{retried[1:]})" if retried else "") + resumed
    yield from (f"note      {note}" for note in finished.notes)
    yield f"stored in {finished.folder}"
