/* What a companion's turn tells beside the reply, as far as the room shows it; the rest is in the reading. */
import { el } from "../../lib/dom.js";
import { address } from "../../lib/route.js";
import { share } from "../../lib/words.js";
import { icon } from "../../parts/icons.js";

const words = (name) => String(name).replaceAll("_", " ");

function scam(data, session) {
  return el("section", { class: "notice bad scam", role: "alert", "data-level": data.warning_level },
    el("p", { class: "row" }, icon("warn"), `This looks like fraud (${data.warning_level} risk, ${share(data.risk_score)}).`),
    data.patterns.length ? el("p", { class: "small" }, `What was found: ${data.patterns.map(words).join(", ")}.`) : null,
    el("p", { class: "small" }, "Send no money, and give no code or account. ", el("a", { href: address("reading", [session]) }, "What this rests on")));
}

function flow(data, session) {
  return el("p", { class: "event-line small" }, icon("gate"), `Action ${words(data.action)}: ${words(data.step)}. `, el("a", { href: address("gate", [session]) }, "Open the gate"));
}

function milestone(data, session) {
  return el("p", { class: "event-line small" }, icon("reading"), `Turn ${data.turn} is a milestone. `, el("a", { href: address("reading", [session]) }, "Read the report"));
}

/** By type of event, what is put into the conversation. */
export const EVENTS = { scam_warning: scam, flow_update: flow, milestone_report: milestone };
