"""verify.html and a run's page in a real browser: pins, drops, hostile text, no network, keyboard, small screens."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from verifier_driver import READ, Desk, Shown, payload, write_page

from browser_driver import LEAST_CONTRAST, width_of, worst_contrast
from ragassay.manifest.bundle import MAX_BUNDLE_BYTES, write_bundle
from ragassay.site import write_preview
from ragassay.testing.bundles import HONEST, POLICIES, key_record, registry_of
from ragassay.testing.logged_run import NOW as LOGGED_NOW
from ragassay.testing.logged_run import ROOT_SIGNER
from ragassay.testing.signed_run import OpenedRun, open_run, public_signer, seal_run, signed_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import site_factory as make

KEY = public_signer().public
OTHER_SIGNER = public_signer("another")
OTHER = OTHER_SIGNER.public
GOOD = write_bundle(signed_run())
NOW = 1_800_000_000
HOSTILE = '<img src=x onerror="window.owned=1">\x1b[2J\u202egnirts\u200b\x07</script><b>bold</b>'
HONEST_RUN = "announced, logged, witnessed"


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """verify.html alone in a folder."""
    return write_page(tmp_path_factory.mktemp("page"))


@pytest.fixture
def desk(browser: Any, page_path: Path) -> Iterator[Desk]:
    """A fresh page; whatever was done to it, it asked for itself alone and logged nothing."""
    found = Desk(browser, page_path).open(now=NOW)
    yield found
    assert set(found.asked) == {page_path.as_uri()}
    assert found.said == []
    found.close()


# --- whom one trusts ------------------------------------------------------------------------------------------------


def test_without_a_pin_nothing_is_trusted(desk: Desk) -> None:
    """The page says so before and after, prints the fingerprint large, and its answer is no yes."""
    assert "Nothing is trusted yet" in desk.page.text_content("#pin-said")
    [shown] = desk.check([("run.zip", GOOD)])
    assert shown.verdict == "unpinned"
    assert "SIGNER_UNPINNED" in shown.warns
    assert desk.page.text_content("#result .fingerprint") == KEY.kid
    size = "parseFloat(getComputedStyle(document.querySelector('{}')).fontSize)"
    assert desk.page.evaluate(size.format("#result .fingerprint")) > desk.page.evaluate(size.format("body"))
    assert "Yes" not in desk.page.text_content("#result .verdict-line")


@pytest.mark.parametrize("kind", ["jwk", "pem", "policy"])
def test_a_key_or_policy_file_is_a_pin(desk: Desk, kind: str) -> None:
    """A public key in either form and a policy file turn the answer into a yes, with the key's fingerprint in words."""
    pem = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    forms = {
        "jwk": KEY.jwk(),
        "pem": Ed25519PublicKey.from_public_bytes(KEY.x).public_bytes(*pem),
        "policy": POLICIES["key"],
    }
    [shown] = desk.check([("run.zip", GOOD)])
    desk.pin(forms[kind] or b"", f"key.{kind}")
    [shown] = desk.results()
    assert shown.verdict == "yes"
    assert "SIGNER_UNPINNED" not in shown.codes
    assert f"key.{kind}" in desk.page.text_content("#pin-said") or KEY.kid in desk.page.text_content("#pin-said")


def _write_pin(desk: Desk, text: str) -> None:
    desk.page.fill("#pin-text", text)
    desk.page.press("#pin-text", "Enter")


def test_a_fingerprint_is_a_pin(desk: Desk) -> None:
    """The signer's fingerprint gives a yes, another one KEY_UNKNOWN; forgetting it gives up the yes."""
    desk.check([("run.zip", GOOD)])
    _write_pin(desk, KEY.kid)
    assert desk.results()[0].verdict == "yes"
    _write_pin(desk, OTHER.kid)
    desk.page.wait_for_selector("article[data-verdict=no]")
    assert "KEY_UNKNOWN" in desk.results()[0].fails
    desk.page.click("#pin-clear")
    desk.page.wait_for_selector("article[data-verdict=unpinned]")
    assert desk.page.input_value("#pin-text") == ""


