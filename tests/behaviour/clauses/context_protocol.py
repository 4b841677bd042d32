"""Clauses of seed 002, the Conversation Context Protocol."""

from tests.behaviour.requirement import Requirement, Section

OVERVIEW = Section(source="002", prefix="gate/overview", heading="Overview")
STATES = Section(source="002", prefix="gate/states", heading="Context States")
RULE_1 = Section(source="002", prefix="gate/rule-1", heading="Detection Rules > Rule 1")
RULE_2 = Section(source="002", prefix="gate/rule-2", heading="Detection Rules > Rule 2")
RULE_3 = Section(source="002", prefix="gate/rule-3", heading="Detection Rules > Rule 3")
RULE_4 = Section(source="002", prefix="gate/rule-4", heading="Detection Rules > Rule 4")
CLARIFY = Section(source="002", prefix="gate/clarification", heading="Clarification Signals")
TRIGGERS = Section(source="002", prefix="gate/triggers", heading="Action Trigger Signals")
HYPOTHETICAL = Section(source="002", prefix="gate/hypothetical", heading="Edge Cases > Edge Case 1")
MULTIPLE = Section(source="002", prefix="gate/multiple-actions", heading="Edge Cases > Edge Case 2")
SAME_REPLY = Section(source="002", prefix="gate/same-reply", heading="Edge Cases > Edge Case 3")
MATRIX = Section(source="002", prefix="gate/matrix", heading="Testing Protocol > Test Matrix")
INTEGRATION = Section(
    source="002", prefix="gate/integration", heading="Integration with MASTER_PROMPT.md"
)
LEARNED = Section(source="002", prefix="gate/learned", heading="Future: DSPy Optimization")
SUMMARY = Section(source="002", prefix="gate/summary", heading="Summary")

