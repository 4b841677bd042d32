/* The short list of what the avatars in a room rest on. */
import { el, fill } from "../../lib/dom.js";
import { api, part } from "../../lib/api.js";
import { address } from "../../lib/route.js";
import { count } from "../../lib/words.js";
import { aiBadge } from "../../parts/ai.js";
import { documentList } from "../../parts/documents.js";
import { problem } from "../../parts/notice.js";

const SHOWN = 12;

const ELSEWHERE = {
  companion: ["reading", "What this conversation shows is in the reading"],
  assistant: ["gate", "What it may do, and why, is at the gate"],
};

export function sourcesPanel(avatars, signal, session) {
  return el("div", { class: "stack sources" }, avatars.map((one) => {
    const more = ELSEWHERE[one.preset];
    const link = more ? el("p", { class: "small" }, el("a", { href: address(more[0], [session]) }, more[1])) : null;
    const head = el("h2", { class: "sources-title row" }, el("span", { class: "named" }, one.name), aiBadge(one.ai_label));
    if (one.preset === "companion") return el("section", { class: "stack tight" }, head, el("p", { class: "quiet small" }, "Answers from no documents."), link);
    const list = el("div", { class: "stack tight" }, el("p", { class: "quiet small" }, "Looking up its documents…"));
    load(list, one, signal);
    return el("section", { class: "stack tight", "data-sources": one.id }, head, link, list);
  }));
}

async function load(node, avatar, signal) {
  try {
    const { documents } = await api.get(`api/avatars/${part(avatar.id)}/documents`, { signal });
    const verified = documents.filter((one) => one.verification.status === "verified").length;
    fill(node, el("p", { class: "small quiet" }, `${count(documents.length, "document")}, ${verified} verified. `,
      el("a", { href: address("library") }, "In the library")), documentList(documents, { most: SHOWN }));
  } catch (error) {
    if (error.name !== "AbortError") fill(node, problem(error));
  }
}
