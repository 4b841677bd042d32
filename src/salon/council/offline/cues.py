"""Words that show what a sentence does: tables and patterns, no rules of their own."""

import re
from enum import StrEnum


class Role(StrEnum):
    """What a sentence does in a chapter, in the order in which a reader needs it."""

    DEFINITION = "definition"
    HISTORY = "history"
    MECHANISM = "mechanism"
    CONSEQUENCE = "consequence"


ROLE_CUES: dict[Role, re.Pattern[str]] = {
    Role.DEFINITION: re.compile(
        r"^(?:\S+\s+){1,9}?(?:is|are|was|were)\s+(?:a|an|one\s+of|the\s+(?:most|main|process|study|"
        r"ability|term|name|first|largest|capital|son|daughter)|any|defined|known|called|"
        r"classified|characteri[sz]ed|composed)\b"
        r"|\b(?:refers?\s+to|consists?\s+of|is\s+termed|by\s+definition)\b",
        re.IGNORECASE,
    ),
    Role.HISTORY: re.compile(
        r"\b(?:1[0-9]{3}|20[0-4][0-9])\b|\b\d{1,2}(?:st|nd|rd|th)\s+century\b"
        r"|\b(?:born|founded|invented|discovered|originally|historically|first\s+described|"
        r"introduced\s+in|decades?|ancient|evolved|emerged)\b",
        re.IGNORECASE,
    ),
    Role.MECHANISM: re.compile(
        r"\b(?:because|by\s+\w+ing|via|through|mediat\w+|regulat\w+|activat\w+|inhibit\w+|"
        r"mechanisms?|pathways?|process(?:es)?|depends?\s+on|binds?|binding|controls?|requires?|"
        r"produces?|converts?|signal(?:l?ing)?|interact\w*)\b",
        re.IGNORECASE,
    ),
    Role.CONSEQUENCE: re.compile(
        r"\b(?:result(?:s|ed|ing)?\s+in|leads?\s+to|led\s+to|therefore|consequen\w+|"
        r"associated\s+with|reduc\w+|increas\w+|improv\w+|effects?|impacts?|implications?|risks?|"
        r"outcomes?|prevent\w*|benefi\w+|causes?|caused|contribut\w+)\b",
        re.IGNORECASE,
    ),
}

ROLE_HEADINGS: dict[Role, str] = {
    Role.DEFINITION: "What it is",
    Role.HISTORY: "Where it comes from",
    Role.MECHANISM: "How it works",
    Role.CONSEQUENCE: "What follows from it",
}

CONTRAST = re.compile(
    r"\b(?:although|though|but|however|whereas|while|despite|unless|only\s+if|if|except|rather\s+"
    r"than|in\s+contrast|contrary|not\s+always|may|might|depend(?:s|ing)?\s+on|limit(?:ed|s|ations?)|"
    r"remains?\s+(?:unclear|unknown|controversial)|controvers\w+|uncertain\w*|conflicting|"
    r"sometimes|some|certain|conditions?)\b",
    re.IGNORECASE,
)
"""Words of conditions, objections and doubt."""

FIGURE = re.compile(
    r"(?<![\w.])[-+]?\d[\d,.]*\s?(?:%|percent|per\s+cent|fold|mg|kg|g|ml|km|m|years?|"
    r"months?|days?|hours?|million|billion|thousand)?",
    re.IGNORECASE,
)
"""A number, with its unit where it has one."""

LEADING_LABEL = re.compile(
    r"^(?:(?:BACKGROUND|INTRODUCTION|CONTEXT|RATIONALE|OBJECTIVES?|AIMS?|PURPOSES?|GOALS?|METHODS?|"
    r"METHODOLOGY|DESIGN|SETTINGS?|PARTICIPANTS?|PATIENTS|SUBJECTS|INTERVENTIONS?|MEASUREMENTS?|"
    r"MAIN|PRIMARY|OUTCOMES?|MEASURES?|RESULTS?|FINDINGS?|CONCLUSIONS?|DISCUSSION|INTERPRETATION|"
    r"SIGNIFICANCE|IMPORTANCE|SUMMARY|LIMITATIONS?|DATA|SOURCES?|STUDY|SELECTION|EXTRACTION|"
    r"SYNTHESIS|FUNDING|REVIEW|RECENT|AND|OF|THE|PRINCIPAL|MATERIALS?|CLINICAL|RELEVANCE|"
    r"IMPLICATIONS?|EVIDENCE|ACQUISITION)\b[\s/&,]*+)++[:.\-\u2014]?\s*+(?=[A-Z0-9\"(])"
    r"|^(?:Background|Introduction|Context|Objectives?|Aims?|Purpose|Methods?|Design|Settings?|"
    r"Results?|Findings?|Conclusions?|Discussion|Interpretation|Significance|Summary)"
    r"(?:\s++(?:and|/)\s++\w++)?\s*+:\s*+(?=[A-Z0-9\"(])"
)
"""What an abstract puts before the first sentence of a part."""

