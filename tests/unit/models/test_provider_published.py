"""The published set-up, byte for byte: what its page says is what goes over the wire."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from ragassay.answer import build_messages
from ragassay.records import Delivered, Secret
from ragassay.run.board_file import load_board
from ragassay.run.budget import Budget
from ragassay.run.build import make_endpoint
from ragassay.testing.provider_imitations import cloudflare
from ragassay.testing.provider_servers import ProviderServer

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "howto" / "reproduce-the-published-set-up.md").read_text(
    encoding="utf-8"
)
BLOCK = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
BODIES = re.findall(r"```json\n(.*?)\n```", PAGE, re.DOTALL)
CHUNKS = ("First chunk.", "Second chunk.")


@pytest.mark.parametrize(("delivered", "body"), [(CHUNKS, BODIES[0]), ((), BODIES[1])], ids=["chunks", "control"])
@pytest.mark.parametrize("block", ["whole", "defaults"])
def test_the_request_is_the_published_one(tmp_path: Path, delivered: tuple[str, ...], body: str, block: str) -> None:
    """The page's block, and one that leaves its two defaults out, send the page's bytes, and nothing else."""
    assert BLOCK is not None
    answer = BLOCK[1]
    if block == "defaults":
        answer = "".join(line for line in answer.splitlines(True) if not line.startswith(("template", "params")))
    with ProviderServer(cloudflare) as server:
        board = tmp_path / "board.toml"
        board.write_text(
            "name = 'b'\n[corpus]\npath = 'd'\n[benchmark]\nfile = 'q.json'\n"
            + re.sub(r'base_url = ".*"', f'base_url = "{server.base_url}"', answer)
            + "[judge]\nkind = 'literal'\n[[rows]]\nname = 'n'\nstack = { kind = 'none' }\n",
            encoding="utf-8",
        )
        read = load_board(board)
        chunks = [
            Delivered(rank=n, chunk=f"c{n}", sha256="0" * 64, text=text, score="1")
            for n, text in enumerate(delivered, 1)
        ]
        messages = build_messages("The question?", chunks, read.template)

        async def ask() -> None:
            keys = {"CLOUDFLARE_API_TOKEN": Secret("token-0123456789")}
            endpoint = make_endpoint(read.answer, keys, Budget(), tmp_path)
            await endpoint.complete(messages, {})
            await endpoint.close()

        asyncio.run(ask())
        (asked,) = server.asked
    assert asked.raw.decode() == body
    assert asked.path == "/chat/completions"
