"""What private data looks like: one table of patterns, checks and the words around them.

A rule's verdicts say how certain a match is, by whether its check passes and whether one of its
words stands near. Every pattern is bounded, so that no text makes one run long.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from salon.guard import pii_checks as checks
from salon.guard.pii_checks import Check

Certainty: TypeAlias = Literal["certain", "possible"]
Kind: TypeAlias = Literal[
    "email",
    "phone",
    "credit_card",
    "bank_account",
    "national_id",
    "passport",
    "driver_licence",
    "ip_address",
    "mac_address",
    "street_address",
    "postal_code",
    "date_of_birth",
    "credentials",
    "crypto_wallet",
    "name",
]

CERTAIN: Certainty = "certain"
POSSIBLE: Certainty = "possible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """How certain a match is: with check and word, with one of them, with neither."""

    both: Certainty | None
    checked: Certainty | None
    near: Certainty | None = None
    neither: Certainty | None = None


ALWAYS = Verdicts(both=CERTAIN, checked=CERTAIN)
"""Nothing else looks like this."""
WITH_WORD = Verdicts(both=CERTAIN, checked=None)
"""Many things look like this, so a word must say what it is."""
MISTYPED = Verdicts(both=CERTAIN, checked=None, near=POSSIBLE)
"""A word must say what it is; where the check fails beside it, somebody mistyped."""
STRONG_CHECK = Verdicts(both=CERTAIN, checked=CERTAIN, near=POSSIBLE)
"""The check rarely passes by chance; where it fails beside the word, somebody mistyped."""
WEAK_CHECK = Verdicts(both=CERTAIN, checked=POSSIBLE, near=POSSIBLE)
"""The check passes by chance now and then."""
SHAPE_ONLY = Verdicts(both=CERTAIN, checked=POSSIBLE)
"""There is nothing to check but the shape."""
GUESS = Verdicts(both=POSSIBLE, checked=None)
"""A word is near, and even then it may be something else."""


DIGIT = re.compile(r"\d")
AT_SIGN = re.compile("@")
BRACKETED_AT = re.compile(r"(?i)[\[({] ?at ?[\])}]")
KEY_WORD = re.compile(r"(?i)pass|\bpin\b|://|PRIVATE KEY|AKIA|gh[pousr]_|xox|sk-")
CORNER = re.compile(r"(?i)corner of")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way in which a kind of private data is written.

    `anchor` occurs in every match; far from it nobody has to look.
    """

    kind: Kind
    anchor: re.Pattern[str]
    pattern: re.Pattern[str]
    check: Check
    words: re.Pattern[str] | None
    verdicts: Verdicts

    def judge(self, value: str, around: str) -> Certainty | None:
        """Return how certain a match is, given the text around it."""
        passed = self.check(value)
        near = self.words is not None and self.words.search(around) is not None
        verdicts = self.verdicts
        if passed:
            return verdicts.both if near else verdicts.checked
        return verdicts.near if near else verdicts.neither


def _rule(
    kind: Kind,
    pattern: str,
    verdicts: Verdicts = ALWAYS,
    *,
    check: Check = bool,
    words: str | None = None,
    anchor: re.Pattern[str] = DIGIT,
) -> Rule:
    return Rule(
        kind=kind,
        anchor=anchor,
        pattern=re.compile(pattern),
        check=check,
        words=None if words is None else re.compile(rf"(?i)(?<![^\W\d_])(?:{words})"),
        verdicts=verdicts,
    )


# Checks that are about how something is written

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = (
    rf"(?:\d{{4}}[-/. ]\d{{1,2}}[-/. ]\d{{1,2}}|\d{{1,2}}[-/. ]\d{{1,2}}[-/. ]\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?,? \d{{4}}|{_MONTH}\.? \d{{1,2}},? \d{{4}})"
)
_STARTS_WITH_DATE = re.compile(
    r"(?:1[5-9]|20)\d\d[-/. ](?:0?\d|1[0-2])[-/. ][0-3]?\d\b"
    r"|[0-3]?\d[-/.][0-3]?\d[-/.](?:1[5-9]|20)?\d\d$"
)
_YEARS = re.compile(r"(?:(?:1[5-9]|20)\d\d\W{1,3}){1,9}(?:1[5-9]|20)?\d\d")


