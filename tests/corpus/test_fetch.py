"""Pages come from the public web or not at all, against a real server on this machine."""

import datetime as dt
import gzip
import http.server
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from salon.core.errors import FetchFailed, ForbiddenAddress
from salon.corpus.addresses import why_not_public
from salon.corpus.dialing import SystemResolver, dial_tcp
from salon.corpus.fetch import Fetcher, FetchLimits, fetch

LOCAL = ipaddress.ip_address("127.0.0.1")
PUBLIC = "93.184.216.34"
Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


class Site(http.server.ThreadingHTTPServer):
    """A server whose pages are functions, and which remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Pages)
        self.pages: dict[str, Answer] = {}
        self.asked: list[tuple[str, str]] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up early are what these tests are about."""


class _Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert isinstance(self.server, Site)
        self.server.asked.append((self.headers["Host"], self.path))
        self.close_connection = True
        self.server.pages[self.path.partition("?")[0]](self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def page(content: bytes, *headers: tuple[str, str], status: int = 200) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers:
            request.send_header(name, value)
        if "Content-Length" not in dict(headers):
            request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    return answer


def redirect(to: str, status: int = 302) -> Answer:
    return page(b"", ("Location", to), status=status)


def endless(piece: bytes, *headers: tuple[str, str]) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        for name, value in headers:
            request.send_header(name, value)
        request.end_headers()
        while True:
            request.wfile.write(piece)

    return answer


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def local(site: Site, **limits: float) -> Fetcher:
    """Return a fetcher that may reach the test server, and no other private address."""
    return Fetcher(
        FetchLimits(
            ports=frozenset({80, 443, site.port}),
            allow_private=frozenset({LOCAL}),
            **limits,  # type: ignore[arg-type]
        )
    )


class Scripted:
    """A resolver that gives prepared answers in turn, the last one for ever."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Rerouted:
    """A dialer that notes where it is told to connect and goes to the test server instead."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.dialled: list[tuple[str, int]] = []

    def __call__(self, address: str, port: int, timeout: float) -> httpcore.NetworkStream:
        self.dialled.append((address, port))
        return dial_tcp("127.0.0.1", self._port, timeout)


# What arrives


def test_a_page_arrives_with_its_type_and_address(site: Site) -> None:
    site.pages["/a"] = page(b"<p>hi", ("Content-Type", 'text/html; charset="ISO-8859-1"'))
    found = local(site).fetch(site.url("/a?q=\u00e9#part"))
    assert found.content == b"<p>hi"
    assert (found.media_type, found.charset) == ("text/html", "iso-8859-1")
    assert found.final_url == site.url("/a?q=%C3%A9")
    assert site.asked == [(f"127.0.0.1:{site.port}", "/a?q=%C3%A9")]


def test_redirects_are_followed_to_the_final_address(site: Site) -> None:
    site.pages["/a"] = redirect("b/c")
    site.pages["/b/c"] = redirect(site.url("/d"), status=308)
    site.pages["/d"] = page(b"there")
    found = local(site).fetch(site.url("/a"))
    assert (found.url, found.final_url) == (site.url("/a"), site.url("/d"))
    assert found.content == b"there"


def test_a_packed_page_is_unpacked(site: Site) -> None:
    site.pages["/a"] = page(gzip.compress(b"words " * 1000), ("Content-Encoding", "gzip"))
    assert local(site).fetch(site.url("/a")).content == b"words " * 1000


def test_proxy_settings_are_ignored(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    site.pages["/a"] = page(b"direct")
    assert local(site).fetch(site.url("/a")).content == b"direct"


# Where it must not go


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://0/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "https://10.1.2.3/",
    ],
)
def test_addresses_of_this_machine_and_its_neighbours_are_refused(url: str) -> None:
    with pytest.raises(ForbiddenAddress) as caught:
        fetch(url, limits=FetchLimits(total_s=5))
    assert caught.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "data:text/html,hi",
        "javascript:alert(1)",
        "//example.org/",
        "example.org",
        "http://",
        "http:///path",
        "",
    ],
)
def test_only_http_and_https_are_fetched(url: str) -> None:
    with pytest.raises(ForbiddenAddress, match="not an http or https address"):
        fetch(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://exa mple.org/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/\r\nX: y",
        "http://example.org:99999/",
        "http://example.org:port/",
        "http://[::1/",
        "http://[nonsense]/",
        "http://a..b/",
        "http://[fe80::1%25lo]/",
    ],
)
def test_malformed_addresses_are_refused(url: str) -> None:
    with pytest.raises(ForbiddenAddress):
        fetch(url)


@pytest.mark.parametrize("url", ["http://me:secret@example.org/", "http://me@example.org/"])
def test_credentials_in_an_address_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ForbiddenAddress, match="user name or password") as caught:
        fetch(url)
    assert "secret" not in caught.value.message


