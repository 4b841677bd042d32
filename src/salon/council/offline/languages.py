"""What little is known here of other languages than English: words of six of them."""

import re

FUNCTION_WORDS_OF: dict[str, frozenset[str]] = {
    language: frozenset(known.split())
    for language, known in {
        "de": "der die das den dem des ein eine einer eines einem einen und oder von vom zu "
        "zum zur mit ohne bei nach aus auf an am im in für über unter vor durch gegen "
        "als wie ist sind war wer was wie wo ihr ihre sein seine nicht",
        "fr": "le la les un une des du de et ou à au aux en dans sur sous par pour avec sans "
        "entre son sa ses leur leurs est sont qui que quoi comment où ne pas",
        "es": "el la los las un una unos unas de del y o a al en por para con sin sobre "
        "entre su sus es son que qué quién cómo dónde no",
        "it": "il lo la gli le un uno una di del della dei delle e o a al alla in nel nella "
        "da dal per con su tra fra suo sua suoi sue che chi come dove non",
        "nl": "de het een en of van voor met zonder bij naar uit op aan in over onder door "
        "tegen als is zijn was wie wat waar hoe haar hun niet",
        "pt": "o a os as um uma de do da dos das e ou em no na nos nas por para com sem "
        "sobre entre seu sua seus suas que quem como onde não",
    }.items()
}
"""Words that name nothing, as they may stand in a topic."""

LEANING_OF: dict[str, re.Pattern[str]] = {
    language: re.compile(rf"^[\"'\u201c\u201e\u00ab(]*(?:{known})\b", re.IGNORECASE)
    for language, known in {
        "de": "er|sie|es|ihr|ihre|ihm|ihn|ihnen|sein|seine|dies\\w*|jene\\w*|solche\\w*|dort|"
        "da|dann|damit|dadurch|daher|deshalb|darum|dabei|davon|dazu|doch|aber|und|oder|"
        "auch|jedoch|sondern|außerdem|zudem|beide|beides|letztere\\w*|erstere\\w*",
        "fr": "il|ils|elle|elles|son|sa|ses|leur|leurs|ce|cet|cette|ces|cela|ceci|celui\\w*|"
        "celle\\w*|ceux|y|là|ainsi|donc|alors|mais|et|ou|aussi|puis|ensuite|cependant|"
        "toutefois|en outre",
        "es": "él|ella|ellos|ellas|su|sus|este|esta|esto|estos|estas|ese|esa|eso|esos|esas|"
        "aquel\\w*|allí|así|entonces|pero|y|o|también|además|luego|después|sin embargo|"
        "por eso",
        "it": "egli|ella|esso|essa|essi|esse|lui|lei|loro|suo|sua|suoi|sue|questo|questa|"
        "questi|queste|quello|quella|ciò|così|quindi|allora|ma|e|o|anche|inoltre|poi|"
        "tuttavia|perciò",
        "nl": "hij|zij|ze|het|zijn|haar|hun|dit|dat|deze|die|daar|daarom|dus|dan|maar|en|of|"
        "ook|bovendien|echter|beide",
        "pt": "ele|ela|eles|elas|seu|sua|seus|suas|este|esta|isto|estes|estas|esse|essa|isso|"
        "aquele|aquela|aquilo|ali|assim|então|mas|e|ou|também|além|depois|porém|"
        "contudo|por isso",
    }.items()
}
"""Beginnings that lean on the sentence before."""
