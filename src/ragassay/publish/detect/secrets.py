"""Keys, tokens and passwords: the patterns of detect-secrets on single lines, and those of model providers' keys."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ragassay.publish.detect.exempt import secret_rule
from ragassay.publish.detect.hit import Hit
from ragassay.publish.detect.windows import around, pieces
from ragassay.records.publication import FindingKind


class Plugin(msgspec.Struct, frozen=True):
    """One plugin of detect-secrets: its module and class, and a cheap pattern that none of its matches lacks.

    `whole` says that the secret is the whole match, else it is the longest of its groups.
    """

    module: str
    name: str
    anchor: str
    whole: bool = True


PLUGINS = (
    Plugin("artifactory", "ArtifactoryDetector", r"AKC|AP[\dABCDEF]"),
    Plugin("aws", "AWSKeyDetector", r"A3T|ABIA|ACCA|AKIA|ASIA|[aA][wW][sS]", whole=False),
    Plugin("azure_storage_key", "AzureStorageKeyDetector", "AccountKey="),
    Plugin("basic_auth", "BasicAuthDetector", "://", whole=False),
    Plugin("cloudant", "CloudantDetector", "(?i:cl)", whole=False),
    Plugin("discord", "DiscordBotTokenDetector", r"[\w-]{6}\.[\w-]{27}"),
    Plugin("github_token", "GitHubTokenDetector", "gh[pousr]_"),
    Plugin("gitlab_token", "GitLabTokenDetector", "gl[a-z]+-|GR1348941"),
    Plugin("ibm_cloud_iam", "IbmCloudIamDetector", "(?i:key|pwd|pass|token)", whole=False),
    Plugin("ibm_cos_hmac", "IbmCosHmacDetector", "(?i:secret)", whole=False),
    Plugin("jwt", "JwtTokenDetector", "eyJ"),
    Plugin("mailchimp", "MailchimpDetector", r"[0-9a-z]{32}-us\d"),
    Plugin("npm", "NpmDetector", "_authToken", whole=False),
    Plugin("openai", "OpenAIDetector", "T3BlbkFJ"),
    Plugin("pypi_token", "PypiTokenDetector", "pypi-Ag"),
    Plugin("sendgrid", "SendGridDetector", r"SG\."),
    Plugin("slack", "SlackDetector", r"xox|hooks\.slack"),
    Plugin("softlayer", "SoftlayerDetector", "(?i:sl)", whole=False),
    Plugin("square_oauth", "SquareOAuthDetector", "sq0csp"),
    Plugin("stripe", "StripeDetector", "k_live_"),
    Plugin("telegram_token", "TelegramBotTokenDetector", r"\d{8}:"),
    Plugin("twilio", "TwilioKeyDetector", r"(?<![A-Za-z0-9])(?:AC|SK)[a-z0-9]{32}(?![a-z0-9])"),
)
"""The plugins that run by their patterns, besides KeywordDetector. Those of high entropy are off, since every digest
and commit is one; so are IPPublicDetector, which the network addresses cover, and PrivateKeyDetector, which finds the
first line alone."""

KEYS = re.compile(
    r"\bsk-(?:ant|proj|svcacct|admin|or)-[\w-]{16,}|\bsk-[A-Za-z0-9]{32,}|\bAIza[\w-]{35}|\bhf_[A-Za-z0-9]{30,}"
    r"|\bgithub_pat_\w{22,}|\bgsk_[A-Za-z0-9]{40,}|\bxai-[A-Za-z0-9]{40,}|\bpplx-[A-Za-z0-9]{40,}|\br8_[A-Za-z0-9]{30,}"
    r"|\bya29\.[\w-]{20,}|\bnpm_[A-Za-z0-9]{36}"
)
"""Keys of providers of models, and tokens of GitHub, npm and Google that detect-secrets does not know."""
BEARER = re.compile(r"\b[Bb]earer\s{1,3}([A-Za-z0-9._~+/=-]{20,2000})")
USERINFO = re.compile(r"\bhttps?://([^\s/?#@:\"'<>]{1,500})@")
"""A URL with a user but no password: tokens stand there too. One with a password is BasicAuthDetector's."""
QUERY = re.compile(
    r"[?&](?:api[_-]?key|key|token|access[_-]?token|auth|sig|signature|password|secret)=([^&\s\"'<>#]{8,2000})",
    re.IGNORECASE,
)
PRIVATE_KEY = re.compile(
    r"-{0,5}(?:BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?|PuTTY-User-Key-File-\d)-{0,5}"
    r"(?:(?:(?!-----END).){0,10000}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-{0,5}"
    r"|(?:\s{1,8}[A-Za-z0-9+/=]{16,})*)",
    re.DOTALL,
)
_OWN = (("provider key", KEYS), ("bearer token", BEARER), ("user in a URL", USERINFO), ("key in a URL", QUERY))
_KEYWORDS = re.compile(
    "(?i)api_?key|auth_?key|service_?key|account_?key|db_?key|database_?key|priv_?key|private_?key|client_?key|pass|pwd"
    "|secret|contrasena|encryption_key|access_?key|storage_?key"
)
_IN_WORD = re.compile(r"[\w.~+/=-]*")
MAX_PER_LINE = 100
"""The most secrets behind keywords that are told apart in one piece of a line."""
THICK = 20
"""A piece with more keywords than this is cut again, since the time for one grows with their square."""