def test_the_fingerprint_of_a_root_is_a_pin(desk: Desk) -> None:
    """With the registry chosen, the root's fingerprint accepts the keys that the registry lists, and only those."""
    desk.open(now=LOGGED_NOW)
    _write_pin(desk, ROOT_SIGNER.kid)
    desk.page.wait_for_selector("#pin-clear", state="visible")
    [without] = desk.check([("run.zip", GOOD)])
    assert "KEY_UNKNOWN" in without.fails
    desk.registry(registry_of(key_record(public_signer())))
    desk.page.wait_for_selector("article[data-verdict=yes]")
    assert "The pinned registry calls it active." in desk.text()
    desk.registry(registry_of(key_record(OTHER_SIGNER)))
    desk.page.wait_for_selector("article[data-verdict=no]")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello", "neither a JSON Web Key nor a PEM"),
        (b"", "neither a JSON Web Key nor a PEM"),
        (b"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n", "private key"),
        (b'{"keys":[]}', "neither keys nor roots"),
        (b'{"crv":"Ed25519","kty":"OKP","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}', "KEY_WEAK"),
        (b"x" * (2 << 20), "more than"),
    ],
    ids=["text", "empty", "private key", "empty policy", "weak key", "two megabytes"],
)
def test_a_pin_that_is_none_is_refused_in_words(desk: Desk, data: bytes, words: str) -> None:
    """The page says why, trusts nobody, and a pin that was there before is given up."""
    desk.pin(KEY.jwk())
    [shown] = desk.check([("run.zip", GOOD)])
    assert shown.verdict == "yes"
    desk.page.set_input_files("#pin-file", payload("pin", data))
    desk.page.wait_for_selector("article[data-verdict=unpinned]")
    assert words in desk.page.text_content("#pin-said")
    assert "Not pinned" in desk.page.text_content("#pin-said")


def test_a_registry_or_log_that_cannot_be_used_stands_against_every_run(desk: Desk, tmp_path: Path) -> None:
    """What was given and is no registry, and a folder that is no log, are failures and not passed over."""
    desk.pin(KEY.jwk())
    [shown] = desk.check([("run.zip", GOOD)])
    assert shown.verdict == "yes"
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "checkpoint").write_bytes(b"no checkpoint")
    desk.log(tmp_path / "log")
    desk.page.wait_for_selector("article[data-verdict=no]")
    assert "LOG_INCLUSION" in desk.results()[0].fails
    assert "Cannot be used" in desk.page.text_content("#log-said")
    desk.open(now=NOW)
    desk.pin(KEY.jwk())
    desk.registry(b"{}")
    [shown] = desk.check([("run.zip", GOOD)])
    assert shown.verdict == "no"


def test_strict_says_yes_once_everything_is_there(desk: Desk) -> None:
    """An announced, logged and witnessed run is accepted strictly, with its times and its announcement in words."""
    case = HONEST[HONEST_RUN]
    desk.open(now=case.build().now)
    desk.pin(POLICIES[case.policy] or b"")
    [shown] = desk.check([("run.zip", write_bundle(case.build().files))], strict=True)
    assert shown.verdict == "yes"
    assert shown.codes == set()
    said = desk.text()
    assert "Yes, strictly." in said
    assert re.search(r"The run was witnessed \d{4}-\d\d-\d\d \d\d:\d\d UTC", said)
    assert re.search(r"announcement entry 0 of the log .* plans 3 passes; witnessed \d{4}", said)


# --- what one drops -------------------------------------------------------------------------------------------------


def test_loose_files_are_one_run(desk: Desk) -> None:
    """The five files beside each other are checked like their bundle; one file short is FILE_MISSING."""
    desk.pin(KEY.jwk())
    files = list(signed_run().items())
    [shown] = desk.check(files)
    assert shown.verdict == "yes"
    [short] = desk.check(files[:-1])
    assert "FILE_MISSING" in short.fails
    [more] = desk.check([*files, ("notes.txt", b"x")])
    assert "BUNDLE_NAME" in more.fails


