"""Text that can be written down: every string that is stored has a UTF-8 form."""

from salon.core.errors import InvalidInput


def require_text(value: str, what: str) -> str:
    """Return `value`, or raise `InvalidInput` if it holds half a character.

    Python makes such strings from file names with broken bytes; nothing can store them.
    """
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} holds something that is not text: {value[:40]!a}",
            hint="leave out or replace the broken character",
        ) from error
    return value
