"""The signed record of a chapter: what was published, who voted how, and what every block rests on.

The record is canonical JSON with the public key in it; the signature covers everything else, for
the purpose `council-chapter`. It names the Markdown by hash and repeats nothing that the Markdown
does not say, so that it can be derived again from the round and the text alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from salon.archive.audit.signing import Signer, is_signature_of
from salon.core.absent import Absent
from salon.core.canonical import canonical_json
from salon.core.citations import Citation
from salon.core.errors import InvalidDocument
from salon.council.ballots import Tally, counted_votes, effective_votes
from salon.council.drafts import Draft, cut_sentences, plain_block, read_draft
from salon.council.naming import chapter_handle
from salon.council.phases import SYSTEM
from salon.council.rounds import Candidate, Round

KIND = "salon.chapter"
VERSION = 1
PURPOSE = "council-chapter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What the votes on the chosen candidate came to, and what they are worth."""

    tally: Tally
    effective: float | Absent


def counting_of(round_: Round, counted: Tally) -> Counting:
    """Return the counts of a round that go into a record."""
    return Counting(tally=counted, effective=effective_votes([round_]))


def make_record(
    round_: Round, candidate: Candidate, markdown: str, counting: Counting, *, at: str
) -> dict[str, Any]:
    """Return the record of a chapter, unsigned."""
    draft = read_draft(markdown)
    voters = [one for one in counted_votes(round_) if one.candidate == candidate.id]
    return {
        "kind": KIND,
        "version": VERSION,
        "module_id": round_.topic_id,
        "title": draft.title,
        "topic": round_.topic,
        "orchestrator": SYSTEM,
        "mcard_hash": candidate.text,
        "mcard_handle": chapter_handle(round_.topic_id),
        "round": round_.id,
        "attempt": round_.attempt,
        "candidate": candidate.id,
        "authors": list(candidate.authors),
        "is_fusion": candidate.is_fusion,
        "consensus_metadata": {
            "average_score": _plain(counting.tally.mean),
            "geometric_mean": _plain(counting.tally.score),
            "weighted_score": _plain(counting.tally.weighted),
            "lowest_score": _plain(counting.tally.lowest),
            "voters": counting.tally.voters,
            "effective_votes": _plain(counting.effective),
            "scores": [
                {
                    "seat": one.seat,
                    "accuracy": one.scores.accuracy,
                    "depth": one.scores.depth,
                    "pedagogy": one.scores.pedagogy,
                    "verdict": one.verdict,
                    "ballot": one.ballot,
                }
                for one in voters
            ],
        },
        "content_blocks": content_blocks(
            draft, candidate.citations, [one.seat.value for one in voters]
        ),
        "created_at": at,
    }


def content_blocks(
    draft: Draft, citations: Sequence[Citation], verified_by: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the blocks of a chapter, each with the cards that it rests on, and whose they are.

    `sources` says what the notes themselves say; a text whose notes name none has no such list.
    """
    blocks: list[dict[str, Any]] = []
    names_sources = any(note.source for note in draft.notes)
    for block in draft.blocks:
        marked: list[int] = []
        if block.is_prose:
            cut = cut_sentences(block, draft, citations)
            marked = [place for sentence in cut for place in sentence.marked]
        hashes = dict.fromkeys(citations[place].hash for place in marked)
        sources = dict.fromkeys(draft.notes[place].source for place in marked)
        made = {
            "type": block.kind.value,
            "text": plain_block(block),
            "verified_by": list(verified_by),
            "source_hashes": list(hashes),
        }
        if names_sources:
            made["sources"] = [one for one in sources if one]
        blocks.append(made)
    return blocks


def sign_record(record: Mapping[str, Any], signer: Signer) -> bytes:
    """Return a record with key and signature, as it is kept."""
    keyed = {**record, "key": signer.key}
    signature = signer.sign(PURPOSE, canonical_json(keyed))
    return canonical_json({**keyed, "signature": signature})


def read_record(content: bytes) -> dict[str, Any]:
    """Read a record from its card, or raise `InvalidDocument`."""
    try:
        found = json.loads(content)
    except ValueError as error:
        raise InvalidDocument(f"this card is not the record of a chapter: {error}") from error
    if not isinstance(found, dict) or (found.get("kind"), found.get("version")) != (KIND, VERSION):
        raise InvalidDocument("this card is not the record of a chapter")
    return found


def is_signed_by(record: Mapping[str, Any], key: str) -> bool:
    """Tell whether a record carries a valid signature of the public `key`."""
    unsigned = {name: value for name, value in record.items() if name != "signature"}
    signature = record.get("signature")
    return (
        record.get("key") == key
        and isinstance(signature, str)
        and is_signature_of(PURPOSE, canonical_json(unsigned), key=key, signature=signature)
    )


def _plain(value: float | Absent) -> float | dict[str, str]:
    return {"absent": value.reason} if isinstance(value, Absent) else value