def test_several_bundles_are_listed_one_by_one(desk: Desk) -> None:
    """Each has its own answer in its own words, and a line over all counts them."""
    desk.pin(KEY.jwk())
    damaged = GOOD[:-30]
    shown = desk.check([("good.zip", GOOD), ("damaged.zip", damaged), ("again.zip", GOOD)])
    assert [(one.name, one.verdict) for one in shown] == [
        ("good.zip", "yes"),
        ("damaged.zip", "no"),
        ("again.zip", "yes"),
    ]
    assert desk.page.text_content("#result .summary") == "2 of 3 runs verified."


def test_what_is_no_bundle(desk: Desk, tmp_path: Path) -> None:
    """Text, nothing, an archive of nothing, a stray file, one over the cap: each is refused by its codes."""
    huge = tmp_path / "huge.zip"
    with huge.open("wb") as file:
        file.truncate(MAX_BUNDLE_BYTES + 1)
    shown = desk.check(
        [("text.zip", b"hello"), ("empty.zip", b""), ("nothing.zip", b"PK\x05\x06" + bytes(18)), ("empty.txt", b"")]
    )
    damaged, missing = ["BUNDLE_DAMAGED", "FILE_MISSING"], ["FILE_MISSING"]
    assert [one.fails for one in shown] == [damaged, damaged, missing, [*missing, "BUNDLE_NAME"]]
    assert {one.verdict for one in shown} == {"no"}
    desk.page.evaluate("document.querySelector('#result').removeAttribute('data-done')")
    desk.page.set_input_files("#run-files", str(huge))
    [large] = desk.results()
    assert large.fails == ["BUNDLE_TOO_LARGE", "FILE_MISSING"]


DROP = """
(names) => {
  const carried = new DataTransfer();
  for (const [name, data] of names) carried.items.add(new File([Uint8Array.from(data)], name));
  const zone = document.querySelector('#drop');
  zone.dispatchEvent(new DragEvent('dragover', { dataTransfer: carried, bubbles: true, cancelable: true }));
  const marked = zone.classList.contains('over');
  zone.dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }));
  return marked && !zone.classList.contains('over');
}
"""


def test_a_bundle_is_dropped_on_the_page(desk: Desk) -> None:
    """A dropped bundle is checked at once; the zone is marked while something hangs over it, and not after."""
    assert desk.page.evaluate(DROP, [["run.zip", list(GOOD)]])
    [shown] = desk.results()
    assert (shown.name, shown.verdict) == ("run.zip", "unpinned")
    assert desk.page.text_content("#run-said") == "Chosen: run.zip"


# --- hostile text ---------------------------------------------------------------------------------------------------


def _hostile_run() -> dict[str, bytes]:
    """Return a run whose names, ids and answers are markup and control characters, with findings that quote them."""
    run = open_run(signed_run())

    def claim(opened: OpenedRun) -> None:
        opened.predicate["row"]["name"] = HOSTILE
        opened.predicate["benchmark"]["id"] = HOSTILE
        opened.predicate["metric"]["id"] = HOSTILE
        opened.predicate["signer"]["name"] = HOSTILE

    run.outputs[0].update(id=HOSTILE, answer=HOSTILE, question=HOSTILE)
    run.telemetry[0].update(id=HOSTILE)
    return seal_run(run, public_signer(), claim=claim)


def test_hostile_text_is_shown_and_does_nothing(desk: Desk) -> None:
    """Markup is text, ESC and U+202E are written out, in the run's texts and in the names of files."""
    names = [f"{HOSTILE.replace('/', '')}.zip", "run.zip"]
    shown = desk.check([(names[0], GOOD), (names[1], write_bundle(_hostile_run()))])
    desk.page.wait_for_timeout(200)
    assert desk.page.evaluate("window.owned") is None
    assert desk.page.evaluate("document.querySelectorAll('#verifier img, #verifier b b, #result script').length") == 0
    for text in (shown[0].name, desk.page.text_content("#run-said"), desk.text()):
        assert not set(text) & set("\x1b\u202e\u200b\x07")
        assert "[U+202E]" in text
        assert "[U+001B]" in text
        assert "<img src=x onerror=" in text
    assert desk.page.evaluate("[...document.querySelectorAll('#result dd')].some(e => e.textContent.includes('<b>'))")
    desk.pin(KEY.jwk()[:-2] + b"}", f"{HOSTILE.replace('/', '')}.json")
    assert "<img src=x" not in desk.page.inner_html("#pin-said")


