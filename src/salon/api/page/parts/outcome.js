/* What was not said: every outcome that is no answer has a look and words of its own. */
import { el } from "../lib/dom.js";
import { icon } from "./icons.js";
import { sentence } from "./notice.js";

export const OUTCOMES = {
  corpus_miss: { icon: "book", title: "Not in the documents", about: "The corpus says nothing about it." },
  out_of_scope: { icon: "compass", title: "Outside this field", about: "The question lies in another field." },
  after_my_time: { icon: "clock", title: "After the documents end", about: "It came later than the texts." },
  needs_clarification: { icon: "question", title: "Asks back", about: "The question leaves open what is meant." },
  declined: { icon: "cross", title: "Declined", about: "It asks for harmful content." },
  silent: { icon: "silent", title: "Stayed silent", about: "Nothing grounded to add." },
  gate_closed: { icon: "lock", title: "Not done", about: "The context does not allow an action yet." },
  no_quorum: { icon: "people", title: "No agreement", about: "The council did not agree." },
  no_reply: { icon: "warn", title: "No reply", about: "Nothing could be composed." },
};

export function isAnswer(outcome) {
  return !outcome || outcome === "answered";
}

/** The head of a reply that is no answer. */
export function outcomeHead(outcome) {
  const known = OUTCOMES[outcome] ?? { icon: "question", title: String(outcome), about: "" };
  return el("p", { class: "outcome-head" }, icon(known.icon), el("span", { class: "strong" }, known.title),
    el("span", { class: "quiet small" }, known.about));
}

/** What may help instead: the suggestion, who knows better, and what this avatar can speak about. */
export function outcomeFoot({ suggestion, redirect, expertise = [], name, onTopic, others = [], onOther }) {
  const meant = redirect ? others.find((one) => redirect.includes(one.name) && one.name !== name) : null;
  return el("div", { class: "outcome-foot stack tight" },
    suggestion ? el("p", { class: "small" }, sentence(suggestion)) : null,
    redirect ? el("p", { class: "small" }, sentence(redirect), " ",
      meant && onOther ? el("button", { class: "button slim", type: "button", on: { click: () => onOther(meant) } }, `Ask ${meant.name}`) : null) : null,
    expertise.length ? el("div", { class: "row" }, el("span", { class: "small quiet" }, `${name} can speak about`),
      expertise.map((topic) => el("button", { class: "chip", type: "button", on: { click: () => onTopic?.(topic) } }, topic))) : null);
}
