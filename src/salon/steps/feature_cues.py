"""What people say about themselves, as data: a feature, a value, how sure, and the words for it.

Every pattern begins with the first person, so what is said about a brother is not said about the
speaker, and a negation inside it has a pattern of its own or none. Patterns are written for lower
case with straight apostrophes. Nothing here is trained; the confidences are judgements.
"""

import re
from dataclasses import dataclass

_FILLER = (
    r"(?: (?:a|an|also|still|really|very|actually|just|currently|now|quite|pretty|totally|"
    r"basically|definitely|super|so|proud|rather|kind of|kinda|more of|lifelong|strict|devout|"
    r"practising|practicing|big|huge|bit|bit of|little|committed|non-practising))*"
)
I_AM = rf"\bi(?:'m| am){_FILLER} "
_AND = r"(?:[\w-]+(?:,| and| but|, and|, but)(?: (?:also|very|really|a|an|quite|pretty|so))* ){0,3}"
"""Other words of a list: `I'm shy, tired and curious`."""
_NOT = r"\bi(?:'m| am) not(?: (?:a|an|really|very|that|so|particularly|exactly|much of|all that))* "
_DONT = r"\bi (?:don't|do not|never|no longer|stopped|quit|gave up)(?: (?:really|actually|ever))* "
_I = r"\bi(?: (?:really|just|only|usually|often|also|still|mostly|sometimes))* "
_HAVE = r"\bi(?:'ve| have)(?: (?:got|just|already))* (?:a |an |my )?"
_STATE = r"(?! (?:today|tonight|right now|now|at the moment|this (?:week|morning|evening)|lately))"
_GAP_WORD = (
    r"[\s-]+(?!(?:loves|likes|hates|is|are|was|were|who|but|because|if|when|he|she|they|you|your|"
    r"we|his|her|their)\b)[\w']+"
)
GAP = rf"(?:{_GAP_WORD}){{0,5}}?[\s-]+"
LIKE = (
    r"\bi(?:(?: (?:really|just|absolutely|also|still|do|totally|always|truly))* "
    r"(?:love|adore|enjoy|like|live for)|(?:'m| am)(?: (?:really|so|very|totally|also))* "
    r"(?:into|crazy about|obsessed with|passionate about|fond of|a (?:big |huge )?fan of|keen on))"
)
DISLIKE = (
    r"\bi(?: really| just| honestly)? (?:(?:don't|do not|didn't|never)(?: (?:really|even|much))* "
    r"(?:like|enjoy|care for|care about|do|play|read|listen to|go)|hate|can't stand|cannot stand|"
    r"dislike)|\bi(?:'m| am) not(?: (?:really|much|that|very|so|all that))* "
    r"(?:into|a (?:big |huge )?fan of|fond of|keen on|interested in)"
)
DO = (
    r"\bi (?:(?:often|usually|always|regularly|also|still|sometimes|even) )*(?:play|go|practi[cs]e|"
    r"do|collect|train|write|read|listen to|spend (?:my|most|all)|study|teach|make)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """One way to say something about oneself; a number in the words is read by `reads_number`."""

    feature: str
    value: float | str
    confidence: float
    pattern: re.Pattern[str]


def _cue(feature: str, value: float | str, confidence: float, *patterns: str) -> tuple[Cue, ...]:
    return tuple(
        Cue(feature=feature, value=value, confidence=confidence, pattern=re.compile(pattern))
        for pattern in patterns
    )


_RELIGIONS = {
    "christian": "christian|catholic|protestant|orthodox christian|baptist|methodist|lutheran",
    "jewish": "jewish|jew",
    "muslim": "muslim",
    "hindu": "hindu",
    "buddhist": "buddhist",
    "atheist": "atheist",
    "agnostic": "agnostic",
}
_STATED: tuple[Cue, ...] = (
    *_cue("sex", "m", 0.95, I_AM + r"(?:\d+[- ]year[- ]old )?(?:man|guy|male|dude)\b"),
    *_cue("sex", "f", 0.95, I_AM + r"(?:\d+[- ]year[- ]old )?(?:woman|girl|female|lady)\b"),
    *_cue("orientation", "straight", 0.95, I_AM + r"(?:straight|heterosexual)\b(?! (?:up|about))"),
    *_cue("orientation", "gay", 0.95, I_AM + r"(?:gay|lesbian|homosexual)\b"),
    *_cue("orientation", "bisexual", 0.95, I_AM + r"(?:bi|bisexual)\b(?![- ](?:lingual|weekly))"),
    *_cue("relationship_goals", "serious", 0.85,
          r"\bi(?:'m| am)? ?(?:looking for|want|hope for|after)(?: to find)? (?:something serious|"
          r"a serious (?:thing|relationship)|a long[- ]term|something long[- ]term|commitment|"
          r"marriage|someone to settle down|a life partner|a real relationship)",
          r"\bi want to (?:get married|settle down|start a family)\b"),
    *_cue("relationship_goals", "casual", 0.85,
          r"\bi(?:'m| am)? ?(?:just |only )?(?:looking for|want|after) (?:something casual|"
          r"something light|nothing serious|a bit of fun|some fun|a fling)",
          r"\bi(?:'m| am) not(?: really)? looking for (?:anything|something) serious",
          r"\bi don't want anything serious"),
    *_cue("relationship_goals", "friendship", 0.85,
          r"\bi(?:'m| am)? ?(?:just |only |mostly )?(?:looking for|want|after|here for) "
          r"(?:new |some |a |good )*(?:friends?|friendship|someone to talk to|company)\b"),
    *_cue("relationship_goals", "unsure", 0.75,
          r"\bi(?:'m| am)? ?(?:not sure|don't know|unsure)(?: yet)? what i(?:'m| am)? "
          r"?(?:looking for|want)\b"),
    *_cue("lifestyle_diet", "vegan", 0.95, I_AM + _AND + r"vegan\b", _I + r"eat (?:only )?vegan\b"),
    *_cue("lifestyle_diet", "vegetarian", 0.95, I_AM + _AND + r"vegetarian\b",
          _DONT + r"(?:eat|eating) meat\b"),
    *_cue("lifestyle_diet", "omnivore", 0.9, I_AM + r"(?:omnivore|meat[- ]eater)\b",
          r"\bi eat (?:everything|anything|meat)\b"),
    *_cue("lifestyle_diet", "other", 0.8,
          r"\bi (?:eat|keep|only eat) (?:kosher|halal|keto|paleo|gluten[- ]free)\b",
          I_AM + r"(?:pescatarian|pescetarian|keto|on a keto diet)\b"),
    *_cue("lifestyle_drinks", "not_at_all", 0.9,
          _DONT + r"(?:drink|drinking)(?: alcohol| at all| anymore)?(?=\W*$|[.,;!]| and| but| or)",
          _DONT + r"(?:touch|drink) alcohol\b", I_AM + r"(?:sober|teetotal|teetotaller)\b"),
    *_cue("lifestyle_drinks", "rarely", 0.8, r"\bi (?:rarely|hardly ever|seldom) drink\b",
          r"\bi drink (?:very )?(?:rarely|little)\b"),
    *_cue("lifestyle_drinks", "socially", 0.8,
          r"\bi (?:only )?drink (?:socially|with friends|at parties|on weekends|now and then)\b",
          r"\bi(?:'m| am) a social drinker\b"),
    *_cue("lifestyle_drinks", "often", 0.75,
          r"\bi drink (?:a lot|often|quite a bit|most (?:days|evenings))\b"),
    *_cue("lifestyle_drinks", "very_often", 0.8,
          r"\bi drink (?:every (?:day|night|evening)|daily|too much)\b"),
    *_cue("lifestyle_smokes", "no", 0.9,
          _DONT + r"(?:smoke|smoking)(?: cigarettes| at all| anymore)?(?! (?:weed|pot))\b",
          r"\bi(?:'m| am) a non[- ]?smoker\b"),
    *_cue("lifestyle_smokes", "sometimes", 0.8,
          r"\bi (?:smoke (?:sometimes|socially|occasionally|now and then)|"
          r"(?:sometimes|occasionally) smoke)\b(?! (?:weed|pot))"),
    *_cue("lifestyle_smokes", "yes", 0.85, r"\bi(?:'m| am) a (?:heavy )?smoker\b",
          r"\bi (?:do )?smoke(?=\W*$|[.,;!]| and| but| a pack| every| daily| cigarettes)"),
    *_cue("lifestyle_drugs", "never", 0.9,
          _DONT + r"(?:do|take|use|touch|touched|tried) (?:any )?(?:drugs|weed)\b",
          r"\bi(?:'ve| have) never (?:done|taken|tried|touched) (?:any )?drugs\b"),
    *_cue("lifestyle_drugs", "sometimes", 0.8,
          r"\bi (?:sometimes |occasionally |do )?(?:smoke|vape) (?:some )?(?:weed|pot)\b",
          r"\bi (?:sometimes|occasionally) (?:take|do|use) (?:drugs|edibles)\b"),
    *_cue("background_education", "phd", 0.85,
          _HAVE + r"(?:phd|ph\.d|doctorate)\b", I_AM + r"phd (?:student|candidate)\b",
          r"\bi(?:'m| am) (?:doing|finishing|writing|working on|studying for) (?:a|my) "
          r"(?:phd|doctorate|dissertation)\b"),
    *_cue("background_education", "masters", 0.8,
          _HAVE + r"master(?:'?s)?\b", r"\bi(?:'m| am) (?:doing|finishing|working on|studying for|"
          r"in) (?:a|my) master(?:'?s)?\b", r"\bi (?:did|finished|got) (?:a|my) master(?:'?s)?\b"),
    *_cue("background_education", "bachelors", 0.8,
          _HAVE + r"(?:bachelor(?:'?s)?|(?:university |college )?degree)\b",
          r"\bi (?:graduated from (?:college|university|uni)|"
          r"(?:did|finished|got) (?:a|my) (?:bachelor(?:'?s)?|degree))\b"),
    *_cue("background_education", "some_college", 0.75,
          r"\bi dropped out of (?:college|university|uni)\b",
          I_AM + r"(?:(?:college|university|uni|undergrad(?:uate)?) student|undergrad(?:uate)?)\b",
          r"\bi(?:'m| am) (?:in|at) (?:college|uni|university)\b"),
    *_cue("background_education", "high_school", 0.75,
          r"\bi(?:'m| am) (?:in|at|still in) high school\b",
          r"\bi (?:only )?(?:finished|graduated from) high school\b",
          r"\bi (?:never|didn't) (?:go|went) to (?:college|university|uni)\b"),
    *(cue for name, words in _RELIGIONS.items()
      for cue in _cue("background_religion", name, 0.95, I_AM + rf"(?:{words})\b")),
    *_cue("background_religion", "atheist", 0.5, _NOT + r"religious\b",
          r"\bi don't believe in (?:god|any god)\b"),
    *_cue("background_religion", "agnostic", 0.5, _NOT + r"religious\b"),
)  # fmt: skip

_NOUNS: dict[str, str] = {
    "interest_music": "music|guitar|piano|violin|drums|bands?|choir|singing|jazz|vinyl|opera|gigs?|"
    "songs?|techno|concerts?|cello|karaoke",
    "interest_sports": "sports?|football|soccer|basketball|tennis|the gym|running|swimming|cycling|"
    "yoga|volleyball|boxing|marathons?|cricket|rugby|badminton|martial arts|pilates",
    "interest_travel": "travel|travell?ing|backpacking|road trips?|new countries|new places|"
    "trips abroad|city trips?",
    "interest_food": "cooking|baking|food|restaurants?|recipes?|cuisine|sushi|eating out|curry|"
    "dinner parties",
    "interest_arts": "art|painting|drawing|museums?|galleries|theat(?:er|re)|photography|"
    "sculptures?|ballet|pottery|exhibitions?|dancing",
    "interest_tech": "programming|coding|code|computers?|gaming|video games?|technology|tech|"
    "robots|robotics|gadgets?|software|electronics",
    "interest_outdoors": "hiking|hikes?|camping|mountains?|climbing|nature|the outdoors|gardening|"
    "skiing|kayaking|fishing|surfing|trails?|the woods|the forest|birdwatching",
    "interest_books": "reading|books?|novels?|literature|poetry|fiction|poems|short stories",
}
_VERBS: dict[str, str] = {
    "interest_music": r"sing|play music",
    "interest_sports": r"work out|exercise|jog|swim|lift weights",
    "interest_travel": r"travel",
    "interest_food": r"cook|bake",
    "interest_arts": r"paint|draw",
    "interest_tech": r"code|program",
    "interest_outdoors": r"hike|camp|garden|climb",
    "interest_books": r"read",
}
_MUCH = r" (?:a lot|often|every|all the time|most|for fun|whenever|quite a bit|regularly)"
_INTERESTS: tuple[Cue, ...] = tuple(
    cue
    for feature, nouns in _NOUNS.items()
    for cue in (
        *_cue(feature, 0.1, 0.8, rf"(?:{DISLIKE}){GAP}(?:{nouns})\b"),
        *_cue(feature, 0.9, 0.8, rf"(?:{LIKE}){GAP}(?:{nouns})\b"),
        *_cue(feature, 0.75, 0.6, rf"(?:{DO}){GAP}(?:{nouns})\b"),
        *_cue(feature, 0.85, 0.7, rf"\bi (?:really )?(?:love|like) to (?:{_VERBS[feature]})\b"),
        *_cue(feature, 0.75, 0.6, rf"\bi (?:{_VERBS[feature]})(?={_MUCH})"),
    )
)  # fmt: skip

_ADJECTIVES: dict[str, tuple[tuple[float, str], ...]] = {
    "big_five_extraversion": (
        (0.85, r"outgoing|extrovert(?:ed)?|extravert(?:ed)?|sociable|talkative|people person"),
        (0.2, r"shy|introverted|introvert|quiet person|reserved|loner"),
    ),
    "big_five_agreeableness": (
        (0.8, r"caring|empathetic|helpful|kind[- ]hearted|soft[- ]hearted|good listener"),
        (0.3, r"stubborn|blunt|cynical|cold person|competitive"),
    ),
    "big_five_conscientiousness": (
        (0.82, r"organi[sz]ed|tidy|punctual|disciplined|hard[- ]?working|perfectionist|planner"),
        (0.2, r"messy|disorgani[sz]ed|lazy|forgetful|procrastinator|chaotic"),
    ),
    "big_five_neuroticism": (
        (0.8, r"worrier|anxious person|nervous person|moody|overthinker|easily (?:stressed|upset)"),
        (0.22, r"laid[- ]back|easy[- ]?going|calm person|relaxed person|even[- ]tempered"),
    ),
    "big_five_openness": (
        (0.83, r"curious|creative|imaginative|open[- ]minded|adventurous|dreamer"),
        (0.28, r"traditional|conventional|creature of habit|old[- ]fashioned"),
    ),
}  # fmt: skip
_TRAITS: tuple[Cue, ...] = (
    *(
        cue
        for feature, words in _ADJECTIVES.items()
        for value, nouns in words
        for cue in (
            *_cue(feature, value, 0.6, I_AM + _AND + rf"(?:{nouns})\b{_STATE}"),
            *_cue(feature, round(1.0 - value, 2), 0.5, _NOT + rf"(?:{nouns})\b"),
        )
    ),
    *_cue("big_five_neuroticism", 0.78, 0.6,
          r"\bi (?:always |often )?(?:worry (?:a lot|too much|about everything|all the time)|"
          r"overthink|stress (?:easily|about everything))"),
    *_cue("big_five_conscientiousness", 0.2, 0.5,
          r"\bi(?:'m| am) always (?:late|losing)", r"\bi procrastinate\b"),
    *_cue("big_five_openness", 0.8, 0.5, r"\bi (?:love|like|enjoy) (?:trying|learning) new things"),
    *_cue("big_five_extraversion", 0.82, 0.5,
          r"\bi (?:love|enjoy) (?:meeting new people|big parties|being around people)"),
    *_cue("big_five_extraversion", 0.22, 0.5, r"\bi (?:need|prefer|love) (?:my )?"
          r"(?:alone time|time alone|being alone|to be alone|a quiet night)"),
)  # fmt: skip

_LOVED = (
    r"(?:\bi feel (?:most )?(?:loved|cared for|appreciated) when|makes me feel (?:loved|special)|"
    r"means (?:a lot|so much|the world|everything)(?: to me)?(?: when)?|" + LIKE[:-1] + r"| need|"
    r" miss| crave))"
)
_LONG_GAP = r"(?:[\s'-]+[\w']+){0,7}?[\s-]+"
_LANGUAGES: dict[str, str] = {
    "words_of_affirmation": r"compliments?|kind words|sweet words|encouraging words|praise|"
    r"says? (?:that )?(?:he|she|they|you) (?:love|loves|appreciate|appreciates)",
    "quality_time": r"quality time|time together|time with (?:you|him|her|them|someone)|"
    r"undivided attention|evenings together|talking for hours",
    "receiving_gifts": r"gifts?|presents?|little surprises|souvenirs?",
    "acts_of_service": r"does the dishes|do the dishes|cooks for me|helps? me (?:out|with)|"
    r"takes? care of things|does things for me|small favou?rs",
    "physical_touch": r"hugs?|hugging|cuddles?|cuddling|holding hands|kiss(?:es|ing)?|"
    r"physical touch|being held",
}
_LOVE: tuple[Cue, ...] = tuple(
    cue
    for name, words in _LANGUAGES.items()
    for cue in _cue("primary_love_language", name, 0.6, rf"{_LOVED}{_LONG_GAP}(?:{words})\b")
)

CUES: tuple[Cue, ...] = (*_STATED, *_INTERESTS, *_TRAITS, *_LOVE)

STYLE_MARKERS: dict[str, re.Pattern[str]] = {
    "humorous": re.compile(r"\b(?:ha(?:ha)+|lol|lmao|rofl|just kidding|jk|hehe)\b|😂|🤣"),
    "direct": re.compile(r"\b(?:honestly|frankly|to be blunt|let's be plain)\b"),
    "indirect": re.compile(r"\b(?:maybe|perhaps|i guess|sort of|kind of|i suppose)\b"),
    "casual": re.compile(r"\b(?:yeah|gonna|wanna|kinda|hey|cool|dunno|yep|nah|btw)\b"),
    "formal": re.compile(r"\b(?:furthermore|moreover|i would appreciate|kindly|sincerely|regarding|"
                         r"would you be so kind)\b"),
    "serious": re.compile(r"\b(?:it matters to me|i take .{1,30} seriously|important to me|"
                          r"i have been thinking)\b"),
}  # fmt: skip
"""Wording that hints at how somebody talks; each hint is weak."""

MBTI_STATED = re.compile(I_AM + r"([ei][ns][tf][jp])\b")
MBTI_TRAITS: dict[str, tuple[str, float]] = {
    "e": ("big_five_extraversion", 0.72),
    "i": ("big_five_extraversion", 0.28),
    "n": ("big_five_openness", 0.72),
    "s": ("big_five_openness", 0.28),
    "f": ("big_five_agreeableness", 0.65),
    "t": ("big_five_agreeableness", 0.35),
    "j": ("big_five_conscientiousness", 0.65),
    "p": ("big_five_conscientiousness", 0.35),
}
"""What a type that somebody names says about the traits behind it."""
