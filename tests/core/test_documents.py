"""Documents: nine kinds of source, and provenance that makes sense."""

from dataclasses import FrozenInstanceError
from typing import cast

import pytest

from salon.core.documents import DocumentType, Provenance, VerificationStatus
from salon.core.errors import InvalidDocument

KINDS = {
    "book",
    "paper",
    "speech",
    "interview",
    "article",
    "letter",
    "textbook",
    "guide",
    "lecture",
}


def test_the_kinds_are_those_of_the_protocols_and_of_the_published_manifests() -> None:
    assert {kind.value for kind in DocumentType} == KINDS


def test_the_statuses_are_verified_pending_and_disputed() -> None:
    assert {status.value for status in VerificationStatus} == {"verified", "pending", "disputed"}


@pytest.mark.requirement("cap/concepts/document-kinds")
@pytest.mark.parametrize("kind", ["poem", "", "Book", "books", "BOOK"])
def test_any_other_kind_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="not a valid DocumentType"):
        DocumentType(kind)
    with pytest.raises(InvalidDocument):
        Provenance(title="A title", type=cast("DocumentType", kind))


@pytest.mark.parametrize("title", ["", " ", "\n\t", "\u00a0\u3000"])
def test_a_document_needs_a_title(title: str) -> None:
    with pytest.raises(InvalidDocument, match="title"):
        Provenance(title=title)


@pytest.mark.parametrize("year", [-4000, -1, 0, 1, 1990, 9999])
def test_a_year_may_be_ancient_or_far(year: int) -> None:
    assert Provenance(title="A title", year=year).year == year


@pytest.mark.parametrize("year", [-4001, 10_000, 19_900, 10**30])
def test_what_is_not_a_year_is_refused_and_named(year: int) -> None:
    with pytest.raises(InvalidDocument, match=str(year)):
        Provenance(title="A title", year=year)


@pytest.mark.parametrize("broken", ["Tit\udcffle", "\ud800"])
def test_a_title_that_is_not_text_is_refused_before_anything_is_written(broken: str) -> None:
    with pytest.raises(InvalidDocument):
        Provenance(title=broken)


def test_what_is_unknown_is_none_and_not_a_guess() -> None:
    about = Provenance(title="A title")
    unknown = (about.year, about.url, about.archive_url, about.licence, about.doi)
    assert unknown == (None,) * 5
    assert about.authors == ()
    assert about.derived is False


def test_provenance_cannot_be_changed() -> None:
    about = Provenance(title="A title")
    with pytest.raises(FrozenInstanceError):
        about.title = "Another"  # type: ignore[misc]
