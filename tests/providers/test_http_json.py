"""JSON over HTTP against a real server: what arrives, what is refused, what is tried again."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from salon.core.errors import InvalidSettings, ProviderFailed
from salon.providers.http_json import Answer, JsonClient, JsonServer
from tests.providers.certificates import make_certificate, serve_tls
from tests.providers.model_server import (
    Handler,
    ModelServer,
    drip,
    hang_up,
    has_ipv6,
    never_answer,
    pour,
    say,
    serving,
)

KEY = "sk-not-a-real-key-1234567890"


class Said(Answer):
    said: str


class Sleeps:
    """Takes note of how long it should have slept."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client(server: ModelServer, sleep: Sleeps | None = None, **settings: object) -> JsonClient:
    return JsonClient(
        JsonServer(base_url=server.url, **settings),  # type: ignore[arg-type]
        sleep=sleep or Sleeps(),
    )


# What arrives


def test_a_body_arrives_and_the_answer_comes_back_without_what_was_not_asked_for(
    model_server: ModelServer,
) -> None:
    with client(model_server) as asking:
        answer = asking.post("/echo", {"say": "größer 😀"}, Said)
    assert answer == Said(said="größer 😀")
    (asked,) = model_server.asked
    assert (asked.method, asked.path) == ("POST", "/echo")
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["Host"] == model_server.url.removeprefix("http://")
    assert "Authorization" not in asked.headers


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_an_ipv6_address_is_named_in_brackets() -> None:
    with serving(host="::1") as server:
        assert server.url.startswith("http://[::1]:")
        with client(server) as asking:
            asking.get("/echo", Said)
        assert server.asked[0].headers["Host"] == server.url.removeprefix("http://")


def test_a_get_has_no_body(model_server: ModelServer) -> None:
    with client(model_server) as asking:
        assert asking.get("/echo", Said).said == "nothing"
    assert model_server.asked[0].method == "GET"


def test_a_base_url_may_end_in_a_path_with_or_without_a_slash(model_server: ModelServer) -> None:
    for end in ("/v1", "/v1/"):
        model_server.instead.append(say({"said": "here"}))
        with JsonClient(JsonServer(base_url=model_server.url + end)) as asking:
            asking.get("/echo", Said)
    assert [asked.path for asked in model_server.asked] == ["/v1/echo", "/v1/echo"]


def test_the_key_goes_into_one_header_and_no_repr(model_server: ModelServer) -> None:
    with client(model_server, api_key=KEY) as asking:
        asking.get("/echo", Said)
        assert KEY not in repr(asking.server)
    assert model_server.asked[0].headers["Authorization"] == f"Bearer {KEY}"


def test_a_connection_is_used_again(model_server: ModelServer) -> None:
    with client(model_server) as asking:
        for _ in range(5):
            asking.get("/echo", Said)
    assert (len(model_server.asked), model_server.connections) == (5, 1)


def test_many_threads_may_ask_at_once(model_server: ModelServer) -> None:
    with client(model_server) as asking, ThreadPoolExecutor(8) as threads:
        words = [f"word {number}" for number in range(40)]
        answers = threads.map(lambda word: asking.post("/echo", {"say": word}, Said).said, words)
        assert list(answers) == words


# What is tried again


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again_after_a_growing_wait(
    model_server: ModelServer, status: int
) -> None:
    sleep = Sleeps()
    model_server.instead += [say({}, status)] * 3
    with client(model_server, sleep) as asking:
        assert asking.get("/echo", Said).said == "nothing"
    assert sleep.seconds == [0.5, 1.0, 2.0]


def test_patience_ends(model_server: ModelServer) -> None:
    sleep = Sleeps()
    model_server.always = say({"error": "too many requests"}, 429)
    with client(model_server, sleep) as asking, pytest.raises(ProviderFailed) as caught:
        asking.get("/echo", Said)
    assert "status 429: too many requests" in caught.value.message
    assert caught.value.details["status"] == 429
    assert (len(model_server.asked), len(sleep.seconds)) == (4, 3)


@pytest.mark.parametrize(
    ("wish", "wait"), [("3", 3.0), ("86400", 20.0), ("soon", 0.5), ("-1", 0.5), ("²", 0.5)]
)
def test_a_server_may_say_how_long_to_wait_within_reason(
    model_server: ModelServer, wish: str, wait: float
) -> None:
    sleep = Sleeps()
    header = wish.encode().decode("latin-1")
    model_server.instead.append(say({}, 503, Retry_After=header))
    with client(model_server, sleep) as asking:
        asking.get("/echo", Said)
    assert sleep.seconds == [wait]


