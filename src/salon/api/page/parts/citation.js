/* Citations as chips; a click opens the proof. The proof itself is loaded when it is first wanted. */
import { el } from "../lib/dom.js";
import { complain } from "./notice.js";

/** `citation`: {hash, start, end, quote, source, page}. `about`: more for the proof ({claim, avatar}). */
export function citationChip(citation, number, { long = false, about = {} } = {}) {
  const page = citation.page === null || citation.page === undefined ? "" : `, page ${citation.page}`;
  const name = `${citation.source}${page}`;
  return el("button", {
    type: "button", class: long ? "chip citation long" : "citation", title: `${name}: show the proof`,
    "aria-label": `Source ${number}: ${name}`, "aria-haspopup": "dialog", on: { click: () => openProof(citation, about) } },
  long ? [el("span", { class: "citation-number" }, String(number)), el("span", { class: "citation-name" }, name)] : String(number));
}

export async function openProof(citation, about = {}) {
  try {
    const { showProof } = await import("./proof.js");
    await showProof(citation, about);
  } catch (error) {
    complain(error instanceof TypeError ? { message: "the proof could not be loaded", hint: "is the server still running?" } : error);
  }
}
