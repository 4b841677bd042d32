"""A small invented library about sharing water in one valley: enough to search, link and debate."""

from salon.core.documents import VerificationStatus
from tests.api.page.house import Note


def _flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


VALLEY: tuple[Note, ...] = (
    Note(
        title="The water book of the Orrin Valley",
        year=1898,
        status=VerificationStatus.VERIFIED,
        url="https://example.org/water-book",
        archive_url="https://example.org/archive/water-book",
        pages=(
            _flat(
                """
                The Orrin Valley shares one canal among forty households. The canal begins
                at Brenn Weir and ends at the mill of Josef Hale. Each household in the
                Orrin Valley takes water for two hours in every eight days. The turns are
                written in the water book, which lies open in the chapel at Brenn. Whoever
                takes water out of turn pays a day of digging to the canal fund. Ida Weir
                kept the water book from 1881 until 1910.
                """
            ),
        ),
    ),
    Note(
        title="How the canal court works",
        year=1903,
        status=VerificationStatus.VERIFIED,
        url="https://example.org/canal-court",
        pages=(
            _flat(
                """
                The canal court of the Orrin Valley meets on the first Sunday of the month.
                Three neighbours sit in it, and none of them may have land beside the
                quarrel. A first offence costs a day of digging, a second three days, and a
                third the loss of one turn of water. The canal court has met since 1846, and
                its fines were always small. Josef Hale said that a small fine which is
                always asked for works better than a large one which nobody dares to ask
                for.
                """
            ),
        ),
    ),
    Note(
        title="Repairs of the canal, 1890 to 1905",
        year=1906,
        status=VerificationStatus.VERIFIED,
        pages=(
            _flat(
                """
                Each household of the Orrin Valley gives two days of digging in March. The
                digging clears the canal of silt before the snow melts. Whoever sends no
                digger pays the wage of one into the canal fund. In fifteen years the canal
                fund paid for two new gates at Brenn Weir. A canal that everyone uses and
                nobody mends will silt within three winters.
                """
            ),
        ),
    ),
    Note(
        title="The dry summer of 1904",
        year=1905,
        pages=(
            _flat(
                """
                In the dry summer of 1904 the turns at Brenn Weir were cut to half an hour.
                The canal court drew lots for the first night, so that nobody could say that
                a neighbour was favoured. The turns of the Orrin Valley were watched by two
                neighbours together. No household lost its orchard in the dry summer of
                1904. Ida Weir wrote that the lot settled more quarrels than the court.
                """
            ),
        ),
    ),
    Note(
        title="A visitor in the Orrin Valley",
        year=1912,
        status=VerificationStatus.DISPUTED,
        url="https://example.org/visitor",
        pages=(
            _flat(
                """
                The visitor Anselm Roth came to the Orrin Valley in 1911. He found that the
                neighbours watch each other at the gates, since whoever waits for the next
                turn sees how long the last one takes. Anselm Roth thought that this
                watching costs nothing and prevents most theft of water. The rules of the
                canal were made by those who use it, and they change them at the spring
                meeting in Brenn.
                """
            ),
        ),
    ),
    Note(
        title="Minutes of the spring meeting",
        year=1909,
        status=VerificationStatus.VERIFIED,
        pages=(
            _flat(
                """
                The spring meeting of the Orrin Valley is held in Brenn on the last Sunday
                of February. Every household has one vote, whatever land it owns. A rule of
                the water book is changed when two thirds of the households agree. In 1909
                the spring meeting gave the upper farms a longer turn in August and a
                shorter one in May.
                """
            ),
        ),
    ),
)
