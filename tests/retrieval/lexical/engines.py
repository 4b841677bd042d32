"""The two engines, opened the same way; run as a module, a process that writes or searches."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from salon.core.hashing import CardHash, content_hash
from salon.core.indexes import IndexedText, PassageId, Ranking
from salon.retrieval.lexical.fts5_index import Fts5Index
from salon.retrieval.lexical.tantivy_index import TantivyIndex

Index = TantivyIndex | Fts5Index
Open = Callable[[], Index]

ENGINES: dict[str, Callable[[Path], Index]] = {
    "tantivy": lambda folder: TantivyIndex(folder / "words"),
    "fts5": lambda folder: Fts5Index(folder / "words.db"),
}


def card(name: object) -> CardHash:
    return content_hash(str(name).encode())


def passage(number: int, text: str, *, of: object = "card") -> IndexedText:
    return IndexedText(PassageId(number), card(of), text)


def fill(index: Index, texts: Iterable[str]) -> None:
    """Index texts under 0, 1, 2, … each of a card of its own, and commit."""
    index.add(passage(number, text, of=number) for number, text in enumerate(texts))
    index.commit()


def found(ranking: Ranking) -> list[int]:
    ids: list[int] = ranking.ids.tolist()
    return ids


def find(index: Index, query: str, limit: int = 50) -> set[int]:
    return set(found(index.search(query, limit)))


def write_until_killed(index: Index) -> None:
    """Commit pairs of passages, replacing the first of each time before, and tell after each."""
    number = 0
    while True:
        number += 1
        index.add([passage(0, f"round{number} shared"), passage(number, f"word{number} shared")])
        if number % 5 == 0:
            index.remove([card("nobody")])
        index.commit()
        print(number, flush=True)


if __name__ == "__main__":
    opened = ENGINES[sys.argv[1]](Path(sys.argv[2]))
    match sys.argv[3]:
        case "write":
            opened.add([passage(int(sys.argv[4]), sys.argv[5], of=sys.argv[4])])
            opened.commit()
        case "hold":
            opened.add([passage(1, "held")])
            opened.remove([card("nobody")])
            print("holding", flush=True)
            sys.stdin.read()
        case _:
            write_until_killed(opened)
