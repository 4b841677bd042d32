"""The examples in the description of the routes: a small home that tests build and really ask."""

from salon.core.hashing import content_hash

AVATAR = "ida-weir"
SESSION = "morning"
USER = "user_123"
DOCUMENT = "doc_0123456789abcdef0123"
"""Ids of documents are made at random, so this one stands for one that the home has."""
TEXT = (
    "A canal that everyone uses and nobody mends will silt within three winters. We agreed that "
    "each household gives two days of digging in March. Whoever sends no digger pays the wage of "
    "one. Orla Brandt keeps the book of the Larkfield Fund. In eleven years the Larkfield Fund "
    "never ran dry. The bell rings when the upper gate is opened, so that nobody below is "
    "surprised by the water.\n"
)
TITLE = "On keeping a canal"
CARD = content_hash(TEXT.encode())
QUOTE = "In eleven years the Larkfield Fund never ran dry."
START = TEXT.index(QUOTE)
END = START + len(QUOTE)
"""The text is plain ASCII, so characters and bytes count alike."""
HANDLE = f"avatars/{AVATAR}/profile"
QUESTION = "How is the canal paid for and mended?"
CITATION = {
    "hash": CARD,
    "start": START,
    "end": END,
    "quote": QUOTE,
    "source": TITLE,
    "page": None,
}
ENTITY = "Larkfield Fund"
ASSISTED_SESSION = "report"
"""A session with an assistant in which a flow waits for an answer."""
ROUND = "round_0123456789abcdef0123"
CANDIDATE = f"{ROUND}.draft_0123456789abcdef0123"
"""Rounds and candidates have random ids too; these stand for those of a published round."""
