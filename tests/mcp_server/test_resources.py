"""What can be read of an avatar: sources, texts, cards and how they stand; and nothing else."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, TextResourceContents

from salon.app import Salon
from salon.core.hashing import content_hash
from salon.core.ids import AvatarId
from salon.corpus.manifest import corpus_handle
from salon.mcp_server.avatar_server import build_avatar_server
from tests.mcp_server.homes import AVATAR, make_home
from tests.mcp_server.talking import ERAS, read, talk

PLACE = f"avatar://{AVATAR}"


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with Salon(make_home(tmp_path_factory.mktemp("home"))) as salon:
        yield salon


@pytest.fixture(scope="module")
def server(salon: Salon) -> Server[Any]:
    return build_avatar_server(salon, AVATAR)


def _canal(salon: Salon) -> Any:
    return next(one for one in salon.documents(avatar=AVATAR) if one.provenance.year == 1901)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.requirement("cap/verification/source-list")
def test_every_document_is_in_the_public_list_of_sources(
    server: Server[Any], salon: Salon, era: str
) -> None:
    listed = json.loads(read(server, f"{PLACE}/sources", era))["sources"]
    assert [one["title"] for one in listed] == ["On keeping a canal", "Water in a dry year"]
    assert [one["verification"] for one in listed] == ["verified", "pending"]
    for one in listed:
        assert {"url", "archive_url", "licence", "authors", "year", "type"} <= one.keys()
        text = read(server, one["uri"], era)
        assert content_hash(text.encode()) == one["text"]


@pytest.mark.parametrize("era", ERAS)
def test_documents_are_listed_beside_what_every_avatar_has(server: Server[Any], era: str) -> None:
    listed = talk(server, era, lambda client: client.list_resources()).resources
    assert [one.uri for one in listed[:2]] == [f"{PLACE}/sources", f"{PLACE}/verification"]
    assert [one.title for one in listed[2:]] == ["On keeping a canal", "Water in a dry year"]
    assert listed[2].description == "Article, 1901; verified."
    templates = talk(server, era, lambda client: client.list_resource_templates())
    assert [one.uri_template for one in templates.resource_templates] == [
        f"{PLACE}/documents/{{document}}",
        "card://{hash}{?start,end}",
        "handle://{+name}",
    ]


def test_a_handle_of_the_corpus_tells_where_it_leads_and_led(
    server: Server[Any], salon: Salon
) -> None:
    canal, name = _canal(salon), "essays/On keeping a canal"
    secret = salon.archive.add(b"Nobody outside may know of this.").hash
    salon.archive.write(lambda tx: tx.set_handle(name, secret))
    salon.archive.write(lambda tx: tx.set_handle("private/diary", secret))
    address = "handle://essays/On%20keeping%20a%20canal"
    with pytest.raises(MCPError, match="no handle"):
        read(server, address)
    salon.archive.write(lambda tx: tx.set_handle(name, canal.text))
    told = json.loads(read(server, address))
    card = {"hash": canal.text, "uri": f"card://{canal.text}"}
    assert told["name"] == name
    assert told["current"] == card
    assert read(server, told["current"]["uri"]).startswith("A canal that everyone uses")
    assert [one["current"] for one in told["history"]] == [card, None], (
        "a card of others is not told"
    )
    corpus = json.loads(read(server, f"handle://{corpus_handle(AvatarId(AVATAR))}"))
    assert len(corpus["history"]) >= 2
    assert "uri" not in corpus["current"]
    for hidden in ("private/diary", "never/made", "No%00name"):
        with pytest.raises(MCPError):
            read(server, f"handle://{hidden}")


def test_a_card_is_read_whole_or_in_part(server: Server[Any], salon: Salon) -> None:
    canal = _canal(salon)
    whole = read(server, f"card://{canal.text}")
    assert whole.startswith("A canal that everyone uses")
    start = whole.encode().index(b"will silt")
    part = read(server, f"card://{canal.text}?start={start}&end={start + 9}")
    assert part == "will silt"
    assert read(server, f"card://{canal.text}?start={start}") == whole.encode()[start:].decode()


def test_spans_count_bytes(server: Server[Any], salon: Salon) -> None:
    drought = next(one for one in salon.documents(avatar=AVATAR) if one.id != _canal(salon).id)
    mark = salon.archive.get(drought.text).content.index("“".encode())
    assert read(server, f"card://{drought.text}?start={mark}&end={mark + 3}") == "“"
    with pytest.raises(MCPError, match="inside a character"):
        read(server, f"card://{drought.text}?start={mark}&end={mark + 1}")


@pytest.mark.parametrize(
    "span", ["start=5&end=2", "end=99999999", "start=-1", "start=a", "start=²", "end=1e3"]
)
def test_a_span_outside_the_card_is_refused(server: Server[Any], salon: Salon, span: str) -> None:
    with pytest.raises(MCPError, match=r"bytes|not all in this card"):
        read(server, f"card://{_canal(salon).text}?{span}")


def test_cards_of_nobodys_corpus_are_not_handed_out(server: Server[Any], salon: Salon) -> None:
    secret = salon.archive.add(b"somebody else's conversation").hash
    profile = salon.archive.resolve(f"avatars/{AVATAR}/profile").current
    for card in (secret, profile, "0" * 64):
        with pytest.raises(MCPError, match="has no card"):
            read(server, f"card://{card}")
    for wrong in ("card://xyz", f"{PLACE}/documents/doc_0", "avatar://other/sources"):
        with pytest.raises(MCPError):
            read(server, wrong)


@pytest.mark.parametrize("era", ERAS)
def test_the_report_says_who_vouches_and_that_bytes_are_intact(
    server: Server[Any], era: str
) -> None:
    report = json.loads(read(server, f"{PLACE}/verification", era))
    assert report["intact"] is True
    assert report["counts"] == {"verified": 1, "pending": 1, "disputed": 0}
    first = report["documents"][0]
    assert (first["status"], first["notes"]) == ("verified", "seen in the original")
    assert first["by"]
    assert first["at"]


def test_a_card_says_of_which_type_it_is(server: Server[Any], salon: Salon, tmp_path: Path) -> None:
    from salon.core.ids import AvatarId
    from salon.corpus.ingest import Failed
    from salon.corpus.sources import FileSource

    page = tmp_path / "gate.html"
    page.write_text(
        "<html><body><article><h1>Gates</h1><p>A gate is opened slowly, from the left, and never "
        "by one person alone, for the wheel is heavier than it looks.</p></article></body></html>"
    )
    (result,) = salon.ingest([FileSource(path=page)])
    assert not isinstance(result, Failed)
    document = result.document
    salon.add_to_corpus(AvatarId(AVATAR), [document.id])
    try:
        uris = [f"card://{one}" for one in (document.source, document.text, document.layout)]
        source, text, layout = (
            talk(server, "auto", lambda client, uri=uri: client.read_resource(uri)).contents[0]  # type: ignore[misc]
            for uri in uris
        )
        assert isinstance(source, BlobResourceContents)
        assert base64.b64decode(source.blob) == page.read_bytes()
        assert source.mime_type == "text/html"
        assert isinstance(text, TextResourceContents)
        assert isinstance(layout, TextResourceContents)
        assert (text.mime_type, layout.mime_type) == ("text/plain", "application/json")
    finally:
        salon.remove_from_corpus(AvatarId(AVATAR), [document.id])


def test_a_changed_byte_shows_in_the_report(tmp_path: Path) -> None:
    import sqlite3

    settings = make_home(tmp_path / "home")
    with Salon(settings) as salon:
        text = _canal(salon).text
        salon.avatar_info(AVATAR)  # counts the words, while they can be read
    with sqlite3.connect(settings.archive_path) as connection:
        connection.execute(
            "UPDATE card SET content = CAST(replace(content, 'three', 'seven') AS BLOB) "
            "WHERE hash = ?",
            (text,),
        )
    connection.close()
    with Salon(settings) as salon:
        report = json.loads(read(build_avatar_server(salon, AVATAR), f"{PLACE}/verification"))
    assert report["intact"] is False
    assert [one["text_intact"] for one in report["documents"]] == [False, True]