NEEDS_CONTEXT = re.compile(
    r"^[\"'\u201c(]*(?:(?:This|These|Those|That|Its|They|Their|Them|He|She|His|Her|Hers|Him|Such|"
    r"Here|However|Moreover|Furthermore|Therefore|Thus|Hence|Consequently|Additionally|Similarly|"
    r"Likewise|Also|But|And|Or|Nor|Yet|Then|So|Instead|Nevertheless|Nonetheless|Accordingly|"
    r"Meanwhile|Finally|First|Firstly|Second|Secondly|Third|Thirdly|Lastly|Next|Conversely|Indeed|"
    r"Specifically|Interestingly|Importantly|Surprisingly|Notably|Strikingly|Remarkably|Overall|"
    r"Together|Collectively|Both|Neither|Either|Another|Other|Others|Later|Afterwards|Subsequently|"
    r"Again|Still|Otherwise|Rather|Unexpectedly|Intriguingly|Alternatively|Besides|Further|"
    r"Compared|Who|Which|Whose|Where|All|Most|Many|None|Several|Half|"
    r"Each(?!\s+[a-z]+\s+(?:of|in|at|from)\s+(?:the\s+)?[A-Z]))\b(?!-)"
    r"|(?:In|By|On)\s+(?:addition|contrast|particular|conclusion|summary|turn|fact|short|comparison|"
    r"total|all|both|each|these|this|those|such|the\s+(?:present|current|former|latter|same|other)|"
    r"the\s+other\s+hand|doing\s+so)\b"
    r"|In\s+(?:other\s+words|like\s+manner|that\b|consequence\b|either\b|any\s+(?:case|event))"
    r"|On\s+the\s+(?:contrary|one\s+hand)|At\s+the\s+same\s+time|That\s+is\b|As\s+(?:already|I|we)\b"
    r"|(?:The|My)\s+(?:question|case|matter|subject|point|issue|situation|problem|reason|answer|"
    r"difficulty|result|change|fact)\s+(?:has|have|had|is|was|were|will|would|should|may|must)\b"
    r"|(?:As|For|To|At|Of|With|From|After|Before|During|Among|Under|Despite)\s+(?:a\s+result|example|"
    r"instance|(?:this|these|those|them|which|whom|that|such|their|its|his|her)\b|the\s+same|all|"
    r"note|expected)"
    r"|Taken\s+together|There\s+(?:is|are|was|were|has|have|had|remain\w*)|Up\s+to\s+now|So\s+far"
    r"|The\s+(?:latter|former|same|other|others|two|three|four|above|following|remaining|"
    r"present|current|aim|aims|objective|purpose|goal|authors?|study|trial|paper|article|review|"
    r"results?|findings|data|analysis|primary|secondary|main|mean|median|overall|most|second|"
    r"groups?|model|method|film|book|song|album|series|story|episode|plot|movie)\b"
    r"|It(?!\s+(?:is|was|has\s+been|had\s+been)\s+(?:\w+\s+)?(?:known|thought|believed|estimated|"
    r"assumed|accepted|proposed|established|recogni[sz]ed|important|possible|likely|unclear|"
    r"unknown)\b)\b)"
)
"""A beginning that leans on the sentence before."""

REFERS_ELSEWHERE = re.compile(
    r"\b(?:above|below|aforementioned|as\s+follows|as\s+described|previously\s+described|"
    r"see\s+(?:also|section|chapter|fig|table|page|p\.)|fig(?:ure|s|\.)?\s*\d|table\s+\d|"
    r"eqs?\.\s*\d|ibid|op\.\s*cit|et\s+al|respectively|the\s+(?:latter|former)|(?:this|these)\s+\w+)\b"
    r"|\[\d+\]|https?://|www\.|\u00a9|\bISBN\b",
    re.IGNORECASE,
)
"""A pointer to something that a reader of the sentence alone does not have."""

