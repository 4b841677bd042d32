"""What goes wrong with a server: when it is asked again, what is told, and what never is."""

import gzip
import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import pytest

from salon.core.chat import ask
from salon.core.errors import ProviderFailed
from salon.providers.chat import bounded_http
from salon.providers.chat.failures import Explainer, Failure, without_secret
from salon.providers.chat.log_masking import unmask
from salon.providers.chat.metered import MeteredChat
from salon.providers.chat.remote import RemoteChat
from salon.providers.chat.retrying import LONGEST_WAIT_S, RetryPolicy
from tests.providers.chat.conftest import KEY, Talk
from tests.providers.chat.wire import PIECES, TEXT, event, say_json, speak, stream
from tests.providers.model_server import (
    Behave,
    Handler,
    ModelServer,
    drip,
    hang_up,
    never_answer,
    pour,
    say,
)

QUESTION = ask("You are brief.", (), "Who governs a commons?")
Way = Callable[[MeteredChat], str]


def whole(chat: MeteredChat) -> str:
    return chat.complete(QUESTION).text


def in_pieces(chat: MeteredChat) -> str:
    return "".join(chat.stream(QUESTION))


BOTH_WAYS = pytest.mark.parametrize("way", [whole, in_pieces])


def refusal(talk: Talk, status: int, text: str = "no", **headers: str) -> Behave:
    return say_json(talk.protocol.error(status, text), status, **headers)


# Asking again


@BOTH_WAYS
def test_a_busy_server_is_asked_again_when_it_says(talk: Talk, way: Way) -> None:
    talk.server.instead.append(refusal(talk, 429, Retry_After="7"))
    assert way(talk.open()) == TEXT
    assert len(talk.server.asked) == 2
    assert len(talk.waits) == 1
    assert 7 <= talk.waits[0] < 8


@BOTH_WAYS
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(compatible: Talk, way: Way, status: int) -> None:
    compatible.server.instead.append(refusal(compatible, status))
    assert way(compatible.open()) == TEXT
    assert len(compatible.server.asked) == 2


@BOTH_WAYS
def test_patience_ends_and_waits_double(talk: Talk, way: Way) -> None:
    talk.server.always = refusal(talk, 500, "the model is on fire")
    with pytest.raises(ProviderFailed, match="status 500: the model is on fire") as caught:
        way(talk.open(retries=3))
    assert caught.value.details == {"status": 500}
    assert len(talk.server.asked) == 4
    assert talk.waits == [0.375, 0.75, 1.5]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_what_will_not_change_is_not_tried_again(talk: Talk, status: int) -> None:
    talk.server.always = refusal(talk, status)
    with pytest.raises(ProviderFailed, match=str(status)) as caught:
        talk.open().complete(QUESTION)
    assert len(talk.server.asked) == 1
    assert caught.value.hint


def test_an_empty_account_does_not_fill_up_by_asking_again(compatible: Talk) -> None:
    error = {"message": "You exceeded your quota", "type": "x", "code": "insufficient_quota"}
    compatible.server.always = say_json({"error": error}, 429)
    with pytest.raises(ProviderFailed, match="exceeded your quota") as caught:
        compatible.open().complete(QUESTION)
    assert len(compatible.server.asked) == 1
    assert "billing" in (caught.value.hint or "")


def test_a_redirect_is_not_followed(talk: Talk) -> None:
    talk.server.always = say(b"", 307, Location=f"{talk.server.url}/elsewhere")
    with pytest.raises(ProviderFailed):
        talk.open().complete(QUESTION)
    assert len(talk.server.asked) == 1
    assert talk.server.asked[0].path != "/elsewhere"


@BOTH_WAYS
def test_a_connection_that_breaks_is_made_again(talk: Talk, way: Way) -> None:
    talk.server.instead.append(hang_up)
    assert way(talk.open()) == TEXT
    assert len(talk.server.asked) == 2


def test_a_server_that_is_not_there_is_given_up(compatible: Talk) -> None:
    with pytest.raises(ProviderFailed, match="cannot be reached") as caught:
        compatible.open(url="http://127.0.0.1:9/v1", retries=2).complete(QUESTION)
    assert "server is running" in (caught.value.hint or "")
    assert len(compatible.waits) == 2


def test_a_stream_that_has_begun_is_not_begun_again(compatible: Talk) -> None:
    events = list(compatible.protocol.events(PIECES, True))[:2]
    broken = event({"error": {"message": "out of memory", "code": 500}})
    compatible.server.always = stream([*events, broken])
    answer = compatible.open().stream(QUESTION)
    assert [next(answer), next(answer)] == list(PIECES[:2])
    with pytest.raises(ProviderFailed):
        next(answer)
    assert len(compatible.server.asked) == 1


