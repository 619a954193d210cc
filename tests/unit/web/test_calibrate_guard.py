"""Who is let into the local app: our host, our cookie, our origin; everybody else learns and stores nothing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import calibration_lab as lab
import pytest

from ragassay.site.calibration.ledger import Ledger
from ragassay.web.guard import MAX_BODY_BYTES, App, Guard, Session

ITEM = lab.item(1, {"bm25": [100]})
RATE = {"rater": "ann", "item": ITEM.key, "level": 75}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An empty file of ratings."""
    return Ledger(tmp_path)


@pytest.fixture
def opened(ledger: Ledger) -> tuple[App, Session]:
    """The app on one answer."""
    return lab.open_app(ledger, [ITEM])


def test_the_printed_address_gives_a_cookie_and_is_cleaned(opened: tuple[App, Session]) -> None:
    """The token leads to `/` with a cookie that scripts cannot read and other sites do not send; it is no token."""
    app, session = opened
    reply = lab.ask(app, f"/?token={session.token}", headers={"host": lab.HOST})
    assert (reply.status, reply.headers["location"], reply.body) == (303, "/", b"")
    cookie = reply.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert session.token not in cookie
    assert session.address == f"http://{lab.HOST}/?token={session.token}"


def test_each_server_has_secrets_and_a_cookie_name_of_its_own() -> None:
    """Cookies go to every port of a host, so two servers do not take each other's away."""
    one, other = Session(1000), Session(1001)
    assert one.token != other.token
    assert one.name != other.name
    assert not one.knows_cookie(other.set_cookie.partition(";")[0])
    assert not one.knows_cookie(other.set_cookie.partition(";")[0].replace("1001", "1000"))


def test_on_the_default_port_the_host_is_named_without_it(ledger: Ledger) -> None:
    """Browsers leave out port 80; with it, or with the port of another server, the name is another."""
    session = Session(80)
    app, _ = lab.open_app(ledger, [ITEM])
    guard = Guard(app, session)
    assert session.address == f"http://127.0.0.1/?token={session.token}"
    asks = {host: lab.ask(guard, f"/?token={session.token}", headers={"host": host}) for host in HOSTS}
    assert {host: reply.status for host, reply in asks.items()} == HOSTS


HOSTS = {"127.0.0.1": 303, "localhost": 303, "127.0.0.1:8000": 403, "evil.example": 403}


def test_a_visitor_with_the_cookie_comes_to_the_page(opened: tuple[App, Session]) -> None:
    """`/` leads to the page, and the page is served."""
    visitor = lab.Visitor(*opened)
    assert visitor.get("/").headers["location"] == "/calibrate"
    page = visitor.get("/calibrate")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")


@pytest.mark.parametrize(
    "path", ["/", "/calibrate", "/calibrate/state?rater=ann", "/site.css", "/nothing", f"/calibrate/item/{ITEM.key}"]
)
@pytest.mark.parametrize("cookie", ["", "ragassay-43210=", "ragassay-43210=x", "other={}", "ragassay-43211={}"])
def test_without_the_cookie_nothing_is_served(opened: tuple[App, Session], path: str, cookie: str) -> None:
    """No path answers a request without the session's own cookie, not even with its value under another name."""
    app, session = opened
    value = lab.Visitor(app, session).cookie.partition("=")[2]
    reply = lab.ask(app, path, headers={"host": lab.HOST, "cookie": cookie.format(value)})
    assert reply.status == 403
    assert b"answer" not in reply.body


@pytest.mark.parametrize(
    "query", ["", "token=", "token=wrong", "token={}x", "token={}&token=x", "t={}", "&" * 99 + "token={}"]
)
def test_a_wrong_token_gives_no_cookie(opened: tuple[App, Session], query: str) -> None:
    """Only the very token, given once, opens the session."""
    app, session = opened
    reply = lab.ask(app, "/?" + query.format(session.token), headers={"host": lab.HOST})
    assert reply.status == 403
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", f"evil.example:{lab.PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{lab.PORT}.evil.example",
     f"[::1]:{lab.PORT}", f"{lab.HOST}, evil.example", f"user@{lab.HOST}", f"LOCALHOST:{lab.PORT}"],
)  # fmt: skip
def test_another_host_is_refused_even_with_cookie_and_token(opened: tuple[App, Session], host: str) -> None:
    """A name that points to 127.0.0.1 is not served: DNS rebinding reaches nothing."""
    app, session = opened
    visitor = lab.Visitor(app, session)
    headers = {"cookie": visitor.cookie, **({"host": host} if host else {})}
    assert lab.ask(app, "/calibrate", headers=headers).status == 403
    assert lab.ask(app, f"/?token={session.token}", headers=headers).status == 403