SELF_TALK = re.compile(
    r"\b(?:[Ww]e|[Oo]urs?|us|I|[Mm]y|me)\b|\b(?:[Tt]he\s+authors?|present\s+study|current\s+study|"
    r"were\s+(?:enrolled|randomi[sz]ed|randomly|recruited|assigned|included|excluded|measured|"
    r"assessed|compared|analy[sz]ed|performed|collected|obtained|identified|searched|evaluated|"
    r"followed|used|estimated|examined|calculated|determined|investigated|tested)|was\s+(?:performed|conducted|measured|assessed|used|carried|evaluated|"
    r"designed|estimated|examined|calculated|determined|investigated|tested|included|compared))\b"
    r"|\b(?:baseline|cohort|questionnaires?|participants?|controls|randomi[sz]ed|(?:the|other|control|treatment)\s+"
    r"(?:\w+\s+)?groups?)\b"
    r"|^To\s+[a-z]+\b|\bP\s*[=<>\u2264]|\bCI\b|\bn\s*=\s*\d"
)
"""A text that speaks of its own making, which a chapter has no use for."""

LEANS_A_LITTLE: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"\b(?:he|she|him|his|hers?)\b", re.IGNORECASE), 0.3),
    (
        re.compile(
            r"\b(?:also|too|the\s+other|both|again|another|they|it|their|its)\b", re.IGNORECASE
        ),
        0.6,
    ),
)
"""Words that mostly lean on something, though the sentence may name it; what is left then."""

NOT_A_HEADING = re.compile(
    r"^\d|^(?:nmol|pmol|mmol|level|percent|mg|kg|ml|iu)$"
    r"|^(?:become|begin|believe|bring|burn|carry|come|contain|continue|depend|differ|exist|fail|"
    r"follow|give|go|grow|hold|include|keep|know|live|make|mean|occur|pas|pass|pay|produce|provide|"
    r"reach|receive|remain|require|say|see|seem|serve|stand|suggest|take|tell|tend|think|vary|want)$"
    r"|(?:ing|ed|ly|al|ic|ous|ive|able|ible|est|less|ful|ary|ical|en)$"
)
"""Units, and endings of words that describe or do something; a heading ends with what is named."""

# fmt: off
BEFORE_A_NOUN = frozenset(
    {
        "a", "an", "the", "this", "that", "these", "those", "of", "in", "on", "at", "by",
        "for", "from", "with", "without", "into", "between", "among", "under", "over", "and",
        "or", "no", "any", "some", "all", "every", "each", "its", "their", "his", "her", "our",
        "my", "your", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
        "ten", "many", "few", "several", "most",
    }
)
# fmt: on
"""Words after which something is named; what never stands after one of them is no heading."""

LIST_NUMBER = re.compile(
    r"^(?:\((?:\d{1,3}|[a-z]|[ivx]{1,5})\)|(?:\d{1,3}|[a-z])\))\s+(?=[A-Z\"\u201c])"
)
"""The number of an item in a list, which is no part of what it says."""

CUT_SHORT = re.compile(
    r"(?:^|[\s(;,])(?:Adm|Art|Brig|Bros|Capt|Cmdr|Co[lm]|Comdr|Cpl|Dr|Fr|Gen|Gov|Hon|Lieut|Lt|Maj|"
    r"Messrs|Mgr|Mr|Mrs|Ms|No|Nos|Pres|Prof|Pvt|Rear-Adm|Rep|Rev|Sec|Secy|Sen|Sergt|Sgt|Sr|St|Supt|"
    r"Vol)\.$"
)
"""An end that is none: what is shortened there goes on with a name or a number."""

DAY_OF_A_MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?\s+\d{1,2}\.$"
)
"""An end after which a year may stand."""

FINITE = re.compile(
    r"\b(?:am|is|are|was|were|be|been|has|have|had|do|does|did|will|would|shall|should|can|cannot|"
    r"could|may|might|must|ought|need|let|\w+n['\u2019]t|"
    r"became|began|bore|bought|broke|brought|built|came|caught|chose|cost|cut|dealt|drew|drove|fell|"
    r"fought|found|gave|got|grew|heard|held|hit|kept|knew|laid|lay|led|left|lent|let|lost|made|meant|"
    r"met|paid|put|ran|rose|said|sat|saw|sent|set|shot|shook|shut|sold|sought|spent|spoke|spread|"
    r"stood|struck|took|taught|thought|threw|told|understood|went|won|wore|wrote|"
    r"become|begin|believe|bring|call|carry|cause|come|contain|continue|demand|depend|differ|exist|"
    r"fail|follow|form|give|go|grow|help|hold|include|keep|know|lead|lie|live|make|mean|move|occur|"
    r"offer|play|produce|provide|reach|receive|remain|require|run|say|see|seem|serve|show|stand|"
    r"suggest|take|tell|tend|think|turn|use|vary|want|work|[a-z]+ed)\b"
    r"|\b(?!as\b|its\b|his\b|this\b|thus\b|plus\b|versus\b)[a-z]+(?<!s)(?<!u)s\b"
)
"""A word that may be a verb with its subject; a sentence without any is a piece of one."""

