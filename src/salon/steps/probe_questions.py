"""Questions that tell more about a feature, in our own words, several for each.

Sensitive features (sex, orientation, religion, drugs) have no question: nobody is asked about them.
Where a person has raised one, there is a follow-up that leaves it to them what to say.
"""

from salon.steps.questionnaire_items import ITEMS

_TALK: dict[str, tuple[str, ...]] = {
    "age": (
        "Which birthday was your last, if you don't mind my asking?",
        "Which decade of your life are you in, roughly?",
    ),
    "communication_style": (
        "When something bothers you, do you say it straight away or wait for the right moment?",
        "Do you rather joke about serious things or talk them through?",
        "How would your friends describe the way you talk?",
    ),
    "relationship_goals": (
        "What would you like to find by talking to new people?",
        "Are you after something lasting, something light, or good company?",
        "What would have to be true a year from now for you to be glad we talked?",
    ),
    "lifestyle_diet": (
        "What do you cook when it has to be quick?",
        "Is there anything that you never eat?",
        "Which dish would you order if you could have only one for a month?",
    ),
    "lifestyle_drinks": (
        "What is in your glass on a good evening?",
        "When you go out with friends, what do you usually drink?",
    ),
    "lifestyle_smokes": (
        "Is a smoking room a reason for you to leave a café, or to stay?",
        "Does cigarette smoke bother you?",
    ),
    "background_education": (
        "What did you learn or study, and would you choose it again?",
        "What were you like at school?",
        "Is there something you are studying now?",
    ),
    "interest_music": (
        "What have you been listening to lately?",
        "Do you make music yourself, or rather listen?",
        "Which concert would you travel for?",
    ),
    "interest_sports": (
        "Do you do any sport, or do you watch it?",
        "How do you move when you have sat all day?",
        "Is there a team that can spoil your weekend?",
    ),
    "interest_travel": (
        "Where did your last trip take you?",
        "Which place would you go to tomorrow if you could?",
        "Do you plan a journey or let it happen?",
    ),
    "interest_food": (
        "Do you like cooking for others?",
        "Which meal do you remember best?",
        "What would you cook for a guest?",
    ),
    "interest_arts": (
        "When were you last in a museum or a theatre?",
        "Is there a picture that you could look at for an hour?",
        "Do you draw, paint or photograph?",
    ),
    "interest_tech": (
        "Do you like tinkering with computers or devices?",
        "Which device could you not do without?",
        "Do you play games on a computer?",
    ),
    "interest_outdoors": (
        "Are you more at home in a city or in the woods?",
        "What do you do outdoors when the weather is good?",
        "Would a night in a tent be a joy or a punishment?",
    ),
    "interest_books": (
        "What are you reading at the moment?",
        "Which book did you give away because you loved it?",
        "Do you read before you fall asleep?",
    ),
    "primary_love_language": (
        "What is the nicest thing somebody can do for you on an ordinary day?",
        "How do you notice that somebody cares about you?",
        "When did you last feel really appreciated, and why?",
    ),
    "secondary_love_language": (
        "How do you show somebody that you like them?",
        "What did people do in your family to show affection?",
    ),
    "big_five_openness": (
        "What is the last thing you tried for the first time?",
        "Would you rather know what a day brings, or be surprised?",
    ),
    "big_five_conscientiousness": (
        "How does your desk look right now?",
        "Do you pack days before a journey, or an hour before?",
    ),
    "big_five_extraversion": (
        "After a party, are you full of energy or empty?",
        "How do you like to spend a free evening?",
    ),
    "big_five_agreeableness": (
        "What do you do when two friends quarrel?",
        "When did you last do somebody a favour that cost you something?",
    ),
    "big_five_neuroticism": (
        "How do you come down after a stressful day?",
        "What keeps you awake at night, if anything does?",
    ),
    "attachment_style": (
        "How do you feel when somebody you like does not answer for a day?",
        "Do you find it easy to rely on others?",
    ),
}

_ITEMS: dict[str, tuple[str, ...]] = {
    feature: tuple(item.question for item in ITEMS if item.feature == feature)
    for feature in dict.fromkeys(item.feature for item in ITEMS)
}
QUESTIONS: dict[str, tuple[str, ...]] = {
    feature: (*_ITEMS.get(feature, ()), *_TALK.get(feature, ())) for feature in {**_ITEMS, **_TALK}
}
"""For each feature that may be asked about: its questionnaire items first, then talk."""

FOLLOW_UPS: dict[str, tuple[str, ...]] = {
    "background_religion": (
        "You spoke of what you believe. Would you like to tell me what it means to you?",
    ),
    "orientation": ("You told me something personal earlier. Is there more you want to say?",),
    "sex": (),
    "lifestyle_drugs": ("You mentioned that earlier. Do you want to talk about it?",),
}
"""Only where the person raised it."""
