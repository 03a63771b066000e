"""Where guests ask from."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from chat.accounts import addresses


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:51234", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::1]:443", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("nonsense", ""),
    ],
)
def test_guests_of_one_place_have_a_network_in_common(client: str, network: str) -> None:
    assert addresses.network(client) == network


def test_nobody_but_our_proxies_says_who_a_client_is(settings: Settings) -> None:
    said = ["203.0.113.1, 198.51.100.2", "192.0.2.3"]
    of = {address: addresses.key(address) for address in ("10.0.0.1", "192.0.2.3", "198.51.100.2")}
    for proxies, address in ((0, "10.0.0.1"), (1, "192.0.2.3"), (2, "198.51.100.2")):
        settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies
        assert addresses.of_client("10.0.0.1", said) == of[address]


def test_who_came_by_fewer_proxies_is_who_opened_the_connection(settings: Settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 2
    assert addresses.of_client("10.0.0.1", ["1.1.1.1"]) == addresses.key("10.0.0.1")


def test_the_key_of_an_address_is_this_sites_own(settings: Settings) -> None:
    before = addresses.key("192.0.2.7")
    settings.SECRET_KEY = "another"
    assert addresses.key("192.0.2.7") != before
    assert -(2**63) <= before < 2**63
