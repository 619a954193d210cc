"""Which addresses a crawl may connect to: http and https, and no host that only this machine or network can reach.

An IP address is judged where the connection is opened (`connect.py`), so that no answer of a name server, and no
redirect, comes between the check and the use. What is said here of a URL is the earlier, clearer refusal. Pure.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

_NEVER = {
    "0.0.0.0/8": "this host",
    "169.254.0.0/16": "link-local",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "for documentation only",
    "192.88.99.0/24": "a 6to4 relay",
    "198.18.0.0/15": "for measurements only",
    "198.51.100.0/24": "for documentation only",
    "203.0.113.0/24": "for documentation only",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "::/128": "this host",
    "100::/64": "discarded",
    "2001:2::/48": "for measurements only",
    "2001:db8::/32": "for documentation only",
    "3fff::/20": "for documentation only",
    "5f00::/16": "for segment routing",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}
_PRIVATE = {
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "private to a provider",
    "127.0.0.0/8": "loopback",
    "172.16.0.0/12": "private",
    "192.168.0.0/16": "private",
    "::1/128": "loopback",
    "fc00::/7": "private",
}
"""What `--allow-private` opens; the ranges above stay closed, for no documentation is served there."""
_NEVER_NETWORKS = [(ipaddress.ip_network(net), what) for net, what in _NEVER.items()]
_PRIVATE_NETWORKS = [(ipaddress.ip_network(net), what) for net, what in _PRIVATE.items()]
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
_WRAPPING = {
    "::/96": "IPv4-compatible",
    "::ffff:0:0/96": "IPv4-mapped",
    "::ffff:0:0:0/96": "IPv4-translated",
    "64:ff9b:1::/48": "NAT64",
    "2001::/32": "Teredo",
    "2002::/16": "6to4",
}
_WRAPPING_NETWORKS = [(ipaddress.IPv6Network(net), what) for net, what in _WRAPPING.items()]
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "home.arpa", "intranet", "lan")
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)\Z", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?\Z")


def private(address: str, *, allow_private: bool = False) -> str | None:
    """Return why no connection to this IP address is opened, None where it may be."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "no IP address"
    for net, what in _NEVER_NETWORKS:
        if ip in net:
            return what
    for net, what in _PRIVATE_NETWORKS:
        if ip in net:
            return None if allow_private else what
    if isinstance(ip, ipaddress.IPv6Address):
        return _wrapped(ip)
    return None if ip.is_global else "not public"


def _wrapped(ip: ipaddress.IPv6Address) -> str | None:
    """Return why an IPv6 address is refused that carries an IPv4 address, or lies outside of what is routed."""
    if ip in _NAT64:  # a network without IPv4 reaches every public host this way
        what = private(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        return f"{what}, written as NAT64" if what else None
    for net, what in _WRAPPING_NETWORKS:
        if ip in net:
            return f"{what}, a second way to write an IPv4 address"
    if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP:
        return "ISATAP, a second way to write an IPv4 address"
    return None if ip in _UNICAST_6 and ip.is_global else "not public"


def url_problem(url: str, *, allow_private: bool = False) -> str | None:
    """Return why a URL is never asked for, None where it may be tried."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        return f"no address: {error}"
    if parts.scheme not in ("http", "https"):
        return f"{parts.scheme or 'nothing'} is no scheme that is followed; http and https are"
    if "@" in parts.netloc:
        return "a name or password stands in it"
    if not host or port == 0:
        return "no host" if not host else "no port"
    return _host_problem(host, allow_private=allow_private)


def _host_problem(host: str, *, allow_private: bool) -> str | None:
    if ":" in host:
        what = private(host, allow_private=allow_private)
        return f"{host} is {what}" if what else None
    try:
        name = host.encode("idna").decode("ascii").lower().rstrip(".") if not host.isascii() else host.rstrip(".")
    except UnicodeError:
        return f"{host!r} is no host name"
    if not _HOST.match(name) or len(name) > 253:
        return f"{host!r} is no host name"
    last = name.rpartition(".")[2]
    if _NUMBER.match(last):
        return _number_problem(name, allow_private=allow_private)
    if not allow_private and (last in _LOCAL_NAMES or name.endswith(".home.arpa")):
        return f"{host} is a name of this machine or network"
    return None


def _number_problem(name: str, *, allow_private: bool) -> str | None:
    try:
        ip = ipaddress.IPv4Address(name)
    except ValueError:
        return f"{name} is a number in place of a host; write the address as four decimal numbers"
    what = private(str(ip), allow_private=allow_private)
    return f"{name} is {what}" if what else None
