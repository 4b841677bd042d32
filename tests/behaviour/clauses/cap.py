"""Clauses of seed 000, the Conversational Avatar Protocol."""

from tests.behaviour.requirement import Requirement, Section

OVERVIEW = Section(source="000", prefix="cap/overview", heading="Overview")
CONCEPTS = Section(source="000", prefix="cap/concepts", heading="Core Concepts")
FLOW = Section(source="000", prefix="cap/flow", heading="Protocol Flow")
QUERY = Section(source="000", prefix="cap/query-corpus", heading="MCP Tools > query_corpus")
RESPOND = Section(
    source="000", prefix="cap/generate-response", heading="MCP Tools > generate_response"
)
INFO = Section(source="000", prefix="cap/get-avatar-info", heading="MCP Tools > get_avatar_info")
CONTEXT = Section(source="000", prefix="cap/context", heading="Conversation Context")
VERIFY = Section(source="000", prefix="cap/verification", heading="Verification Requirements")
HARMONICA = Section(
    source="000", prefix="cap/harmonica", heading="Platform Integration > Harmonica"
)
CHAT = Section(
    source="000", prefix="cap/chat-platforms", heading="Platform Integration > Slack/Discord"
)
ERRORS = Section(source="000", prefix="cap/errors", heading="Error Handling")
SECURITY = Section(source="000", prefix="cap/security", heading="Security Considerations")

