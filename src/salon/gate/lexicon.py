"""A language's tables and a policy's actions, compiled once: what the readers search with."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from salon.gate.phrases import Phrases
from salon.gate.tables import LanguageTable, Triggers, alternation, expand, language_table

Pattern = re.Pattern[str]
Evasion = Literal["asks_back", "asks_on", "calls_off", "unknowing", "request", "empty"]
"""What a message is that answers no question: it asks what is meant, asks something else, drops the
matter, does not know or tell, only demands an action, or says nothing."""
_WORD_END = r"(?!\w)"
_OPENING = r"[\s\"'*(\u201c-]*"
_BETWEEN = r"[\s,.!?\u2026:;\u2013\u2014-]+"
_CLOSING = r"[\s,.!?\u2026)\"'\u201d*-]*$"
_FEW = "{0,5}"
"""How many words that say nothing may stand around; bounded, so that matching cannot explode."""
_REST = (
    r"[^,;:\u2014]*(?:, (?:and|or|but|then|if|when|in|for|after|before|because)\b[^,;:\u2014]*)*"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActionPatterns:
    """One action's phrases as patterns: those of the assistant, those of the person."""

    action: str
    triggers: Phrases
    requests: Phrases


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """Everything that the readers search for; compared by identity, so it is cheap as a key."""

    language: str
    actions: tuple[ActionPatterns, ...]
    offer_before: Phrases
    advice_before: Phrases
    frame_in: Phrases
    consent: Pattern
    confirming: Phrases
    clarifying: Phrases
    clarifying_start: Pattern
    offer_start: Pattern
    negation: Phrases
    not_negation: Phrases
    negation_behind: Pattern
    third_person: Phrases
    mention_before: Phrases
    past_before: Phrases
    past_behind: Pattern
    condition: Phrases
    not_condition: Phrases
    address: Pattern
    clause_break: Pattern
    request_before: Phrases
    refusal: Phrases
    not_refusal: Phrases
    affirmation: Pattern
    consenting: Pattern
    decline: Pattern
    evasions: tuple[tuple[Evasion, Pattern], ...]
    """What a whole sentence is that answers nothing, in the order in which it is tried."""
    interrogative: Pattern
    demand: Pattern
    request_filler: Pattern
    clear_answer: Pattern
    wish_question: Phrases
    who_question: Phrases
    open_question: Pattern
    hypothetical: Phrases
    not_hypothetical: Phrases
    indefinite: Phrases
    active: Phrases
    pronoun: Phrases
    other_matter: Phrases
    name_follower: Pattern
    not_names: frozenset[str]


@lru_cache(maxsize=64)
def lexicon_of(actions: tuple[Triggers, ...], language: str) -> Lexicon:
    """Return the compiled tables of a language with these actions."""
    table = language_table(language)
    macros = table.macros

    def any_of(*phrases: str) -> str:
        return alternation(phrases, macros)

    def words(*phrases: str) -> Phrases:
        return Phrases([("found", [expand(one, macros) for one in phrases])], behind=_WORD_END)

    def before(*phrases: str, fillers: tuple[str, ...] = ()) -> Phrases:
        between = rf"(?:\s+{any_of(*fillers)})*" if fillers else ""
        expanded = [expand(one, macros) for one in phrases]
        return Phrases([("found", expanded)], behind=rf"{between}[\s,]*$")

    def at_start(*phrases: str) -> Pattern:
        return re.compile(rf"[\s\"'*(-]*{any_of(*phrases)}(?!\w)")

    somebody = rf"(?:\s*{any_of(*table.third_person_fillers)})*"
    return Lexicon(
        language=language,
        actions=tuple(_compile(one) for one in actions),
        offer_before=before(*table.offer_frames, fillers=table.offer_fillers),
        advice_before=before(*table.advice_frames, fillers=table.offer_fillers),
        frame_in=words(*table.offer_frames, *table.advice_frames),
        consent=re.compile(rf"[\s\"'*(-]*(?:so |and )?{any_of(*table.consent_tags)}[\s?!.)]*$"),
        confirming=words(*table.confirming),
        clarifying=Phrases(
            [
                ("anywhere", [expand(one, macros) for one in table.clarifying_anywhere]),
                ("clause", [expand(one, macros) for one in table.clarifying_phrases]),
            ],
            behind=_WORD_END,
        ),
        clarifying_start=at_start(*table.clarifying_starts),
        offer_start=re.compile(rf"[\s,:—\u2013-]*{any_of(*table.offer_frames)}(?!\w)"),
        negation=words(*table.negations),
        not_negation=words(*table.not_negations),
        negation_behind=re.compile(
            rf"[^,;—\u2013]{{0,40}}?\b{any_of(*table.negations_behind)}(?!\w)"
        ),
        third_person=Phrases(
            [
                ("subject", [expand(one, macros) + somebody for one in table.third_persons]),
                ("made", [expand(one, macros) for one in table.made_to_act]),
            ],
            behind=r"\s+$",
        ),
        mention_before=before(*table.mentions_before),
        past_before=before(*table.past_before),
        past_behind=re.compile(rf"\s+{any_of(*table.past_behind)}(?!\w|')"),
        condition=words(*table.conditions),
        not_condition=words(*table.not_conditions),
        address=re.compile(rf"\s*{any_of(*table.addresses)}(?!\w)"),
        clause_break=re.compile("|".join(table.clause_breaks)),
        request_before=before(*table.request_frames),
        refusal=words(*table.refusals),
        not_refusal=words(*table.not_refusals),
        affirmation=at_start(*table.affirmations),
        consenting=_consenting(table),
        decline=at_start(*table.declines),
        evasions=_evasions(table),
        interrogative=_with_rest(table, table.interrogatives),
        demand=_with_rest(table, table.demands),
        request_filler=_fillers(table),
        clear_answer=at_start(*table.clear_answers),
        wish_question=words(*table.wish_questions),
        who_question=words(*table.who_questions),
        open_question=at_start(*table.open_questions),
        hypothetical=words(*table.hypothetical_frames),
        not_hypothetical=words(*table.not_hypothetical),
        indefinite=words(*table.indefinite_people),
        active=words(*table.active_phrases, *table.possessives),
        pronoun=words(*table.pronouns),
        other_matter=words(*table.other_matters),
        name_follower=re.compile(rf"\s+{any_of(*table.name_followers)}(?!\w)"),
        not_names=frozenset(table.not_names),
    )


