"""Clauses of seed 004, the skill registry of the council and the archive under it."""

from tests.behaviour.requirement import Requirement, Section

OVERVIEW = Section(source="004", prefix="council/overview", heading="1. Overview")
MCARD = Section(source="004", prefix="council/mcard", heading="1.1 The MCard Data Layer")
REGISTRY = Section(source="004", prefix="council/registry", heading="2. Skill Registry")
SEARCH = Section(source="004", prefix="council/search", heading="2.1 skill_qdrant_search")
CANDIDATE = Section(
    source="004", prefix="council/submit-candidate", heading="2.2 skill_submit_candidate"
)
REVIEW = Section(source="004", prefix="council/peer-review", heading="2.3 skill_peer_review")
FUSION = Section(source="004", prefix="council/submit-fusion", heading="2.4 skill_submit_fusion")
VOTE = Section(source="004", prefix="council/cast-vote", heading="2.5 skill_cast_vote")
SOUL = Section(source="004", prefix="council/synthesize-soul", heading="2.6 skill_synthesize_soul")
ERRORS = Section(source="004", prefix="council/errors", heading="3.1 Error Handling")
SECURITY = Section(source="004", prefix="council/security", heading="3.2 Security Policy")

CLAUSES: tuple[Requirement, ...] = (
    OVERVIEW.clause(
        "mcp-tools",
        "The council's skills are offered as MCP tools, over standard streams for one seat and "
        "over HTTP with a token per seat.",
    ),
    OVERVIEW.clause(
        "reach",
        "Through the skills alone a seat can search the archive, put its work on file and respond "
        "to the other seats.",
    ),
    OVERVIEW.clause(
        "any-holder",
        "A seat can be held by any chat model, by an offline strategy or by an outside MCP "
        "client, in any mix.",
    ),
    MCARD.clause(
        "immutable",
        "Content once stored under a hash never changes.",
    ),
    MCARD.clause(
        "hash",
        "A card's `hash` is the lower-case hexadecimal SHA-256 of its bytes unless another "
        "algorithm is asked for.",
        decision=8,
    ),
    MCARD.clause(
        "g-time",
        "A card's `g_time` is algorithm, UTC time with microseconds and zone, joined as in "
        "`sha256|2026-11-15T00:23:23.229924Z|UTC`.",
        decision=8,
    ),
    MCARD.clause(
        "create-read-delete",
        "`CardCollection` creates, reads and deletes cards and has no way to update one.",
    ),
    MCARD.clause(
        "persistent",
        "Whatever a `CardCollection` has acknowledged is there again after it is closed and "
        "reopened.",
    ),
    MCARD.clause(
        "duplicates",
        "Adding content that is already stored returns its hash and writes nothing.",
        decision=9,
    ),
    MCARD.clause(
        "collisions",
        "Content that collides under a weak algorithm is stored under the next stronger one, and "
        "that hash is returned.",
        decision=9,
    ),
    MCARD.clause(
        "guarded-delete",
        "Deleting a card that a handle or a citation needs is refused unless forced, and then a "
        "tombstone stays.",
        decision=9,
    ),
    MCARD.clause(
        "hash-as-citation",
        "Naming a source by its content hash leads to exactly those bytes, and a stored card "
        "whose bytes no longer fit its hash is detected.",
    ),
    MCARD.clause(
        "temporal-order",
        "From `g_time` one can tell when each card was stored and put cards in that order.",
    ),
    MCARD.clause(
        "handle",
        "A handle such as `chapter/gravity/latest` resolves to the hash of its current card and "
        "keeps its name when it moves.",
    ),
    MCARD.clause(
        "handle-transaction",
        "Storing a card and moving a handle to it happen in one transaction or not at all.",
        decision=9,
    ),
    MCARD.clause(
        "handle-history",
        "`handle_history` keeps every move of every handle with the hash it left and the time.",
    ),
    MCARD.clause(
        "mcard-tables",
        "Plain SQL reads cards, handles and their history in Salon's file under the MCard names "
        "`card`, `handle_registry` and `handle_history`.",
        decision=8,
    ),
    MCARD.clause(
        "opens-mcard-files",
        "Salon opens a database written by MCard and extends it without loss.",
        decision=8,
    ),
    MCARD.clause(
        "first-snippet",
        "The archive lines of the first Python snippet run with only the imports changed: `MCard` "
        "and `CardCollection(db_path=...)` come from `salon.mcard`.",
        decision=8,
    ),
    MCARD.clause(
        "artefacts-are-cards",
        "Whatever a round produces, from first drafts and critiques to the published chapter, is "
        "kept as a card of its own.",
    ),
    MCARD.clause(
        "ten-thousand-documents",
        "A council round runs on an archive of 10,000 documents.",
    ),
    MCARD.clause(
        "rag-lines",
        "The retrieval lines of the first snippet run with only the imports changed: "
        "`MCardRAGEngine(archive)` is built and `index_all()` gives every card its vectors.",
        decision=8,
    ),
    MCARD.clause(
        "index-all-again",
        "A second `index_all()` adds nothing for cards that are already indexed.",
        decision=8,
    ),
    MCARD.clause(
        "graph-line",
        "The graph line of the first snippet runs with only the imports changed: "
        "`GraphRAGEngine(vector_db_path=...)` is built and answers questions across documents.",
        decision=8,
    ),
    REGISTRY.clause(
        "all-seats",
        "Each of the five seats may search, submit a candidate, review, submit a fusion and vote, "
        "and a caller without a seat may do none of it.",
    ),
    SEARCH.clause(
        "vectors",
        "Dense search finds neighbours by embedding, with Ollama's `nomic-embed-text` in 768 "
        "dimensions among the embedders that can be chosen.",
    ),
    SEARCH.clause(
        "bm25",
        "Sparse search ranks by BM25 over words.",
    ),
    SEARCH.clause(
        "single-file",
        "SQLite FTS5 for words and `sqlite-vec` for vectors can be selected so that search lives "
        "in the archive's own file.",
    ),
    SEARCH.clause(
        "hybrid",
        "Hybrid search joins the dense and the sparse ranking by weighted reciprocal rank fusion.",
        decision=10,
    ),
    SEARCH.clause(
        "weighting",
        "The weight between dense and sparse can be configured and is 0.5 by default, not the 0.7 "
        "to 0.3 that the source names elsewhere.",
        decision=10,
    ),
    SEARCH.clause(
        "alpha-ends",
        "`alpha` 0 gives the BM25 ranking alone and `alpha` 1 the vector ranking alone.",
        decision=10,
    ),
    SEARCH.clause(
        "graph",
        "Entities and the graph between them answer a question whose evidence lies in several "
        "documents.",
    ),
    SEARCH.clause(
        "chunking",
        "A long document is cut into passages of about 1,000 characters that overlap by 200, both "
        "configurable, and no passage spans two documents.",
    ),
    SEARCH.clause(
        "result-hash",
        "Every search result names the hash of the card it comes from and the span in it.",
    ),
    SEARCH.clause(
        "results-verifiable",
        "From hash and span alone a reviewing seat can confirm that a cited text is in the "
        "archive, and a made-up citation fails that check.",
    ),
    SEARCH.clause(
        "read-only",
        "Searching changes no card, handle or ledger.",
    ),
    SEARCH.clause(
        "schema",
        "The published schema has `query` as string, `limit` as integer, `mode` as enumeration "
        "and `alpha` as number, and requires only `query`.",
    ),
    SEARCH.clause(
        "limit",
        "`limit` is 5 by default and at most 20, and a larger value is refused.",
    ),
    SEARCH.clause(
        "mode",
        "`mode` is `hybrid`, `dense` or `sparse`, and `hybrid` when left out.",
        decision=10,
    ),
    SEARCH.clause(
        "alpha",
        "`alpha` is a number from 0 to 1, and 0.5 when left out.",
        decision=10,
    ),
    SEARCH.clause(
        "qdrant",
        "The skill searches a real Qdrant server where the settings name one and the embedded "
        "index otherwise.",
    ),
    SEARCH.clause(
        "snippet-search",
        "`rag.search(text, k=5, hybrid=True)` returns at most 5 results with `hash`, `score` and "
        "`chunk_text`, as the second snippet prints them.",
        decision=8,
    ),
    SEARCH.clause(
        "snippet-query",
        "`rag.query(question)` returns `answer`, `sources` as a list of card hashes and a numeric "
        "`confidence`, as the second snippet prints them.",
        decision=8,
    ),
    SEARCH.clause(
        "query-grounded",
        "The `answer` of `rag.query` states only what the cards in its `sources` support.",
        decision=8,
    ),
    CANDIDATE.clause(
        "schema",
        "`topic_id` and `markdown_content` are strings and both required.",
    ),
    CANDIDATE.clause(
        "enters-the-sprint",
        "A submitted draft joins the pool of its topic during the parallel sprint and gets an id "
        "by which others can refer to it.",
    ),
    CANDIDATE.clause(
        "staging-only",
        "A submission writes to staging and nowhere else.",
    ),
    REVIEW.clause(
        "schema",
        "`target_candidate_id` and `feedback` are strings and both required.",
    ),
    REVIEW.clause(
        "peers-only",
        "A seat criticises a peer's candidate, not its own, and an unknown candidate is refused.",
    ),
    REVIEW.clause(
        "critique-ledger",
        "A critique is entered in the critique ledger, where it can be read, and touches nothing "
        "else.",
    ),
    FUSION.clause(
        "schema",
        "`collaborator_ids` is an array of strings, `markdown_content` a string, and both are "
        "required.",
    ),
    FUSION.clause(
        "two-authors",
        "A fusion has exactly two collaborators, the authors of the two drafts in the runoff.",
        decision=19,
    ),
    FUSION.clause(
        "runoff-only",
        "A fusion is accepted only during a runoff, which takes place when the top two drafts are "
        "within 0.5, inclusive.",
        decision=19,
    ),
    FUSION.clause(
        "fusion-layer",
        "A fusion is written to the fusion layer and nowhere else.",
    ),
    FUSION.clause(
        "ratification",
        "A fusion is ratified Up or Down by the three seats that did not write it.",
        decision=19,
    ),
    VOTE.clause(
        "schema",
        "`target_draft_id`, `scores` and `rationale` are required, and `scores` needs `accuracy`, "
        "`depth` and `pedagogy`.",
    ),
    VOTE.clause(
        "score-range",
        "Each score is an integer from 1 to 10, and 0, 11 or a fraction is refused.",
        decision=18,
    ),
    VOTE.clause(
        "peers-only",
        "A seat grades the final candidates of its peers, and a vote on its own draft is refused.",
        decision=19,
    ),
    VOTE.clause(
        "aggregation",
        "A draft's score is the geometric mean over its voters of the mean of their three scores.",
        decision=19,
    ),
    VOTE.clause(
        "consensus-ledger",
        "A vote is entered in the consensus ledger with its rationale, once per seat and draft, "
        "and touches nothing else.",
    ),
    SOUL.clause(
        "schema",
        "`system_prompt_content` is a required string and `goal` an optional one.",
    ),
    SOUL.clause(
        "survivors-only",
        "Only the seats that survive a retirement write the new soul, and they do so together.",
    ),
    SOUL.clause(
        "new-prompt",
        "The soul that is accepted becomes the system prompt of the vacant seat, and earlier "
        "souls stay readable.",
    ),
    ERRORS.clause(
        "malformed",
        "The text answering malformed arguments is exactly `Error: Invalid JSON. Please retry "
        "adhering strictly to the schema.` and nothing more.",
        decision=24,
    ),
    ERRORS.clause(
        "malformed-reason",
        "Beside that text a malformed call gets a machine-readable reason, changes nothing, and "
        "can be retried.",
        decision=24,
    ),
    ERRORS.clause(
        "timeout",
        "A skill that has not finished after 30 seconds is stopped, and the caller is told.",
        decision=24,
    ),
    SECURITY.clause(
        "broadcast-alias",
        "`skill_broadcast_draft` is the same skill as `skill_submit_candidate` under another name.",
        decision=21,
    ),
    SECURITY.clause(
        "writes-to-staging",
        "No skill lets a seat put content anywhere but into staging and the ledgers of its round.",
        decision=21,
    ),
    SECURITY.clause(
        "no-seat-publishes",
        "No seat can write to `completed`, by any skill, handle name or forged id.",
        decision=21,
    ),
    SECURITY.clause(
        "system-actor-publishes",
        "Only the system actor moves a text from staging to `completed`, and the audit log shows "
        "that it did.",
        decision=21,
    ),
    SECURITY.clause(
        "consensus-verified",
        "The move happens only after the system actor has checked the votes: a mean of at least "
        "8.0 from at least 3 peers and no single score below 5.",
        decision=20,
    ),
    SECURITY.clause(
        "citations-verified",
        "The move happens only after every citation in the text has been verified again.",
        decision=20,
    ),
    SECURITY.clause(
        "no-quorum",
        "Without consensus after at most 3 retries the round ends as `no_quorum`, nothing is "
        "published and a person is told.",
        decision=20,
    ),
)
