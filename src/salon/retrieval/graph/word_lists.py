"""Words that the rules for names and terms need, and nothing else. All in lower case."""

# fmt: off
FUNCTION_WORDS = frozenset(
    {
        "a", "about", "above", "across", "after", "again", "against", "all", "almost", "along",
        "also", "although", "always", "am", "among", "an", "and", "another", "any", "anyone",
        "anything", "are", "around", "as", "at", "away", "back", "be", "became", "because",
        "become", "been", "before", "began", "behind", "being", "below", "between", "both", "but",
        "by", "came", "can", "cannot", "could", "did", "do", "does", "doing", "done", "down",
        "during", "each", "either", "else", "enough", "even", "ever", "every", "everyone",
        "everything", "few", "first", "for", "from", "further", "gave", "get", "give", "given",
        "go", "had", "has", "have", "having", "he", "hence", "her", "here", "hers", "herself",
        "him", "himself", "his", "how", "however", "i", "if", "in", "indeed", "instead", "into",
        "is", "it", "its", "itself", "just", "last", "later", "less", "like", "made", "make",
        "many", "may", "maybe", "me", "might", "mine", "more", "moreover", "most", "much", "must",
        "my", "myself", "near", "nearly", "neither", "never", "nevertheless", "next", "no",
        "nobody", "none", "nor", "not", "nothing", "now", "of", "off", "often", "oh", "on",
        "once", "one", "only", "onto", "or", "other", "others", "otherwise", "our", "ours",
        "ourselves", "out", "over", "own", "perhaps", "put", "quite", "rather", "really", "said",
        "same", "say", "says", "second", "see", "seem", "seemed", "seems", "several", "shall",
        "she", "should", "since", "so", "some", "someone", "something", "sometimes", "soon",
        "still", "such", "take", "than", "that", "the", "their", "theirs", "them", "themselves",
        "then", "there", "thereby", "therefore", "these", "they", "third", "this", "those",
        "though", "three", "through", "throughout", "thus", "to", "together", "too", "toward",
        "towards", "two", "under", "unless", "until", "up", "upon", "us", "used", "using", "very",
        "was", "we", "well", "went", "were", "what", "whatever", "when", "where", "whereas",
        "whether", "which", "while", "who", "whole", "whom", "whose", "why", "will", "with",
        "within", "without", "would", "yes", "yesterday", "today", "tomorrow", "yet", "you",
        "your", "yours", "yourself",
    }
)
"""Words that hold sentences together and name nothing."""

OPENERS = frozenset(
    {
        "about", "according", "after", "also", "although", "among", "and", "as", "at", "because",
        "before", "both", "but", "by", "during", "each", "every", "following", "for", "from", "he",
        "her", "here", "his", "how", "however", "i", "if", "in", "it", "its", "most", "my", "no",
        "of", "on", "one", "or", "other", "our", "she", "since", "so", "some", "such", "that",
        "their", "then", "there", "therefore", "these", "they", "this", "those", "thus", "to",
        "today", "under", "until", "we", "what", "when", "where", "which", "while", "who", "with",
        "within", "you", "your",
    }
)
"""Words that open a sentence without being a part of what it is about."""

CALENDAR = frozenset(
    {
        "appendix", "april", "august", "chapter", "december", "february", "figure", "friday",
        "january", "july", "june", "march", "may", "monday", "november", "october", "page",
        "part", "saturday", "section", "september", "sunday", "table", "thursday", "tuesday",
        "wednesday",
    }
)
"""Capitalised words that date a sentence instead of naming its subject."""

CONNECTORS = frozenset(
    {
        "al", "bin", "da", "de", "del", "della", "den", "der", "des", "di", "du", "for", "ibn",
        "la", "le", "les", "of", "the", "und", "van", "von", "y",
    }
)
"""Small words that may stand inside a name."""

NAME_PREFIXES = frozenset({"ad", "al", "an", "ar", "as", "ash", "at", "az", "el"})
"""What may stand in small letters before a hyphen at the beginning of a name."""

RANKS = frozenset(
    {
        "archduchess", "archduke", "baron", "baroness", "bishop", "count", "countess", "dauphin",
        "dauphine", "duchess", "duke", "earl", "elector", "emperor", "empress", "infanta",
        "infante", "king", "lady", "landgrave", "lord", "marchioness", "margrave", "marquess",
        "pope", "prince", "princess", "queen", "sultan", "tsar", "viscount", "viscountess",
    }
)
"""Titles that come with a place: "Duke of Cleves" is a part of a person's name."""

TITLES = RANKS | frozenset(
    {
        "captain", "colonel", "dame", "dr", "general", "judge", "miss", "mr", "mrs", "ms",
        "president", "prof", "professor", "saint", "senator", "sir",
    }
)
"""Words before a name that show it to be a person's."""

ORGANISATION_WORDS = frozenset(
    {
        "academy", "agency", "association", "authority", "bank", "board", "bureau", "church",
        "co", "college", "commission", "committee", "company", "congress", "consortium", "corp",
        "corporation", "council", "court", "department", "federation", "foundation", "government",
        "group", "inc", "institute", "institution", "laboratories", "laboratory", "league", "ltd",
        "ministry", "museum", "observatory", "office", "organisation", "organization",
        "parliament", "party", "press", "school", "senate", "society", "team", "trust", "union",
        "university", "workshop",
    }
)
"""Words that show a name to be an organisation's."""

RELATIONS = (
    frozenset(
        {
            "aunt", "born", "brother", "child", "children", "daughter", "eldest", "father",
            "granddaughter", "grandfather", "grandmother", "grandson", "illegitimate", "mother",
            "nephew", "niece", "parent", "parents", "sibling", "sister", "son", "stepfather",
            "stepmother", "uncle", "youngest",
        }
    ),
    frozenset(
        {
            "consort", "divorced", "husband", "law", "marriage", "married", "spouse", "widow",
            "widower", "wife",
        }
    ),
)
"""Words that speak of one relation: whose mother is asked for may stand after "daughter of"."""
# fmt: on