# Names that the standards keep free for examples: nobody lives there.
_EXAMPLE = re.compile(r"(?i)[@.](?:example(?:\.(?:com|net|org))?|invalid|test|localhost)$")


def is_phone_shaped(text: str) -> bool:
    """Tell whether so many digits, so grouped, can be a telephone number and no date."""
    digits = checks.digits_of(re.split(r"(?i)x|ext", text)[0])
    bare = text.strip("() ")
    if not 7 <= len(digits) <= 15 or _STARTS_WITH_DATE.match(bare) or _YEARS.fullmatch(bare):
        return False
    return len(set(digits)) > 1


def is_spelled_as_number(text: str) -> bool:
    """Tell whether this is grouped like a telephone number and not like a row of a table."""
    groups = re.findall(r"\d+", text)
    long = len(groups) >= 3 and max(map(len, groups)) > 2
    return is_phone_shaped(text) and (long or groups[0].startswith("0"))


def _is_no_month(text: str) -> bool:
    return re.search(rf"(?i)\b{_MONTH}\b", text) is None


def _has_long_digits(text: str) -> bool:
    return len(checks.digits_of(text)) >= 6


def _has_digit(text: str) -> bool:
    return any(one.isdecimal() for one in text)


# The table

_PHONE_WORDS = (
    r"phone|tel\b|tel\.|telephone|mobile|cell|fax|call(?:ed|ing)? |desk|office|whatsapp|sms|"
    r"text me|messages? (?:to|from|at)|answering|reach|dial|contact|handy|number is|\bph\b"
)
_CARD_WORDS = r"card|credit|debit|visa|mastercard|amex|american express|maestro|diners|cc\b|cvv"
_ADDRESS_WORDS = (
    r"address|lives?\b|living|resid|street|home|moved to|ship(?:ped|ping)? to|deliver|visit|"
    r"apt|suite|flat\b|located"
)
_CAP = r"[^\W\d_a-zß-öø-ÿ][\w'\u2019.-]{0,30}"

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Court|Ct|Square|Sq|Place|"
    r"Terrace|Way|Highway|Hwy|Parkway|Pkwy|Circle|Close|Crescent|Mews|Gardens|Alley|Trail)"
)
_SUFFIX = (
    r"(?:straße|strasse|strase|str\.|gasse|weg|platz|allee|gade|gata|gatan|vej|vejen|vegen|veien|"
    r"vägen|vænget|stræde|katu|kuja|tie|polku|straat|laan|plein|utca|stien|gränd|útja|gate|brücke)"
)
_PREFIX = (
    r"(?:Rua|Calle|Avenida|Av\.|Via|Viale|Piazza|Rue|Boulevard|Praça|Largo|Strada|Ul\.|ul\.|Plaza|"
    r"Camino|Carrer|Corso|Avenue|Travessa|Estrada|Chemin|Allée|Quai|Contrada|Vicolo)"
)

