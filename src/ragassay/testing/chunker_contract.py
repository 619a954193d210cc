"""What every chunker promises, as a pytest class: subclass it, say how yours is made, and run pytest."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from ragassay import canon
from ragassay.records import Page
from ragassay.seams import Chunker

TEXTS = {
    "prose": "The cache lives in a folder. Set CACHE_DIR to move it. " * 60,
    "markdown": "# Cache\n\nIntro.\n\n## Move it\n\n```sh\n# no heading\nexport X=1\n```\n\n- one\n- two\n\n" * 12,
    "setext and table": "Title\n=====\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200,
    "no final line break": "# Only a heading",
    "white space around": "\n\n  \n text in the middle \n\n\n",
    "one long word": "x" * 5000,
    "no spaces between words": "設定ファイルを読み込みます。既定値は三です。" * 80,
    "right to left and combining": "שלום עולם. e\u0301te\u0301 \u202eabc\u202c. مرحبا بالعالم! " * 50,
    "punctuation alone": "!?" * 900,
    "astral and joined": "👩‍👩‍👧 flags 🇩🇪. " * 100,
    "thin and no-break spaces": "10\u202f000\u00a0MB.\u2003Next. " * 100,
    "hash in text": "a#1 b#2\n\n# c#3\n\nd#4" * 30,
}
"""Texts that chunkers get wrong, by what is awkward in them."""

Format = Literal["markdown", "html", "rst", "text", "pdf"]
FORMATS: tuple[Format, ...] = ("markdown", "html", "rst", "text", "pdf")


def page(
    text: str, format_: Literal["markdown", "html", "rst", "text", "pdf"] = "markdown", id_: str = "a/b.md"
) -> Page:
    """Return a page that holds `text`."""
    sha256 = canon.sha256(text.encode("utf-8"))
    return Page(id=id_, title="Title", text=text, format=format_, sha256=sha256, source_sha256=sha256)


class ChunkerContract:
    """Subclass and set `chunker` to what makes a new one, for example your class."""

    chunker: ClassVar[Callable[[], Chunker]]

    def make_chunker(self) -> Chunker:
        """Return a new chunker."""
        return type(self).chunker()

    def pages(self) -> list[Page]:
        """Return the pages that the promises are tried on."""
        return [page(text, format_) for text in TEXTS.values() for format_ in FORMATS]

    def test_spans_cover_the_page(self) -> None:
        """The first span starts at 0, none leaves a gap, each reaches further than the last, the last ends the page."""
        for one in self.pages():
            reached = 0
            for chunk in self.make_chunker().split(one):
                assert chunk.start <= reached < chunk.end
                reached = chunk.end
            assert reached == len(one.text)

    def test_starts_move_forward(self) -> None:
        """Each chunk starts after the one before it, so chunks stand in page order."""
        for one in self.pages():
            starts = [chunk.start for chunk in self.make_chunker().split(one)]
            assert starts == sorted(set(starts))

    def test_texts_are_spans_and_digests_hold(self) -> None:
        """A chunk's text is its span of the page, nothing added; its digest is that of its UTF-8 bytes."""
        for one in self.pages():
            for chunk in self.make_chunker().split(one):
                assert chunk.page == one.id
                assert chunk.text == one.text[chunk.start : chunk.end]
                assert chunk.sha256 == canon.sha256(chunk.text.encode("utf-8"))

    def test_ids_count_from_zero(self) -> None:
        """Chunk n of a page has the id `<page>#<n>`."""
        for one in self.pages():
            chunks = self.make_chunker().split(one)
            assert [chunk.id for chunk in chunks] == [f"{one.id}#{n}" for n in range(len(chunks))]

    def test_an_empty_page_has_no_chunks(self) -> None:
        """A page without text has none."""
        for format_ in FORMATS:
            assert list(self.make_chunker().split(page("", format_))) == []

    def test_no_chunk_is_blank(self) -> None:
        """No chunk is white space alone."""
        for one in self.pages():
            assert [c.id for c in self.make_chunker().split(one) if not c.text.strip()] == []

    def test_splitting_twice_gives_the_same(self) -> None:
        """The same page gives the same chunks, from the same chunker and from another one."""
        chunker = self.make_chunker()
        for one in self.pages():
            first = list(chunker.split(one))
            assert first == list(chunker.split(one)) == list(self.make_chunker().split(one))

    def test_chunks_do_not_depend_on_other_pages(self) -> None:
        """The order in which pages come changes nothing."""
        forwards, backwards = self.make_chunker(), self.make_chunker()
        pages = self.pages()
        first = [list(forwards.split(one)) for one in pages]
        assert first == [list(backwards.split(one)) for one in pages[::-1]][::-1]

    def test_describe_can_be_hashed(self) -> None:
        """describe() names a kind, holds no fractional number, and is the same each time."""
        chunker = self.make_chunker()
        described = chunker.describe()
        assert isinstance(described["kind"], str)
        assert canon.canonical(described) == canon.canonical(self.make_chunker().describe())
        list(chunker.split(self.pages()[0]))
        assert chunker.describe() == described