@pytest.mark.parametrize(
    ("failure", "attempt", "wait"),
    [
        (Failure(what="", hint=""), 0, None),
        (Failure(what="", hint="", may_pass=True), 0, 0.5),
        (Failure(what="", hint="", may_pass=True), 2, 2.0),
        (Failure(what="", hint="", may_pass=True), 8, 20.0),
        (Failure(what="", hint="", may_pass=True), 9, None),
        (Failure(what="", hint="", may_pass=True, has_begun=True), 0, None),
        (Failure(what="", hint="", may_pass=True, retry_after_s=0.0), 0, 0.125),
        (Failure(what="", hint="", may_pass=True, retry_after_s=LONGEST_WAIT_S), 0, 60.125),
        (Failure(what="", hint="", may_pass=True, retry_after_s=LONGEST_WAIT_S + 1), 0, None),
    ],
)
def test_how_long_is_waited(failure: Failure, attempt: int, wait: float | None) -> None:
    assert RetryPolicy(retries=9, draw=lambda: 1.0).wait_s(failure, attempt) == wait


# Answers that are none


@BOTH_WAYS
def test_a_server_that_takes_too_long_is_left(talk: Talk, way: Way) -> None:
    talk.server.always = never_answer
    with pytest.raises(ProviderFailed, match=r"did not answer within 0\.3 s"):
        way(talk.open(timeout_s=0.3))
    assert len(talk.server.asked) == 1


@BOTH_WAYS
def test_a_server_that_drips_is_left_too(compatible: Talk, way: Way) -> None:
    compatible.server.always = drip
    with pytest.raises(ProviderFailed, match="did not answer within"):
        way(compatible.open(timeout_s=0.4))


MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"<html>Welcome</html>",
    "half of it": b'{"choices": [{"mess',
    "null": b"null",
    "a list": b"[]",
    "a number": b"7",
    "nothing in it": b"{}",
    "other types": b'{"choices": 3, "content": 3, "candidates": 3}',
    "nulls": b'{"choices": null, "content": null, "candidates": null}',
    "no choices": b'{"choices": [], "content": [], "candidates": []}',
    "odd choices": b'{"choices": [null, 1], "content": [null, 1], "candidates": [null, 1]}',
    "deep": b"[" * 50_000,
    "not text": b'{"choices": [{"message": {"content": {"a": 1}}}], "content": [{"type": 1}]}',
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_answer_is_one_clear_error(talk: Talk, content: bytes) -> None:
    talk.server.always = say_json(content)
    with pytest.raises(ProviderFailed) as caught:
        talk.open().complete(QUESTION)
    assert caught.value.message.startswith(f"{talk.kind}:some-model ")
    assert caught.value.hint
    assert len(caught.value.message) < 500


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_stream_is_one_clear_error(talk: Talk, content: bytes) -> None:
    talk.server.always = stream([b"data: " + content + b"\n\n"])
    with pytest.raises(ProviderFailed):
        in_pieces(talk.open(retries=0))


@BOTH_WAYS
@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_answer_is_an_error(talk: Talk, way: Way, text: str) -> None:
    talk.server.always = speak(talk.protocol, [text])
    with pytest.raises(ProviderFailed):
        way(talk.open(retries=0))


@BOTH_WAYS
def test_half_a_character_is_not_text(compatible: Talk, way: Way) -> None:
    compatible.server.always = speak(compatible.protocol, ["A half: \ud83d"])
    with pytest.raises(ProviderFailed, match="not text"):
        way(compatible.open())


@BOTH_WAYS
def test_an_answer_without_an_end_is_not_read_to_it(compatible: Talk, way: Way) -> None:
    compatible.server.always = pour
    with pytest.raises(ProviderFailed, match="more than 8000000 bytes"):
        way(compatible.open())
    assert len(compatible.server.asked) == 1


def test_a_packed_answer_is_not_unpacked(compatible: Talk) -> None:
    bomb = gzip.compress(b" " * 1_000_000)
    compatible.server.always = say_json(bomb, Content_Encoding="gzip")
    with pytest.raises(ProviderFailed, match="packed"):
        compatible.open().complete(QUESTION)
    assert compatible.server.asked[0].headers["Accept-Encoding"] == "identity"


def test_what_a_server_says_is_told_in_one_short_printable_line(compatible: Talk) -> None:
    compatible.server.always = refusal(compatible, 422, "line\n\x1b[31mred\x07 " + "long " * 500)
    with pytest.raises(ProviderFailed) as caught:
        compatible.open().complete(QUESTION)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


def test_a_filter_that_declines_is_told_as_that() -> None:
    from pydantic_ai.exceptions import ContentFilterError

    explainer = Explainer(secret=None, timeout_s=1, hint="")
    assert explainer.explain(ContentFilterError("no")).what == "declined to answer"


def test_a_connection_that_takes_too_long_to_make_may_be_made_later() -> None:
    from pydantic_ai.exceptions import ModelTimeoutError

    explainer = Explainer(secret=None, timeout_s=1, hint="")
    slow = explainer.explain(ModelTimeoutError("m", "slow", phase="connect"))
    assert slow.may_pass
    assert not explainer.explain(ModelTimeoutError("m", "slow", phase="read")).may_pass


# Stopping


