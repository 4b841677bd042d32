"""A log rewritten with matching hashes, by somebody who had no key to check against.

The chain holds then; what the entries say must still make sense, or it is reported.
"""

import pytest

from salon.archive.audit.log import entry_hash
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import SalonError
from salon.core.events import GENESIS
from tests.archive.raw import raw

FORGERIES = {
    "no fields": b'{"kind":"cards_added"}',
    "a number for a list": b'{"hashes":7,"kind":"cards_added"}',
    "a judgement of nothing": b'{"document":"doc_x","kind":"document_verified","notes_sha256":"",'
    b'"previous":"pending","status":"verified"}',
    "a new name for no handle": b'{"handle":"a","kind":"handle_renamed","renamed_to":"b"}',
    "a citation with too little": b'{"citing":"x","kind":"spans_cited","spans":[["y"]]}',
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_an_entry_that_makes_no_sense_is_named_although_its_hash_fits(
    sqlite: SqliteArchive, forgery: str
) -> None:
    sqlite.add(b"one")
    with raw(sqlite.path) as connection:
        body = FORGERIES[forgery]
        digest = entry_hash(1, "2026-11-15T00:00:00.000000Z", "somebody", body, GENESIS)
        connection.execute(
            "UPDATE audit SET at = '2026-11-15T00:00:00.000000Z', by = 'somebody', body = ?,"
            " hash = ?",
            (body.decode(), digest),
        )
        connection.execute("UPDATE audit_head SET hash = ?", (digest,))
    problems = sqlite.verify().problems
    assert [(found.kind, found.subject) for found in problems] == [("audit_broken", "entry 1")]
    with pytest.raises(SalonError):
        sqlite.adopt()