class Secrets:
    """Finds what opens a door; hashes, commits and UUIDs are none."""

    kinds: frozenset[FindingKind] = frozenset({"secret"})

    def __init__(self) -> None:
        self._plugins = [(plugin, _load(plugin.module, plugin.name)) for plugin in PLUGINS]
        self._keyword = _load("keyword", "KeywordDetector")
        self._anchors = [re.compile(plugin.anchor) for plugin in PLUGINS]
        self.name = (
            f"detect-secrets {importlib.metadata.version('detect-secrets')}: "
            f"{', '.join(plugin.name for plugin in PLUGINS)}, KeywordDetector; and patterns for private keys, keys of "
            "model providers, bearer tokens, and users and keys in URLs"
        )

    def find(self, text: str) -> Iterator[Hit]:
        """Yield the hits of every plugin and pattern."""
        for plugin, start, end in self._all(text):
            words = text[start:end]
            if words.strip():
                yield Hit(kind="secret", start=start, end=end, detector=plugin, exempt=secret_rule(words))

    def _all(self, text: str) -> Iterator[tuple[str, int, int]]:
        for found in PRIVATE_KEY.finditer(text):
            yield "private key", found.start(), found.start() + len(found.group().rstrip())
        for name, pattern in _OWN:
            for found in pattern.finditer(text):
                group = 1 if pattern.groups else 0
                yield name, found.start(group), found.end(group)
        for (plugin, detector), anchor in zip(self._plugins, self._anchors, strict=True):
            for offset, piece in around(text, anchor, 100, 1200):
                for start, end in _matches(plugin, detector, piece):
                    yield plugin.name, offset + start, offset + end
        yield from self._behind_keywords(text)

    def _behind_keywords(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield what is assigned, in quotation marks, to a name such as `password`."""
        at = 0
        for line in text.splitlines(keepends=True):
            for offset, piece in _short(line):
                for start, end in self._assigned(piece):
                    yield "KeywordDetector", at + offset + start, at + offset + end
            at += len(line)

    def _assigned(self, piece: str) -> Iterator[tuple[int, int]]:
        begin = 0
        for _ in range(MAX_PER_LINE):
            rest, furthest = piece[begin:], 0
            for secret in self._keyword.analyze_string(rest):
                start = rest.find(secret)
                if secret and start >= 0:
                    yield begin + start, begin + start + len(secret)
                    furthest = max(furthest, start + len(secret))
            if not furthest:
                return
            begin += furthest


def _load(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()


def _short(line: str) -> Iterator[tuple[int, str]]:
    """Yield the pieces of a line that can hold an assignment; they are shorter where keywords stand thick."""
    if _KEYWORDS.search(line) is None:
        return
    for offset, piece in pieces(line):
        if "'" not in piece and '"' not in piece:
            continue
        if len(_KEYWORDS.findall(piece)) <= THICK:
            yield offset, piece
        else:
            yield from ((offset + more, part) for more, part in pieces(piece, size=150, overlap=75))


def _matches(plugin: Plugin, detector: Any, piece: str) -> Iterator[tuple[int, int]]:
    """Yield where the secrets of a plugin stand; one that is a whole word's beginning is taken with the whole word."""
    for pattern in detector.denylist:
        for found in pattern.finditer(piece):
            groups = [] if plugin.whole else [g for g in range(1, pattern.groups + 1) if found.group(g)]
            group = max(groups, key=lambda g: len(found.group(g)), default=0)
            start, end = found.span(group)
            if plugin.name == "JwtTokenDetector" and not detector.is_formally_valid(found.group()):
                continue
            if not groups:
                lead = len(found.group()) - len(found.group().lstrip(' \t\r\n=:"'))
                tail = len(found.group()) - len(found.group().rstrip(' \t\r\n"'))
                rest = _IN_WORD.match(piece, end - tail)
                start, end = start + lead, rest.end() if rest and not tail else end - tail
            yield start, end
