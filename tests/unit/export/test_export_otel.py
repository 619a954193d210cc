"""Events of OpenTelemetry: as the conventions name them, a failure an error without a value, and no text of anybody."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cli_for_exports import run_cli
from export_lab import Search, retrieved, source_of

from ragassay.errors import InputError, PluginError
from ragassay.export import otel
from ragassay.export.otel_out import Events, logs_address, send_events, write_events
from ragassay.records import to_json
from ragassay.testing.signed_run import signed_run


class Collector(HTTPServer):
    """An OTLP endpoint that keeps what it gets and answers with `replies` in turn, then with 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.replies: list[tuple[int, bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Collector)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((self.path, dict(self.headers), json.loads(body)))
        status, reply = server.replies.pop(0) if server.replies else (200, b"{}")
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:9/")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Give a running endpoint."""
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def values(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return attributes as a dict."""
    return {one["key"]: next(iter(one["value"].values())) for one in attributes}


def records(path: Path) -> list[dict[str, Any]]:
    """Return the log records of a file."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [record for line in lines for record in line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]]


def test_a_score_is_a_value_and_a_failure_an_error(tmp_path: Path) -> None:
    """Each question is one event; without a score it has `error.type`, severity ERROR, and no value of any kind."""
    with (tmp_path / "e.jsonl").open("wb") as file:
        total = write_events(source_of(signed_run(items=4, failed=(1,))), file)
    assert total == Events(events=4, scored=3, errors=1)
    found = records(tmp_path / "e.jsonl")
    assert [record["eventName"] for record in found] == ["gen_ai.evaluation.result"] * 4
    good, bad = values(found[0]["attributes"]), values(found[1]["attributes"])
    assert good["gen_ai.evaluation.name"] == bad["gen_ai.evaluation.name"]
    assert good["gen_ai.evaluation.score.value"] == 1.0
    assert good["gen_ai.evaluation.score.label"] == "ok"
    assert good["gen_ai.evaluation.explanation"] == "2 SUPPORTS"
    assert "error.type" not in good
    assert bad["error.type"] == "retrieval_failed.stack"
    assert not [name for name in bad if "score" in name or "explanation" in name]
    assert [record["severityText"] for record in found] == ["INFO", "ERROR", "INFO", "INFO"]
    assert int(found[0]["timeUnixNano"]) % 1_000_000_000 == 0


def test_no_text_is_in_an_event(tmp_path: Path) -> None:
    """Questions, answers, pages and messages of failures stay where they are."""
    with (tmp_path / "e.jsonl").open("wb") as file:
        write_events(source_of(signed_run(items=3, failed=(1,))), file)
    data = (tmp_path / "e.jsonl").read_text(encoding="utf-8")
    assert not [text for text in ("Which port", "over TCP", "listens on", "index is down") if text in data]


def test_lines_are_whole_and_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many questions a run has, a line holds a bounded number, and all lines together hold each once."""
    monkeypatch.setattr(otel, "PER_REQUEST", 2)
    with (tmp_path / "e.jsonl").open("wb") as file:
        write_events(source_of(signed_run(items=5)), file)
    assert len((tmp_path / "e.jsonl").read_bytes().splitlines()) == 3
    ids = [values(record["attributes"])["ragassay.question.id"] for record in records(tmp_path / "e.jsonl")]
    assert ids == [f"q-{at:03d}" for at in range(1, 6)]


def test_a_protobuf_reader_takes_every_line(tmp_path: Path) -> None:
    """Google's reader of OTLP JSON finds no unknown field and no wrong type, and the names are the conventions'."""
    service = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    names = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    with (tmp_path / "e.jsonl").open("wb") as file:
        write_events(source_of(retrieved((Search(delivered=(("a", "x", "1"),)), Search(failed=True)))), file)
    for line in (tmp_path / "e.jsonl").read_text(encoding="utf-8").splitlines():
        read = json_format.Parse(line, service.ExportLogsServiceRequest())
        logs = read.resource_logs[0].scope_logs[0].log_records
        assert [log.severity_number for log in logs] == [9, 17]
        keys = {
            attribute.key for log in logs for attribute in log.attributes if attribute.key.startswith("gen_ai.eval")
        }
        assert keys == {
            names.GEN_AI_EVALUATION_NAME,
            names.GEN_AI_EVALUATION_SCORE_VALUE,
            names.GEN_AI_EVALUATION_SCORE_LABEL,
            names.GEN_AI_EVALUATION_EXPLANATION,
        }


def test_events_are_sent_with_the_headers_of_the_environment(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent is what would be written; nothing is written then."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret, x-team = docs ,")
    run = tmp_path / "run"
    run.mkdir()
    for name, data in signed_run(items=3, failed=(1,)).items():
        (run / name).write_bytes(data)
    code, output = run_cli("export", "otel", run, "--endpoint", f"http://127.0.0.1:{collector.server_port}", "--json")
    assert code == 0
    said = json.loads(output)
    assert (said["events"], said["scored"], said["errors"]) == (3, 2, 1)
    ((path, headers, body),) = collector.got
    assert path == "/v1/logs"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["X-Team"] == "docs"
    assert len(body["resourceLogs"][0]["scopeLogs"][0]["logRecords"]) == 3
    assert "secret" not in output
    assert not (tmp_path / "events.jsonl").exists()


@pytest.mark.parametrize(
    ("replies", "message", "retryable"),
    [
        ([(503, b"")], "HTTP 503", True),
        ([(401, b"")], "HTTP 401", False),
        ([(302, b"")], "HTTP 302", False),
        (
            [(200, b""), (200, b'{"partialSuccess": {"rejectedLogRecords": "2"}}')],
            "rejected 2 events.*took 2 events",
            False,
        ),
    ],
)
def test_an_endpoint_that_does_not_take_all_is_an_error(
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    replies: list[tuple[int, bytes]],
    message: str,
    retryable: bool,
) -> None:
    """Refused, redirected and partly rejected requests fail, and say how many events arrived before."""
    monkeypatch.setattr(otel, "PER_REQUEST", 2)
    collector.replies = replies
    with pytest.raises(PluginError, match=message) as caught:
        send_events(source_of(signed_run(items=4)), f"http://127.0.0.1:{collector.server_port}/", {})
    assert caught.value.retryable is retryable


def test_nobody_at_the_address_is_an_error() -> None:
    """A port where nothing listens is a failure of the service, with exit code 3."""
    with pytest.raises(PluginError, match="cannot be reached") as caught:
        send_events(source_of(signed_run()), "http://127.0.0.1:9", {})
    assert caught.value.exit_code == 3


def test_addresses() -> None:
    """The path of logs is added once; what is no address is wrong input."""
    assert logs_address("http://h:4318") == "http://h:4318/v1/logs"
    assert logs_address("https://h/otlp/") == "https://h/otlp/v1/logs"
    assert logs_address("https://h/v1/logs") == "https://h/v1/logs"
    for wrong in ("h:4318", "ftp://h", "http://", "http://user:pw@h", "http://h/\n", "http://[", "http://h/a b"):
        with pytest.raises(InputError):
            logs_address(wrong)


def test_headers_that_are_none_are_refused_without_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part without `=`, or with what no header may hold, is named by its place alone."""
    run = tmp_path / "run"
    run.mkdir()
    for name, data in signed_run().items():
        (run / name).write_bytes(data)
    for wrong in ("secret", "a b=secret", "a=secret%0Ax"):
        monkeypatch.setenv("MINE", wrong)
        code, output = run_cli("export", "otel", run, "--endpoint", "http://127.0.0.1:9", "--headers-env", "MINE")
        assert code == 2
        assert "secret" not in output
    assert to_json(Events()) == {"events": 0, "scored": 0, "errors": 0}
