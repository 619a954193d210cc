"""`ragassay judge` on the command line: what it prints, what it refuses, and its exit codes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from judge_lab import PANEL_LITERAL, PANEL_LLM, JudgeLab, literal_lab, model

from ragassay.cli import root
from ragassay.cli.judge_lines import gives_for_nothing
from ragassay.errors import InputError
from ragassay.testing import chat_replies
from ragassay.testing.chat_server import ChatServer


@pytest.fixture
def lab(tmp_path: Path) -> JudgeLab:
    """A board of two rows with a literal panel, and keys to sign with."""
    made = literal_lab(tmp_path, 4)
    made.add_panel(PANEL_LITERAL)
    subprocess.run([sys.executable, "-m", "ragassay", "keys", "init"], cwd=tmp_path, check=True, capture_output=True)
    return made


def judged(lab: JudgeLab, *words: str) -> Result:
    """Return what `ragassay judge` of the lab's folder did."""
    return CliRunner().invoke(root, ["judge", str(lab.folder), *words])


def test_the_whole_panel_is_judged_once(lab: JudgeLab) -> None:
    """One line per judgement, and nothing left a second time."""
    first = judged(lab)
    assert first.exit_code == 0, first.output
    assert "row pass 1: by literals, panel: score 1.0000 (400/400), 4 of 4 judged" in first.output
    assert "2 judgements signed, 0 there already" in first.output
    assert "0 judgements signed, 2 there already" in judged(lab).output


def test_json_names_every_judgement(lab: JudgeLab) -> None:
    """Run, row, pass, judge, purpose, number, counts and score."""
    found = json.loads(judged(lab, "--json").stdout)
    assert [one["purpose"] for one in found] == ["panel", "panel"]
    assert all(one["held"] is None and one["n"] == 1 and one["counts"]["judged"] == 4 for one in found)
    assert all(Path(one["folder"]).is_dir() for one in found)


def test_a_dry_run_asks_nothing_and_needs_no_key(lab: JudgeLab) -> None:
    """Calls, tokens and money of a model that nobody can reach, under a key that is not set."""
    table = model(
        "http://127.0.0.1:9/v1", 'key_env = "NOT_SET", price = { input_usd_per_mtok = "1", output_usd_per_mtok = "2" }'
    )
    lab.add_panel(PANEL_LLM.replace("{model}", table))
    found = json.loads(judged(lab, "--dry-run", "--json").stdout)
    assert found["there"] == 0
    forecast = found["judges"][0]
    assert (forecast["judge"], forecast["judgements"], forecast["items"], forecast["calls"]) == ("second", 2, 8, 8)
    assert forecast["costMicrousd"] == forecast["inputTokens"] + 2 * forecast["outputTokens"]
    assert "nothing was asked" in judged(lab, "--dry-run").output
    refused = judged(lab)
    assert isinstance(refused.exception, InputError)
    assert "export NOT_SET=" in str(refused.exception)
    assert not list((lab.space.root / "judgements").glob("*/*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--judge", "nobody"), "has no judge 'nobody' in its panel; it has 'by literals'"),
        (("--run", "zz"), "no runs of the workspace have an id that begins with 'zz'"),
        (("--reask",), "about 0% of the answers"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(lab: JudgeLab, words: tuple[str, ...], said: str) -> None:
    """An unknown judge, an unknown run, a share of nothing."""
    refused = judged(lab, *words)
    assert isinstance(refused.exception, InputError)
    assert said in str(refused.exception)


def test_a_named_run_alone_is_judged(lab: JudgeLab) -> None:
    """By the beginning of its id."""
    name = sorted(lab.space.runs.iterdir())[0].name
    assert "1 judgement signed, 0 there already" in judged(lab, "--run", name[:10]).output


def test_null_rows_of_zero_are_a_yes(lab: JudgeLab) -> None:
    """The literal judge gives nothing for nothing."""
    found = judged(lab, "--null-rows")
    assert found.exit_code == 0
    assert found.output.count("score 0.0000 (0/400)") == 3
    assert "NOT ZERO" not in found.output


def test_a_null_row_above_zero_is_printed_loudly_and_is_a_no(lab: JudgeLab) -> None:
    """A judge that obeys the injection: the line stands out, the exit code is 1, the judgement is signed as it is."""

    async def work() -> Result:
        server = ChatServer(chat_replies.judge)
        async with server:
            table = f'kind = "llm"\nmodel = {model(server.base_url)}'
            path = lab.folder / "board.toml"
            text = path.read_text(encoding="utf-8").split("[[panel]]")[0]
            path.write_text(text.replace('[judge]\nkind = "literal"', f"[judge]\n{table}"), encoding="utf-8")
            await lab.run_async()
            return await asyncio.to_thread(_in_process, lab)

    found = asyncio.run(work())
    assert found.exit_code == 1, found.output
    assert "NULL ROW NOT ZERO: [judge] gave 1.0000 (400/400) to the injection text" in found.output
    assert "null row empty: score 0.0000" in found.output
    shown = [one.predicate for one in lab.all_documents() if one.predicate.purpose == "null-row"]
    assert sorted(one.score.num for one in shown if one.score) == [0, 400, 400]


def _in_process(lab: JudgeLab) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "ragassay", "judge", str(lab.folder), "--null-rows"], capture_output=True, check=False
    )
    return Result(CliRunner(), done.stdout, done.stderr, done.stdout + done.stderr, None, done.returncode, None)