def test_unusual_ports_are_refused() -> None:
    with pytest.raises(ForbiddenAddress, match="port 22"):
        fetch("http://example.org:22/")


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.2/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/",
        "http://[::1]/",
        "//127.0.0.2/",
        "file:///etc/passwd",
        "http://me:secret@127.0.0.1/",
    ],
)
def test_a_redirect_to_a_private_address_is_refused(site: Site, target: str) -> None:
    site.pages["/a"] = redirect(target)
    with pytest.raises(ForbiddenAddress):
        local(site).fetch(site.url("/a"))


def test_a_redirect_to_another_port_is_refused(site: Site) -> None:
    site.pages["/a"] = redirect("http://127.0.0.1:1/")
    with pytest.raises(ForbiddenAddress, match="port 1"):
        local(site).fetch(site.url("/a"))


def test_a_redirect_loop_ends(site: Site) -> None:
    site.pages["/a"] = redirect("/b")
    site.pages["/b"] = redirect("/a")
    with pytest.raises(FetchFailed, match="redirects more than 5 times"):
        local(site).fetch(site.url("/a"))
    assert len(site.asked) == 6


# DNS


def test_the_connection_goes_to_the_checked_address_with_the_name_as_host(site: Site) -> None:
    site.pages["/"] = page(b"public")
    resolver, dial = Scripted([PUBLIC], ["127.0.0.1"]), Rerouted(site.port)
    found = Fetcher(resolver=resolver, dial=dial).fetch("http://rebind.example/")
    assert found.content == b"public"
    assert dial.dialled == [(PUBLIC, 80)]
    assert resolver.asked == ["rebind.example"]
    assert site.asked == [("rebind.example", "/")]


def test_dns_that_changes_its_mind_is_caught_at_the_next_hop(site: Site) -> None:
    site.pages["/"] = redirect("http://rebind.example/again")
    resolver, dial = Scripted([PUBLIC], ["127.0.0.1"]), Rerouted(site.port)
    with pytest.raises(ForbiddenAddress, match=r"rebind\.example leads to 127\.0\.0\.1"):
        Fetcher(resolver=resolver, dial=dial).fetch("http://rebind.example/")
    assert dial.dialled == [(PUBLIC, 80)]


def test_one_private_address_among_public_ones_is_enough_to_refuse(site: Site) -> None:
    dial = Rerouted(site.port)
    with pytest.raises(ForbiddenAddress, match=r"10\.0\.0\.1, which is private"):
        Fetcher(resolver=Scripted([PUBLIC, "10.0.0.1"]), dial=dial).fetch("http://two.example/")
    assert dial.dialled == []


def test_the_next_checked_address_is_tried_when_one_does_not_answer(site: Site) -> None:
    site.pages["/"] = page(b"second")
    rerouted = Rerouted(site.port)

    def dial(address: str, port: int, timeout: float) -> httpcore.NetworkStream:
        if address == PUBLIC:
            raise httpcore.ConnectError("refused")
        return rerouted(address, port, timeout)

    fetcher = Fetcher(resolver=Scripted([PUBLIC, "1.1.1.1"]), dial=dial)
    assert fetcher.fetch("http://two.example/").content == b"second"
    assert rerouted.dialled == [("1.1.1.1", 80)]


def test_a_host_that_does_not_exist_is_one_clear_error() -> None:
    class Nowhere:
        def resolve(self, host: str, port: int) -> Sequence[str]:
            raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(FetchFailed, match=r"no\.example cannot be found"):
        Fetcher(resolver=Nowhere()).fetch("http://no.example/")


def test_a_resolver_that_hangs_does_not_hang_the_fetch() -> None:
    done = threading.Event()

    class Hanging:
        def resolve(self, host: str, port: int) -> Sequence[str]:
            done.wait(20)
            return []

    with pytest.raises(FetchFailed, match=r"did not answer within 0\.2 s"):
        Fetcher(FetchLimits(total_s=0.2), resolver=Hanging()).fetch("http://slow.example/")
    done.set()


def test_the_system_resolver_gives_every_address_once() -> None:
    assert list(SystemResolver().resolve("127.0.0.1", 80)) == ["127.0.0.1"]


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "10.0.0.1", "100.64.0.1", "127.8.8.8", "168.63.129.16", "169.254.169.254"),
        *("172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
        *("192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1"),
        *("240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:10.0.0.1"),
        *("64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:a00:1::"),
        *("3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1"),
    ],
)
def test_an_address_that_is_not_public_is_known_as_such(address: str) -> None:
    assert why_not_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", PUBLIC, "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1"),
        *("2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::808:808", "::ffff:8.8.8.8"),
        "2002:808:808::1",
    ],
)
def test_a_public_address_is_known_as_such(address: str) -> None:
    assert why_not_public(ipaddress.ip_address(address)) is None


# How much, how long


def test_a_body_that_declares_too_much_is_refused_unread(site: Site) -> None:
    site.pages["/a"] = endless(b"x" * 1000, ("Content-Length", "2000000"))
    with pytest.raises(FetchFailed, match="more than 100000 bytes"):
        local(site, body_bytes=100_000).fetch(site.url("/a"))