_NATIONAL_IDS: tuple[tuple[str, Verdicts, Check, str | None], ...] = (
    (
        r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])",
        STRONG_CHECK,
        checks.is_us_ssn,
        r"ssn|social security",
    ),
    (
        r"(?<![\d.,-])\d{3} ?\d{2} ?\d{4}(?![\d-])",
        WITH_WORD,
        checks.is_us_ssn,
        r"ssn|social security|\bitin\b|taxpayer",
    ),
    (
        r"(?<!\w)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D](?!\w)",
        ALWAYS,
        bool,
        None,
    ),
    (
        r"(?<![\d.,-])\d{3}[ -]?\d{3}[ -]?\d{4}(?![\d-])",
        WITH_WORD,
        checks.is_nhs_number,
        r"nhs",
    ),
    (
        r"(?<!\w)[XYZxyz]?-?\d{7,8}-?[A-Za-z](?!\w)",
        STRONG_CHECK,
        checks.is_spanish_id,
        r"dni|nie\b|nif",
    ),
    (
        r"(?i)(?<!\w)[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z](?!\w)",
        STRONG_CHECK,
        checks.is_codice_fiscale,
        r"codice fiscale",
    ),
    (
        r"(?i)(?<![\w.,-])[12] ?\d\d ?[01]\d ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d(?!\w)",
        STRONG_CHECK,
        checks.is_french_nir,
        r"s[ée]curit[ée] sociale|insee|\bnir\b",
    ),
    (
        r"(?<![\d.,-])\d{2} ?\d{3} ?\d{3} ?\d{3}(?![\d-])",
        MISTYPED,
        checks.is_german_tax_id,
        r"steuer|tax id|\btin\b|idnr",
    ),
    (
        r"(?<![\d.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)",
        STRONG_CHECK,
        checks.is_cpf,
        r"cpf",
    ),
    (
        r"(?<![\d.,-])\d{11}(?!\d)",
        MISTYPED,
        lambda text: checks.is_pesel(text) or checks.is_cpf(text),
        r"pesel|cpf|f[øo]dselsnummer|personal (?:id|number)|national id",
    ),
    (
        r"(?<![\d.,-])\d{9}(?!\d)",
        MISTYPED,
        checks.is_bsn,
        r"bsn|burgerservice|sofinummer",
    ),
    (
        r"(?<![\w.,-])[0-3]\d[01]\d{3}[-+A]\d{3}[0-9A-Z](?!\w)",
        STRONG_CHECK,
        checks.is_hetu,
        r"hetu|henkil[öo]tunnus",
    ),
    (
        r"(?<![\d.,-])(?:19|20)?\d{6}[-+]\d{4}(?![\d-])",
        WEAK_CHECK,
        checks.is_personnummer,
        r"personnummer|cpr|personal number|national id",
    ),
    (
        r"(?<![\d.,-])\d{4}[ -]?\d{4}[ -]?\d{4}(?![\d -]\d)",
        WITH_WORD,
        checks.is_aadhaar,
        r"aadhaar|uidai",
    ),
    (
        r"(?<![\d.,-])[1-9]\d{5}(?:19|20)\d\d[01]\d[0-3]\d\d{3}[\dXx](?!\w)",
        STRONG_CHECK,
        checks.is_chinese_id,
        r"身份证|resident|\bid\b",
    ),
    (
        r"(?<![\d.,-])\d{3}[ -]?\d{3}[ -]?\d{3}(?![\d-])",
        MISTYPED,
        checks.passes_luhn,
        r"social insurance|\bsin\b",
    ),
    (
        r"(?i)(?<!\w)[A-Z]{5}\d{4}[A-Z](?!\w)",
        WITH_WORD,
        bool,
        r"\bpan\b|permanent account",
    ),
    (
        r"(?i)(?<!\w)[A-Z0-9][A-Z0-9./-]{4,20}[A-Z0-9](?!\w)",
        GUESS,
        _has_long_digits,
        (
            r"national (?:id|insurance)|identity (?:card|number)|tax(?:payer)? (?:id|number)|"
            r"personal (?:id|identification)|citizen number"
        ),
    ),
)
"""Numbers that a state gave: how one is written, how certain that is, its check, its words."""

