"""What an archive should be, said once more in plain Python: dictionaries, lists and sets."""

from dataclasses import dataclass, field

from salon.core.archive import Needs
from salon.core.documents import DocumentId, Provenance, VerificationStatus
from salon.core.handles import HandleName
from salon.core.hashing import CardHash

Step = tuple[CardHash | None, CardHash | None]


@dataclass(slots=True)
class ModelDocument:
    """A document, its cards and its judgements, oldest first."""

    provenance: Provenance
    cards: tuple[CardHash, CardHash, CardHash | None]
    judgements: list[tuple[VerificationStatus, str]]


@dataclass(slots=True)
class Model:
    """The state of an archive and the rules by which it changes."""

    cards: dict[CardHash, bytes] = field(default_factory=dict)
    tombstones: dict[CardHash, str] = field(default_factory=dict)
    handles: dict[str, CardHash] = field(default_factory=dict)
    steps: dict[str, list[Step]] = field(default_factory=dict)
    past: dict[str, list[CardHash]] = field(default_factory=dict)
    documents: dict[DocumentId, ModelDocument] = field(default_factory=dict)
    citations: set[tuple[CardHash, CardHash, int, int]] = field(default_factory=set)
    derivations: set[tuple[CardHash, CardHash]] = field(default_factory=set)
    entries: int = 0

    def add(self, contents: dict[CardHash, bytes]) -> list[CardHash]:
        """Add what is new, as one event; return what was new."""
        new = [card for card in contents if card not in self.cards]
        self.cards |= {card: contents[card] for card in new}
        self.entries += bool(new)
        return new

    def set_handle(self, name: str, card: CardHash) -> None:
        """Make or move a handle."""
        before = self.handles.get(name)
        if before == card:
            return
        self.steps.setdefault(name, []).append((before, card))
        if before is not None:
            self.past[name].append(before)
        else:
            self.past[name] = []
        self.handles[name] = card
        self.entries += 1

    def remove_handle(self, name: str) -> None:
        """Remove a handle; its steps stay."""
        self._drop(name)
        self.entries += 1

    def _drop(self, name: str) -> None:
        self.steps[name].append((self.handles.pop(name), None))
        del self.past[name]

    def rename(self, old: str, new: str) -> None:
        """Rename a handle; its steps follow those of whoever had the name before."""
        if old == new:
            return
        self.handles[new] = self.handles.pop(old)
        self.past[new] = self.past.pop(old)
        self.steps[new] = self.steps.get(new, []) + self.steps.pop(old)
        self.entries += 1

    def prune(self, name: str) -> int:
        """Forget the past of a handle, up to and with its last move."""
        moves = [number for number, step in enumerate(self.steps[name]) if step[0] is not None]
        if moves:
            del self.steps[name][: moves[-1] + 1]
            self.past[name] = []
            self.entries += 1
        return len(moves)

    def doomed(self, card: CardHash) -> set[CardHash]:
        """Return the cards that go with `card`."""
        gone = {card}
        while True:
            sources: dict[CardHash, set[CardHash]] = {}
            for derived, source in self.derivations:
                sources.setdefault(derived, set()).add(source)
            more = {derived for derived, needed in sources.items() if needed <= gone} - gone
            if not more:
                return gone
            gone |= more

    def needs(self, cards: set[CardHash]) -> Needs:
        """Return who needs any of these cards from outside."""
        return Needs(
            handles=tuple(
                HandleName(name) for name in sorted(self.handles) if self.handles[name] in cards
            ),
            past_of_handles=tuple(
                HandleName(name) for name in sorted(self.past) if cards & set(self.past[name])
            ),
            citing_cards=tuple(
                sorted(
                    {
                        citing
                        for citing, cited, _, _ in self.citations
                        if cited in cards and citing not in cards
                    }
                )
            ),
            documents=tuple(
                sorted(
                    number
                    for number, document in self.documents.items()
                    if cards & set(document.cards)
                )
            ),
        )

    def delete(self, card: CardHash, reason: str) -> None:
        """Delete a card and everything that goes with it."""
        gone = self.doomed(card)
        needs = self.needs(gone)
        for name in needs.handles:
            self._drop(name)
        for document in needs.documents:
            del self.documents[document]
        self.past = {
            name: [one for one in cards if one not in gone] for name, cards in self.past.items()
        }
        self.citations = {cited for cited in self.citations if cited[0] not in gone}
        self.derivations = {pair for pair in self.derivations if not gone & set(pair)}
        for one in gone:
            del self.cards[one]
            self.tombstones[one] = reason if one == card else f"made from {card}: {reason}"
        self.entries += 1
