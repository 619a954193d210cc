"""`ragassay export verifier`: the page that checks runs in a browser, or its digest."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ragassay import canon
from ragassay.cli.new_file import write_new
from ragassay.site.verifier_page import verifier as verifier_parts
from ragassay.site.verifier_page import verifier_page

NAME = "verify.html"


@click.command("verifier")
@click.option("--out", type=click.Path(path_type=Path), default=Path(NAME), show_default=True, help="Where it goes.")
@click.option("--digest", is_flag=True, help="Write nothing; print the SHA-256 of the page and the hash of its script.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verifier(out: Path, digest: bool, force: bool, as_json: bool) -> None:
    """Write verify.html, the page that checks runs in a browser without any connection.

    It is the same file from every installation of one version, and the same that stands beside each board.
    """
    page = verifier_page()
    sha256, script = canon.sha256(page), verifier_parts().script_hash
    if not digest:
        write_new(out, page, force=force)
    if as_json:
        found = {"path": None if digest else str(out), "bytes": len(page), "sha256": sha256, "script": script}
        click.echo(json.dumps(found, indent=2))
    elif digest:
        click.echo(f"{sha256}  {NAME}\nscript {script}")
    else:
        click.echo(f"wrote {out}, {len(page):,} bytes\nsha256 {sha256}")