def _fillers(table: LanguageTable) -> Pattern:
    """Return what runs over words that ask for nothing by themselves."""
    known = (*table.request_fillers, *_asides(table), *table.calling_off, *table.not_knowing)
    return re.compile(rf"(?:[\W_]+|(?<!\w){alternation(known, table.macros)}(?!\w))*")


def _consenting(table: LanguageTable) -> Pattern:
    """Return the pattern of a message that is nothing but a yes."""
    yes = alternation(table.affirmations, table.macros)
    more = alternation((*table.affirmations, *table.consent_fillers), table.macros)
    return re.compile(rf"[\s\"'(-]*{yes}(?:[\s,.!;-]+{more})*[\s,.!)]*$")


def _asides(table: LanguageTable) -> tuple[str, ...]:
    """Return what may stand before or behind what a sentence says."""
    return (*table.small_talk, *table.lead_ins, *table.clear_answers, *table.affirmations)


def _evasions(table: LanguageTable) -> tuple[tuple[Evasion, Pattern], ...]:
    """Return the patterns of sentences that are nothing but an evasion, with what leads to it."""

    def whole(phrases: tuple[str, ...], asides: tuple[str, ...]) -> Pattern:
        core, aside = alternation(phrases, table.macros), alternation(asides, table.macros)
        return re.compile(
            rf"{_OPENING}(?:{aside}{_BETWEEN}){_FEW}{core}"
            rf"(?:{_BETWEEN}(?:{aside}|{core})){_FEW}{_CLOSING}"
        )

    around = _asides(table)
    return (
        ("calls_off", whole(table.calling_off, around)),
        ("unknowing", whole(table.not_knowing, around)),
        ("asks_back", whole(table.questions_back, around)),
        ("empty", whole(table.small_talk, (*table.small_talk, *table.lead_ins))),
    )


def _with_rest(table: LanguageTable, phrases: tuple[str, ...]) -> Pattern:
    """Return a pattern for sentences that begin so and tell nothing behind a comma."""
    aside = alternation(_asides(table), table.macros)
    core = alternation(phrases, table.macros)
    return re.compile(rf"{_OPENING}(?:{aside}{_BETWEEN}){_FEW}{core}(?!\w){_REST}$")


def _compile(triggers: Triggers) -> ActionPatterns:
    def expanded(phrases: tuple[str, ...]) -> list[str]:
        return [expand(one, triggers.macros) for one in phrases]

    return ActionPatterns(
        action=triggers.action,
        triggers=Phrases(
            [
                ("act", expanded(triggers.acts)),
                ("verb", expanded(triggers.verbs)),
                ("mention", expanded(triggers.mentions)),
                ("past", expanded(triggers.past)),
            ],
            behind=_WORD_END,
        ),
        requests=Phrases([("request", expanded(triggers.requests))], behind=_WORD_END),
    )