def test_a_stream_that_nobody_wants_any_more_is_ended(compatible: Talk) -> None:
    gone = threading.Event()

    def for_ever(request: Handler) -> None:
        events = list(compatible.protocol.events(PIECES, True))
        stream(events[:1])(request)
        server = request.server
        assert isinstance(server, ModelServer)
        try:
            while not server.stop.wait(0.01):
                request.wfile.write(b": still there\n\n")
        except OSError:
            gone.set()

    compatible.server.always = for_ever
    answer = compatible.open().stream(QUESTION)
    assert next(answer) == PIECES[0]
    del answer
    assert gone.wait(10)


@BOTH_WAYS
def test_closing_ends_what_is_under_way(compatible: Talk, way: Way) -> None:
    compatible.server.always = never_answer
    chat = compatible.open()
    errors: list[BaseException] = []

    def work() -> None:
        try:
            way(chat)
        except ProviderFailed as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not compatible.server.asked:
        thread.join(0.01)
    chat.close()
    thread.join(10)
    assert not thread.is_alive()
    assert len(errors) == 1


def test_a_request_that_is_cancelled_says_that_the_model_is_closed(compatible: Talk) -> None:
    compatible.server.always = never_answer
    chat = compatible.open()
    backend = chat._backend
    assert isinstance(backend, RemoteChat)

    def end_the_loop() -> None:
        while not compatible.server.asked:
            compatible.server.stop.wait(0.01)
        backend._loop.close()

    thread = threading.Thread(target=end_the_loop)
    thread.start()
    with pytest.raises(ProviderFailed, match="is closed"):
        whole(chat)
    thread.join()
    backend._link = None  # its loop is gone already, so closing cannot use it
    unmask(KEY)


def test_a_closed_model_says_so_and_can_be_closed_again(compatible: Talk) -> None:
    chat = compatible.open()
    assert whole(chat) == TEXT
    chat.close()
    chat.close()
    for way in (whole, in_pieces):
        with pytest.raises(ProviderFailed, match="is closed"):
            way(chat)
    assert not [t for t in threading.enumerate() if t.name.startswith("chat model")]


# The key is told to nobody


def frames_of(trace: TracebackType | None) -> Iterator[str]:
    """Walk what every frame of a traceback holds, except for those of this file."""
    for frame, _ in traceback.walk_tb(trace):
        if frame.f_code.co_filename != __file__:
            yield repr(dict(frame.f_locals))


def everything_in(error: BaseException | None) -> Iterator[str]:
    """Walk all that an error could show: itself, its causes, their attributes and frames."""
    while error is not None:
        yield from (str(error), repr(error), repr(error.args), repr(vars(error)))
        yield from frames_of(error.__traceback__)
        yield "".join(traceback.format_exception(error))
        error = error.__cause__ or error.__context__


ECHOES: dict[str, Callable[[Talk], Behave]] = {
    "refused": lambda talk: refusal(talk, 401, f"Incorrect API key provided: {KEY}"),
    "a part of it": lambda talk: refusal(talk, 403, f"The key {KEY[:20]}… is of another project"),
    "failed": lambda talk: refusal(talk, 500, f"panic with headers: Bearer {KEY}", X_Echo=KEY),
    "malformed": lambda _: say_json(f"<p>{KEY}</p>".encode()),
    "as text": lambda _: say(f"<p>{KEY}</p>".encode(), Content_Type="text/plain"),
    "of another shape": lambda _: say_json({"choices": [{"message": KEY}], KEY: KEY}),
    "in a stream": lambda _: stream([event({"error": {"message": KEY, "code": 500}})]),
    "hung up": lambda _: hang_up,
    "too slow": lambda _: never_answer,
}


@BOTH_WAYS
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_no_key_in_any_message_log_or_traceback(
    talk: Talk, way: Way, echo: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    talk.server.always = echo(talk)
    # Long enough that the server is asked on a busy machine too; only one of these waits it out.
    chat = talk.open(retries=1, timeout_s=3)
    with pytest.raises(ProviderFailed) as caught:
        way(chat)
    assert talk.server.asked
    shown = [*everything_in(caught.value), repr(caught.value.as_json()), repr(chat), caplog.text]
    shown += [repr(vars(record)) for record in caplog.records]
    assert not [text for text in shown if KEY in text or KEY[:20] in text]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_no_key_in_the_logs_of_what_goes_well(talk: Talk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    chat = talk.open()
    whole(chat)
    in_pieces(chat)
    assert not [record for record in caplog.records if KEY in repr(vars(record))]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("key abcdefghijkl.", "key [key]."),
        ("part cdefghijk of it", "part [key] of it"),
        ("too little cdefghi of it", "too little cdefghi of it"),
        ("twice abcdefghijklabcdefghijkl", "twice [key][key]"),
    ],
)
def test_a_secret_is_masked_whole_and_in_part(text: str, left: str) -> None:
    assert without_secret(text, "abcdefghijkl") == left


def test_a_short_secret_is_masked_where_it_stands_whole() -> None:
    assert without_secret("pin 1234, 123", "1234") == "pin [key], 123"
    assert without_secret("nothing to hide", None) == "nothing to hide"


def test_the_client_stands_between_a_key_and_the_rest_of_the_world() -> None:
    client = bounded_http.open_client("https://a.test", timeout_s=1, is_own_account=True)
    assert not client.follow_redirects
    assert not client.trust_env
