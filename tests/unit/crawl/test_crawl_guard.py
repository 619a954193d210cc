"""No connection is opened to what only this machine or network can reach, however the address is written."""

from __future__ import annotations

import asyncio
import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from ragassay.corpus.crawl.connect import GuardedResolver, PrivateAddress, session
from ragassay.corpus.crawl.fetch import Fetcher, Unwanted
from ragassay.corpus.crawl.guard import private, url_problem

NEVER = (
    "0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2001:db8::1", "100::1", "3fff::1", "5f00::1",
    "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "::127.0.0.1", "2002:7f00:1::", "2002:808:808::",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
    "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1", "4000::1", "1::1",
)  # fmt: skip
PRIVATE = (
    "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "100.127.255.255", "::1", "fc00::1", "fd12:3456::1",
)  # fmt: skip
PUBLIC = (
    "8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "11.0.0.1", "2606:4700:4700::1111",
    "2a00:1450::1", "64:ff9b::8.8.8.8",
)  # fmt: skip


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_never_connected_to(address: str) -> None:
    """Link-local, multicast, reserved and wrapped addresses stay closed whatever was allowed."""
    assert private(address) is not None
    assert private(address, allow_private=True) is not None


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_opened_by_the_option_alone(address: str) -> None:
    """Loopback, private and provider networks are closed, and open with --allow-private."""
    assert private(address) is not None
    assert private(address, allow_private=True) is None


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_open(address: str) -> None:
    """The public neighbours of every closed range are open."""
    assert private(address) is None


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "//example.org/",
        "http:///path",
        "http://user@example.org/",
        "http://user:word@example.org/",
        "http://example.org@127.0.0.1/",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://example.org:port/",
        "http://[::1",
        "http://a b/",
        "http://x%2eorg/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://1.2.3.4.5/",
        "http://0/",
    ],
)
def test_addresses_that_are_never_asked_for(url: str) -> None:
    """Other schemes, names and passwords, broken hosts, and numbers in disguise are refused whatever was allowed."""
    assert url_problem(url) is not None
    assert url_problem(url, allow_private=True) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "http://LOCALHOST:8080/",
        "http://localhost./",
        "http://a.localhost/",
        "http://printer.local/",
        "http://metadata.google.internal/",
        "http://127.0.0.1/",
        "http://127.0.0.1./",
        "http://[::1]/",
        "http://192.168.0.1/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://ⓛocalhost/",
    ],
)
def test_local_hosts_are_refused_before_anything_is_asked(url: str) -> None:
    """A name or number of this machine or network is refused without a question to a name server."""
    assert url_problem(url) is not None


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://docs.example.org:8443/a?b=c", "http://8.8.8.8/", "http://bücher.example/"]
)
def test_ordinary_addresses_pass(url: str) -> None:
    """A public host may be tried; where it leads to is judged when the connection is opened."""
    assert url_problem(url) is None


class Names(AbstractResolver):
    """A name server that gives one answer after the other, and the last for ever."""

    def __init__(self, *answers: tuple[str, ...], port: int = 80) -> None:
        self._answers = list(answers)
        self._port = port
        self.asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the next answer."""
        self.asked += 1
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in answer
        ]

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    "answer",
    [
        ("127.0.0.1",),
        ("8.8.8.8", "127.0.0.1"),
        ("2606:4700::1", "10.0.0.1"),
        ("::ffff:10.0.0.1",),
        ("169.254.169.254",),
    ],
)
def test_an_answer_with_one_private_address_is_refused_whole(answer: tuple[str, ...]) -> None:
    """A name server that mixes public and private addresses is not believed in part."""
    with pytest.raises(PrivateAddress):
        asyncio.run(GuardedResolver(Names(answer), allow_private=False).resolve("example.org"))


class Rebinding(Names):
    """Answers with a public address, and hands out a private one behind the back of the guard."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return a list that says another thing the second time it is read."""
        return Changing(await super().resolve(host, port, family))


class Changing(list[ResolveResult]):
    """What a check reads differs from what a connection is made from."""

    def __init__(self, entries: list[ResolveResult]) -> None:
        super().__init__(entries)
        self._read = False

    def __iter__(self):  # type: ignore[no-untyped-def]
        """Return the public address once, and then this machine."""
        if self._read:
            return iter([{**self[0], "host": "127.0.0.1"}])
        self._read = True
        return super().__iter__()


def _get(url: str, names: AbstractResolver, *, allow_private: bool = False) -> None:
    async def get() -> None:
        async with session("test", connections=1, allow_private=allow_private, resolver=names) as opened:
            await Fetcher(opened, timeout_s=5, allow_private=allow_private).get(url, cap=1000)

    asyncio.run(get())


def test_the_address_that_is_connected_to_is_the_one_that_is_judged() -> None:
    """A name whose answer changes between check and use is refused where the socket is made."""
    with pytest.raises(Unwanted, match=r"private address: 127\.0\.0\.1 is loopback"):
        _get("http://rebinding.example/", Rebinding(("8.8.8.8",)))


def test_a_name_that_leads_to_this_machine_is_refused() -> None:
    """A public name with a private address is told as such, with the address."""
    with pytest.raises(Unwanted, match=r"evil\.example is at 10\.0\.0\.1, which is private"):
        _get("http://evil.example/", Names(("10.0.0.1",)))


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://[::1]:1/", "http://169.254.169.254/latest/"])
def test_a_number_in_the_address_is_refused_without_a_name_server(url: str) -> None:
    """An address written as a number never reaches the resolver, and is refused all the same."""
    names = Names(("8.8.8.8",))
    with pytest.raises(Unwanted, match="private address"):
        _get(url, names)
    assert names.asked == 0


def test_proxies_of_the_environment_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would connect where the guard does not see it; it is not used."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(Unwanted, match=r"evil\.example is at 10\.0\.0\.1"):
        _get("http://evil.example/", Names(("10.0.0.1",)))