RULES: tuple[Rule, ...] = (
    # Ways to reach somebody
    _rule(
        "email",
        r"(?<![\w.+-])[\w.+%'-]{1,64}@(?:[\w-]{1,63}\.){1,6}[^\W\d_]{2,24}(?![\w-])",
        check=lambda text: _EXAMPLE.search(text) is None,
        anchor=AT_SIGN,
    ),
    _rule(
        "email",
        r"(?i)(?<!\w)[\w.+-]{2,64} ?[\[({] ?at ?[\])}] ?[\w-]{1,63}"
        r"(?: ?[\[({] ?dot ?[\])}] ?[\w-]{2,24}|\.[\w-]{2,24}){1,4}",
        anchor=BRACKETED_AT,
    ),
    _rule(
        "phone",
        r"(?<![\w+])\+\d[\d ().\-/]{5,22}\d(?: ?(?:x|ext\.?) ?\d{1,6})?(?!\d)",
        check=is_phone_shaped,
    ),
    _rule(
        "phone",
        r"(?<![\d.$€£-])(?<!\d,)(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}"
        r"(?: ?(?:x|ext\.?) ?\d{1,6})?(?![\d-])",
        check=is_phone_shaped,
    ),
    _rule(
        "phone",
        r"(?<![\d.$€£+-])(?<!\d,)\(?\d{2,5}\)?(?:[ .\-/]{0,2}\(?\d{2,8}\)?){1,5}"
        r"(?:x\d{1,6})?(?![\d%]|[.,]\d)",
        WITH_WORD,
        check=is_phone_shaped,
        words=_PHONE_WORDS,
    ),
    _rule(
        "phone",
        r"(?<![\d.$€£+-])(?<!\d,)\(?\d{2,5}\)?(?:[ .\-/]\(?\d{2,8}\)?){1,5}(?![\d%]|[.,]\d)",
        SHAPE_ONLY,
        check=is_spelled_as_number,
        words=_PHONE_WORDS,
    ),
    _rule(
        "phone",
        r"(?<![\d.$€£+-])(?<!\d,)(?:00|0)[1-9]\d{7,12}(?![\d%]|[.,]\d)",
        SHAPE_ONLY,
        check=is_phone_shaped,
        words=_PHONE_WORDS,
    ),
    # Money
    _rule(
        "credit_card",
        r"(?<![\d.-])(?:\d{12,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})"
        r"(?![\d-])",
        STRONG_CHECK,
        check=checks.is_card_number,
        words=_CARD_WORDS,
    ),
    _rule(
        "credit_card",
        r"(?<![\d.-])\d(?:[ -]?\d){11,18}(?![\d-])",
        WITH_WORD,
        check=checks.is_card_number,
        words=_CARD_WORDS,
    ),
    _rule(
        "bank_account",
        r"(?i)(?<!\w)[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?)"
        r"(?!\w)",
        STRONG_CHECK,
        check=checks.is_iban,
        words=r"iban|account|transfer",
    ),
    _rule(
        "bank_account",
        r"(?<![\w.-])\d[\d -]{4,22}\d(?![\w-])",
        GUESS,
        check=_has_long_digits,
        words=r"account (?:number|no)|acct|bank account|sort code|routing|konto|iban",
    ),
    _rule(
        "crypto_wallet",
        r"(?<!\w)(?:bc1[a-z0-9]{11,71}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?!\w)",
        STRONG_CHECK,
        check=checks.is_bitcoin_address,
        words=r"bitcoin|btc|wallet|crypto",
    ),
    _rule("crypto_wallet", r"(?<!\w)0x[0-9a-fA-F]{40}(?!\w)"),
    # Numbers that a state gave
    *(
        _rule("national_id", pattern, verdicts, check=check, words=words)
        for pattern, verdicts, check, words in _NATIONAL_IDS
    ),
    _rule(
        "passport",
        r"(?i)(?<![\w/])(?=(?:[A-Z]{0,5}\d){3})[A-Z0-9]{6,12}(?!\w)",
        WITH_WORD,
        words=r"passport|passeport|reisepass|pasaporte",
    ),
    _rule(
        "driver_licence",
        r"(?i)(?<![\w/])[A-Z0-9][A-Z0-9 -]{3,20}[A-Z0-9](?!\w)",
        WITH_WORD,
        check=_has_digit,
        words=r"driv(?:er|ing)[\u2019']?s? licen[cs]e(?: (?:number|no|id))?\W{0,3}(?:is\W{0,3})?$",
    ),
    # Machines
    _rule(
        "ip_address",
        r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)",
        Verdicts(both=POSSIBLE, checked=CERTAIN),
        check=checks.is_ip_address,
        words=r"version|\bv\.? ?$|section|chapter|release",
    ),
    _rule(
        "ip_address",
        r"(?<![\w:])(?=[^\s]{0,39}::|(?:[0-9A-Fa-f]{1,4}:){7})[0-9A-Fa-f:]{2,39}(?![\w:])",
        check=lambda text: len(text) > 6 and checks.is_ip_address(text),
    ),
    _rule("mac_address", r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])"),
    # Places
    _rule(
        "street_address",
        rf"(?<![\w.,])\d{{1,5}}[A-Za-z]?,?(?: [NSEW]\.?)?(?: {_CAP}){{1,4}} {_STREET}\b",
    ),
    _rule("street_address", rf"(?<!\w){_CAP}(?: {_CAP}){{0,3}} {_STREET}\.? \d{{1,5}}\b"),
    _rule(
        "street_address",
        rf"(?<!\w)(?:\d{{1,6}} )?(?:{_CAP} ){{0,3}}\w{{0,30}}(?i:{_SUFFIX}) ?\d{{1,5}}\w?\b",
    ),
    _rule(
        "street_address",
        rf"(?<!\w)(?:\d{{1,6}} )?{_PREFIX} (?:[^\W\d_][\w'\u2019.-]{{0,30}} ){{1,6}}"
        r"(?:N[.º°] ?)?\d{1,5}\b",
        check=_is_no_month,
    ),
    _rule(
        "street_address",
        rf"(?<![\w.,$])\d{{1,6}} {_CAP}(?: {{1,2}}[\w'\u2019.-]{{1,30}}){{0,4}} \d{{1,5}}\b",
        WITH_WORD,
        check=_is_no_month,
        words=_ADDRESS_WORDS,
    ),
    _rule(
        "street_address",
        rf"(?<![\w.,$])\d{{1,6}} {_CAP}(?: (?:{_CAP}|d[aeio]s?|del|la|van|der)){{0,4}} \d{{1,5}}\b",
        SHAPE_ONLY,
        check=_is_no_month,
    ),
    _rule(
        "street_address",
        r"(?i)(?<!\w)(?:apt|apartment|suite|ste|flat)\.? ?#? ?\d{1,5}[a-z]?\b",
        SHAPE_ONLY,
        words=_ADDRESS_WORDS,
    ),
    _rule("street_address", r"(?i)(?<!\w)(?:P\.? ?O\.? ?|PSC \d{1,5}, )Box \d{1,6}\b"),
    _rule(
        "street_address",
        rf"(?<!\w)(?i:corner of) (?:[\w.'\u2019-]{{1,30}} ){{1,5}}and {_CAP}(?: {_CAP})?",
        SHAPE_ONLY,
        words=_ADDRESS_WORDS,
        anchor=CORNER,
    ),
    _rule(
        "street_address",
        rf"(?<=[ \n])\d{{1,5}} {_CAP}(?: {_CAP}){{0,3}}",
        GUESS,
        check=_is_no_month,
        words=r"(?:address(?: is)?|lives? (?:at|on|in)|resid\w+ at|located at)[^.\n]{0,25}$",
    ),
    _rule(
        "postal_code",
        r"(?<![\w-])[A-Z0-9]{1,5}(?:[ -]?[A-Z0-9]{2,4})?(?!\w)",
        GUESS,
        check=_has_digit,
        words=r"(?:zip(?: ?code)?|post(?:al)? ?code|postcode|plz)\W{0,3}(?:is\W{0,3})?$",
    ),
    # Lives
    _rule(
        "date_of_birth",
        rf"(?i)(?<![\w/-]){_DATE}(?![\w/-])",
        WITH_WORD,
        words=r"born|birth|dob\b|d\.o\.b|geboren|n[ée]e? le|nacid[oa]",
    ),
    # Keys to something
    _rule(
        "credentials",
        r"(?i)(?<!\w)[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,60}:[^\s/@]{1,60}@[^\s/]{1,30}",
        anchor=KEY_WORD,
    ),
    _rule(
        "credentials",
        r"(?i)(?<!\w)(?:password|passwd|passphrase|pin code|pin)(?: is)? ?[:=] ?[^\s,;]{4,60}",
        Verdicts(both=POSSIBLE, checked=POSSIBLE),
        anchor=KEY_WORD,
    ),
    _rule(
        "credentials",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----|(?<!\w)(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{36,76}|"
        r"xox[abpr]-[\w-]{10,80}|sk-[\w-]{20,120})(?!\w)",
        anchor=KEY_WORD,
    ),
)
