"""What `module:attribute` may name, where it is looked for, and what is recorded of it."""

from __future__ import annotations

import sys
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="pip install 'ragassay[langchain]'")

from foreign_factory import built, written

from ragassay import canon
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.foreign.langchain import LangChain

RUNNABLE = """
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    def searching(documents):
        return RunnableLambda(lambda question: [one for one in documents if question in one.page_content])

    mine = searching([Document(id="a", page_content="the fox"), Document(page_content="the fox again")])
    class Inside:
        deeper = mine
    def plain(documents):
        return searching(documents)
    def optional(documents=None):
        return mine if documents is None else searching(documents)
    def starred(*documents):
        return mine
    def without():
        return mine
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A board's folder with one module."""
    return written(tmp_path, "mine_a", RUNNABLE)


@pytest.mark.parametrize(
    "path", [None, "", "module", ":x", "module:", "a b:c", "../x:y", "module:x()", 7, "x:y:z", "/tmp/m.py:x"]
)
def test_a_path_that_is_none_is_refused_before_any_work(path: Any) -> None:
    """It is module:attribute, each a dotted name, and what is wrong is said with what else is wrong."""
    with pytest.raises(InputError) as caught:
        LangChain(**({} if path is None else {"retriever": path}), corpus="mine", spare=1)
    assert "retriever must be module:attribute" in str(caught.value)
    assert len(caught.value.problems) in (3, 4)


@pytest.mark.parametrize(
    ("path", "given", "own_given"),
    [
        ("plain", "chunks", None),
        ("optional", "chunks", "nothing"),
        ("without", "nothing", "nothing"),
        ("starred", "nothing", "nothing"),
        ("mine", "nothing", "nothing"),
        ("Inside.deeper", "nothing", "nothing"),
    ],
)
def test_a_factory_gets_the_chunks_if_it_takes_one_argument(
    folder: Path, path: str, given: str, own_given: str | None
) -> None:
    """And none with `corpus = "own"`, where one that needs an argument is refused."""
    assert built("langchain", folder, f"mine_a:{path}").describe()["given"] == given
    if own_given is None:
        with pytest.raises(
            InputError, match=r'needs documents besides: it is called with nothing, because corpus = "own"'
        ):
            built("langchain", folder, f"mine_a:{path}", corpus="own")
    else:
        assert built("langchain", folder, f"mine_a:{path}", corpus="own").describe()["given"] == own_given


def test_own_hits_bring_their_texts_and_board_hits_are_the_boards(folder: Path) -> None:
    """The same path, by `corpus`: with `board`, a document that is none of its chunks is an error that says so."""
    own = built("langchain", folder, "mine_a:mine", corpus="own")
    first, second = own.search("fox", 5)
    assert (own.owns_corpus, first.chunk, first.text, first.score) == (True, "a", "the fox", 1.0)
    assert second.chunk == f"sha256-{canon.sha256(b'the fox again')[:32]}"
    board = built("langchain", folder, "mine_a:plain")
    assert not board.owns_corpus
    assert [(hit.chunk, hit.text) for hit in board.search("fox", 5)] == [("page-0.md#0", None), ("page-1.md#0", None)]
    with pytest.raises(StackError, match=r"the document 'a', which is none of the board's chunks;.*corpus = \"own\""):
        built("langchain", folder, "mine_a:mine").search("fox", 5)


def test_the_import_path_and_what_was_imported_elsewhere_stay_as_they_were(folder: Path) -> None:
    """The folder is on `sys.path` while their code is imported and called, and not after."""
    before = list(sys.path)
    built("langchain", folder, "mine_a:plain").search("fox", 2)
    assert sys.path == before
    with pytest.raises(InputError):
        built("langchain", folder, "mine_a:absent")
    assert sys.path == before


def test_a_changed_file_is_read_anew_and_so_is_one_of_the_same_name_elsewhere(tmp_path: Path) -> None:
    """No row runs code that is not the code whose digest it records."""
    code = "from aside_b import word\nfrom langchain_core.runnables import RunnableLambda\n"
    code += "mine = RunnableLambda(lambda q: [])\nname = word\n"
    for at, one in enumerate([tmp_path / "x", tmp_path / "y"]):
        written(one, "mine_b", code)
        written(one, "aside_b", f"word = {at}\n")
    first = built("langchain", tmp_path / "x", "mine_b:mine").describe()["sources"]
    assert first == {
        name: sha256((tmp_path / "x" / f"{name}.py").read_bytes()).hexdigest() for name in ("aside_b", "mine_b")
    }
    assert sys.modules["mine_b"].name == 0
    second = built("langchain", tmp_path / "y", "mine_b:mine").describe()["sources"]
    assert (second["mine_b"] == first["mine_b"], second["aside_b"] == first["aside_b"]) == (True, False)
    assert sys.modules["mine_b"].name == 1
    written(tmp_path / "y", "aside_b", "word = 2\n")
    assert built("langchain", tmp_path / "y", "mine_b:mine").describe()["sources"] != second
    assert sys.modules["mine_b"].name == 2
    assert {path.name for path in (tmp_path / "y").iterdir()} == {"aside_b.py", "mine_b.py"}