# --- no network, no other script ------------------------------------------------------------------------------------

TRY_EVERYTHING = """
async (port) => {
  const broken = [];
  document.addEventListener('securitypolicyviolation', event => broken.push(event.effectiveDirective));
  const outcome = {};
  await new Promise(resolve => setTimeout(resolve)); // what a driver calls directly may evaluate; what follows may not
  try { (0, eval)('window.evaluated = 1'); outcome.eval = 'ran'; } catch (error) { outcome.eval = error.name; }
  try { new Function('window.evaluated = 1')(); outcome.Function = 'ran'; } catch (e) { outcome.Function = e.name; }
  try { await fetch(`http://127.0.0.1:${port}/`); outcome.fetch = 'sent'; } catch (e) { outcome.fetch = e.name; }
  try { await fetch(location.href); outcome.self = 'sent'; } catch (error) { outcome.self = error.name; }
  const script = document.createElement('script');
  script.textContent = 'window.injected = 1';
  document.head.append(script);
  const image = new Image();
  image.src = `http://127.0.0.1:${port}/pixel.png`;
  const frame = document.createElement('iframe');
  frame.src = `http://127.0.0.1:${port}/`;
  document.body.append(image, frame);
  const style = document.createElement('style');
  style.textContent = `@import url(http://127.0.0.1:${port}/x.css); body { outline: 9px solid red }`;
  document.head.append(style);
  try { new WebSocket(`ws://127.0.0.1:${port}/`); } catch (error) { outcome.socket = error.name; }
  navigator.sendBeacon(`http://127.0.0.1:${port}/`, 'x');
  try { new Worker('data:text/javascript,1'); } catch (error) { outcome.worker = error.name; }
  await new Promise(resolve => setTimeout(resolve, 300));
  return { outcome, broken: [...new Set(broken)].sort(), evaluated: window.evaluated, injected: window.injected,
           outline: getComputedStyle(document.body).outlineWidth };
}
"""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket of this machine that anything could connect to."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        found.settimeout(0.2)
        yield found


def _received(listener: socket.socket) -> bytes:
    """Return every byte that arrived; Chromium opens a connection ahead for a frame that it then refuses to load."""
    found = b""
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return found
        with connection:
            connection.settimeout(0.2)
            try:
                found += connection.recv(4096)
            except TimeoutError:
                continue


def test_the_policy_really_blocks(browser: Any, page_path: Path, listener: socket.socket) -> None:
    """No eval, no injected script or style, no connection, image or frame: the browser refuses, and no byte arrives."""
    desk = Desk(browser, page_path).open()
    found = desk.page.evaluate(TRY_EVERYTHING, listener.getsockname()[1])
    assert found["outcome"]["eval"] == found["outcome"]["Function"] == "EvalError"
    assert found["outcome"]["fetch"] == found["outcome"]["self"] == "TypeError"
    assert found["evaluated"] is None
    assert found["injected"] is None
    assert found["outline"] != "9px"
    wanted = {"connect-src", "frame-src", "img-src", "script-src", "script-src-elem", "style-src-elem"}
    assert wanted <= set(found["broken"])
    assert _received(listener) == b""
    desk.close()


def test_a_browser_without_the_means_answers_nothing(browser: Any, page_path: Path) -> None:
    """Where the browser knows no Ed25519 the page says so, and every control is off."""
    page = browser.new_page()
    page.add_init_script("crypto.subtle.importKey = () => Promise.reject(new DOMException('x', 'NotSupportedError'))")
    page.goto(page_path.as_uri())
    page.wait_for_selector("#unable:not([hidden])")
    assert "no Ed25519" in page.text_content("#unable")
    assert page.evaluate("[...document.querySelectorAll('#verifier input, #verifier button')].every(e => e.disabled)")
    page.close()


# --- people ---------------------------------------------------------------------------------------------------------


