"""Every reply to a request for claims, kept as it came before anyone reads it: one JSON line each, synced at once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.judge.invalid import InvalidReply
from ragassay.question.proposals import Draft, material_digest
from ragassay.records import Question, Record, Usage
from ragassay.run.journal import claimed
from ragassay.run.question_sets.claims_prompt import read

MAX_BYTES = 512 * 1024 * 1024
"""The largest file of replies that is read, in bytes."""


class StoredReply(Record, frozen=True):
    """One reply: for which question as it was (`material`), in which round, to which prompt, of which model."""

    question: str
    material: str
    round: int
    nonce: str
    prompt: str
    model: str
    settings: str
    """SHA-256 of what the model says of itself and of the call's parameters."""
    text: str | None
    usage: Usage = Usage()
    latency_ms: int = 0
    attempts: int = 1
    cost_microusd: int | None = None
    request_id: str | None = None
    served: str | None = None

    def digest(self) -> str:
        """Return the SHA-256 of the raw text."""
        return canon.sha256((self.text or "").encode("utf-8", "surrogatepass"))


class Folded(msgspec.Struct, frozen=True, kw_only=True):
    """What the stored replies of one question come to in their last round (0 where there is none)."""

    round: int
    taken: StoredReply | None
    draft: Draft | None
    invalid: tuple[str, ...]
    """Why each invalid reply of the round is none, in order."""


class ReplyFile:
    """The file, held by one process; a torn last line, which a kill leaves, is cut off when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._replies: dict[str, list[StoredReply]] = {}
        self._file = -1

    def of(self, question: Question) -> Sequence[StoredReply]:
        """Return the replies for the question's id, oldest first."""
        return self.named(question.id)

    def named(self, identity: str) -> Sequence[StoredReply]:
        """Return the replies for what was asked under this id, oldest first."""
        return self._replies.get(identity, ())

    @classmethod
    @contextlib.contextmanager
    def held(cls, path: Path) -> Iterator[ReplyFile]:
        """Open, lock and read the file; raises `InputError` where another process holds it or a line is no reply."""
        with claimed(path):
            kept = cls(path)
            try:
                kept._file = os.open(path, os.O_RDWR | os.O_APPEND)
                kept._read()
                yield kept
            except OSError as error:
                raise InputError(f"{path} cannot be used ({error.strerror or error})") from error
            finally:
                if kept._file >= 0:
                    os.close(kept._file)

    def append(self, reply: StoredReply) -> None:
        """Write one reply; when this returns it is on disk."""
        line = memoryview(msgspec.json.encode(reply) + b"\n")
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)
        self._keep(reply)

    def _keep(self, reply: StoredReply) -> None:
        self._replies.setdefault(reply.question, []).append(reply)

    def _read(self) -> None:
        if not self.path.is_file():
            raise InputError(f"{self.path} is no plain file; move it away")
        data = self.path.read_bytes() if self.path.stat().st_size <= MAX_BYTES else b""
        if not data and self.path.stat().st_size:
            raise InputError(f"{self.path} has more than the {MAX_BYTES} bytes that are read; move it away")
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._file, whole)
        problems = []
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
            try:
                self._keep(msgspec.json.decode(line, type=StoredReply, strict=True))
            except (ValueError, RecursionError) as error:
                problems.append(f"line {number}: {error}")
        if problems:
            raise InputError(f"{self.path} holds lines that are no replies; put them back or move it away", problems)


def fold_replies(replies: Sequence[StoredReply], question: Question, prompt: str) -> Folded:
    """Return what the replies to `prompt` for `question` as it is now come to: the first valid one of the last round.

    Replies for an earlier text of the question, and to another prompt, count as never asked.
    """
    material = material_digest(question)
    own = [one for one in replies if (one.question, one.material, one.prompt) == (question.id, material, prompt)]
    last = max((one.round for one in own), default=0)
    invalid: list[str] = []
    for reply in own:
        if reply.round != last:
            continue
        try:
            draft = read(reply.text, reply.nonce, question)
        except InvalidReply as error:
            invalid.append(str(error))
            continue
        return Folded(round=last, taken=reply, draft=draft, invalid=tuple(invalid))
    return Folded(round=last, taken=None, draft=None, invalid=tuple(invalid))
