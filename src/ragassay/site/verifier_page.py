"""Builds the browser verifier: one page, one inline script, and the policy that lets only that script run."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

import msgspec

from ragassay import __version__
from ragassay.site.verifier_data import verifier_data

SCRIPTS = (
    *("errors", "sha256", "bytes", "strict", "shapes", "dsse", "keys", "characters", "fold", "decimal"),
    *("note", "tree", "tlog", "tiles", "registry", "announce"),
    *("report", "rows", "sense", "csv", "foreign", "decode", "score", "references", "delivery", "order", "items"),
    *("signature", "inclusion", "announcement", "redaction", "contents"),
    *("policy", "policyfile", "audit", "wholelog", "standing", "verify"),
    *("zipform", "zip", "sources", "pins", "view", "page"),
)
"""The parts of the script in the order in which they stand in it; `ragassay/site/verifier/<name>.js`."""


class Verifier(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a page that can verify; hashes are as a content security policy names them."""

    script: str
    style: str
    form: str

    @property
    def script_hash(self) -> str:
        """The hash of the script."""
        return source_hash(self.script)

    @property
    def policy(self) -> str:
        """The policy of such a page: this script, this style, and nothing from anywhere."""
        return (
            f"default-src 'none'; script-src '{self.script_hash}'; style-src '{source_hash(self.style)}'; "
            "connect-src 'none'; base-uri 'none'; form-action 'none'"
        )


@lru_cache(maxsize=1)
def verifier() -> Verifier:
    """Return the parts that every page with a verifier is made of."""
    return Verifier(
        script=script_text([_read(f"verifier/{name}.js") for name in SCRIPTS]),
        style=_read("templates/style.css") + _read("templates/verifier.css"),
        form=_read("templates/verifier_form.html"),
    )


@lru_cache(maxsize=1)
def verifier_page() -> bytes:
    """Return `verify.html`: the same bytes from every installation of this version."""
    parts = verifier()
    page = _read("templates/verify.html")
    for mark, text in (
        ("%policy%", parts.policy),
        ("%version%", __version__),
        ("%script-hash%", parts.script_hash),
        ("<!-- style -->", parts.style),
        ("<!-- form -->", parts.form),
        ("<!-- script -->", parts.script),
    ):
        if mark not in page:
            raise ValueError(f"the template lacks {mark}")
        page = page.replace(mark, text)
    return page.encode("utf-8")


def _read(name: str) -> str:
    return files("ragassay.site").joinpath(name).read_text(encoding="utf-8")


def script_text(parts: Sequence[str]) -> str:
    """Return the one script: the shared data first, then each part. Raises `ValueError` where HTML would end it."""
    data = json.dumps(verifier_data(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    script = f"globalThis.ragassay = {{ data: {escaped(data)} }};\n" + "\n".join(parts)
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("the script holds what ends a script element; write it in two parts")
    return script


def escaped(data: str) -> str:
    """Return JSON that may stand inside a script element."""
    return data.replace("<", "\\u003c")


def source_hash(text: str) -> str:
    """Return the hash of an inline script or style as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
