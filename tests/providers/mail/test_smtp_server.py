"""SMTP against a real aiosmtpd: where a mail may have been taken, and where certainly not."""

import asyncio
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from salon.core.errors import InvalidSettings, UnknownProvider
from salon.gate.ends import Done, NotDone, NotNow, Refused, Unclear
from salon.gate.executing import Overtaken
from salon.gate.means import Mail
from salon.providers.mail import MailOptions, open_mail
from salon.providers.mail.message import as_sender
from salon.providers.mail.smtp_server import SmtpOptions
from tests.providers.calendar.server import free_port
from tests.providers.certificates import make_certificate
from tests.providers.mail.server import mail_server, taken
from tests.providers.mail.test_mail_files import make_mail


class Scripted:
    """A server that takes mails, and answers as the test wants."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.answer = "250 kept"
        self.recipient = "250 OK"
        self.hangs_up = False
        self.waits = False

    async def handle_RCPT(  # noqa: N802 - its name
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if self.recipient.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.recipient

    async def handle_DATA(self, server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        self.taken.append(envelope.content)
        if self.hangs_up:
            server.transport.abort()
        if self.waits:
            await asyncio.sleep(30)
        return self.answer


@contextmanager
def serving(handler: Scripted, **options: Any) -> Iterator[int]:
    """Run a server in this process and return its port."""
    loop = asyncio.new_event_loop()
    tls = options.pop("ssl", None)

    def start() -> SMTP:
        return SMTP(handler, loop=loop, **options)

    server = loop.run_until_complete(loop.create_server(start, "127.0.0.1", 0, ssl=tls))
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _stop(server: asyncio.Server) -> None:
    server.close()
    tasks = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _open(port: int, **options: Any) -> Mail:
    return open_mail(
        f"smtp:127.0.0.1:{port}", MailOptions(sender="Meg <meg@example.com>", **options)
    )


def test_a_mail_arrives_whole_and_commits_right_before_the_dot(tmp_path: Path) -> None:
    with mail_server(tmp_path) as port:
        seen: list[int] = []
        done = _open(port).send(make_mail(), lambda: seen.append(len(taken(tmp_path))))
        assert isinstance(done, Done)
        assert seen == [0], "at the commit the server has nothing"
        [mail] = taken(tmp_path)
    assert mail["Message-ID"] == "<salon-1@example.com>" == done.receipt.reference
    payload = mail.get_payload(decode=True)
    assert isinstance(payload, bytes)
    assert payload.replace(b"\r\n", b"\n") == b"Hi\n.\n..dots\n"


def test_a_worker_that_was_overtaken_sends_nothing() -> None:
    handler = Scripted()

    def overtaken() -> None:
        raise Overtaken

    with serving(handler) as port, pytest.raises(Overtaken):
        _open(port).send(make_mail(), overtaken)
    assert handler.taken == []


@pytest.mark.parametrize(
    ("answer", "end"), [("451 later", NotNow), ("552 too large", Refused)], ids=["4xx", "5xx"]
)
def test_an_answer_of_the_server_is_certain(answer: str, end: type) -> None:
    handler = Scripted()
    handler.answer = answer
    with serving(handler) as port:
        assert isinstance(_open(port).send(make_mail(), lambda: None), end)
    other = Scripted()
    other.recipient = answer
    commits: list[int] = []
    with serving(other) as port:
        ended = _open(port).send(make_mail(), lambda: commits.append(1))
        assert isinstance(ended, end)
        assert answer[:3] in str(ended)
    assert commits == []
    assert other.taken == []


def test_a_server_that_takes_the_mail_and_says_nothing_leaves_it_unclear() -> None:
    handler = Scripted()
    handler.hangs_up = True
    with serving(handler) as port:
        ended = _open(port).send(make_mail(), lambda: None)
    assert isinstance(ended, Unclear)
    assert len(handler.taken) == 1
    slow = Scripted()
    slow.waits = True
    with serving(slow) as port:
        ended = _open(port, timeout_s=0.5).send(make_mail(), lambda: None)
    assert isinstance(ended, Unclear)


def test_a_server_that_is_not_there_or_too_slow_to_greet_was_told_nothing() -> None:
    assert isinstance(_open(free_port()).send(make_mail(), lambda: None), NotNow)


def test_a_mail_server_cannot_be_asked_unless_sending_again_was_chosen() -> None:
    assert isinstance(_open(25).look("salon-1"), Unclear)
    assert not _open(25).is_idempotent
    assert _open(25, resends=True).look("salon-1") == NotDone()
    assert _open(25, resends=True).is_idempotent


def test_what_cannot_be_a_mail_is_refused_before_any_server_is_asked() -> None:
    assert isinstance(_open(1).send(make_mail("a\nb"), lambda: None), Refused)


def _contexts(folder: Path) -> tuple[ssl.SSLContext, str]:
    pair = make_certificate(folder, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair)
    return context, str(pair)


@pytest.mark.parametrize("kind", ["tls", "starttls"])
def test_encryption_is_kept_and_certificates_are_checked(tmp_path: Path, kind: str) -> None:
    context, trusted = _contexts(tmp_path)
    options = {"ssl": context} if kind == "tls" else {"tls_context": context}
    handler = Scripted()
    with serving(handler, **options) as port:
        address = f"smtp:localhost:{port}"
        sender = "meg@example.com"
        good = open_mail(address, MailOptions(sender=sender, tls=kind, ca_file=trusted))  # type: ignore[arg-type]
        assert isinstance(good.send(make_mail(), lambda: None), Done)
        bad = open_mail(address, MailOptions(sender=sender, tls=kind))  # type: ignore[arg-type]
        assert isinstance(bad.send(make_mail(), lambda: None), NotNow)
    assert len(handler.taken) == 1


def test_where_encryption_is_demanded_a_server_without_it_gets_nothing() -> None:
    handler = Scripted()
    with serving(handler) as port:
        ended = _open(port, tls="starttls").send(make_mail(), lambda: None)
    assert isinstance(ended, NotNow)
    assert handler.taken == []


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_login_goes_to_the_server_and_never_into_a_message() -> None:
    def check(_server: Any, _session: Any, _envelope: Any, _how: str, data: Any) -> AuthResult:
        is_right = data == LoginPassword(b"meg", b"right-secret")
        return AuthResult(success=is_right, handled=False)

    handler = Scripted()
    options = {"authenticator": check, "auth_require_tls": False, "auth_required": True}
    with serving(handler, **options) as port:
        right = _open(port, user="meg", password="right-secret")
        assert isinstance(right.send(make_mail(), lambda: None), Done)
        wrong = _open(port, user="meg", password="wrong-secret")
        refused = wrong.send(make_mail(), lambda: None)
    assert isinstance(refused, Refused)
    assert "secret" not in refused.reason
    assert "secret" not in repr(MailOptions(password="right-secret"))
    with pytest.raises(InvalidSettings, match="in the clear"):
        open_mail(
            "smtp:mx.example.com:25",
            MailOptions(sender="meg@example.com", password="secret", tls="none"),
        )


@pytest.mark.parametrize(
    ("host", "port", "tls", "comes_to"),
    [
        ("mx.example.com", 465, "auto", "tls"),
        ("mx.example.com", 587, "auto", "starttls"),
        ("localhost", 25, "auto", "none"),
        ("localhost", 25, "starttls", "starttls"),
    ],
)
def test_encryption_is_chosen_by_where_the_mail_goes(
    host: str, port: int, tls: Any, comes_to: str
) -> None:
    options = SmtpOptions(host=host, port=port, sender=as_sender("a@example.com"), tls=tls)
    assert options.encryption == comes_to


def test_without_the_extra_one_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiosmtplib", None)
    with pytest.raises(UnknownProvider, match="extra"):
        _open(25).send(make_mail(), lambda: None)
