"""What `questions draft` prints: the plan, what was asked, refused and written, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.claims_lines import taken_line
from ragassay.cli.question_sources import print_json
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line

if TYPE_CHECKING:
    from ragassay.cli.questions_draft import Given
    from ragassay.run.question_sets.asking import Asked


def print_report(report: Mapping[str, Any], asked: Asked | None, given: Given, corpus: Path) -> None:
    """Print what one command came to; `asked` is what the calls took, None where no model was asked.

    `corpus` is what was typed for the documentation, for the commands to be typed next.
    """
    if given.as_json:
        print_json(report)
        return
    lines = [*_plan_lines(report["plan"])]
    if "model" in report:
        lines += _model_lines(report["model"])
    if asked is not None:
        lines += [taken_line(asked), *_asked_lines(report["asked"])]
    if "worksheets" in report:
        lines += _sheet_lines(report["worksheets"])
    if report.get("without"):
        places = ", ".join(map(str, report["without"][:20])) + (", …" if len(report["without"]) > 20 else "")
        lines.append(f"{plural(len(report['without']), 'place')} got no question: {places}")
    lines += [*_file_lines(report, given), *_next_lines(given, corpus)]
    click.echo("\n".join(lines))


def _plan_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    usable = sum(one["usable"] for one in plan["sections"])
    over = ", ".join(f"{reason} {count:,}" for reason, count in plan["passedOver"].items())
    yield f"{plural(plan['pages'], 'page')}: {usable:,} usable; passed over: {over or 'none'}"
    short = f" of {plan['asked']:,} asked for" if plan["planned"] < plan["asked"] else ""
    yield f"{plural(plan['planned'], 'question')}{short} planned with seed {plan['seed']}, by section:"
    for one in plan["sections"]:
        yield f"  {one['planned']:>4} of {one['usable']:>5,}  {one_line(one['section']) or '(no folder)'}"


def _model_lines(model: Mapping[str, Any]) -> Iterator[str]:
    if model["sameAs"] is None:
        yield f"no board is named, so whether {one_line(model['id'])} also answers or judges on one is not known"
    elif model["sameAs"]:
        places = ", ".join(map(one_line, model["sameAs"]))
        yield f"warning: {one_line(model['id'])} is also {places}, so it favours itself; each question says so"


def _asked_lines(asked: Mapping[str, Any]) -> Iterator[str]:
    refused = plural(asked["refusedReplies"], "reply was", "replies were")
    yield f"{asked['passed']:,} of {plural(asked['places'], 'place')} got a question; {refused} refused"
    for rule, count in asked["refusals"].items():
        yield f"  {count:>4}  {rule}"
    for place, reason in asked["noReply"].items():
        yield f"  no reply  place {place}: {one_line(reason)}"


def _sheet_lines(sheets: Mapping[str, Any]) -> Iterator[str]:
    counts = f"{sheets['written']} written, {sheets['taken']} taken, {sheets['empty']} not filled in"
    more = f", {sheets['unsuitable']} unsuitable" if sheets["unsuitable"] else ""
    yield f"{one_line(sheets['folder'])}: {counts}{more}, {len(sheets['half'])} half filled in"
    for name, lacking in sheets["half"].items():
        yield f"  half      {one_line(name)}: {', '.join(lacking)} empty"


def _file_lines(report: Mapping[str, Any], given: Given) -> Iterator[str]:
    file = report.get("file")
    if file is not None:
        new = plural(len(file["new"]), "new question")
        yield f"wrote {one_line(file['path'])}: {plural(file['questions'], 'question')}, {new}, unreviewed"
        found = file["lint"]
        yield f"lint: {plural(found['error'], 'error')}, {plural(found['warning'], 'warning')}"
    elif report.get("asked", {}).get("noReply"):
        yield "nothing was written: type the same command again; what was answered is not asked again"
    elif "asked" not in report and "worksheets" not in report:
        yield f"wrote the plan into {one_line(report['folder'])}; go on with --by-hand, --board or --model"
    elif given.out.exists():
        yield f"nothing is new in {one_line(str(given.out))}"


def _next_lines(given: Given, corpus: Path) -> Iterator[str]:
    """Yield what to type next where there is a question file; shells read it as it stands."""
    if given.out.exists():
        on = f"{shlex.quote(one_line(str(given.out)))} --corpus {shlex.quote(one_line(str(corpus)))}"
        yield "go on with"
        yield f"  ragassay questions lint {on}"
        yield f"  ragassay questions review {on}"
