/* The panels of the gate: where the conversation stands, why, what is asked, what is approved, what was done. */
import { el, newId } from "../../lib/dom.js";
import { shortHash, when } from "../../lib/words.js";
import { icon } from "../../parts/icons.js";
import { sentence } from "../../parts/notice.js";
import { words } from "../../draw/sets.js";

const MOST_VERDICTS = 40;
const STATES = [
  ["INITIAL", "Initial", "The person has begun to speak."],
  ["CLARIFYING", "Clarifying", "The assistant asks for context."],
  ["ANSWERING", "Answering", "The person answers."],
  ["GUIDING", "Guiding", "The assistant guides. Only here an action may be offered."],
];

/** The four states, the current one lit. */
export function statePanel(gate) {
  const now = gate.state;
  return el("section", { class: "panel" },
    el("header", {}, el("h2", {}, "State")),
    el("ol", { class: "states plain" }, STATES.map(([key, name, about]) =>
      el("li", { class: key === now ? "here" : "", "aria-current": key === now ? "true" : null },
        el("strong", {}, name), el("span", { class: "small" }, about)))));
}

/** Where things stand, in a line. */
export function standing({ state, form, order }) {
  const named = STATES.find(([key]) => key === state)?.[1] ?? state;
  const asked = form ? (form.digest ? "Approve exactly this?" : form.text) : "";
  return [`State: ${named}.`, asked, order ? `${ORDERS[order.state]?.[1] ?? words(order.state)}.` : ""].filter(Boolean).join(" ");
}

/** The rule that decided about the latest reply, and what it rested on. */
export function rulePanel(gate) {
  if (!gate.rule) {
    return el("section", { class: "panel" }, el("header", {}, el("h2", {}, "Decision")),
      el("p", { class: "quiet" }, "Nothing was decided yet. The gate looks at every reply of the assistant."));
  }
  const isOpen = Boolean(gate.action);
  return el("section", { class: "panel" },
    el("header", {}, el("h2", {}, "Decision"),
      el("span", { class: isOpen ? "badge good" : "badge" }, isOpen ? `may offer: ${words(gate.action)}` : "offers nothing")),
    el("p", { class: "decided" }, sentence(gate.reason)), el("p", { class: "quiet small" }, "Rule ", el("code", {}, gate.rule)));
}

/** What was decided turn by turn. */
export function verdictsPanel(verdicts) {
  if (!verdicts?.length) return null;
  return el("details", { class: "panel" },
    el("summary", {}, `All decisions (${verdicts.length})`),
    el("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "All decisions" },
      el("table", { class: "table" },
        el("thead", {}, el("tr", {}, ["Turn", "State", "Rule", "Why"].map((one) => el("th", { scope: "col" }, one)))),
        el("tbody", {}, verdicts.slice(-MOST_VERDICTS).reverse().map((one) => el("tr", {},
          el("th", { scope: "row" }, String(one.turn)), el("td", {}, words(String(one.state).toLowerCase())),
          el("td", {}, el("code", {}, one.rule)), el("td", {}, one.reason)))))));
}

/** What the flow asks for: a form, sent with `send({answer} | {approve} | {cancel})`. */
export function formPanel(gate, send) {
  const { form } = gate;
  if (!form) return null;
  const isApproval = Boolean(form.digest);
  return el("section", { class: "panel flow", tabindex: "-1", "aria-label": "What is asked" },
    el("header", {}, el("h2", {}, isApproval ? "Approve exactly this?" : "The flow asks"),
      el("span", { class: "badge note" }, words(form.action)), el("span", { class: "badge" }, words(form.step))),
    isApproval ? approval(gate, send) : question(form, send),
    el("p", { class: "quiet small" }, "Nothing happens before you approve it."));
}

function question(form, send) {
  const [asked] = form.fields;
  const cancel = el("button", { class: "button bare", type: "button", on: { click: () => send({ cancel: true }) } }, "Cancel");
  if (!asked) return el("div", { class: "stack tight" }, el("p", { class: "asked" }, form.text), el("p", {}, cancel));
  const id = newId("answer");
  const isYesNo = asked.choices?.join() === "yes,no";
  const box = isYesNo ? null : el("input", { id, name: asked.name, type: "text", dir: "auto", autocomplete: "off", maxlength: "4000" });
  return el("form", { class: "stack tight", on: { submit: (event) => { event.preventDefault(); if (box?.value.trim()) send({ answer: box.value.trim() }); } } },
    el("p", { class: "asked" }, asked.choices?.length && !isYesNo ? asked.question : form.text),
    asked.choices?.length
      ? el("div", { class: "row" }, asked.choices.map((one, place) => el("button", {
          class: isYesNo && place === 0 ? "button first" : "button", type: "button", on: { click: () => send({ answer: one }) } }, one)))
      : null,
    box ? el("label", { class: "field", for: id }, el("span", {}, asked.choices?.length ? "Another answer" : asked.label), box) : null,
    el("div", { class: "row" },
      box ? el("button", { class: "button first" }, "Answer") : null,
      asked.is_required === false ? el("button", { class: "button", type: "button", on: { click: () => send({ answer: "skip" }) } }, "Leave it out") : null,
      cancel));
}

