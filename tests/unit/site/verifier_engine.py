"""Runs the script of the browser verifier: in Node where it is installed, else in a real Chromium."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from browser_driver import open_browser
from ragassay.errors import VerifyError
from ragassay.site.verifier_page import verifier, verifier_page

Call: TypeAlias = Callable[[str, Any], Any]
"""Runs the body of an asynchronous function of `input` beside the verifier's script, and returns what it returns."""

DRIVER = """
const { readFileSync } = require("node:fs");
require("node:vm").runInThisContext(readFileSync(process.argv[2], "utf8"));
const input = JSON.parse(readFileSync(0, "utf8"));
const body = new (Object.getPrototypeOf(async () => {}).constructor)("input", readFileSync(process.argv[3], "utf8"));
body(input).then((found) => process.stdout.write(JSON.stringify(found)));
"""

IN_PAGE = """
async (text) => JSON.stringify(await (async (input) => {
%s
})(JSON.parse(text)))
"""

VERIFY = """
const bytes = ragassay.bytes.decodeBase64;
const filesOf = (given) => new Map(Object.entries(given).map(([name, data]) => [name, bytes(data)]));
const found = [];
for (const asked of input) {
  const problems = [...asked.problems];
  let log = null;
  try {
    if (asked.log !== null) log = ragassay.tiles.readLog(filesOf(asked.log));
  } catch (error) {
    problems.push({ code: error.code, message: error.message });
  }
  const policy = asked.policy === null
    ? ragassay.policy.unpinned()
    : ragassay.policyFile.loadPolicy(bytes(asked.policy));
  const registry = asked.registry === null ? null : bytes(asked.registry);
  const { now } = asked;
  found.push(await ragassay.verify({ files: filesOf(asked.files), policy, now, log, registry, problems }));
}
return found;
"""


@contextmanager
def open_engine(folder: Path) -> Iterator[Call]:
    """Yield what calls the verifier's script; skips the test where there is neither Node nor Chromium."""
    node = shutil.which("node")
    if node is not None:
        yield _node(node, folder)
        return
    path = folder / "verify.html"
    path.write_bytes(verifier_page())
    with open_browser(else_needs="Node or ") as browser:
        page = browser.new_page()
        page.goto(path.as_uri())
        yield lambda body, given: json.loads(page.evaluate(IN_PAGE % body, json.dumps(given)))


def _node(node: str, folder: Path) -> Call:
    script, driver, body_file = folder / "script.js", folder / "driver.cjs", folder / "body.js"
    script.write_text(verifier().script, encoding="utf-8")
    driver.write_text(DRIVER, encoding="utf-8")

    def call(body: str, given: Any) -> Any:
        body_file.write_text(body, encoding="utf-8")
        asked = json.dumps(given).encode()
        command = [node, str(driver), str(script), str(body_file)]
        done = subprocess.run(command, input=asked, capture_output=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
        return json.loads(done.stdout)

    return call


def base64_of(data: bytes) -> str:
    """Return bytes as text that the script decodes."""
    return base64.b64encode(data).decode("ascii")


def ask(
    files: Mapping[str, bytes],
    *,
    now: int,
    policy: bytes | None = None,
    registry: bytes | None = None,
    log: Mapping[str, bytes] | None = None,
    problems: Sequence[VerifyError] = (),
) -> dict[str, Any]:
    """Return one question for `VERIFY`."""
    return {
        "files": {name: base64_of(data) for name, data in files.items()},
        "policy": None if policy is None else base64_of(policy),
        "registry": None if registry is None else base64_of(registry),
        "log": None if log is None else {name: base64_of(data) for name, data in log.items()},
        "problems": [{"code": problem.code, "message": str(problem)} for problem in problems],
        "now": now,
    }


def comparable(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report as both verifiers must give it: everything but the wording of messages."""
    found = json.loads(json.dumps(report))
    found["findings"] = [[one["code"], one["severity"], one["where"]] for one in found["findings"]]
    found["notMade"] = [one["check"] for one in found["notMade"]]
    assert isinstance(found, dict)
    return found
