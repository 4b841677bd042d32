"""Which network addresses Salon may connect to: only those of the public internet.

A URL comes from a person, a page or a redirect, and may point at the machine itself, at its
neighbours or at a cloud's metadata service. The rule is the narrow one: an address is allowed if
it is global unicast, and an address that carries another inside it (IPv4 in IPv6) is judged by
what it carries.
"""

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_NOT_PUBLIC: tuple[tuple[IPv4Network | IPv6Network, str], ...] = tuple(
    (ip_network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a provider (CGNAT)"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's own service"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "for documentation"),
        ("3fff::/20", "for documentation"),
    )
)
# Where the last (or, for 6to4, an early) part of an IPv6 address is an IPv4 address.
_CARRIERS: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")


def why_not_public(address: Address) -> str | None:
    """Return what kind of address this is if Salon must not connect to it, else `None`."""
    for network, shift in _CARRIERS:
        if address in network:
            return why_not_public(IPv4Address((int(address) >> shift) & 0xFFFF_FFFF))
    for forbidden, kind in _NOT_PUBLIC:
        if address in forbidden:
            return kind
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return "not global unicast"
    return None


def parse_address(text: str) -> Address:
    """Return what a resolver answered as an address, without the zone of a link-local one."""
    return ip_address(text.partition("%")[0])