def test_localhost_is_served_too(opened: tuple[App, Session]) -> None:
    """Both names of this machine work, each with itself as origin and not with the other."""
    app, session = opened
    host = f"localhost:{lab.PORT}"
    visitor = lab.Visitor(app, session)
    assert visitor.post("/calibrate/rate", RATE, host=host, origin=f"http://{host}").status == 200
    assert visitor.post("/calibrate/rate", RATE, host=host).status == 403


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": ""},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": f"https://{lab.HOST}"},
        {"origin": "http://127.0.0.1:1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"host": "evil.example"},
        {"cookie": "ragassay-43210=wrong"},
        {"cookie": ""},
    ],
)
def test_a_rating_from_elsewhere_is_refused_and_not_stored(
    opened: tuple[App, Session], ledger: Ledger, changes: dict[str, str]
) -> None:
    """A wrong origin, host or session stores nothing."""
    assert lab.Visitor(*opened).post("/calibrate/rate", RATE, **changes).status == 403
    assert not ledger.path.exists()


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_what_a_form_can_send_is_refused(opened: tuple[App, Session], ledger: Ledger, kind: str) -> None:
    """Only JSON is taken, which no page elsewhere can send without being asked for permission."""
    assert lab.Visitor(*opened).post("/calibrate/rate", RATE, content_type=kind).status == 415
    assert not ledger.path.exists()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"])
def test_other_methods_are_refused(opened: tuple[App, Session], method: str) -> None:
    """Nothing is answered but GET, HEAD and POST: no preflight ever succeeds."""
    app, session = opened
    headers = {"host": lab.HOST, "cookie": lab.Visitor(app, session).cookie}
    assert lab.ask(app, "/calibrate/rate", method=method, headers=headers).status == 405


@pytest.mark.parametrize("chunks", [[b"x" * (MAX_BODY_BYTES + 1)], [b"x" * 1000] * 40])
def test_a_large_body_is_refused(opened: tuple[App, Session], ledger: Ledger, chunks: list[bytes]) -> None:
    """More than the cap is refused, in one piece or in many, and not stored."""
    app, session = opened
    headers = {
        "host": lab.HOST,
        "origin": f"http://{lab.HOST}",
        "cookie": lab.Visitor(app, session).cookie,
        "content-type": "application/json",
    }
    assert lab.ask(app, "/calibrate/rate", method="POST", headers=headers, chunks=chunks).status == 413
    assert not ledger.path.exists()


def test_a_body_that_never_ends_is_given_up(opened: tuple[App, Session], monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow client is told so, and does not keep the server from ending."""
    app, session = opened
    monkeypatch.setattr("ragassay.web.guard.BODY_S", 0.01)
    headers = {
        "host": lab.HOST,
        "origin": f"http://{lab.HOST}",
        "cookie": lab.Visitor(app, session).cookie,
        "content-type": "application/json",
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/calibrate/rate",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        if not sent:
            await asyncio.sleep(3600)

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        await app(scope, receive, send)

    asyncio.run(ask())
    assert sent[0]["status"] == 408


def test_every_reply_carries_the_headers(opened: tuple[App, Session]) -> None:
    """Pages, refusals, redirects and errors all forbid framing, caching, sniffing and everything from elsewhere."""
    app, session = opened
    visitor = lab.Visitor(app, session)
    replies = [
        visitor.get("/calibrate"),
        visitor.get("/calibrate/calibrate.js"),
        visitor.get("/nothing"),
        visitor.post("/calibrate/rate", {"rater": ""}),
        lab.ask(app, "/", headers={"host": "evil.example"}),
        lab.ask(app, f"/?token={session.token}", headers={"host": lab.HOST}),
    ]
    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert not [name for name in reply.headers if name.startswith("access-control")]


def test_an_error_of_ours_tells_nothing_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """A page that breaks answers with one sentence and with the headers, not with a traceback."""
    from starlette.routing import Route

    from ragassay.web.app import Page, create_app

    async def broken(request: Any) -> Any:
        raise RuntimeError("the secret detail")

    session = Session(lab.PORT)
    app = create_app([Page(path="/broken", routes=(Route("/broken", broken),))], session)
    cookie = lab.Visitor(app, session).cookie
    sent: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        async def keep(message: Any) -> None:
            sent.append(message)
            await send(message)

        with pytest.raises(RuntimeError, match="secret detail"):
            await app(scope, receive, keep)

    reply = lab.ask(inner, "/broken", headers={"host": lab.HOST, "cookie": cookie})
    assert reply.status == 500
    assert b"secret detail" not in reply.body
    assert reply.headers["x-frame-options"] == "DENY"


def test_web_sockets_are_not_answered() -> None:
    """A scope that is no request never reaches a page."""
    import asyncio

    async def never(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("reached")

    async def silent(message: Any = None) -> Any:
        raise AssertionError("nothing is said")

    reached = asyncio.run(Guard(never, Session(1))({"type": "websocket", "headers": []}, silent, silent))
    assert reached is None


def test_a_refusal_is_json(opened: tuple[App, Session]) -> None:
    """A refusal says in one sentence what to do."""
    app, _ = opened
    reply = lab.ask(app, "/calibrate", headers={"host": lab.HOST})
    assert "open the address that the terminal shows" in json.loads(reply.body)["problem"]
