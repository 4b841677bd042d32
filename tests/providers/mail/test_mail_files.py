"""A mail as bytes, and drafts as files."""

from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidInput, InvalidSettings, UnknownProvider
from salon.gate.ends import Done, NotDone, NotNow, Refused
from salon.gate.means import MailMessage
from salon.providers.mail import MailOptions, open_mail
from salon.providers.mail.message import as_sender, message_bytes

MEG = as_sender("Meg Hale <meg@example.com>")


def make_mail(
    subject: str = "A talk", body: str = "Hi\n.\n..dots\n", to: str = "jo@example.com"
) -> MailMessage:
    return MailMessage(
        message_id="salon-1",
        to_name="Jo Lee",
        to_address=to,
        subject=subject,
        body=body,
        dated=datetime(2026, 11, 16, 9, 0, tzinfo=UTC),
    )


def _parse(content: bytes) -> EmailMessage:
    parsed = message_from_bytes(content, policy=policy.SMTP)
    assert isinstance(parsed, EmailMessage)
    return parsed


def test_a_mail_is_what_other_programs_read() -> None:
    mail = make_mail("Grüße", "Schön\n\nwar\u2019s")
    read = _parse(message_bytes(mail, MEG))
    assert read["From"] == "Meg Hale <meg@example.com>"
    assert read["To"] == "Jo Lee <jo@example.com>"
    assert read["Subject"] == "Grüße"
    assert read["Message-ID"] == "<salon-1@example.com>"
    assert "\n".join(read.get_content().split("\r\n")).strip() == "Schön\n\nwar\u2019s"
    assert "X-Unsent" not in read
    assert message_bytes(mail, MEG) == message_bytes(mail, MEG), "the same bytes at every try"


@pytest.mark.parametrize(
    "mail",
    [
        make_mail(subject="A talk\r\nBcc: all@example.com"),
        make_mail(subject="A talk\nBcc: all@example.com"),
        make_mail(subject="A\x00talk"),
        make_mail(to="jo@example.com\r\nBcc: all@example.com"),
        make_mail(to="jo@example.com, all@example.com"),
        make_mail(to="<jo@example.com>"),
        make_mail(to="nobody"),
    ],
    ids=["CRLF", "LF", "NUL", "CRLF in the address", "two addresses", "brackets", "no address"],
)
def test_nobody_can_add_a_header(mail: MailMessage) -> None:
    with pytest.raises(InvalidInput):
        message_bytes(mail, MEG)


@given(st.text(max_size=120), st.text(max_size=200))
def test_whatever_subject_and_body_hold_there_are_no_more_headers(subject: str, body: str) -> None:
    body = body.encode(errors="replace").decode()
    try:
        content = message_bytes(make_mail(subject, body), MEG)
    except InvalidInput:
        return
    assert set(_parse(content).keys()) == {
        "From", "To", "Subject", "Date", "Message-ID", "Content-Type",
        "Content-Transfer-Encoding", "MIME-Version",
    }  # fmt: skip
    head = content.partition(b"\r\n\r\n")[0]
    assert head.count(b"\r\n") == head.count(b"\n")


@pytest.mark.parametrize("text", ["nobody", "a@b", "meg@example.com\nBcc: x@y.example", ""])
def test_a_sender_is_an_address(text: str) -> None:
    with pytest.raises(InvalidSettings, match=r"cannot|not an address"):
        as_sender(text)


def test_drafts_are_files_that_a_mail_program_opens(tmp_path: Path) -> None:
    mail = open_mail(f"eml:{tmp_path / 'drafts'}", MailOptions())
    assert mail.is_idempotent
    assert mail.look("salon-1") == NotDone()
    commits: list[int] = []
    done = mail.send(make_mail(), lambda: commits.append(1))
    assert isinstance(done, Done)
    assert commits == [1]
    assert isinstance(mail.look("salon-1"), Done)
    [path] = (tmp_path / "drafts").iterdir()
    read = _parse(path.read_bytes())
    assert read["X-Unsent"] == "1"
    assert "From" not in read
    mail.send(make_mail("Another subject"), lambda: None)
    assert path.read_bytes().count(b"A talk") == 1, "the first one stays"
    assert isinstance(mail.send(make_mail("x\ny"), lambda: None), Refused)
    (tmp_path / "file").write_text("x")
    broken = open_mail(f"eml:{tmp_path / 'file'}", MailOptions(sender="meg@example.com"))
    assert isinstance(broken.send(make_mail(), lambda: None), NotNow)


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("", UnknownProvider),
        ("pigeon:home", UnknownProvider),
        ("smtp:", UnknownProvider),
        ("smtp:host", InvalidSettings),
        ("smtp:host:0", InvalidSettings),
        ("smtp:host:99999", InvalidSettings),
        ("smtp:mx.example.com:587", InvalidSettings),  # nobody sends
        ("smtp:meg:secret@mx.example.com:587", InvalidSettings),
    ],
)
def test_an_address_that_means_nothing_is_refused(address: str, problem: type[Exception]) -> None:
    with pytest.raises(problem) as refused:
        open_mail(address, MailOptions())
    assert "secret" not in str(refused.value)
