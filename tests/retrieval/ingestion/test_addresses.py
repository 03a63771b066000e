"""Which addresses files are fetched from."""

import ipaddress
import socket

import pytest
from pytest_django import Settings
from yarl import URL

from retrieval.ingestion.addresses import (
    Gate,
    RefusedAddressError,
    checked_url,
    is_public,
    may_be_private,
)
from retrieval.ingestion.incoming import UploadError


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.0.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1",
        "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
        "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::7f00:1", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "3fff::1", "5f00::1",
    ],
)  # fmt: skip
def test_private_and_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "", "nothing", "ftp://example.org/a", "file:///etc/passwd", "gopher://example.org",
        "http://", "http:///a", "https://user@example.org/", "https://user:secret@example.org/",
        "http://example.org:99999/", "http://[::1/", "http://example.org/" + "a" * 2000,
        "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/",
        "http://0177.0.0.1/", "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://169.254.169.254/",
    ],
)  # fmt: skip
def test_what_is_not_fetched_is_refused_before_anything_is_asked(url: str) -> None:
    with pytest.raises(UploadError) as refused:
        checked_url(url)
    assert refused.value.code == "bad-address"


@pytest.mark.parametrize(
    ("url", "usual"),
    [
        (" HTTPS://Example.org/A b#part ", "https://example.org/A%20b"),
        ("http://bücher.example/ü?q=1", "http://xn--bcher-kva.example/%C3%BC?q=1"),
        ("http://8.8.8.8/a", "http://8.8.8.8/a"),
    ],
)
def test_addresses_have_a_usual_form(url: str, usual: str) -> None:
    assert str(checked_url(url)) == usual


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://wiki.example.org/a", True),
        ("http://WIKI.example.org./a", True),
        ("http://localhost:8080/", True),
        ("http://localhost:8081/", False),
        ("http://a.intra.example.org/", True),
        ("http://intra.example.org/", False),
        ("http://evilintra.example.org/", False),
        ("http://wiki.example.org.evil.example/", False),
    ],
)
def test_private_hosts_are_those_that_are_named(
    url: str, settings: Settings, *, named: bool
) -> None:
    settings.FETCH_PRIVATE_HOSTS = ["wiki.example.org", "*.intra.example.org", "localhost:8080"]
    assert may_be_private(URL(url)) == named


def info(address: str) -> tuple[object, ...]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return family, socket.SOCK_STREAM, 6, "", (address, 80)


def test_gate_opens_no_socket_to_a_private_address() -> None:
    gate = Gate(URL("http://example.org/"))
    gate.socket(info("8.8.8.8")).close()
    assert not gate.refused
    for address in ("10.0.0.1", "fe80::1%eth0"):
        with pytest.raises(RefusedAddressError):
            gate.socket(info(address))
    assert gate.refused
