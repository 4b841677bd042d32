"""What a person reads about avatars: a list, a description, a check."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from salon.cli.common import counted

if TYPE_CHECKING:
    from salon.experts.checking import AvatarCheck, PrivateDataInCorpus, SourceStanding
    from salon.experts.replies import AvatarInfo

_MOST_LINES = 50


def list_page(avatars: "Sequence[AvatarInfo]") -> str:
    """Return one line for each avatar."""
    if not avatars:
        return "no avatars; `salon demo` makes four, `salon avatar new ID` your own"
    width = max(len(one.id) for one in avatars)
    return "\n".join(
        f"{one.id:<{width}}  {counted(one.document_count, 'document'):>13}  "
        f"{one.corpus_size:>9,} words  {one.name}"
        for one in avatars
    )


def info_page(found: "AvatarInfo") -> str:
    """Return an avatar's description."""
    first, last = found.period
    years = f"{first or 'the beginning'} to {last or 'today'}"
    rows = {
        "id": found.id,
        "name": found.name,
        "about": found.description,
        "expertise": ", ".join(found.expertise),
        "corpus": found.corpus_summary,
        "size": f"{counted(found.document_count, 'document')} ({found.verified_count:,} verified), "
        f"{found.corpus_size:,} words",
        "period": None if (first, last) == (None, None) else years,
        "voice": found.voice,
        "tools": ", ".join(found.tools),
        "label": found.ai_label,
    }
    return "\n".join(f"{name:<11}{value}" for name, value in rows.items() if value)


def check_page(found: "AvatarCheck") -> str:
    """Return everything that a check found."""
    lines = ["Sources"]
    lines += [line for source in found.sources for line in _source(source)] or ["  none"]
    if found.expertise:
        lines += ["", "Expertise (best passage, passages clearly about it)"]
        lines += [
            f"  {one.best:.2f}  {one.passages:>3}  {one.field}"
            + ("" if one.is_covered else "   NOT COVERED")
            for one in found.expertise
        ]
    lines += ["", "Private data", *(_private(found.private_data) or ["  none found"])]
    if found.broken_links is None:
        lines += ["", "Links", "  not looked at (--links)"]
    else:
        broken = [f"  {one.url}  {one.reason}" for one in found.broken_links]
        lines += ["", "Links", *(broken or ["  all can be reached"])]
    if found.remarks:
        lines += ["", "Remarks"]
        lines += [
            f"  {'BLOCKS' if one.blocks else 'look at'}: {one.text} [{one.code}]"
            for one in found.remarks
        ]
    return "\n".join([*lines, "", f"{found.avatar} is {found.verdict}"])


def _source(source: "SourceStanding") -> list[str]:
    year = "" if source.year is None else f", {source.year}"
    vouched = f" by {source.by}" if source.status != "pending" else ""
    where = source.url or source.archive_url or "no link"
    lines = [
        f"  {source.status:<9} {source.title}{year} ({source.type}{vouched})",
        f"            {where}",
    ]
    if source.notes:
        lines.append(f"            {source.notes}")
    return lines


def _private(found: "Sequence[PrivateDataInCorpus]") -> list[str]:
    """Return the places, the certain ones first."""
    ordered = sorted(found, key=lambda one: one.certainty)
    lines = [
        f"  {one.certainty:<8} {one.kind:<14} {one.masked}  in {one.title}, "
        f"{one.document_id} bytes {one.start} to {one.end}"
        for one in ordered[:_MOST_LINES]
    ]
    more = len(ordered) - _MOST_LINES
    return [*lines, f"  and {more:,} more (--json shows all)"] if more > 0 else lines
