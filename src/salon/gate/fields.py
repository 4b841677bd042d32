"""Checks for the fields of actions: from what a person typed to one canonical value, or a reason.

Every value that leaves here is a single line (a body aside) without control characters, so nothing
that a person or a model wrote can become a header of its own.
"""

import re
import unicodedata

from salon.gate.actions import Problem, Reading
from salon.gate.answers import is_cancel, is_no, is_yes, unquoted

LONGEST_NAME = 80
LONGEST_LINE = 200
LONGEST_BODY = 10_000
LONGEST_ADDRESS = 254
LONGEST_LOCAL_PART = 64
PHONE_DIGITS = range(5, 16)

_LEAD_INS = re.compile(
    r"^(?:(?:his|her|their|the|the employee's|my employee's)\s+(?:full\s+)?(?:name|e-?mail|address|"
    r"email address|phone|number|phone number|cell)\s+is|(?:his|her|their) name's|it is|it's|its|"
    r"that is|that's|use|call (?:him|her|them)|reach (?:him|her|them) at|at)\s+",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_](?:[^\W\d_]|[ .'’-])*")  # noqa: RUF001 - some names have it
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LOCAL = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
ADDRESS = re.compile(rf"{_LOCAL}@(?:{_LABEL}\.)+[A-Za-z]{{2,63}}")
_PHONE = re.compile(
    r"\+?[\d(][\d\s().\-/]*\d(?:\s*(?:x|ext\.?|extension)\s*(?P<extension>\d{1,6}))?",
    re.IGNORECASE,
)
_MINUTES = re.compile(r"(\d{1,3})\s*(?:min|mins|minutes|minute|m)?", re.IGNORECASE)
SHORTEST_MEETING, LONGEST_MEETING = 5, 480


def find_control(text: str, *, allowed: str = "") -> str | None:
    """Return the first character that is no ordinary text: a line break, a control, a surrogate."""
    for character in text:
        kind = unicodedata.category(character)
        if kind in {"Cc", "Cs", "Zl", "Zp"} and character not in allowed:
            return character
    return None


def check_line(text: str, _: Reading) -> str | Problem:
    """Take one line of text."""
    line = unquoted(text)
    if find_control(line):
        return Problem("This has to be a single line.")
    if not line:
        return Problem("This cannot be empty.")
    if len(line) > LONGEST_LINE:
        return Problem(f"This may have {LONGEST_LINE} characters at most.")
    return line


def check_body(text: str, _: Reading) -> str | Problem:
    """Take a text of several lines."""
    body = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not body:
        return Problem("The text cannot be empty.")
    if find_control(body, allowed="\n\t"):
        return Problem("The text holds characters that cannot be sent.")
    if len(body) > LONGEST_BODY:
        return Problem(f"The text may have {LONGEST_BODY:,} characters at most.")
    return body


def check_name(text: str, _: Reading) -> str | Problem:
    """Take a person's name."""
    again = Problem("Please give just the name, such as Jordan Lee.")
    if "?" in text or is_yes(text) or is_no(text) or is_cancel(text):
        return again
    name = " ".join(_LEAD_INS.sub("", unquoted(text)).rstrip(" .,!;").split())
    if find_control(text.strip()) or len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return again
    return name


def check_email(text: str, _: Reading) -> str | Problem:
    """Take one email address, written alone or in a sentence."""
    again = Problem("That is not an email address that I can use; an example is jo@example.com.")
    if find_control(text.strip()):
        return again
    words = [word.strip("<>()[],;:!?\"'“”.") for word in text.split()]
    found = [word.removeprefix("mailto:") for word in words if "@" in word]
    if len(found) != 1 or not is_address(found[0]):
        return again
    local, _at, domain = found[0].rpartition("@")
    return f"{local}@{domain.lower()}"


def is_address(text: str) -> bool:
    """Tell whether a text is exactly one plain email address."""
    if len(text) > LONGEST_ADDRESS or not text.isascii():
        return False
    return ADDRESS.fullmatch(text) is not None and len(text.partition("@")[0]) <= LONGEST_LOCAL_PART


def check_phone(text: str, _: Reading) -> str | Problem:
    """Take one phone number; digits, with the plus and the extension that were given."""
    again = Problem("That is not a phone number that I can use; an example is 555-010-4477.")
    if find_control(text.strip()):
        return again
    found = list(_PHONE.finditer(text))
    if len(found) != 1:
        return again
    number, extension = found[0][0], found[0]["extension"]
    main = number if extension is None else number[: found[0].start("extension") - found[0].start()]
    digits = re.sub(r"\D", "", main)
    if len(digits) not in PHONE_DIGITS:
        return again
    plus = "+" if number.startswith("+") else ""
    return f"{plus}{digits}" + (f" ext. {extension}" if extension else "")


def check_minutes(text: str, _: Reading) -> str | Problem:
    """Take a length in minutes."""
    match = _MINUTES.fullmatch(text.strip())
    if match is None or not SHORTEST_MEETING <= int(match[1]) <= LONGEST_MEETING:
        return Problem(f"Please give {SHORTEST_MEETING} to {LONGEST_MEETING} minutes.")
    return str(int(match[1]))
