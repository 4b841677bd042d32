"""Who is meant by a message, and what was said before it: the same on every platform.

A name at the beginning counts most, then the channel's own avatar, then a name anywhere, then the
default. What people and pages say is text, never a command to Salon.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from salon.conversation.discussion import Discussion, Utterance
from salon.core.errors import InvalidInput
from salon.experts.answering import names_of
from salon.experts.profile import Profile

LONGEST_QUESTION = 10_000
_LONGEST_SPEAKER = 80
_GREETING = r"\s*(?:(?:hey|hi|hello|dear)\b)?[\s,]*@?"
_AFTER_A_NAME = r"(\s*[,:;\u2013\u2014-]+\s*)?"
_KEPT_CONTROLS = frozenset("\n\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An avatar that can be asked, and what people call it."""

    id: str
    name: str
    names: tuple[str, ...]
    """In small letters, longest first; none belongs to two avatars."""
    first: str | None
    """The first name, where no other avatar has it. It may be a word, so it needs a comma."""

    @property
    def spoken(self) -> tuple[str, ...]:
        """All names, the first one included."""
        return self.names if self.first is None else (*self.names, self.first)

    @property
    def command(self) -> str:
        """The shortest name that can stand in a command: `lincoln` in `/ask-lincoln`."""
        spelled = (slug(one) for one in self.names if _key(one) == slug(one))
        return min(spelled, key=lambda one: (len(one), one))


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """Whom a message is for, and what it asks."""

    avatar: Known
    question: str


class Roster:
    """The avatars of a platform by all their names."""

    def __init__(
        self,
        profiles: Iterable[Profile],
        *,
        channels: Mapping[str, str] | None = None,
        default: str | None = None,
    ) -> None:
        given = {one.id: one for one in profiles}
        if not given:
            raise InvalidInput("there is no avatar to ask", hint="`salon avatar new ID` makes one")
        self.avatars = tuple(_known(one, given.values()) for one in given.values())
        self._by_id = {one.id: one for one in self.avatars}
        for one in (*(channels or {}).values(), *([default] if default else [])):
            if one not in self._by_id:
                raise InvalidInput(
                    f"a channel or the default names {one!r}, which is not among the avatars here",
                    hint=f"there are {', '.join(self._by_id)}",
                )
        self._channels = dict(channels or {})
        self._default = default or (self.avatars[0].id if len(self.avatars) == 1 else None)

    def find(self, name: str) -> Known | None:
        """Return the avatar of a name, an id or a command, in any case."""
        wanted = _key(name)
        return next(
            (one for one in self.avatars if wanted in {_key(name) for name in one.spoken}), None
        )

    def of_channel(self, channel: str) -> tuple[Known, ...]:
        """Return the avatars that sit in a channel: its own, or all."""
        own = self._channels.get(channel)
        return self.avatars if own is None else (self._by_id[own],)

    def meant(self, text: str, channel: str) -> Meant | None:
        """Return whom a message is for; `None` where it could be anybody."""
        if first := self._at_the_beginning(text):
            return first
        own = self._channels.get(channel)
        anywhere = [one for one in self.avatars if _occurs(one, text)]
        if own is None and len(anywhere) == 1:
            own = anywhere[0].id
        own = own or self._default
        return None if own is None else Meant(avatar=self._by_id[own], question=text.strip())

    def split_command(self, text: str) -> Meant | None:
        """Read `NAME question`, as a command without a name of its own has it."""
        for one in self.avatars:
            for name in one.spoken:
                if found := re.match(rf"\s*@?{re.escape(name)}\b[\s,:]*", text, re.IGNORECASE):
                    return Meant(avatar=one, question=text[found.end() :].strip())
        return None

    def whom(self) -> str:
        """Return a sentence that says who can be asked."""
        return f"Whom do you ask? Begin with a name: {', '.join(one.name for one in self.avatars)}."

    def _at_the_beginning(self, text: str) -> Meant | None:
        for one in self.avatars:
            for name in one.spoken:
                pattern = rf"{_GREETING}{re.escape(name)}\b{_AFTER_A_NAME}"
                found = re.match(pattern, text, re.IGNORECASE)
                if found and (found[1] or name in one.names):
                    # "Lincoln, why …" is spoken to him, "Lincoln said …" may be about him.
                    rest = text[found.end() :] if found[1] else text
                    return Meant(avatar=one, question=rest.strip())
        return None


def slug(name: str) -> str:
    """Return a name as commands spell it: small letters and hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def clean(text: str, most: int) -> str:
    """Return text from outside without control characters and half characters, cut to a size."""
    whole = text[:most].encode("utf-8", "replace").decode()
    kept = (
        one if one in _KEPT_CONTROLS or unicodedata.category(one)[0] != "C" else " "
        for one in whole
    )
    return "".join(kept).strip()


def clean_name(name: str) -> str:
    """Return what a participant is called, as one short line."""
    return " ".join(clean(name, _LONGEST_SPEAKER).split()) or "somebody"


def discussion_of(said: Sequence[Utterance], *, most: int, longest: int) -> Discussion:
    """Return the latest of what was said, within the limits of a platform."""
    utterances = (
        Utterance(role=clean_name(one.role), content=clean(one.content, longest)) for one in said
    )
    kept = [one for one in utterances if one.content]
    return Discussion(utterances=tuple(kept[-most:] if most else ()))


def session_of(platform: str, *places: str) -> str:
    """Return the session of a conversation: the same for a channel or a thread at any time."""
    return f"{platform}-{hashlib.sha256('/'.join(places).encode()).hexdigest()[:32]}"


def _known(profile: Profile, all_of_them: Iterable[Profile]) -> Known:
    taken = {
        _key(name)
        for other in all_of_them
        if other.id != profile.id
        for name in (other.id, *names_of(other), _first_name(other))
    }
    # The id is an avatar's own, whatever others are called.
    called = {profile.id, *(name.casefold() for name in names_of(profile))}
    names = {one for one in called if _key(one) and (one == profile.id or _key(one) not in taken)}
    first = _first_name(profile)
    return Known(
        id=profile.id,
        name=profile.name,
        names=tuple(sorted(names, key=lambda one: (-len(one), one))),
        first=None if first in names or _key(first) in taken | {""} else first,
    )


def _key(name: str) -> str:
    """Return what makes two names the same: how commands spell them, where they can."""
    apart = unicodedata.normalize("NFKD", name)
    plain = "".join(one for one in apart if not unicodedata.combining(one))
    return slug(name) if plain.isascii() else unicodedata.normalize("NFKC", name.strip()).casefold()


def _first_name(profile: Profile) -> str:
    return profile.name.split()[0].casefold()


def _occurs(avatar: Known, text: str) -> bool:
    return any(re.search(rf"\b{re.escape(one)}\b", text, re.IGNORECASE) for one in avatar.names)