def test_a_server_that_hangs_up_is_asked_again(model_server: ModelServer) -> None:
    model_server.instead += [hang_up, hang_up]
    with client(model_server) as asking:
        assert asking.post("/echo", {"say": "hi"}, Said).said == "hi"
    assert len(model_server.asked) == 3


def test_a_connection_that_the_server_has_closed_meanwhile_is_replaced(
    model_server: ModelServer,
) -> None:
    def last_words(request: Handler) -> None:
        say({"said": "bye"}, Connection="close")(request)
        request.close_connection = True

    model_server.instead.append(last_words)
    with client(model_server) as asking:
        assert asking.get("/echo", Said).said == "bye"
        assert asking.get("/echo", Said).said == "nothing"
    assert model_server.connections == 2


def test_a_server_that_is_not_there_is_one_clear_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        sleep = Sleeps()
        server = JsonServer(base_url=url, hint="start it")
        with JsonClient(server, sleep=sleep) as asking, pytest.raises(ProviderFailed) as caught:
            asking.get("/echo", Said)
    assert caught.value.message.startswith(f"{url}/echo cannot be reached")
    assert caught.value.hint == "start it"
    assert len(sleep.seconds) == 3


# What is refused


@pytest.mark.parametrize("behave", [never_answer, drip], ids=["silent", "dripping"])
def test_a_slow_server_is_cut_off_at_the_deadline_and_not_asked_again(
    model_server: ModelServer, behave: object
) -> None:
    model_server.always = behave  # type: ignore[assignment]
    with (
        client(model_server, timeout_s=0.2) as asking,
        pytest.raises(ProviderFailed, match=r"did not answer within 0\.2 s") as caught,
    ):
        asking.get("/echo", Said)
    assert caught.value.hint
    assert len(model_server.asked) == 1


def test_no_time_at_all_is_a_deadline_too(model_server: ModelServer) -> None:
    with (
        client(model_server, timeout_s=0) as asking,
        pytest.raises(ProviderFailed, match="did not answer within 0 s"),
    ):
        asking.get("/echo", Said)
    assert model_server.asked == []


def test_a_deadline_is_for_each_request_anew(model_server: ModelServer) -> None:
    model_server.instead.append(never_answer)
    with client(model_server, timeout_s=0.2) as asking:
        with pytest.raises(ProviderFailed, match="did not answer"):
            asking.get("/echo", Said)
        assert asking.get("/echo", Said).said == "nothing"


def test_an_answer_without_an_end_is_cut_off(model_server: ModelServer) -> None:
    model_server.always = pour
    with (
        client(model_server, answer_bytes=100_000) as asking,
        pytest.raises(ProviderFailed, match="more than 100000 bytes"),
    ):
        asking.get("/echo", Said)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"<html>no</html>", b"{", b"[1]", b'{"said": 3}', b'{"sad": "x"}', b"\xff\xfe"),
        b"[" * 50_000,
    ],
)
def test_an_answer_of_another_shape_is_one_clear_error_that_does_not_repeat_it(
    model_server: ModelServer, content: bytes
) -> None:
    model_server.always = say(content)
    with client(model_server) as asking, pytest.raises(ProviderFailed) as caught:
        asking.get("/echo", Said)
    assert "answered with something unexpected" in caught.value.message
    assert len(caught.value.message) < 300
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"error": "model 'x' not found"}, ": model 'x' not found"),
        ({"error": {"message": "no such model", "code": 3}}, ": no such model"),
        ({"detail": "Not Found"}, ": Not Found"),
        (b"<h1>gone</h1>\n\n\x1b[31m now", ": <h1>gone</h1> ?[31m now"),
        (b"", ""),
        (b"x" * 1000, ": " + "x" * 300 + "…"),
        (b"[" * 30_000, ": " + "[" * 300 + "…"),
    ],
)
def test_what_a_server_says_about_its_refusal_is_told_in_one_line(
    model_server: ModelServer, content: object, said: str
) -> None:
    model_server.always = say(content, 404)
    with client(model_server) as asking, pytest.raises(ProviderFailed) as caught:
        asking.get("/echo", Said)
    assert caught.value.message.partition("answered with status 404")[2] == said
    assert caught.value.hint == "check the base URL and the name of the model"


def test_a_refusal_without_an_end_is_cut_off(model_server: ModelServer) -> None:
    model_server.always = say(b"x" * 1_000_000, 500)
    with client(model_server) as asking, pytest.raises(ProviderFailed) as caught:
        asking.get("/echo", Said)
    assert "status 500" in caught.value.message
    assert len(caught.value.message) < 400