CLAUSES: tuple[Requirement, ...] = (
    OVERVIEW.clause(
        "two-actions",
        "The gate decides about two built-in actions, booking a calendar slot and sending an "
        "email.",
    ),
    OVERVIEW.clause(
        "ask-then-act",
        "Over every sequence of events the gate never offers an action in a turn whose reply "
        "still asks for context.",
    ),
    OVERVIEW.clause(
        "offer-not-execution",
        "A trigger only opens a flow with an offer, and nothing is booked or sent before the "
        "person approves.",
    ),
    STATES.clause(
        "initial",
        "A conversation starts in INITIAL, where the person has asked something and no action can "
        "trigger.",
    ),
    STATES.clause(
        "clarifying",
        "When the reply asks a clarifying question the state becomes CLARIFYING, where no action "
        "can trigger.",
    ),
    STATES.clause(
        "answering",
        "When the person replies to a clarifying question the state becomes ANSWERING, and "
        "context may then be sufficient.",
    ),
    STATES.clause(
        "guiding",
        "When the reply gives actionable guidance after that the state becomes GUIDING, and there "
        "alone an action can trigger.",
    ),
    STATES.clause(
        "legal-moves",
        "States change only along the moves of a published table, and every verdict names the "
        "state it was made in.",
    ),
    RULE_1.clause(
        "wrong-example",
        "The source's bad example, a reply that asks whether they were called and announces a "
        "booking in one breath, triggers nothing under either policy.",
    ),
    RULE_1.clause(
        "correct-example",
        "The source's good example triggers the calendar under the `sentence` policy: question, "
        "answer, then thanks with an offer to schedule.",
        decision=15,
    ),
    RULE_1.clause(
        "sentence-policy",
        "Under the default policy `sentence` a clarifying question blocks, an offer phrased as a "
        "question does not.",
        decision=15,
    ),
    RULE_1.clause(
        "conservative-policy",
        "Under the policy `conservative` any question mark in the reply blocks.",
        decision=15,
    ),
    RULE_2.clause(
        "not-on-first-reply",
        "The assistant's first reply never triggers an action, whatever it says.",
    ),
    RULE_2.clause(
        "minimum-depth",
        "At least two messages must be in the history, counted before the reply at hand is "
        "appended.",
        decision=15,
    ),
    RULE_2.clause(
        "four-message-walk",
        "In the walk of question, clarification, answer and guidance only the fourth message "
        "triggers.",
    ),
    RULE_3.clause(
        "unanswered-blocks",
        "Once the assistant has asked, nothing triggers until the person has answered after that "
        "question.",
    ),
    RULE_3.clause(
        "never-asked",
        "If the assistant never asked anything, this rule does not block.",
    ),
    RULE_3.clause(
        "last-question-counts",
        "With several questions it is the latest one that must have been answered.",
    ),
    RULE_3.clause(
        "only-the-person-answers",
        "A further message by the assistant after its question does not count as an answer.",
    ),
    RULE_3.clause(
        "worked-example",
        "In the source's absence example the last question has index 1, the history has length 3 "
        "after the answer, and context counts as gathered.",
    ),
    RULE_3.clause(
        "question-is-last",
        "With the same history cut off after the question, context does not count as gathered.",
    ),
    RULE_4.clause(
        "calendar-flow-guards",
        "While a calendar flow is active neither a calendar nor an email action triggers.",
        decision=16,
    ),
    RULE_4.clause(
        "email-flow-guards",
        "While an email flow is active neither an email nor a calendar action triggers.",
        decision=16,
    ),
    RULE_4.clause(
        "not-twice",
        "The same action is not triggered a second time for the same turn, also after a restart.",
    ),
    CLARIFY.clause(
        "question-marks",
        "The two example questions, about having tried to call and about consecutive shifts, are "
        "clarification by their question mark.",
    ),
    CLARIFY.clause(
        "phrases",
        'Each of "just to make sure", "just to confirm", "can you clarify", "need to know" and '
        '"could you provide" marks clarification even without a question mark.',
    ),
    CLARIFY.clause(
        "rhetorical-offer",
        "Advice to call joined by a dash to a question about when to schedule it is an offer and "
        "not clarification.",
        decision=15,
    ),
    CLARIFY.clause(
        "question-with-action-words",
        "Under the `sentence` policy a sentence is clarification by its question mark only if no "
        "action words stand in the same sentence.",
        decision=15,
    ),
    TRIGGERS.clause(
        "calendar-offers",
        '"Would you like me to schedule", "I can schedule a call" and "let me check your '
        'calendar" are strong calendar triggers.',
    ),
    TRIGGERS.clause(
        "calendar-recommendation",
        '"You should call" is a calendar trigger, reported as the weaker kind.',
    ),
    TRIGGERS.clause(
        "email-offers",
        '"Would you like me to draft an email" and "I can help you send" with a written notice '
        "are strong email triggers.",
    ),
    TRIGGERS.clause(
        "email-recommendation",
        '"You should send an email" is an email trigger too.',
    ),
    TRIGGERS.clause(
        "no-signal",
        "A reply without any trigger signal opens nothing, however deep the conversation is.",
    ),
    HYPOTHETICAL.clause(
        "hypothetical-example",
        "The source's hypothetical example, asking what to do if some employee stays away and "
        "being told to call, triggers nothing.",
        decision=17,
    ),
    HYPOTHETICAL.clause(
        "active-example",
        "The source's active example, about the person's own employee, triggers the calendar on "
        "the advice to call with an offer, once the depth and answer rules are met.",
        decision=17,
    ),
    HYPOTHETICAL.clause(
        "possessives",
        '"My" and "our", said by the person, mark an active situation.',
        decision=17,
    ),
    HYPOTHETICAL.clause(
        "names",
        "A person's name in the person's messages, or a pronoun bound to one, marks an active "
        "situation.",
        decision=17,
    ),
    HYPOTHETICAL.clause(
        "hypothetical-frame",
        'A hypothetical frame such as "what if", "suppose" or "should I ever" keeps a situation '
        "hypothetical even with a possessive in it.",
        decision=17,
    ),
    HYPOTHETICAL.clause(
        "decided-by-the-gate",
        "Hypothetical or active is decided by the gate itself on the person's messages, not left "
        "to a prompt.",
        decision=17,
    ),
    MULTIPLE.clause(
        "example",
        "The example reply that recommends documenting by email and then scheduling a call opens "
        "the email flow and no other.",
    ),
    MULTIPLE.clause(
        "email-first",
        "When both actions would trigger, email wins.",
    ),
    MULTIPLE.clause(
        "calendar-otherwise",
        "The calendar triggers when its signals are there and email's are not.",
    ),
    MULTIPLE.clause(
        "one-per-turn",
        "At most one action triggers in a turn.",
    ),
    SAME_REPLY.clause(
        "example-blocked",
        "The example reply that first asks for confirmation of two calls and then offers a "
        "follow-up call triggers nothing under either policy.",
        decision=15,
    ),
    SAME_REPLY.clause(
        "separated",
        "The same content in two turns, the question first and the scheduling after the answer, "
        "triggers the calendar in the second.",
        decision=15,
    ),
    SAME_REPLY.clause(
        "per-sentence",
        "Question and action are judged sentence by sentence, and the verdict gives the span of "
        "each sentence that counted.",
        decision=15,
    ),
    MATRIX.clause(
        "first-response",
        "History length 1, no question, no flow gives no trigger under both policies, with depth "
        "as the deciding rule.",
        decision=15,
    ),
    MATRIX.clause(
        "clarifying",
        "History length 2, a question in the reply, no answer, no flow gives no trigger under "
        "both policies, with asking as the deciding rule.",
        decision=15,
    ),
    MATRIX.clause(
        "post-clarification",
        "History length 4, no question, the person has answered, no flow gives a trigger under "
        "both policies.",
        decision=15,
    ),
    MATRIX.clause(
        "already-in-flow",
        "History length 4, no question, the person has answered, a calendar flow active gives no "
        "trigger under both policies, with the state guard as the deciding rule.",
        decision=15,
    ),
    MATRIX.clause(
        "hypothetical",
        "History length 2, no question, a hypothetical situation, no flow gives no trigger under "
        "both policies.",
        decision=15,
    ),
    INTEGRATION.clause(
        "says-and-acts-apart",
        "The gate never alters the reply's text, and nothing that the composer writes can open a "
        "flow past the gate.",
    ),
    INTEGRATION.clause(
        "assistant-asks",
        "The assistant preset asks a fitting clarifying question when a request lacks context.",
    ),
    INTEGRATION.clause(
        "assistant-guides",
        "Once the person has answered, the assistant preset gives grounded guidance.",
    ),
    INTEGRATION.clause(
        "assistant-names-the-action",
        "When the assistant preset recommends an action it words it so that the gate's signals "
        "recognise it.",
    ),
    INTEGRATION.clause(
        "sufficiency-from-state",
        "Whether context suffices is a pure function of history, reply, flow and policy, with no "
        "model in its path.",
    ),
    INTEGRATION.clause(
        "whole-walk",
        "One assistant conversation runs through asking, waiting, recommending and triggering in "
        "this order, end to end.",
    ),
    LEARNED.clause(
        "signature",
        "The learned decision takes the conversation history and the reply and yields "
        "`context_sufficient` and `should_trigger`.",
    ),
    LEARNED.clause(
        "inside-the-rules",
        "The learned decision can only withhold or suggest inside what the rules allow, so it "
        "never opens what they block.",
    ),
    LEARNED.clause(
        "feedback-file",
        "Feedback is read from a CSV file with the columns Turn, User, ERA, Improvement and Label.",
    ),
    LEARNED.clause(
        "feedback-labels",
        "The two example rows are read as a negative and a positive label from "
        "`should_trigger=False` and `should_trigger=True`.",
    ),
    LEARNED.clause(
        "feedback-rows-learned",
        "Trained on feedback in which early triggers are marked wrong, the decision withholds on "
        "held-back early turns and reports its premature and missed rates.",
    ),
    LEARNED.clause(
        "dspy-variant",
        "With the optional extra installed the language model variant named `CalendarDecision` is "
        "compiled from the same feedback file.",
    ),
    SUMMARY.clause(
        "five-checks",
        "The verdict comes from five named checks: no active flow, no clarifying question, enough "
        "depth, context gathered, action words present.",
    ),
    SUMMARY.clause(
        "verdict-explains",
        "Each verdict names the check that decided and why, for a trigger as well as for a block.",
    ),
    SUMMARY.clause(
        "no-interruption",
        "An active flow keeps its step and its data whatever later replies of the assistant "
        "contain.",
    ),
)
