"""Builds the browser verifier: one page, one inline script, and the policy that lets only that script run."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from importlib.resources import files

import msgspec

from ragassay import __version__
from ragassay.site.verifier_data import verifier_data

SCRIPTS = (
    "bytes",
    "strict",
    "dsse",
    "fold",
    "score",
    "shapes",
    "rows",
    "items",
    "order",
    "delivery",
    "references",
    "registry",
    "tlog",
    "policy",
    "verify",
    "zip",
    "pins",
    "view",
    "page",
)
"""The parts of the script in the order in which they stand in it; `ragassay/site/verifier/<name>.js`."""


class Verifier(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a page that can verify: `script_hash` and `style_hash` are sources of a content security policy."""

    script: str
    script_hash: str
    style: str
    form: str


@lru_cache(maxsize=1)
def verifier() -> Verifier:
    """Return the parts that every page with a verifier is made of."""
    root = files("ragassay.site")
    script = script_text([root.joinpath(f"verifier/{name}.js").read_text(encoding="utf-8") for name in SCRIPTS])
    return Verifier(
        script=script,
        script_hash=source_hash(script),
        style=root.joinpath("templates/verifier.css").read_text(encoding="utf-8"),
        form=root.joinpath("templates/verifier.html").read_text(encoding="utf-8"),
    )


def script_text(parts: list[str]) -> str:
    """Return the one script: the shared data first, then each part. Raises `ValueError` where HTML would end it."""
    data = json.dumps(verifier_data(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    script = f'"use strict";\nglobalThis.ragassay = {{ data: {escaped(data)} }};\n' + "\n".join(parts)
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("the script holds what ends a script element; write it in two parts")
    return script


def escaped(data: str) -> str:
    """Return JSON that may stand inside a script element."""
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def source_hash(text: str) -> str:
    """Return the hash of an inline script or style as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def policy(script_hash: str, style_hash: str) -> str:
    """Return the policy of a page with the verifier: this script, this style, and nothing from anywhere."""
    return (
        f"default-src 'none'; script-src '{script_hash}'; style-src '{style_hash}'; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def verifier_page() -> bytes:
    """Return `verify.html`: the same bytes from every installation of this version."""
    root = files("ragassay.site")
    parts = verifier()
    style = root.joinpath("templates/style.css").read_text(encoding="utf-8") + parts.style
    page = root.joinpath("templates/verify.html").read_text(encoding="utf-8")
    for name, text in (
        ("policy", policy(parts.script_hash, source_hash(style))),
        ("version", __version__),
        ("script-hash", parts.script_hash),
        ("style", style),
        ("form", parts.form),
        ("script", parts.script),
    ):
        mark = f"<!-- {name} -->" if f"<!-- {name} -->" in page else f"%{name}%"
        if page.count(mark) != 1:
            raise ValueError(f"the template must hold {mark} once")
        page = page.replace(mark, text)
    return page.encode("utf-8")
