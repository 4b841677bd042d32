"""What an avatar says when it does not answer from its texts: limits, help, and of itself.

Every sentence here is a frame of `grounding.frames` or listed as fixed, so a reply made of them
verifies like any other. A limit names what is missing, offers the nearest thing there is, and never
fills the gap.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from salon.conversation.discussion import Discussion
from salon.core.citations import Citation
from salon.core.documents import Document
from salon.core.outcomes import Outcome
from salon.experts.about_itself import about_itself
from salon.experts.composing.extractive import Voice, quote_with_frame
from salon.experts.profile import Profile
from salon.experts.questions import Asked
from salon.experts.replies import Claim, Reply
from salon.grounding.claims import take_apart
from salon.grounding.frames import fill
from salon.guard.crisis import Crisis, crisis_replies, crisis_reply
from salon.guard.harm import Harm, decline, decline_sentences

NOBODY = "extractive"
ELSEWHERE = "Other sources may have it."


_LABELS = {"companion": "AI companion: {name} is a program and not a person."}
"""By preset; a companion speaks for no real person and answers from no documents."""
_LABEL = "AI avatar of {name}: it answers from documents and is not {name}."


def label_of(profile: Profile) -> str:
    """Return the label that every reply carries."""
    return _LABELS.get(profile.salon.preset, _LABEL).format(name=profile.name)


def fixed_sentences(profile: Profile, documents: int) -> frozenset[str]:
    """Return what an avatar that has so many documents may say without a citation."""
    last = profile.period.last
    own = about_itself(profile, label_of(profile), field_of(profile), documents)
    return frozenset(
        {
            label_of(profile),
            *decline_sentences(),
            *_sentences_of(own.values()),
            *_help_sentences(),
            f"field:{field_of(profile)}",
            *(() if last is None else (f"year:{last}",)),
        }
    )


def field_of(profile: Profile) -> str:
    """Return an avatar's field in words."""
    return ", ".join(profile.expertise) or profile.corpus.description.rstrip(".")


def opening(asked: Asked, discussion: Discussion) -> str:
    """Return how another participant is spoken to, if the question is theirs or means theirs."""
    said = discussion.utterances
    if asked.refers_to is not None:
        return fill("{other}, on what you said:", other=asked.refers_to.role)
    if said and said[-1].content.strip() == asked.text.strip():
        return fill("{other}, to your question:", other=said[-1].role)
    return ""


def says_what_it_is(profile: Profile) -> Reply:
    """Say that it is an AI, to whoever asks."""
    return replace(
        _limit(profile, Outcome.ANSWERED, label_of(profile)), confidence="high", score=1.0
    )


def says_of_itself(profile: Profile, kind: str, documents: int) -> Reply:
    """Say who it is, what it rests on, or what is polite to say, to whoever asks."""
    said = about_itself(profile, label_of(profile), field_of(profile), documents)
    return replace(_limit(profile, Outcome.ANSWERED, said[kind]), confidence="high", score=1.0)


def helps(profile: Profile, crisis: Crisis, region: str) -> Reply:
    """Give the fixed reply to a cry for help; the texts have no word in it."""
    return replace(
        _limit(profile, Outcome.ANSWERED, crisis_reply(crisis, region)),
        confidence="high",
        score=1.0,
        is_crisis=True,
    )


def suggestion(profile: Profile, *, is_whole: bool, is_promised: bool) -> str | None:
    """Return what to do about an answer that is not whole, or that nothing was promised for."""
    parts = [] if is_whole else [ELSEWHERE]
    if not is_promised:
        parts.append(f"How often it errs is not known: `salon calibrate {profile.id}` finds out.")
    return " ".join(parts) or None


def missing(profile: Profile, asked: Asked) -> str:
    """Say that the texts hold nothing about something."""
    own = profile.salon.voice == "first_person"
    template = "My texts say nothing about {topic}."
    template = template if own else "The texts of {name} say nothing about {topic}."
    return fill(template, topic=_topic(asked) if asked.topic else "that", name=profile.name)


def declines(profile: Profile, harm: Harm) -> Reply:
    """Decline what does harm."""
    return _limit(profile, Outcome.DECLINED, decline(harm))


def needs_clarification(profile: Profile, asked: Asked) -> Reply:
    """Ask back."""
    question = (
        fill("What exactly do you want to know about {topic}?", topic=_topic(asked))
        if asked.topic
        else "What exactly do you want to know?"
    )
    return _limit(
        profile,
        Outcome.NEEDS_CLARIFICATION,
        f"I do not know what you mean by that. {question}",
        suggestion=f"Name what the question is about: {asked.unclear}.",
    )


def after_my_time(profile: Profile, later: tuple[str, int], last_year: int | None) -> Reply:
    """Say that something came later than the corpus ends."""
    thing, year = later
    own = profile.salon.voice == "first_person"
    template = (
        "My texts end in {year}, so I cannot speak about {topic}."
        if own
        else "The texts of {name} end in {year} and cannot speak about {topic}."
    )
    came = "" if thing == str(year) else f" It came into the world around {year}."
    return _limit(
        profile,
        Outcome.AFTER_MY_TIME,
        fill(template, year=last_year, topic=f"“{thing}”", name=profile.name),
        suggestion=f"Ask about something up to {last_year}.{came}",
    )


def out_of_scope(profile: Profile, other: str | None) -> Reply:
    """Name the field, and another avatar that fits."""
    own = profile.salon.voice == "first_person"
    template = (
        "This lies outside my field, which is {field}."
        if own
        else "This lies outside the field of {name}, which is {field}."
    )
    return _limit(
        profile,
        Outcome.OUT_OF_SCOPE,
        fill(template, field=field_of(profile), name=profile.name),
        redirect=None if other is None else f"Consider asking {other}, who is in this Salon.",
        suggestion=None if other else "No avatar in this Salon has texts about it.",
    )


def corpus_miss(profile: Profile, asked: Asked, nearest: tuple[Document, Citation] | None) -> Reply:
    """Say what the corpus lacks, and show the nearest thing that it has."""
    lacking = missing(profile, asked)
    if nearest is None:
        return _limit(profile, Outcome.CORPUS_MISS, lacking, suggestion=ELSEWHERE)
    document, citation = nearest
    own = profile.salon.voice == "first_person"
    near = "The nearest I have is this." if own else "The nearest there is is this."
    voice = Voice(kind=profile.salon.voice, name=profile.name)
    quoted = quote_with_frame(document, citation, voice, number=1)
    return _limit(
        profile,
        Outcome.CORPUS_MISS,
        f"{lacking} {near} {quoted}",
        suggestion=ELSEWHERE,
        citations=(citation,),
        claims=(Claim(text=quoted, citations=(0,), support=1.0),),
    )


@cache
def _help_sentences() -> frozenset[str]:
    return _sentences_of(crisis_replies())


def _sentences_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the sentences of texts as the check takes them apart."""
    return frozenset(one.own for text in texts for one in take_apart(text, ()))


def _topic(asked: Asked) -> str:
    return f"“{asked.topic.replace('“', '').replace('”', '')}”"


def _limit(
    profile: Profile,
    outcome: Outcome,
    response: str,
    *,
    suggestion: str | None = None,
    redirect: str | None = None,
    citations: tuple[Citation, ...] = (),
    claims: tuple[Claim, ...] = (),
) -> Reply:
    return Reply(
        response=response,
        citations=citations,
        claims=claims,
        confidence="low",
        outcome=outcome,
        suggestion=suggestion,
        redirect=redirect,
        ai_label=label_of(profile),
        avatar=profile.id,
        composer=NOBODY,
        score=0.0,
    )