def test_a_package_beside_the_board_is_recorded_with_its_modules(tmp_path: Path) -> None:
    """Each under its dotted name, and an error inside it is told by its file."""
    written(tmp_path / "pack_h", "__init__", "")
    written(tmp_path / "pack_h", "words", "def search(question):\n    raise ValueError('no')\n")
    code = "from langchain_core.runnables import RunnableLambda\nfrom .words import search\n"
    written(tmp_path / "pack_h", "made", f"{code}def make(documents):\n    return RunnableLambda(search)\n")
    retriever = built("langchain", tmp_path, "pack_h.made:make")
    assert list(retriever.describe()["sources"]) == ["pack_h", "pack_h.made", "pack_h.words"]
    with pytest.raises(StackError, match=r"raised: ValueError: no \(words.py, line 2, in search\)"):
        retriever.search("fox", 1)


def test_what_their_code_prints_does_not_stand_in_a_report(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`--json` on the standard output stays JSON."""
    code = f"{RUNNABLE_ONE}\nprint('loading')\ndef make():\n    print('made')\n    return finding('a')\n"
    built("langchain", written(tmp_path, "loud_i", code), "loud_i:make", corpus="own")
    assert capfd.readouterr() == ("", "loading\nmade\n")


def test_an_installed_module_is_found_too(tmp_path: Path) -> None:
    """It needs not lie in the folder; its file's digest is recorded."""
    described = built("langchain", tmp_path, "langchain_core.runnables:RunnablePassthrough", corpus="own").describe()
    assert list(described["sources"]) == ["langchain_core.runnables"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("absent_c:x", "there is no module 'absent_c', neither in the folder of the board nor"),
        ("mine_a.deeper:x", "there is no module 'mine_a.deeper'"),
        ("mine_a:absent", "'mine_a' defines no 'absent'; it defines Inside, optional, plain, searching"),
        ("mine_a:Inside.absent", "'mine_a' defines no 'absent'"),
        ("wrong_a:number", "is an object of int; it must name a LangChain retriever or a function that returns one"),
        ("wrong_a:later", "is an async function; make it a plain one"),
        ("wrong_a:two", "needs documents, deep besides: it is called with one list of documents"),
        ("wrong_a:listed", "returned an object of list where a LangChain retriever is wanted"),
        ("wrong_a:store", "returned an object of InMemoryVectorStore where .*; return vector_store.as_retriever()"),
    ],
)
def test_a_path_that_names_no_retriever_is_an_input_error(folder: Path, path: str, said: str) -> None:
    """What is found instead is named, and what to do."""
    written(
        folder,
        "wrong_a",
        """
        from langchain_core.vectorstores import InMemoryVectorStore
        from langchain_core.embeddings import DeterministicFakeEmbedding
        number = 7
        async def later(documents): ...
        def two(where, documents, *, deep): ...
        def listed(documents): return documents
        def store(documents): return InMemoryVectorStore(DeterministicFakeEmbedding(size=3))
        """,
    )
    with pytest.raises(InputError, match=said):
        built("langchain", folder, path)


def test_a_file_that_has_the_name_of_a_library_is_refused(tmp_path: Path) -> None:
    """A module of that name is imported already, and would be taken in silence."""
    written(tmp_path, "msgspec", "x = 1\n")
    with pytest.raises(InputError, match="the name 'msgspec' is taken by another module; rename the file"):
        built("langchain", tmp_path, "msgspec:x")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import not_installed_here",
            r"could not be imported: ModuleNotFoundError: No module named 'not_inst.*line 1, in",
        ),
        ("def make(:", r"could not be imported: SyntaxError: .* \(broken_d\.py, line 1\)"),
        ("import sys\nsys.exit(3)", r"could not be imported: SystemExit: 3 \(broken_d\.py, line 2, in <module>\)"),
        (
            "def make(documents):\n    return inner()\ndef inner():\n    raise OSError('no disk')",
            r"could not make its retriever: OSError: no disk \(broken_d\.py, line 4, in inner\)",
        ),
    ],
)
def test_what_their_code_raises_is_a_stack_error_with_the_place(tmp_path: Path, code: str, said: str) -> None:
    """File, line and function of theirs, not of the libraries in between."""
    written(tmp_path, "broken_d", code)
    with pytest.raises(StackError, match=said) as caught:
        built("langchain", tmp_path, "broken_d:make")
    assert not caught.value.retryable
    assert str(tmp_path) not in str(caught.value)


def test_an_interrupt_in_their_code_stops_the_run(tmp_path: Path) -> None:
    """Ctrl-C is nobody's fault."""
    written(tmp_path, "stopped_e", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        built("langchain", tmp_path, "stopped_e:x")


def test_a_factory_that_imports_late_is_recorded_with_what_it_imported(tmp_path: Path) -> None:
    """What a factory imports inside itself lies in the folder too."""
    written(tmp_path, "late_f", "def make(documents):\n    from later_f import mine\n    return mine\n")
    written(
        tmp_path,
        "later_f",
        "from langchain_core.runnables import RunnableLambda\nmine = RunnableLambda(lambda q: [])\n",
    )
    assert list(built("langchain", tmp_path, "late_f:make").describe()["sources"]) == ["late_f", "later_f"]


def test_two_threads_that_build_do_not_see_each_others_folder(tmp_path: Path) -> None:
    """Boards in one process are built one at a time where code is imported."""
    for at in range(4):
        written(tmp_path / str(at), "same_g", f"{RUNNABLE_ONE}\nmine = finding('{at}')\n")
    found: dict[int, str] = {}

    def build(at: int) -> None:
        found[at] = built("langchain", tmp_path / str(at), "same_g:mine", corpus="own").search("q", 1)[0].chunk

    threads = [threading.Thread(target=build, args=(at,)) for at in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {at: str(at) for at in range(4)}


RUNNABLE_ONE = """
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
def finding(name):
    return RunnableLambda(lambda question: [Document(id=name, page_content=question)])
"""
