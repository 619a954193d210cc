"""The rules by which something that looks like personal data or a secret is none, each with its name. Pure.

Sources: RFC 2606 and RFC 6761 (reserved names), RFC 5737 and RFC 3849 (addresses for documentation), RFC 6890
(loopback, unspecified), the numbering plan of North America (555-0100 to 555-0199 for fiction).
"""

from __future__ import annotations

import ipaddress
import re

RESERVED = "reserved name"
GIT = "user git of a repository"
FILE = "name of a file or version"
DOCUMENTATION = "address for documentation"
LOCAL = "loopback or unspecified address"
MASK = "network mask"
VERSION = "version or section number"
HARDWARE = "hardware address"
NAMESPACE = "name with ::"
FICTION = "number for fiction"
PLACEHOLDER = "placeholder"
RULES: dict[str, str] = {
    RESERVED: "an e-mail address at example.com, .net or .org, or under .test, .example, .invalid or .localhost",
    GIT: "git@ before a host: the user of every hosted repository",
    FILE: "an @ before what is no domain: a version (ruff@0.6.0) or a file (icon@2x.png)",
    DOCUMENTATION: "192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24 and 2001:db8::/32",
    LOCAL: "127.0.0.0/8, ::1, 0.0.0.0/8 and ::",
    MASK: "255.255.255.0 and its like, and the broadcast address",
    VERSION: "1.2.3.4 (up to 63, then up to 31) with no word for an address near; a number after v, =, <, > or ~, or "
    "in a longer number; a section's number before its title or after the word",
    HARDWARE: "eight pairs of hexadecimal digits: a hardware address (EUI-64)",
    NAMESPACE: "words of the letters a to f joined by ::, without a digit",
    FICTION: "a North American number from 555-0100 to 555-0199",
    PLACEHOLDER: "<token>, {key}, $KEY, ****, xxxx, a word such as password, user or git by itself, or one with "
    "EXAMPLE in it",
}
"""Each rule's name, and what it leaves out."""

_RESERVED_ENDS = ("test", "example", "invalid", "localhost")
_RESERVED_HOSTS = ("example.com", "example.net", "example.org")
_FILE_ENDS = frozenset(
    (
        *("cfg", "conf", "css", "csv", "gif", "gz", "html", "ico", "ini", "jpeg", "jpg", "js", "json", "jsonl", "lock"),
        *("log", "md5", "mjs", "pdf", "png", "svg", "tar", "tgz", "toml", "ts", "txt", "whl", "xml", "yaml", "yml"),
    )
)
_DOCUMENTATION = tuple(
    ipaddress.ip_network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
)
_LOCAL = tuple(ipaddress.ip_network(net) for net in ("127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128"))
_MASKS = frozenset(str(ipaddress.ip_network(f"0.0.0.0/{bits}").netmask) for bits in range(8, 33))
_ADDRESS_WORD = re.compile(
    r"\b(?:ip|ipv4|ipv6|address(?:es)?|addr|hosts?|servers?|subnet|network|gateway|dns|ping|listens?|listening|bind|connect"
    r"|cidr|inet|://)\b|://",
    re.IGNORECASE,
)
_VERSION_BEFORE = re.compile(r"(?:\b[vV]|[=<>~^!]\s?|\d\.|-)$")
_VERSION_AFTER = re.compile(r"^(?:\.\d|-?(?:a|b|rc|dev|alpha|beta|post)\.?\d)")
_SECTION = re.compile(r"(?:\d\.|[A-Z]\.|(?:[Ss]ections?|[Cc]hapter|[Tt]able|[Ff]igure|§)\s{0,40})$")
_TITLE = re.compile(r"\.?\s{1,40}[A-Z]")
_EUI64 = re.compile(r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){7}")
_NEAR = 40
_FICTION = re.compile(r"555\D?01\d\d$")
_BRACKETED = re.compile(r"^(?:<.*>?|\{.*\}?|\[.*\]?|\$.*|%.*%|\(.*\)|\.{3}.*|…)$", re.DOTALL)
_PLACEHOLDER_WORDS = frozenset(
    (
        *("password", "passwd", "pass", "pwd", "secret", "token", "key", "apikey", "api_key", "access_token"),
        *("changeme", "redacted", "none", "null", "true", "false", "user", "username", "credentials", "git"),
    )
)


def email_rule(address: str) -> str | None:
    """Return the rule by which an e-mail address is no finding, None where it is one."""
    user, _, host = address.rpartition("@")
    host = host.lower()
    end = host.rpartition(".")[2]
    if host.endswith(_RESERVED_HOSTS) and host.removesuffix(end)[:-1].split(".")[-1] == "example":
        return RESERVED
    if end in _RESERVED_ENDS:
        return RESERVED
    if not (len(end) >= 2 and (end.isalpha() or end.startswith("xn--"))) or end in _FILE_ENDS:
        return FILE
    return GIT if user == "git" else None


def ip_rule(address: str, before: str, after: str) -> str | None:
    """Return the rule by which an address is no finding; `before` and `after` are the text around it."""
    try:
        ip = ipaddress.ip_interface(address.split("%")[0]).ip
    except ValueError:
        return None
    if any(ip in net for net in _DOCUMENTATION if net.version == ip.version):
        return DOCUMENTATION
    if any(ip in net for net in _LOCAL if net.version == ip.version):
        return LOCAL
    if ip.version == 6:
        if not any(map(str.isdigit, address)):
            return NAMESPACE
        return HARDWARE if _EUI64.fullmatch(address) else None
    if str(ip) in _MASKS:
        return MASK
    return VERSION if _is_version(address, before, after) else None


def _is_version(address: str, before: str, after: str) -> bool:
    if _VERSION_AFTER.match(after) or _SECTION.search(before):
        return True
    if _TITLE.match(after) and not before.rpartition("\n")[2].strip():
        return True
    if "/" in address or _ADDRESS_WORD.search(before[-_NEAR:]) or _ADDRESS_WORD.search(after[:_NEAR]):
        return False
    first, *rest = (int(part) for part in address.split("."))
    return (first <= 63 and max(rest) <= 31) or _VERSION_BEFORE.search(before) is not None


def phone_rule(number: str) -> str | None:
    """Return the rule by which a telephone number is no finding, None where it is one."""
    return FICTION if _FICTION.search(number.strip()) else None


def secret_rule(text: str) -> str | None:
    """Return the rule by which a secret is no finding, None where it is one."""
    plain = text.strip("\"'` ")
    if not plain.strip("*x.X-_•") or len(set(plain)) == 1 or _BRACKETED.match(plain):
        return PLACEHOLDER
    folded = plain.lower()
    if folded in _PLACEHOLDER_WORDS or folded.startswith(("your-", "your_", "my-", "<")) or "example" in folded:
        return PLACEHOLDER
    return None