function approval(gate, send) {
  const { form } = gate;
  const id = newId("change");
  const change = el("input", { id, type: "text", autocomplete: "off", maxlength: "4000", placeholder: "change the time to tomorrow 15:00" });
  return el("div", { class: "stack tight" },
    el("p", { class: "draft-words", dir: "auto" }, form.text),
    el("h3", { class: "kicker" }, "The exact values that go out"),
    argumentList(gate.proposal ?? gate),
    gate.proposal ? boundList(gate.proposal) : null,
    el("p", { class: "digest small" }, "Digest ", el("code", {}, form.digest), " ", el("span", { class: "badge checked", role: "status" }, "checking")),
    el("div", { class: "row" },
      el("button", { class: "button first", type: "button", on: { click: () => send({ approve: form.digest }) } }, icon("check"), "Approve exactly this"),
      el("button", { class: "button", type: "button", on: { click: () => send({ cancel: true }) } }, "Cancel")),
    el("form", { class: "row change", on: { submit: (event) => { event.preventDefault(); if (change.value.trim()) send({ answer: change.value.trim() }); } } },
      el("label", { class: "field grow", for: id }, el("span", {}, "Or change something first"), change),
      el("button", { class: "button" }, "Change")));
}

/** What else the digest covers: the yes counts for this action, in this conversation and turn, alone. */
function boundList({ action, policy, session, turn }) {
  return el("details", { class: "bound small" }, el("summary", {}, "The digest also covers the action, the policy, the conversation and the turn"),
    el("dl", { class: "facts" }, [["Action", action], ["Policy", `version ${policy}`], ["Conversation", session], ["Turn", String(turn)]]
      .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

/** The exact arguments, as they go out. */
export function argumentList({ arguments: values }) {
  return el("dl", { class: "facts arguments" }, Object.entries(values).map(([name, value]) => [
    el("dt", {}, words(name)), el("dd", { dir: "auto" }, value)]));
}

const ORDERS = {
  approved: ["note", "Approved, waiting to be carried out"],
  executing: ["note", "Being carried out"],
  committing: ["note", "Being carried out"],
  waiting: ["warn", "Did not work yet; it is tried again"],
  done: ["good", "Done"],
  failed: ["bad", "Not done"],
  unknown: ["bad", "Nobody can tell whether it was done"],
  withdrawn: ["", "Withdrawn: nothing was done"],
};

/** How an approved action ended: the receipt, or what stands in its way. */
export function orderPanel(order) {
  if (!order) return null;
  const [kind, title] = ORDERS[order.state] ?? ["", words(order.state)];
  return el("section", { class: `panel receipt ${kind}`, tabindex: "-1", "aria-label": "What became of it" },
    el("header", {}, el("h2", {}, title), el("span", { class: `badge ${kind}` }, words(order.state))),
    el("p", { class: "receipt-text" }, order.receipt?.text ?? order.status),
    el("dl", { class: "facts" },
      order.receipt ? [el("dt", {}, "Reference"), el("dd", {}, el("code", {}, order.receipt.reference))] : null,
      [el("dt", {}, "Approved"), el("dd", {}, `by ${order.approved_by}, ${when(order.approved_at)}`)],
      order.ended_at ? [el("dt", {}, "Ended"), el("dd", {}, when(order.ended_at))] : null,
      [el("dt", {}, "Digest"), el("dd", {}, el("code", { title: order.digest }, shortHash(order.digest)))],
      [el("dt", {}, "Attempts"), el("dd", {}, String(order.attempt))]),
    el("details", {}, el("summary", {}, "The very arguments"), argumentList(order)));
}

/** A flow that is over without an order. */
export function endedPanel(flow) {
  if (!flow || flow.is_active || flow.order) return null;
  return el("section", { class: "panel" }, el("header", {}, el("h2", {}, `Flow ${words(flow.step)}`)),
    el("p", { class: "quiet" }, "Nothing was done."));
}