def test_no_score_is_no_gift() -> None:
    """A null row that nobody could judge gave nothing."""
    assert not gives_for_nothing("injection", None)
    assert not gives_for_nothing(None, None)


def test_verify_accepts_what_was_signed_and_refuses_what_was_changed(lab: JudgeLab) -> None:
    """Every judgement of the workspace is held against its run, by the workspace's own key."""
    judged(lab)
    found = judged(lab, "--verify")
    assert found.exit_code == 0, found.output
    assert "2 of 2 judgements verified." in found.output
    assert "(the pinned key)" in found.output
    path = sorted((lab.space.root / "judgements").glob("*/*/verdicts.jsonl"))[0]
    path.write_bytes(path.read_bytes().replace(b'"q-000"', b'"q-00x"', 1))
    refused = judged(lab, "--verify")
    assert refused.exit_code == 1
    assert "OUTPUTS_DIGEST" in refused.output
    as_json = json.loads(judged(lab, "--verify", "--json").stdout)
    assert not as_json["ok"]
    assert [one["ok"] for one in as_json["judgements"]].count(True) == 1


def test_a_judgement_under_another_number_counts_nowhere(lab: JudgeLab) -> None:
    """Board, `--verify` and the next `judge` agree: it is refused, and made anew."""
    judged(lab)
    run = sorted(lab.space.runs.iterdir())[0].name
    folder = next((lab.space.root / "judgements" / run).glob("*-panel-1"))
    folder.rename(folder.with_name(folder.name[:-1] + "7"))
    refused = judged(lab, "--verify")
    assert (refused.exit_code, "1 of 2 judgements verified." in refused.output) == (1, True)
    assert "BUNDLE_NAME" in refused.output
    assert "1 judgement signed, 1 there already" in judged(lab).output


def test_verify_refuses_a_judgement_whose_run_is_gone(lab: JudgeLab) -> None:
    """Nothing can be held against it, so it is not accepted."""
    judged(lab)
    run = sorted(lab.space.runs.iterdir())[0]
    run.rename(lab.folder / "elsewhere")
    refused = judged(lab, "--verify")
    assert refused.exit_code == 1
    assert "FILE_MISSING" in refused.output


def test_a_board_that_asks_for_nothing_says_so(lab: JudgeLab) -> None:
    """No panel, and a judge that says the same a second time: nothing is done, and why stands there."""
    lab.add_panel("")
    found = judged(lab)
    assert found.exit_code == 0
    assert "the board names no [[panel]] and asks its judge again about nothing" in found.output


def test_run_says_that_the_panel_judges_by_another_command(tmp_path: Path) -> None:
    """A board with a panel ends by naming `ragassay judge`."""
    made = JudgeLab(tmp_path, 2)
    made.write()
    made.add_panel(PANEL_LITERAL)
    subprocess.run([sys.executable, "-m", "ragassay", "keys", "init"], cwd=tmp_path, check=True, capture_output=True)
    found = CliRunner().invoke(root, ["run", str(made.folder / "board.toml")])
    assert "ragassay judge (lets the panel judge these answers: by literals)" in found.output
