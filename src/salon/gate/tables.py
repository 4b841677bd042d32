"""The phrase tables: what the gate recognises, as data.

A language is a file in `language/`. A phrase is a regular expression in lower case: a blank stands
for any run of white space, round brackets group, `{name}` stands for a macro of the same file, and
word boundaries are put around it. Text is read in lower case with straight apostrophes.

An action's `acts` are whole verb phrases ("schedule a call") that count as an instruction, its
`verbs` count only right behind an offering or advising frame ("you should call"), its `mentions`
only behind a frame of the same clause ("a phone call"), and its `past` forms report what was done.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from salon.core.errors import InvalidInput

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Phrases = tuple[Phrase, ...]
_GROUP = re.compile(r"(?<!\\)\((?!\?)")
_MACRO = re.compile(r"\{([a-z_]+)\}")
_NEVER = r"(?!)"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ActionTable(_Table):
    """The phrases of one action, as a language file or a plugin gives them."""

    acts: Phrases
    verbs: Phrases = ()
    mentions: Phrases = ()
    past: Phrases = ()
    requests: Phrases = ()


class LanguageTable(_Table):
    """The phrases of one language that belong to no action."""

    language: str
    macros: dict[str, Phrase]
    offer_frames: Phrases
    offer_fillers: Phrases
    advice_frames: Phrases
    consent_tags: Phrases
    confirming: Phrases
    clarifying_phrases: Phrases = Field(description="At the start of a clause, whatever follows.")
    clarifying_anywhere: Phrases
    clarifying_starts: Phrases = Field(description="At the start of a sentence without a full stop")
    negations: Phrases
    not_negations: Phrases
    negations_behind: Phrases
    third_persons: Phrases
    third_person_fillers: Phrases
    made_to_act: Phrases
    mentions_before: Phrases
    past_before: Phrases
    past_behind: Phrases
    conditions: Phrases
    not_conditions: Phrases
    addresses: Phrases
    clause_breaks: Phrases
    request_frames: Phrases
    refusals: Phrases
    not_refusals: Phrases
    affirmations: Phrases
    consent_fillers: Phrases
    declines: Phrases
    questions_back: Phrases = Field(description="What asks about the question; a whole sentence.")
    interrogatives: Phrases = Field(description="At the start of a sentence with a question mark.")
    demands: Phrases = Field(description="At the start of a sentence that wants something else.")
    calling_off: Phrases
    not_knowing: Phrases
    small_talk: Phrases = Field(description="What says nothing, also alone.")
    clear_answers: Phrases = Field(description="A yes or a no at the start, whatever follows.")
    lead_ins: Phrases = Field(description="What says nothing beside other words.")
    request_fillers: Phrases = Field(description="What adds nothing to a request.")
    wish_questions: Phrases = Field(description="In a question that a request answers.")
    who_questions: Phrases = Field(description="In a question that a name answers.")
    open_questions: Phrases = Field(description="At the start of one that a yes does not answer.")
    hypothetical_frames: Phrases
    not_hypothetical: Phrases
    indefinite_people: Phrases
    possessives: Phrases
    active_phrases: Phrases
    pronouns: Phrases
    other_matters: Phrases
    name_followers: Phrases
    not_names: tuple[str, ...]
    actions: dict[str, ActionTable]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Triggers:
    """What makes an action recognisable; a plugin's action is a name and such a table.

    Compared by identity, so that what is compiled from it is found in no time.
    """

    action: str
    acts: tuple[str, ...]
    verbs: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    macros: dict[str, str] = field(default_factory=dict)


def make_triggers(
    action: str, table: ActionTable | dict[str, object], *, language: str = "en"
) -> Triggers:
    """Return the triggers of an action from its table, or raise `InvalidInput`."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", action):
        raise InvalidInput(
            f"{action!r} is not the name of an action",
            hint="use lower-case letters, digits, hyphens and underscores",
        )
    try:
        found = table if isinstance(table, ActionTable) else ActionTable.model_validate(table)
    except ValidationError as error:
        raise InvalidInput(
            f"the table of {action!r} cannot be read: {error.errors()[0]['msg']}",
            hint="acts, verbs, mentions, past and requests are lists of phrases",
        ) from error
    macros = language_table(language).macros
    triggers = Triggers(action=action, macros=macros, **found.model_dump())
    for phrase in (*found.acts, *found.verbs, *found.mentions, *found.past, *found.requests):
        _check(phrase, macros, action)
    return triggers


@cache
def language_table(language: str) -> LanguageTable:
    """Return the tables of a language, or raise `InvalidInput`."""
    place = resources.files("salon.gate").joinpath("language", f"{language}.json")
    if not re.fullmatch(r"[a-z]{2,3}", language) or not place.is_file():
        raise InvalidInput(
            f"the gate has no tables for the language {language!r}",
            hint="a language is a file in salon/gate/language; en comes with Salon",
        )
    return LanguageTable.model_validate(json.loads(place.read_text("utf-8")))


@cache
def built_in_actions(language: str = "en") -> tuple[Triggers, ...]:
    """Return the actions of a language file, in the file's order: email before calendar."""
    table = language_table(language)
    return tuple(make_triggers(name, one, language=language) for name, one in table.actions.items())


def alternation(phrases: tuple[str, ...], macros: dict[str, str]) -> str:
    """Return phrases as one regular expression without its boundaries."""
    if not phrases:
        return _NEVER
    return "(?:" + "|".join(expand(one, macros) for one in phrases) + ")"


def expand(phrase: str, macros: dict[str, str]) -> str:
    """Return a phrase as a regular expression."""

    def fill(found: re.Match[str]) -> str:
        return "(" + _MACRO.sub(fill, macros[found.group(1)]) + ")"

    return _GROUP.sub("(?:", _MACRO.sub(fill, phrase)).replace(" ", r"\s+")


def _check(phrase: str, macros: dict[str, str], action: str) -> None:
    try:
        re.compile(expand(phrase, macros))
    except (re.error, KeyError) as error:
        raise InvalidInput(
            f"the phrase {phrase!r} of {action!r} cannot be read: {error}",
            hint="write plain words, (a|b) for alternatives and (a )? for what may be left out",
        ) from error
