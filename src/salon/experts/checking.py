"""Checking an avatar: may people be let near it?

The list of sources is public and complete, and so is what is doubtful about them. What blocks an
avatar is said apart from what somebody should look at. The network is touched only on request.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from salon.core.archive import Archive
from salon.core.documents import Document, VerificationStatus
from salon.core.errors import SalonError
from salon.corpus.search import SearchAnswer
from salon.experts.avatars import describes
from salon.experts.describing import corpus_documents
from salon.experts.profile import Profile
from salon.guard.pii import find_private_data
from salon.guard.pii_rules import Certainty, Kind

COVERED = 0.5
"""From this probability on, a passage is taken to be about a field of expertise."""
_LOOKED_AT = 10

Search: TypeAlias = Callable[[str, int], SearchAnswer]
"""Searches the avatar's corpus: a query, and how many passages at most."""
Reach: TypeAlias = Callable[[str], object]
"""Fetches a page, or raises one of Salon's errors."""
Progress: TypeAlias = Callable[[int, int], None]

_DENIAL = re.compile(
    r"(?i)(?:never|do not|don't|not to|refuse to|must not|without)\W+(?:\w+\W+){0,4}"
    r"(?:say|admit|reveal|mention|disclose|acknowledg\w+|tell|admitting|revealing|disclosing)\W+"
    r"(?:\w+\W+){0,8}(?:an? )?(?:AI|artificial|language model|machine|bot|computer program)\b"
    r"|(?:den(?:y|ies)|claim|pretend|insist)\W+(?:\w+\W+){0,6}(?:not\W+(?:an? )?(?:AI|artificial|"
    r"language model|machine|bot)\b|(?:a |the )?(?:real|living|actual) (?:person|human)|human\b)"
)
_NEGATED = re.compile(r"(?i)(?:never|not|n't|without)\W+(?:\w+\W+){0,3}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStanding:
    """One document of the corpus as the public list shows it."""

    document_id: str
    title: str
    type: str
    authors: tuple[str, ...]
    year: int | None
    url: str | None
    archive_url: str | None
    licence: str | None
    status: str
    by: str
    notes: str
    in_period: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCoverage:
    """How well the corpus covers one declared field of expertise."""

    field: str
    best: float
    passages: int
    source: str | None

    @property
    def is_covered(self) -> bool:
        """Tell whether at least one passage is about it."""
        return self.best >= COVERED


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateDataInCorpus:
    """Private data and its place: bytes of the document's text."""

    kind: Kind
    certainty: Certainty
    document_id: str
    title: str
    start: int
    end: int
    masked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLink:
    """An address of a document that leads nowhere."""

    document_id: str
    title: str
    url: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something about an avatar that somebody should know; `blocks` if it must be mended first."""

    code: str
    text: str
    blocks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AvatarCheck:
    """Everything that was found."""

    avatar: str
    verdict: Literal["ready", "blocked"]
    sources: tuple[SourceStanding, ...]
    not_in_corpus: tuple[str, ...]
    """Titles that the profile lists and nobody has added yet."""
    without_link: tuple[str, ...]
    """Titles of documents with neither an original nor an archive address."""
    expertise: tuple[FieldCoverage, ...]
    private_data: tuple[PrivateDataInCorpus, ...]
    broken_links: tuple[BrokenLink, ...] | None
    """`None`: nobody asked, so nobody looked."""
    remarks: tuple[Remark, ...]


def check_avatar(
    archive: Archive,
    profile: Profile,
    *,
    search: Search,
    reach: Reach | None = None,
    accept_private_data: bool = False,
    on_progress: Progress = lambda _done, _total: None,
) -> AvatarCheck:
    """Look at everything an avatar rests on."""
    documents = corpus_documents(archive, profile)
    coverage = tuple(_coverage(field, search) for field in profile.expertise)
    private = tuple(_private_data(archive, documents, on_progress))
    broken = None if reach is None else tuple(_broken_links(documents, reach))
    missing = tuple(
        source.title
        for source in profile.corpus.sources
        if not any(describes(source, document) for document in documents)
    )
    unlinked = tuple(
        document.provenance.title
        for document in documents
        if not (document.provenance.url or document.provenance.archive_url)
    )
    standing = tuple(_standing(document, profile) for document in documents)
    remarks = (
        *_about_persona(profile),
        *_about_sources(standing, missing, unlinked),
        *_about_coverage(coverage),
        *_about_private_data(private, accepted=accept_private_data),
        *_about_links(broken or ()),
    )
    return AvatarCheck(
        avatar=profile.id,
        verdict="blocked" if any(remark.blocks for remark in remarks) else "ready",
        sources=standing,
        not_in_corpus=missing,
        without_link=unlinked,
        expertise=coverage,
        private_data=private,
        broken_links=broken,
        remarks=remarks,
    )


# Looking


def _standing(document: Document, profile: Profile) -> SourceStanding:
    about, judged = document.provenance, document.verification
    return SourceStanding(
        document_id=document.id,
        title=about.title,
        type=str(about.type),
        authors=about.authors,
        year=about.year,
        url=about.url,
        archive_url=about.archive_url,
        licence=about.licence,
        status=str(judged.status),
        by=judged.by,
        notes=judged.notes,
        in_period=profile.period.holds(about.year),
    )


def _coverage(field: str, search: Search) -> FieldCoverage:
    found = search(field, _LOOKED_AT).passages
    return FieldCoverage(
        field=field,
        best=round(found[0].score, 4) if found else 0.0,
        passages=sum(passage.score >= COVERED for passage in found),
        source=found[0].source if found else None,
    )


def _private_data(
    archive: Archive, documents: Sequence[Document], on_progress: Progress
) -> Iterator[PrivateDataInCorpus]:
    for number, document in enumerate(documents, 1):
        text = archive.get(document.text).content.decode(errors="replace")
        counted, place = 0, 0  # bytes up to a character, counted once
        for found in find_private_data(text):
            counted += len(text[place : found.start].encode())
            start, place = counted, found.start
            yield PrivateDataInCorpus(
                kind=found.kind,
                certainty=found.certainty,
                document_id=document.id,
                title=document.provenance.title,
                start=start,
                end=start + len(text[found.start : found.end].encode()),
                masked=found.masked,
            )
        on_progress(number, len(documents))


def _broken_links(documents: Sequence[Document], reach: Reach) -> Iterator[BrokenLink]:
    for document in documents:
        about = document.provenance
        for url in (about.url, about.archive_url):
            if url is None:
                continue
            try:
                reach(url)
            except SalonError as error:
                yield BrokenLink(
                    document_id=document.id, title=about.title, url=url, reason=error.message
                )


def denies_being_an_ai(text: str) -> bool:
    """Tell whether a persona is told to hide what it is; `never claim to be human` is not that."""
    return any(
        not _NEGATED.search(text[max(0, found.start() - 40) : found.start()])
        for found in _DENIAL.finditer(text)
    )


# Judging


def _about_persona(profile: Profile) -> Iterator[Remark]:
    prompt = profile.system_prompt
    texts = (prompt.identity, prompt.tone, prompt.citation_style, *prompt.constraints)
    if any(denies_being_an_ai(text) for text in texts):
        yield Remark(
            code="persona_denies_ai",
            text="the persona is told to hide that it is an AI; no avatar may be",
            blocks=True,
        )


def _about_sources(
    standing: Sequence[SourceStanding], missing: Sequence[str], unlinked: Sequence[str]
) -> Iterator[Remark]:
    if not standing:
        yield Remark(
            code="empty_corpus",
            text="the corpus is empty, so the avatar knows nothing; add sources",
            blocks=True,
        )
    for status, blocks, what in (
        (VerificationStatus.DISPUTED, True, "is disputed"),
        (VerificationStatus.PENDING, False, "is not verified yet"),
    ):
        titles = [one.title for one in standing if one.status == status]
        if titles:
            yield Remark(code=f"source_{status}", text=_named(titles, what), blocks=blocks)
    late = [one.title for one in standing if not one.in_period]
    groups: tuple[tuple[str, Sequence[str], str], ...] = (
        ("outside_period", late, "lies outside the period and is never used"),
        ("not_in_corpus", missing, "is listed in the profile but was never added"),
        ("without_link", unlinked, "has neither an original nor an archive address"),
    )
    for code, named, what in groups:
        if named:
            yield Remark(code=code, text=_named(named, what), blocks=False)


def _about_coverage(coverage: Sequence[FieldCoverage]) -> Iterator[Remark]:
    bare = [one.field for one in coverage if not one.is_covered]
    if bare:
        yield Remark(
            code="expertise_not_covered",
            text=_named(bare, "is declared as expertise, and no passage is clearly about it"),
            blocks=False,
        )


def _about_private_data(
    found: Sequence[PrivateDataInCorpus], *, accepted: bool
) -> Iterator[Remark]:
    certain = sum(one.certainty == "certain" for one in found)
    if certain:
        yield Remark(
            code="private_data",
            text=f"private data in {certain} {'place' if certain == 1 else 'places'}"
            + (", accepted" if accepted else "; remove the documents, or accept it knowingly"),
            blocks=not accepted,
        )
    if len(found) > certain:
        yield Remark(
            code="possible_private_data",
            text=f"what may be private data in {len(found) - certain} more; look at it",
            blocks=False,
        )


def _about_links(broken: Sequence[BrokenLink]) -> Iterator[Remark]:
    if broken:
        yield Remark(
            code="broken_links",
            text=_named([one.url for one in broken], "cannot be reached"),
            blocks=True,
        )


def _named(titles: Sequence[str], what: str) -> str:
    first, more = titles[0], len(titles) - 1
    return f"“{first}” {what}" + (f" (and {more} more)" if more else "")