def test_a_body_without_a_length_is_cut_at_the_limit(site: Site) -> None:
    site.pages["/a"] = endless(b"x" * 1000)
    with pytest.raises(FetchFailed, match="more than 100000 bytes"):
        local(site, body_bytes=100_000).fetch(site.url("/a"))


def test_a_chunked_body_is_cut_at_the_limit(site: Site) -> None:
    site.pages["/a"] = endless(b"3e8\r\n" + b"x" * 1000 + b"\r\n", ("Transfer-Encoding", "chunked"))
    with pytest.raises(FetchFailed, match="more than 100000 bytes"):
        local(site, body_bytes=100_000).fetch(site.url("/a"))


def test_a_body_that_unpacks_to_too_much_is_refused(site: Site) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    site.pages["/a"] = page(bomb, ("Content-Encoding", "gzip"))
    with pytest.raises(FetchFailed, match="more than 100000 bytes"):
        local(site, body_bytes=100_000).fetch(site.url("/a"))


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"not gzip", "gzip"),
        (gzip.compress(b"words " * 1000)[:-12], "gzip"),
        (b"whatever", "br"),
        (b"whatever", "gzip, gzip"),
    ],
    ids=["not gzip", "cut short", "not asked for", "twice"],
)
def test_a_body_packed_wrongly_is_one_clear_error(
    site: Site, content: bytes, encoding: str
) -> None:
    site.pages["/a"] = page(content, ("Content-Encoding", encoding))
    with pytest.raises(FetchFailed, match="came"):
        local(site).fetch(site.url("/a"))


def test_a_body_that_ends_early_is_one_clear_error(site: Site) -> None:
    site.pages["/a"] = page(b"short", ("Content-Length", "100"))
    with pytest.raises(FetchFailed, match="could not be fetched"):
        local(site).fetch(site.url("/a"))


def test_a_server_that_drips_is_cut_off_at_the_deadline(site: Site) -> None:
    stop = threading.Event()

    def drip(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while not stop.wait(0.02):
            request.wfile.write(b"x")

    site.pages["/a"] = drip
    with pytest.raises(FetchFailed, match=r"did not answer within 0\.3 s"):
        local(site, total_s=0.3).fetch(site.url("/a"))
    stop.set()


@pytest.mark.parametrize("status", [204, 304, 403, 404, 500])
def test_anything_but_a_page_is_one_clear_error(site: Site, status: int) -> None:
    site.pages["/a"] = page(b"", status=status)
    with pytest.raises(FetchFailed, match=f"status {status}"):
        local(site).fetch(site.url("/a"))


def test_a_server_that_does_not_speak_http_is_one_clear_error(site: Site) -> None:
    def nonsense(request: http.server.BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"\x00\x01nonsense\r\n\r\n")

    site.pages["/a"] = nonsense
    with pytest.raises(FetchFailed, match="could not be fetched"):
        local(site).fetch(site.url("/a"))


def test_a_refused_connection_is_one_clear_error(site: Site) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        limits = FetchLimits(ports=frozenset({port}), allow_private=frozenset({LOCAL}))
        with pytest.raises(FetchFailed, match="could not be fetched"):
            Fetcher(limits).fetch(f"http://127.0.0.1:{port}/")


# TLS


@pytest.fixture
def secured(site: Site, tmp_path: Path) -> ssl.SSLContext:
    """Make the site speak TLS as `good.example`; return what trusts its certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "good.example")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("good.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "pair.pem"
    pem.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    site.socket = serving.wrap_socket(site.socket, server_side=True, do_handshake_on_connect=False)
    return ssl.create_default_context(cafile=str(pem))


def test_the_certificate_is_checked_against_the_name_not_the_address(
    site: Site, secured: ssl.SSLContext
) -> None:
    site.pages["/"] = page(b"secure")
    dial = Rerouted(site.port)
    fetcher = Fetcher(resolver=Scripted([PUBLIC]), dial=dial, ssl_context=secured)
    assert fetcher.fetch("https://good.example/").content == b"secure"
    assert dial.dialled == [(PUBLIC, 443)]
    with pytest.raises(FetchFailed, match="certificate"):
        fetcher.fetch("https://bad.example/")


def test_a_certificate_that_nobody_vouches_for_is_refused(
    site: Site, secured: ssl.SSLContext
) -> None:
    fetcher = Fetcher(resolver=Scripted([PUBLIC]), dial=Rerouted(site.port))
    with pytest.raises(FetchFailed, match="certificate"):
        fetcher.fetch("https://good.example/")


def test_a_redirect_from_https_to_http_is_refused(site: Site, secured: ssl.SSLContext) -> None:
    site.pages["/"] = redirect("http://good.example/")
    dial = Rerouted(site.port)
    fetcher = Fetcher(resolver=Scripted([PUBLIC]), dial=dial, ssl_context=secured)
    with pytest.raises(ForbiddenAddress, match="from https to http"):
        fetcher.fetch("https://good.example/")
    assert len(dial.dialled) == 1
