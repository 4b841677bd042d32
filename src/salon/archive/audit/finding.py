"""Finding entries of the audit log by what they are, without walking all of it.

Each thing that can be asked for has an index (`AUDIT_INDEXES` in `migrations`), whose entries stand
in the order of the log. The rarest of what is asked for leads, the rest is tested entry by entry:
so a page costs what it shows, and at worst what has the rarest of the properties asked for.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from salon.archive.audit.log import ENTRY_COLUMNS, as_entry
from salon.core.entries import EVERY_ENTRY, EntryFilter
from salon.core.events import AuditEntry

MOST_COUNTED = 10_000
"""So many entries are looked at to count them at most: some milliseconds."""
MOST_COUNTED_BY_INDEX = 1_000_000
"""And so many where an index alone tells, without the entries: some milliseconds too."""
_LAST = 2**63 - 1
_COLUMNS = ("session", "round", "handle", "document", "avatar", "by")


@dataclass(frozen=True, slots=True)
class _Test:
    """A column and what may stand in it."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Range:
    """The numbers, both ends included, between which every wanted entry lies."""

    first: int
    last: int


def find_entries(
    connection: apsw.Connection,
    where: EntryFilter = EVERY_ENTRY,
    *,
    after: int = 0,
    before: int | None = None,
    newest_first: bool = False,
) -> Iterator[AuditEntry]:
    """Walk the entries that match, after one number and before another, without checking them."""
    last = _LAST if before is None else min(before - 1, _LAST)
    numbers = _range(connection, where, min(after + 1, _LAST), last)
    tests = _by_rarity(connection, _tests(where), numbers)
    found, values = _query(ENTRY_COLUMNS, where, tests, numbers)
    direction = "DESC" if newest_first else "ASC"
    return map(as_entry, connection.execute(f"{found} ORDER BY seq {direction}", values))


def count_entries(connection: apsw.Connection, where: EntryFilter = EVERY_ENTRY) -> int | None:
    """Count the entries that match, or return None where that takes more than a moment."""
    if where.is_open:  # numbers have no gaps
        return int(connection.execute("SELECT coalesce(max(seq), 0) FROM audit").get or 0)
    tests, (spoken, times) = _tests(where), _times(where)
    if not tests:
        within = f"SELECT count(*) FROM audit WHERE {' AND '.join(spoken)}"
        return int(connection.execute(within, times).get or 0)
    numbers = _range(connection, where, 1, _LAST)
    if len(tests) == 1 and not times:
        return _counted(connection, where, tests, numbers, most=MOST_COUNTED_BY_INDEX)
    tests = _by_rarity(connection, tests, numbers)
    if _counted(connection, EVERY_ENTRY, tests[:1], numbers, most=MOST_COUNTED) is None:
        return None  # how many of them pass the other tests, only looking at each would tell
    return _counted(connection, where, tests, numbers, most=MOST_COUNTED)


def _tests(where: EntryFilter) -> list[_Test]:
    asked = [_Test(name, (getattr(where, name),)) for name in _COLUMNS if getattr(where, name)]
    return [*asked, *([_Test("kind", tuple(dict.fromkeys(where.kinds)))] if where.kinds else ())]


def _range(connection: apsw.Connection, where: EntryFilter, first: int, last: int) -> _Range:
    if where.since is None and where.until is None:
        return _Range(first, last)
    # A clock can be set back, so the order of times need not be that of the log.
    spoken, values = _times(where)
    ends = connection.execute(
        f"SELECT min(seq), max(seq) FROM audit WHERE {' AND '.join(spoken)}", values
    ).fetchone()
    if ends is None or ends[0] is None:
        return _Range(1, 0)
    return _Range(max(first, int(ends[0])), min(last, int(ends[1])))


def _times(where: EntryFilter) -> tuple[list[str], list[str]]:
    ends = [("at >= ?", where.since), ("at <= ?", where.until)]
    given = [(spoken, end) for spoken, end in ends if end is not None]
    return [spoken for spoken, _ in given], [end for _, end in given]


def _by_rarity(connection: apsw.Connection, tests: list[_Test], numbers: _Range) -> list[_Test]:
    if len(tests) < 2:
        return tests

    def rarity(one: _Test) -> int:
        counted = _counted(connection, EVERY_ENTRY, [one], numbers, most=MOST_COUNTED)
        return MOST_COUNTED + 1 if counted is None else counted

    return sorted(tests, key=rarity)


def _counted(
    connection: apsw.Connection,
    where: EntryFilter,
    tests: list[_Test],
    numbers: _Range,
    *,
    most: int,
) -> int | None:
    """Count what `_query` finds; None where that is more than `most`."""
    found, values = _query("1", where, tests, numbers)
    limited = f"SELECT count(*) FROM ({found} LIMIT {most + 1})"
    counted = int(connection.execute(limited, values).get or 0)
    return None if counted > most else counted


def _query(
    columns: str, where: EntryFilter, tests: list[_Test], numbers: _Range
) -> tuple[str, list[str | int]]:
    """Return a query and its values: the first test leads, by its index.

    Each value of the leading test is a query of its own, because their union comes in the order of
    the log without being sorted. The `+` keeps SQLite from leading with anything else.
    """
    spoken, times = _times(where)
    rest = [f"+{one}" for one in spoken]
    rest += [f"+{one.column} IN ({', '.join('?' * len(one.values))})" for one in tests[1:]]
    said = [*times, *(value for one in tests[1:] for value in one.values)]
    leads = [(f"{tests[0].column} = ?", value) for value in tests[0].values] if tests else []
    parts, values = [], list[str | int]()
    for lead, value in leads or [("", "")]:
        conditions = [*([lead] if lead else ()), "seq >= ?", "seq <= ?", *rest]
        parts.append(f"SELECT {columns} FROM audit WHERE {' AND '.join(conditions)}")
        values += [*([value] if lead else ()), numbers.first, numbers.last, *said]
    return " UNION ALL ".join(parts), values