CLAUSES: tuple[Requirement, ...] = (
    OVERVIEW.clause(
        "served-over-mcp",
        "Each avatar is an MCP server that a stock client can initialise, list and call without "
        "any Salon code on its side.",
    ),
    OVERVIEW.clause(
        "group-discussion",
        "An avatar can join a discussion among several named people, and several avatars can sit "
        "in the same discussion.",
    ),
    OVERVIEW.clause(
        "conversation-aware",
        "What an avatar retrieves and says depends on the discussion it is handed, not on the "
        "last question alone.",
    ),
    CONCEPTS.clause(
        "avatar-needs-corpus",
        "A profile that declares no corpus is refused, because an avatar is nothing beyond its "
        "documents.",
    ),
    CONCEPTS.clause(
        "document-kinds",
        "A document is recorded with one of the known types, among them book, paper, speech, "
        "interview, article and letter, and any other type is refused.",
    ),
    CONCEPTS.clause(
        "own-corpus-only",
        "Search on behalf of an avatar never returns a passage from a document outside that "
        "avatar's corpus.",
    ),
    CONCEPTS.clause(
        "verified-flag",
        "Every passage says in `verified` whether its document has been verified.",
        decision=1,
    ),
    CONCEPTS.clause(
        "grounded-in-passages",
        "Every sentence of an answer is a claim backed by at least one passage that was retrieved "
        "for it or handed in with the call.",
    ),
    CONCEPTS.clause(
        "no-general-knowledge",
        "A fact that a chat model adds from its own training is cut or replaced by a quotation "
        "before the reply leaves, even if it is true.",
    ),
    FLOW.clause(
        "one-call-with-context",
        "A platform hands over the question together with the conversation in a single call.",
    ),
    FLOW.clause(
        "three-stages",
        "Answering runs retrieval, then ranking with filtering, then composing, and the turn "
        "record names what each stage kept.",
    ),
    FLOW.clause(
        "weak-passages-filtered",
        "A retrieved passage below the threshold never reaches the composer.",
    ),
    FLOW.clause(
        "vector-store",
        "Dense vectors can live in a Qdrant server named in the settings, with the same behaviour "
        "as the embedded index.",
    ),
    FLOW.clause(
        "chat-model",
        "A Claude model can be configured as the composer, and what it writes passes the same "
        "verification as any other composer's text.",
    ),
    FLOW.clause(
        "without-a-model",
        "With no chat model configured the same call still returns a grounded, cited answer.",
    ),
    FLOW.clause(
        "reply-with-citations",
        "The platform gets the reply and its citations in one result.",
    ),
    QUERY.clause(
        "listed",
        "The server lists `query_corpus`, and calling it returns passages of that avatar's corpus.",
    ),
    QUERY.clause(
        "context",
        "`context` is an optional string, and describing the situation in it can change which "
        "passages rank first.",
        decision=1,
    ),
    QUERY.clause(
        "max-results",
        "`max_results` caps the number of passages exactly as `limit` does.",
        decision=1,
    ),
    QUERY.clause(
        "max-results-conflict",
        "Giving `max_results` and `limit` with different values is an error, with equal values it "
        "is not.",
        decision=1,
    ),
    QUERY.clause(
        "output",
        "The result is an object whose `passages` list holds entries with at least `content`, "
        "`source`, `page` and `relevance_score`.",
        decision=1,
    ),
    QUERY.clause(
        "passage-proof",
        "Beside the text a passage carries `hash`, `start`, `end`, `document_id` and `derived`, "
        "from which its content can be re-derived.",
        decision=1,
    ),
    QUERY.clause(
        "content-verbatim",
        "A passage's `content` is byte for byte the span of the card that its proof names.",
        decision=1,
    ),
    QUERY.clause(
        "source",
        "A passage's `source` is the title of the document it comes from.",
    ),
    QUERY.clause(
        "page",
        "A passage's `page` is the page on which it begins, and is null where the source has no "
        "pages.",
    ),
    QUERY.clause(
        "true-pages",
        "Readers give every offset of a paged source its true page number, blank pages included.",
    ),
    QUERY.clause(
        "relevance-score",
        "`relevance_score` equals `score`, lies between 0 and 1, and the passages come in falling "
        "order of it.",
        decision=1,
    ),
    RESPOND.clause(
        "listed",
        "The server lists `generate_response`, and calling it returns a reply composed from "
        "passages.",
    ),
    RESPOND.clause(
        "passages-used",
        "When `passages` from an earlier `query_corpus` are handed in, the reply rests on these "
        "alone.",
        decision=3,
    ),
    RESPOND.clause(
        "passages-refused",
        "A handed-in passage that is not in the archive byte for byte is refused as "
        "`ungrounded_passage` and never used.",
        decision=3,
    ),
    RESPOND.clause(
        "conversation-context",
        "`conversation_context`, `context` and `conversation` are three names for the same "
        "optional array of turns.",
        decision=3,
    ),
    RESPOND.clause(
        "question",
        "`question` is what the reply addresses and the only argument a caller must give.",
        decision=3,
    ),
    RESPOND.clause(
        "citations",
        "`citations` names source and page of each passage that the reply really used, and of no "
        "other.",
        decision=3,
    ),
    RESPOND.clause(
        "voice",
        "With the default voice an avatar speaks of its own work in the first person, with "
        "`student` as somebody who studied it.",
        decision=5,
    ),
    INFO.clause(
        "listed",
        "The server lists `get_avatar_info`, and calling it describes the avatar being served.",
    ),
    INFO.clause(
        "identity",
        "The description holds `id`, `name`, `description` and `expertise` as a list of strings, "
        "all as in the profile.",
        decision=4,
    ),
    INFO.clause(
        "corpus-summary",
        "`corpus_summary` states in words what the corpus rests on, including the years it spans.",
        decision=4,
    ),
    CONTEXT.clause(
        "conversation",
        "A conversation is an ordered array of `role` and `content`, where the role is the "
        "speaker's own name such as alice.",
        decision=3,
    ),
    CONTEXT.clause(
        "session-metadata",
        "`session_metadata` with `topic`, `participant_count` and `platform` is optional and "
        "accepted as a whole or in part.",
        decision=3,
    ),
    CONTEXT.clause(
        "topic-helps",
        "The session's topic helps to read a question that is too short to stand alone.",
    ),
    CONTEXT.clause(
        "follows-the-flow",
        "A follow-up with a pronoun, or one about what another participant said, is searched with "
        "the thing it refers to.",
    ),
    CONTEXT.clause(
        "refers-to-participants",
        "A reply may name a participant and what they said, and never attributes to them words "
        "they did not say.",
    ),
    CONTEXT.clause(
        "bears-on-discussion",
        "In the bike storage discussion of the source the avatar adds something on sharing a "
        "scarce resource, or stays silent.",
    ),
    CONTEXT.clause(
        "participants-are-not-sources",
        "What participants say is never cited as evidence.",
    ),
    VERIFY.clause(
        "document-links",
        "Every document keeps its original address and its archive address, where it has them, "
        "with title, authors, year and licence.",
    ),
    VERIFY.clause(
        "document-status",
        "Every document has a verification status of verified, pending or disputed, with who set "
        "it, when and why, and each change is kept.",
    ),
    VERIFY.clause(
        "source-list",
        "The full list of an avatar's documents, with links and verification status, is open to "
        "anybody through MCP and the command line.",
    ),
    VERIFY.clause(
        "source-list-http",
        "The same list of documents, with links and status, is served over HTTP and shown on the "
        "page.",
    ),
    VERIFY.clause(
        "missing-links-named",
        "Checking an avatar names each document that has neither an original nor an archive link.",
    ),
    VERIFY.clause(
        "specific-citations",
        "An answer cites at least one specific document of the corpus, down to page and span, and "
        "the citation can be re-derived.",
    ),
    VERIFY.clause(
        "ai-label",
        "Every reply carries `ai_label`, and the avatar's description says `ai` is true.",
        decision=5,
    ),
    VERIFY.clause(
        "ai-label-visible",
        "Wherever the page shows an avatar or its words, the AI label is visible beside them.",
        decision=5,
    ),
    VERIFY.clause(
        "admits-being-ai",
        "Asked whether it is a person, an avatar says that it is an AI, and no persona prompt "
        "tells it to deny that.",
        decision=5,
    ),
    VERIFY.clause(
        "knows-its-limits",
        "On a question that the corpus covers only in part, the reply says which part it cannot "
        "speak to.",
    ),
    VERIFY.clause(
        "no-invented-positions",
        "On a topic that the corpus does not touch, an avatar states no position, whoever asks "
        "and however the question is framed.",
    ),
    HARMONICA.clause(
        "create-session",
        "A Harmonica session can be set up with a topic, a list of avatars and a facilitator.",
    ),
    HARMONICA.clause(
        "explicit-consultation",
        "In a structured session an avatar speaks only when it is explicitly consulted.",
    ),
    HARMONICA.clause(
        "consult",
        "Consulting an avatar passes the participant's id and the history of that dialogue, and "
        "the reply goes to that dialogue only.",
    ),
    CHAT.clause(
        "slash-command",
        "A Slack command such as `/ask-ostrom` is acknowledged at once and then answered with the "
        "grounded reply and its citations.",
    ),
    CHAT.clause(
        "mention",
        "Mentioning an avatar in a Slack channel invokes it, and an unaddressed message does not "
        "unless its speaking policy says so.",
    ),
    CHAT.clause(
        "channel-context",
        "The recent messages of the channel travel along as the conversation.",
    ),
    CHAT.clause(
        "discord",
        "Discord offers the same two ways of calling an avatar, with the same result.",
    ),
    ERRORS.clause(
        "corpus-miss",
        "When nothing relevant is found the reply says which topic the avatar has nothing on, "
        "with outcome `corpus_miss`.",
    ),
    ERRORS.clause(
        "corpus-miss-nearest",
        "A miss may add the nearest thing the avatar did write about, always with a citation.",
    ),
    ERRORS.clause(
        "corpus-miss-fields",
        "A miss carries confidence `low` and a `suggestion` to consult other sources on that "
        "topic.",
    ),
    ERRORS.clause(
        "out-of-scope",
        "A question outside the avatar's field gets outcome `out_of_scope`, and the reply names "
        "the avatar's areas of expertise.",
    ),
    ERRORS.clause(
        "out-of-scope-redirect",
        "An out of scope reply carries a `redirect` that names a fitting avatar of this Salon, or "
        "else the kind of specialist to look for.",
    ),
    ERRORS.clause(
        "outcomes-are-results",
        "A miss and an out of scope question come back as normal results that can be told apart, "
        "never as protocol errors.",
    ),
    SECURITY.clause(
        "no-pii",
        "Personal data found in a corpus is reported by the avatar check with its place, and none "
        "passes unnoticed.",
    ),
    SECURITY.clause(
        "rate-limit",
        "A caller above the rate limit is refused with the time to wait, and other callers are "
        "not slowed.",
    ),
    SECURITY.clause(
        "audit-every-interaction",
        "Every query, reply and description of an avatar leaves exactly one audit entry that "
        "refers to content by hash.",
    ),
    SECURITY.clause(
        "audit-log",
        "The audit log is append-only and hash-chained, and checking it names the first entry "
        "that was edited, removed, swapped or cut off.",
    ),
    SECURITY.clause(
        "content-filter",
        "A request to make an avatar produce harmful content is declined, and a harmful composed "
        "text does not leave either.",
    ),
)
