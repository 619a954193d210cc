"""Documents are written as pages of a folder, which appears whole or not at all; one that is there is compared."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from ragassay.corpus.found import Limits
from ragassay.errors import InputError
from ragassay.question.foreign.pages import page_name, page_text
from ragassay.question.foreign.seen import ForeignDocument, Seen

LIMITS = Limits()


class Pages:
    """Takes documents one after the other; without a folder it only counts them."""

    def __init__(self, folder: Path | None, filled: Path | None, seen: Seen) -> None:
        self.count = 0
        self.renamed: dict[str, str] = {}
        """The pages whose documents have ids that are no plain names, by id."""
        self._folder, self._filled, self._seen = folder, filled, seen
        self._ids: set[str] = set()
        self._bytes = 0

    def __contains__(self, id_: str) -> bool:
        return id_ in self._ids

    def take(self, document: ForeignDocument) -> bool:
        """Write or compare one page; False where it was left out. Raises `InputError` where it cannot be written."""
        if document.id in self._ids:
            reason = f"the id {document.id!r} stands already further up"
            self._seen.leave("document", document.place, reason, id_=document.id, fault=True)
            return False
        try:
            data = page_text(document).encode("utf-8")
        except UnicodeEncodeError:
            reason = "holds half of a surrogate pair, which no UTF-8 file can carry"
            self._seen.leave("document", document.place, reason, id_=document.id, fault=True)
            return False
        if len(data) > LIMITS.page_bytes:
            reason = f"has {len(data):,} bytes, more than the {LIMITS.page_bytes:,} of a page"
            self._seen.leave("document", document.place, reason, id_=document.id, fault=True)
            return False
        self._ids.add(document.id)
        self.count += 1
        name = page_name(document.id)
        if name != f"{document.id}.txt":
            self.renamed[document.id] = name
        self._keep(document, name, data)
        return True

    def _keep(self, document: ForeignDocument, name: str, data: bytes) -> None:
        if self._filled is None:
            return
        self._bytes += len(data)
        if self.count > LIMITS.entries or self._bytes > LIMITS.total_bytes:
            most = f"{LIMITS.entries:,} pages or {LIMITS.total_bytes:,} bytes"
            raise InputError(f"at {document.place} the documents have more than {most}, which a corpus folder may hold")
        path = self._filled / name
        if self._filled == self._folder:
            if not path.is_file() or path.read_bytes() != data:
                what = f"{path} is not the page of document {document.id!r}"
                raise InputError(f"{what}; name another folder with --corpus")
            return
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError as error:
            what = f"the file system takes {name} and the page of an earlier document for one name"
            raise InputError(f"{document.place}: {what}; write the corpus on another") from error


@contextlib.contextmanager
def pages(folder: Path | None, seen: Seen) -> Iterator[Pages]:
    """Give what takes the documents; at the end of the block the folder is there, unless an error came.

    Raises `InputError` where the folder is there and holds other pages.
    """
    if folder is None:
        yield Pages(None, None, seen)
        return
    if folder.exists():
        taken = Pages(folder, folder, seen)
        yield taken
        if (there := sum(1 for _ in folder.iterdir())) != taken.count:
            raise InputError(f"{folder} is there and holds {there:,} files, not {taken.count:,}; name another --corpus")
        return
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        try:
            temporary.mkdir(parents=True)
            yield Pages(folder, temporary, seen)
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written ({error.strerror or error}); name another --corpus") from error