YEAR = re.compile(r"\b(1[0-9]{3}|20[0-4][0-9])\b")

ONCE_ONLY = re.compile(
    r"\b(?:built|rebuilt|erected|founded|established|created|invented|discovered|born|died|killed|"
    r"dug|opened|closed|completed|finished|begun|began|signed|ratified|elected|crowned|married|sunk|"
    r"destroyed|burned|introduced|adopted|abolished|annexed|bought|published|written|painted)\b",
    re.IGNORECASE,
)
"""What happens to a thing once, so that two years of it contradict each other."""

OF_ITS_TIME = re.compile(
    r"\b(?:now|today|recent(?:ly)?|current(?:ly)?|present|last|past|next|previous|preceding|ensuing|"
    r"fiscal|during|so\s+far|to\s+date|already|since|until|up\s+to|"
    r"this\s+(?:year|month|day|session|time)|(?:the|each|every|same|first|second|third)\s+(?:year|month|quarter|"
    r"session|week|day)|years?\s+ago|session)\b",
    re.IGNORECASE,
)
"""A statement about the time in which it was made; another time has other numbers."""

SAYS_THEY_DIFFER = re.compile(
    r"\b(?:differ\w*|disagree\w*|contradict\w*|conflict\w*|disput\w*|not\s+settled|unsettled)\b",
    re.IGNORECASE,
)
"""How a heading, or words between quotes, say that sources contradict each other."""

AFTER_INITIAL = re.compile(r"(?:^|[\s(])[A-Z]\.\s*$")
"""What stands before a piece that is no sentence: the first initials of a name."""

# fmt: off
GENERAL_WORDS = frozenset(
    {
        "ability", "according", "addition", "additional", "age", "aim", "amount", "analyse",
        "analysis", "appear", "approach", "area", "assess", "assessed", "associate", "associated",
        "association", "available", "based", "basis", "born", "case", "change", "clinical",
        "common",
        "compare", "compared", "comparison", "condition", "control", "country", "data", "day",
        "decrease", "decreased", "demonstrate", "demonstrated", "describe", "described", "design",
        "died",
        "determine", "determined", "develop", "developed", "development", "difference",
        "different", "effect", "effective", "especially", "evaluate", "evidence", "examine",
        "example", "experiment", "factor", "find", "finding", "following", "form", "found",
        "function", "general", "great", "group", "high", "higher", "history", "human",
        "identified",
        "identify", "important", "include", "included", "including", "increase", "increased",
        "increasing", "independent", "indicate", "introduction", "individual",
        "investigate", "involve",
        "involved", "key", "know", "known", "large", "largely", "lead", "level", "life", "likely",
        "little", "long", "low", "lower", "main", "major", "mean", "measure", "mechanism", "method",
        "model", "month", "multiple", "name", "need", "new", "non", "novel", "number", "observed",
        "overview",
        "obtained", "occur", "part", "particular", "patient", "people", "performed", "period",
        "play", "possible", "potential", "present", "presence", "previous", "previously",
        "process", "produce", "propose", "provide", "rate", "recent", "recently", "reduce",
        "reduced", "relate", "related", "relative", "report", "reported", "require", "required",
        "research", "response", "result", "resulting", "reveal", "review", "role", "sample",
        "score", "set", "show", "showed", "shown", "significant", "significantly", "similar",
        "single", "small", "specific", "state", "strong", "studied", "study", "subject",
        "suggest", "suggesting", "system", "term", "test", "time", "total", "treatment", "trial",
        "type", "typically", "understanding", "understood", "unknown", "use", "usually", "value",
        "various", "vitro", "vivo", "way", "week", "wide", "work", "world", "year", "year-old",
    }
)
"""Words that are in every field and so name none."""
# fmt: on
