"""The requests that both services take, through their clients, with every fault of them as a `StackError`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from ragassay.errors import StackError
from ragassay.plugins.http_faults import excerpt, key_forms
from ragassay.plugins.stacks.elastic import replies
from ragassay.plugins.stacks.elastic.settings import Address
from ragassay.records import JSON

CONNECTIONS = 32
EXISTS = "resource_already_exists_exception"

T = TypeVar("T")


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """What a client's error means; `status` is 0 where there was no reply."""

    said: str
    status: int = 0
    advice: str = ""
    again: bool = False


class ElasticClient(ABC):
    """Asks one server, from any thread, each request once; connections are kept until `close`.

    `client` is one of the services' own; `raised` is what it raises, `meaning` what that says.
    """

    def __init__(
        self,
        kind: str,
        address: Address,
        client: Any,
        raised: tuple[type[Exception], ...],
        meaning: Callable[[Exception], Trouble],
    ) -> None:
        self.kind = kind
        self._host = urlsplit(address.url).netloc
        self._secrets = key_forms(address.key)
        self._client = client
        self._raised = raised
        self._meaning = meaning

    @abstractmethod
    def about(self) -> JSON:
        """Return the versions of server and client, for the record; raises `StackError` for another kind of server."""

    def info(self) -> replies.Version:
        """Return the versions that the server's root says."""
        return self._read("say its version", self._client.info, replies.Info).version

    def mapping(self, index: str) -> JSON | None:
        """Return the mapping of an index, None where there is none; `{}` where the name is an alias."""

        def ask() -> Any:
            return self._client.indices.get_mapping(index=index)

        reply = self._asked("say what it holds", ask, absent=404)
        if reply is None:
            return None
        found = replies.read(self.kind, reply, dict[str, replies.Mapped], "say what it holds")
        return found[index].mappings if index in found else {}

    def others(self, prefix: str, index: str) -> list[str]:
        """Return the names of the indexes that begin so, without `index`, as far as the key may see them."""

        def ask() -> Any:
            return self._client.indices.get_mapping(index=f"{prefix}*")

        found = self._read("list its indexes", ask, dict[str, replies.Mapped])
        return sorted(name for name in found if name != index)

    def create(self, index: str, body: JSON) -> None:
        """Make an index and wait until its shard has started."""
        doing = f"make the index {index!r}"
        done = self._read(doing, lambda: self._client.indices.create(index=index, body=body), replies.Acknowledged)
        if not done.acknowledged or not done.shards_acknowledged:
            raise StackError(
                f"{self.kind} at {self._host} could not {doing} in time: its shard has not started; look at the "
                f"health of the cluster (GET _cluster/allocation/explain), and run again",
                retryable=True,
            )

    def remark(self, index: str, meta: JSON) -> None:
        """Write beside the index what it holds."""
        body = {"_meta": meta}
        doing = f"mark the index {index!r}"
        done = self._read(doing, lambda: self._client.indices.put_mapping(index=index, body=body), replies.Acknowledged)
        if not done.acknowledged:
            raise StackError(f"{self.kind} at {self._host} could not {doing} in time; run again", retryable=True)

    def bulk(self, index: str, operations: Sequence[JSON]) -> replies.Bulk:
        """Write documents; the status of each is in the reply."""
        body = list(operations)
        return self._read("write documents", lambda: self._client.bulk(index=index, body=body), replies.Bulk)

    def refresh(self, index: str) -> None:
        """Make searchable what was written."""
        doing = "make its documents searchable"
        done = self._read(doing, lambda: self._client.indices.refresh(index=index), replies.Refreshed)
        replies.whole(self.kind, done.shards, doing)

    def merge(self, index: str, within_s: int) -> None:
        """Merge an index into one segment, and wait for it as long as `within_s`."""
        doing = "merge the index into one segment; raise index_timeout_s where it takes long"
        done = self._read(doing, lambda: self._forcemerge(index, within_s), replies.Refreshed)
        replies.whole(self.kind, done.shards, doing)

    def count(self, index: str) -> int:
        """Return how many documents an index holds."""
        found = self._read("count its documents", lambda: self._client.count(index=index), replies.Counted)
        replies.whole(self.kind, found.shards, "count its documents")
        return found.count

    def search(self, index: str, body: JSON) -> replies.Hits:
        """Return what a search finds, all of it or an error."""

        def ask() -> Any:
            return self._client.search(index=index, body=body, allow_partial_search_results=False)

        found = self._read("search", ask, replies.Found)
        replies.whole(self.kind, found.shards, "search", timed_out=found.timed_out or found.terminated_early)
        return found.hits

    def kept(self, index: str, ids: Sequence[str], asked: JSON) -> list[replies.Kept]:
        """Return the documents of these ids that are there, with what is `asked` for of them."""
        body = {"query": {"ids": {"values": list(ids)}}, "size": len(ids), "track_total_hits": True, **asked}

        def ask() -> Any:
            return self._client.search(index=index, body=body, allow_partial_search_results=False)

        found = self._read("read its documents", ask, replies.ReadBack)
        stopped = found.timed_out or found.terminated_early
        replies.whole(self.kind, found.shards, "read its documents", timed_out=stopped)
        return found.hits.hits

    def tokens(self, index: str, field: str, text: str) -> list[str]:
        """Return what the analyzer of a field makes of a text."""
        body = {"field": field, "text": text}
        found = self._read(
            "analyze the question", lambda: self._client.indices.analyze(index=index, body=body), replies.Tokens
        )
        return [one.token for one in found.tokens]

    def close(self) -> None:
        """Close all connections; may be called twice."""
        self._client.close()

    @abstractmethod
    def _forcemerge(self, index: str, within_s: int) -> Any: ...

    def _read(self, doing: str, request: Callable[[], Any], form: type[T]) -> T:
        return replies.read(f"{self.kind} at {self._host}", self._asked(doing, request), form, doing)

    def _asked(self, doing: str, request: Callable[[], Any], *, absent: int = -1) -> Any:
        """Return the body of a reply, None for the status `absent`."""
        try:
            reply = request()
        except self._raised as error:
            trouble = self._meaning(error)
            if trouble.status == absent:
                return None
            said = excerpt(trouble.said, self._secrets)
            advice = f"; {trouble.advice}" if trouble.advice else ""
            fault = StackError(
                f"{self.kind} at {self._host} could not {doing}: {said}{advice}", retryable=trouble.again
            )
        else:
            return getattr(reply, "body", reply)
        raise fault  # outside: what the client raises may hold the request with its key


def with_port(url: str) -> str:
    """Return an address with its port, that of its scheme where it names none: a client has defaults of its own."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{port}{parts.path}"


def of_status(status: int, body: object) -> Trouble:
    """Return what a reply means whose status is not that of a success."""
    said = replies.reason(body) or str(body or "no body")
    advice = _ADVICE.get(status, "")
    if 300 <= status < 400:
        advice = "redirects are not followed, so that the key reaches no other server: correct url"
    elif status == 404 and "index_not_found" not in said:
        advice = "check url"
    again = status in (408, 429) or status >= 500 or EXISTS in said
    return Trouble(said=f"status {status}: {said}", status=status, advice=advice, again=again)


_KEY = "check the key in the environment variable that `key_env` names"
_ADVICE: Mapping[int, str] = {
    401: f"{_KEY}, and user",
    403: f"{_KEY}, and what it may do: read, write, create, merge and describe indexes of this name",
    404: "the index is not there any more; build the index again",
    413: "raise http.max_content_length on the server",
    429: "the server is overloaded: wait, or give it more memory",
}
