"""Importing what a board names as `module:attribute` from the board's own folder, and the digests of what was read.

The folder is on `sys.path` only while the module is imported and while what it names is called. What lies in the folder
is imported anew for every row: none sees what another left behind, and what is recorded is what was read.
"""

from __future__ import annotations

import importlib
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from ragassay.canon import sha256
from ragassay.errors import InputError, StackError

_LOCK = threading.RLock()
_FROM_BOARDS: dict[str, tuple[Path, str]] = {}
"""What the last row imported from its board's folder: by module, its file and the SHA-256 of what was read."""


class Named:
    """What a board names by import path, found in the board's folder or among what is installed."""

    def __init__(self, path: str, folder: Path) -> None:
        self.path = path
        self._module, _, self._attribute = path.partition(":")
        self._folder = folder.resolve()
        self.sources: Mapping[str, str] = {}
        """The SHA-256 of each source that was read, by module: the named one, and those beside the board."""
        self._files: set[str] = set()

    @contextmanager
    def importable(self) -> Iterator[None]:
        """Have the board's folder first on the import path until the block ends; one thread at a time.

        No bytecode is written: by its time stamp it may pass for that of a file that changed within the same second.
        What their code prints goes to the standard error, so that a report on the standard output stays readable.
        """
        with _LOCK:
            _forget()
            before = set(sys.modules)
            self._refuse_taken()
            sys.path.insert(0, str(self._folder))
            importlib.invalidate_caches()
            writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
            try:
                with redirect_stdout(sys.stderr):
                    yield
            finally:
                sys.dont_write_bytecode = writes
                if str(self._folder) in sys.path:
                    sys.path.remove(str(self._folder))
                _remember(self._folder, before)
                self.sources = self._digests()
                self._files = {str(file) for file, _ in _FROM_BOARDS.values()}

    def load(self) -> Any:
        """Return the object; called inside `importable`. `InputError` where there is none, else whatever it raises."""
        try:
            found: Any = importlib.import_module(self._module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{self._module}.".startswith(f"{error.name}."):
                raise
            raise InputError(
                f"retriever = {self.path!r}: there is no module {error.name!r}, neither in the folder of the board nor "
                "among what is installed"
            ) from None
        for name in self._attribute.split("."):
            if not hasattr(found, name):
                raise InputError(f"retriever = {self.path!r}: {self._module!r} defines no {name!r}{_defined(found)}")
            found = getattr(found, name)
        return found

    def _digests(self) -> dict[str, str]:
        found = {name: digest for name, (_, digest) in _FROM_BOARDS.items()}
        named = _file_of(sys.modules.get(self._module))
        if self._module not in found and named is not None:
            found[self._module] = sha256(named.read_bytes())
        return dict(sorted(found.items()))

    def place_of(self, error: BaseException) -> str:
        """Say where in the board's folder, or in the named module, an error was raised; empty where in neither."""
        module = getattr(sys.modules.get(self._module), "__file__", None)
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename in self._files or frame.filename == module or Path(frame.filename).parent == self._folder:
                return f" ({Path(frame.filename).name}, line {frame.lineno}, in {frame.name})"
        if isinstance(error, SyntaxError) and error.filename:
            return f" ({Path(error.filename).name}, line {error.lineno})"
        return ""

    def _refuse_taken(self) -> None:
        """Raise `InputError` where the name of a file beside the board is that of something imported already."""
        top = self._module.partition(".")[0]
        own = [self._folder / f"{top}.py", self._folder / top / "__init__.py"]
        file = getattr(sys.modules.get(top), "__file__", None)
        if top in sys.modules and any(one.is_file() for one in own) and (file is None or Path(file) not in own):
            raise InputError(
                f"retriever = {self.path!r}: the name {top!r} is taken by another module; rename the file beside the "
                "board"
            )


@contextmanager
def raised_by_their_code(named: Named, doing: str) -> Iterator[None]:
    """Turn whatever is raised into a `StackError` that says where; an `InputError` passes as it is."""
    try:
        yield
    except (InputError, StackError, KeyboardInterrupt):
        raise
    except BaseException as error:  # their code may raise anything, and may call sys.exit()
        raise StackError(
            f"{named.path} {doing}: {type(error).__name__}: {error}{named.place_of(error)}", retryable=is_passing(error)
        ) from error


def is_passing(error: BaseException | None) -> bool:
    """Tell whether an error, or what it was raised from, is a broken connection or a time-out."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, ConnectionError | TimeoutError):
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__
    return False


def _lies(name: str, file: Path, folder: Path) -> bool:
    """Tell whether a module's file is where the folder, being on the import path, has it."""
    place = folder.joinpath(*name.split("."))
    return file in (place.parent / f"{place.name}.py", place / "__init__.py")


def _file_of(module: ModuleType | None) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file) if isinstance(file, str) and file.endswith(".py") else None


def _remember(folder: Path, before: set[str]) -> None:
    for name in set(sys.modules) - before:
        file = _file_of(sys.modules.get(name))
        if file is not None and file.is_file() and _lies(name, file, folder):
            _FROM_BOARDS[name] = (file, sha256(file.read_bytes()))


def _forget() -> None:
    """Drop what was imported from a board's folder: a row sees neither old files nor what another row left behind."""
    for name in _FROM_BOARDS:
        sys.modules.pop(name, None)
    _FROM_BOARDS.clear()


def _defined(module: Any) -> str:
    names = [name for name, value in vars(module).items() if not name.startswith("_") and _is_its_own(value, module)]
    return f"; it defines {', '.join(sorted(names)[:10])}" if names else ""


def _is_its_own(value: Any, module: Any) -> bool:
    return not isinstance(value, ModuleType) and getattr(value, "__module__", None) == getattr(module, "__name__", "")
