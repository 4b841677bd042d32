/* Small signs that say how far something can be relied on. */
import { el } from "../lib/dom.js";
import { icon } from "./icons.js";

const STATUS = {
  verified: ["good", "check", "verified", "Somebody confirmed that this source is what it claims to be."],
  pending: ["", "clock", "not yet verified", "Nobody has confirmed this source yet."],
  disputed: ["bad", "warn", "disputed", "Somebody doubts this source."],
};

/** Whether somebody vouches for a source. */
export function statusBadge(status, notes = "") {
  const [kind, sign, words, meaning] = STATUS[status] ?? ["", "question", String(status ?? "unknown"), ""];
  return el("span", { class: `badge ${kind}`, title: [meaning, notes].filter(Boolean).join(" ") }, icon(sign), words);
}