def test_the_key_is_not_repeated_even_if_the_server_repeats_it(model_server: ModelServer) -> None:
    model_server.always = say({"error": {"message": "y" * 290 + f" {KEY} is wrong"}}, 401)
    with client(model_server, api_key=KEY) as asking, pytest.raises(ProviderFailed) as caught:
        asking.get("/echo", Said)
    assert caught.value.hint == "check the API key"
    assert "[key]" in caught.value.message
    assert KEY[:8] not in str(caught.value.as_json())


def test_a_hint_of_the_caller_goes_before_the_general_one(model_server: ModelServer) -> None:
    model_server.always = say({}, 404)
    with (
        client(model_server, hints={404: "pull the model"}) as asking,
        pytest.raises(ProviderFailed) as caught,
    ):
        asking.get("/echo", Said)
    assert caught.value.hint == "pull the model"


def test_a_redirect_is_not_followed_with_the_key(model_server: ModelServer) -> None:
    model_server.instead.append(say({}, 307, Location=f"{model_server.url}/echo"))
    with (
        client(model_server, api_key=KEY) as asking,
        pytest.raises(ProviderFailed, match="status 307"),
    ):
        asking.post("/elsewhere", {}, Said)
    assert len(model_server.asked) == 1


def test_a_server_that_does_not_speak_http_is_one_clear_error(model_server: ModelServer) -> None:
    def nonsense(request: Handler) -> None:
        request.close_connection = True
        request.wfile.write(b"\x00\x01nonsense\r\n\r\n")

    model_server.always = nonsense
    with client(model_server) as asking, pytest.raises(ProviderFailed, match="cannot be reached"):
        asking.get("/echo", Said)


def test_https_needs_a_server_that_speaks_it(model_server: ModelServer) -> None:
    url = model_server.url.replace("http:", "https:")
    server = JsonServer(base_url=url, timeout_s=5)
    with (
        JsonClient(server, sleep=Sleeps()) as asking,
        pytest.raises(ProviderFailed, match="cannot be reached"),
    ):
        asking.get("/echo", Said)
    assert model_server.asked == []


def test_https_reaches_a_server_whose_certificate_is_vouched_for(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = make_certificate(tmp_path, "localhost")
    serve_tls(model_server, pair)
    url = model_server.url.replace("http://127.0.0.1", "https://localhost")
    server = JsonServer(base_url=url, timeout_s=5)
    with (
        JsonClient(server, sleep=Sleeps()) as asking,
        pytest.raises(ProviderFailed, match="certificate"),
    ):
        asking.get("/echo", Said)
    monkeypatch.setenv("SSL_CERT_FILE", str(pair))
    with JsonClient(server, sleep=Sleeps()) as asking:
        assert asking.get("/echo", Said).said == "nothing"


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:11434", "ftp://example.org", "http://", "http:///v1", "http://[::1"),
        *("http://example.org:port", "http://exa mple.org", "http://example.org/?q=1"),
        *("http://example.org/#part", "http://exämple.org", "http://example.org/\r\nX: y"),
    ],
)
def test_what_is_not_the_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        JsonClient(JsonServer(base_url=url))
    assert caught.value.hint


@pytest.mark.parametrize("url", ["http://me:secret@example.org", "http://me:secret@host:port"])
def test_credentials_in_a_url_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InvalidSettings, match="user name or password") as caught:
        JsonClient(JsonServer(base_url=url))
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("key", ["", "sk-secret\nX: y", "sk-sécret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        JsonClient(JsonServer(base_url="http://127.0.0.1", api_key=key))
    assert "cret" not in str(caught.value.as_json())


@pytest.mark.parametrize("status", [200, 201, 202])
def test_every_answer_of_the_200s_is_one(model_server: ModelServer, status: int) -> None:
    model_server.instead.append(say({"name": "made"}, status))
    with JsonClient(JsonServer(base_url=model_server.url)) as client:
        assert client.get("/x", Named).name == "made"


def test_a_refusal_says_how_long_the_server_wants_to_be_left_alone(
    model_server: ModelServer,
) -> None:
    model_server.instead += [say({}, 429, Retry_After="90"), say({}, 429, Retry_After="soon")]
    with JsonClient(JsonServer(base_url=model_server.url, waits_s=())) as client:
        for expected in (90.0, None):
            with pytest.raises(ProviderFailed) as caught:
                client.get("/x", Named)
            assert caught.value.details["retry_after_s"] == expected


class Named(Answer):
    name: str
