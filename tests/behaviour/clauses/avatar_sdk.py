"""Clauses of seed 001, the MCP specification of the Avatar SDK."""

from tests.behaviour.requirement import Requirement, Section

OVERVIEW = Section(source="001", prefix="sdk/overview", heading="Overview")
TOOLS = Section(source="001", prefix="sdk/tools", heading="Tools")
QUERY = Section(source="001", prefix="sdk/query-corpus", heading="Tools > query_corpus")
RESPOND = Section(source="001", prefix="sdk/generate-response", heading="Tools > generate_response")
INFO = Section(source="001", prefix="sdk/get-avatar-info", heading="Tools > get_avatar_info")
CONFIG = Section(source="001", prefix="sdk/configuration", heading="Server Configuration")
CONNECT = Section(source="001", prefix="sdk/connection", heading="Connection")
GROUNDING = Section(source="001", prefix="sdk/grounding", heading="Response Grounding")
SEE_ALSO = Section(source="001", prefix="sdk/see-also", heading="See Also")

CLAUSES: tuple[Requirement, ...] = (
    OVERVIEW.clause(
        "any-client",
        "Clients written with other MCP implementations can list and call an avatar's tools.",
    ),
    OVERVIEW.clause(
        "loose-coupling",
        "A platform needs only the avatar's tools to integrate it, with no access to the archive "
        "or to internal modules.",
    ),
    TOOLS.clause(
        "three-tools",
        "The three tools `query_corpus`, `generate_response` and `get_avatar_info` are always "
        "offered unless the profile leaves one out.",
    ),
    QUERY.clause(
        "semantic",
        "A passage that answers the query in other words is found although it shares no keyword "
        "with it.",
    ),
    QUERY.clause(
        "schema",
        "The published input schema gives `query` as string, `limit` as integer and `threshold` "
        "as number, each described, and requires only `query`.",
        decision=1,
    ),
    QUERY.clause(
        "query-required",
        "A call without `query`, or with one that is not a string, is refused with an error that "
        "names the field.",
    ),
    QUERY.clause(
        "limit-default",
        "Without `limit` at most 5 passages come back.",
        decision=1,
    ),
    QUERY.clause(
        "limit-range",
        "`limit` is an integer from 1 to 50, and any other value is refused.",
        decision=1,
    ),
    QUERY.clause(
        "limit-caps",
        "Never more than `limit` passages come back, and these are the best ones.",
    ),
    QUERY.clause(
        "threshold-default",
        "Without `threshold` the cut is 0.7.",
        decision=1,
    ),
    QUERY.clause(
        "threshold-range",
        "`threshold` is a number from 0 to 1, and any other value is refused.",
        decision=1,
    ),
    QUERY.clause(
        "threshold-cuts",
        "No passage with a score below `threshold` is returned, and an empty list is a normal "
        "result.",
        decision=2,
    ),
    QUERY.clause(
        "score-meaning",
        "`score` is the calibrated probability that the passage is relevant, with its calibration "
        "error measured on labelled data.",
        decision=2,
    ),
    QUERY.clause(
        "output",
        "Each entry of `passages` has `content`, `source`, `page` and `score`.",
        decision=1,
    ),
    RESPOND.clause(
        "schema",
        "The published input schema gives `context` as an array of objects with string `role` and "
        "`content`, `question` as string, `passages` as array, and requires only `question`.",
        decision=3,
    ),
    RESPOND.clause(
        "question-required",
        "A call with nothing but `question` is answered, and a call without it is refused with an "
        "error that names the field.",
        decision=3,
    ),
    RESPOND.clause(
        "retrieves-itself",
        "Without `passages` the tool searches the corpus itself and answers from what it finds.",
        decision=3,
    ),
    RESPOND.clause(
        "output",
        "The result holds `response`, `citations` and `confidence`.",
        decision=3,
    ),
    RESPOND.clause(
        "citation-quote",
        "Each citation holds `source`, `page` and a `quote` that is byte-identical to the cited "
        "span.",
        decision=3,
    ),
    RESPOND.clause(
        "confidence",
        "`confidence` is one of `high`, `medium` and `low`, and it falls as the support for the "
        "claims falls.",
        decision=3,
    ),
    INFO.clause(
        "no-input",
        "The tool takes no argument, and its input schema is an empty object.",
    ),
    INFO.clause(
        "output",
        "The result holds `id`, `name`, `description`, `expertise`, `corpus_size` and "
        "`document_count`.",
        decision=4,
    ),
    INFO.clause(
        "corpus-size",
        "`corpus_size` is the number of words in the corpus.",
        decision=4,
    ),
    INFO.clause(
        "document-count",
        "`document_count` is the number of documents in the corpus, beside the count of verified "
        "ones.",
        decision=4,
    ),
    CONFIG.clause(
        "config-file",
        "An avatar's server is configured by the `config.json` in the avatar's folder.",
    ),
    CONFIG.clause(
        "mcp-block",
        "The `mcp` block holds `name`, `version` and `tools`, and a server announces this name "
        "and version when a client connects.",
    ),
    CONFIG.clause(
        "tools-list",
        "Only the tools named in the `mcp` block are offered, and an unknown tool name there is "
        "refused when the profile is read.",
    ),
    CONNECT.clause(
        "stdio",
        "A client talks to an avatar over standard input and output, on which nothing but "
        "protocol messages is ever written.",
    ),
    CONNECT.clause(
        "command",
        "`salon mcp --avatar ID` serves that avatar, and an unknown id ends with an error that "
        "lists the known ones.",
    ),
    CONNECT.clause(
        "client-configuration",
        "Salon prints a ready `mcpServers` entry with command, arguments and environment, and a "
        "server started from that entry answers.",
    ),
    CONNECT.clause(
        "environment",
        "Settings such as the store's address and key reach the server through the environment "
        "entries of the client's configuration.",
    ),
    CONNECT.clause(
        "postgres-store",
        "PostgreSQL with pgvector, the engine behind Supabase, can hold the vectors with the same "
        "behaviour as the embedded index.",
    ),
    GROUNDING.clause(
        "citation-required",
        "Every claim of every reply refers to at least one source document.",
    ),
    GROUNDING.clause(
        "no-hallucination",
        "A claim that is fabricated, misattributed or unsupported by its quotation is found and "
        "does not leave, and the three are told apart.",
    ),
    GROUNDING.clause(
        "acknowledge-limits",
        "If the corpus does not cover the topic the reply says so instead of answering.",
    ),
    GROUNDING.clause(
        "time-bound-retrieval",
        "Documents dated after the corpus's date range are never retrieved for that avatar.",
        decision=7,
    ),
    GROUNDING.clause(
        "time-bound-replies",
        "A question about things after the avatar's period gets an honest limit and no invented "
        "view.",
        decision=7,
    ),
    SEE_ALSO.clause(
        "avatar-schema",
        "A published JSON Schema validates profiles, and a wrong field is reported with its path "
        "and the nearest valid name.",
    ),
    SEE_ALSO.clause(
        "creating-avatars",
        "A guide leads from an empty folder to a working avatar, and a test runs its steps.",
    ),
)