def test_everything_is_reached_by_keyboard_and_announced(desk: Desk) -> None:
    """Tab visits every control in order with a visible focus, and the result is a live region with its own name."""
    visited = []
    for _ in range(12):
        desk.page.keyboard.press("Tab")
        visited.append(desk.page.evaluate("document.activeElement.id"))
        if visited[-1] == "run-files":
            assert desk.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    wanted = ["run-files", "pin-text", "pin-file", "registry-file", "log-folder", "strict"]
    assert [name for name in dict.fromkeys(visited) if name in wanted] == wanted
    assert desk.page.get_attribute("#result", "aria-live") == "polite"
    assert desk.page.get_attribute("#result", "aria-label")
    desk.check([("run.zip", GOOD)])
    desk.page.focus("#check")
    desk.page.evaluate("document.querySelector('#result').removeAttribute('data-done')")
    desk.page.keyboard.press("Enter")
    assert [one.verdict for one in desk.results()] == ["unpinned"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_results_fit_and_have_contrast(browser: Any, page_path: Path, width: int, scheme: str) -> None:
    """Yes, no and unpinned, with very long names: nothing scrolls sideways, and all text stands at 4.5 : 1."""
    desk = Desk(browser, page_path, viewport={"width": width, "height": 800}, color_scheme=scheme).open(now=NOW)
    desk.check([("run.zip", GOOD), (f"{'long' * 40}.zip", b"x")])
    worst = [worst_contrast(desk.page)]
    wide = [width_of(desk.page)]
    desk.pin(KEY.jwk())
    assert [one.verdict for one in desk.results()] == ["yes", "no"]
    worst.append(worst_contrast(desk.page))
    wide.append(width_of(desk.page))
    assert max(wide) <= width
    assert min(ratio for ratio, _ in worst) >= LEAST_CONTRAST, worst
    desk.close()


def test_a_verdict_is_told_by_word_and_sign(desk: Desk) -> None:
    """Each answer has its own words and its own sign, so that no colour is needed to read it."""
    seen = {}
    for pin in (None, KEY.jwk(), OTHER.jwk()):
        if pin is not None:
            desk.pin(pin)
        [shown] = desk.check([("run.zip", GOOD)])
        words = desk.page.text_content("#result .verdict-line strong")
        seen[shown.verdict] = (desk.page.text_content("#result .icon"), words)
    assert set(seen) == {"unpinned", "yes", "no"}
    assert len({sign for sign, _ in seen.values()}) == 3
    assert seen["yes"][1] == "Yes."
    assert seen["no"][1] == "No."


# --- the page of a run ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a board of one row."""
    folder = tmp_path_factory.mktemp("board")
    make.write_row(folder / "work", "bm25", "bm25", make.benchmark(12), make.losing_first(1), passes=1)
    write_preview(folder / "work", folder / "site", now=make.START + 9_999)
    return folder / "site"


def test_a_run_page_checks_its_own_run(browser: Any, site: Path) -> None:
    """The button checks the run that the page holds; it asks for a pin, and trusts nobody before there is one."""
    [path] = (site / "runs").glob("*.html")
    desk = Desk(browser, path).open(now=make.START + 9_999)
    assert desk.page.is_hidden("#drop")
    assert desk.page.text_content("#result") == ""
    desk.page.click("#check")
    [shown] = desk.results()
    assert shown.verdict == "unpinned"
    desk.page.fill("#pin-text", make.SIGNER.kid)
    desk.page.press("#pin-text", "Enter")
    desk.page.wait_for_selector("article[data-verdict=yes]")
    assert "proves nothing about itself" in desk.page.text_content("main")
    assert desk.asked == [path.as_uri()]
    assert desk.said == []
    desk.close()


def test_a_run_page_leads_to_verify_html_which_takes_its_bundle(browser: Any, site: Path) -> None:
    """The link opens verify.html beside the board, and the bundle that the page offers verifies there."""
    [path] = (site / "runs").glob("*.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.click("a[href$='verify.html'] >> nth=0")
    page.wait_for_selector("#verifier[data-ready]", state="attached")
    assert page.url == (site / "verify.html").as_uri()
    [bundle] = (site / "runs").glob("*.zip")
    page.set_input_files("#run-files", str(bundle))
    page.wait_for_selector("#result[data-done]", state="attached")
    [shown] = [Shown(read) for read in page.evaluate(READ)]
    assert shown.verdict == "unpinned"
    page.close()
