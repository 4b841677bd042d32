/* The proof of a citation: its card's bytes are fetched and hashed in this browser, and the quote is
 * held against them, byte for byte. What is shown as the source is what was hashed, nothing else. */
import { el, fill, externalLink, adopt, newId } from "../lib/dom.js";
import { api, part } from "../lib/api.js";
import { clock, number } from "../lib/words.js";
import { icon } from "./icons.js";
import { problem, sentence } from "./notice.js";
import { statusBadge } from "./badges.js";

const ALGORITHMS = { 40: "SHA-1", 64: "SHA-256", 96: "SHA-384", 128: "SHA-512" };
const AROUND = 1200;

/** Show the proof of a citation in a dialog; resolves when it stands there and was checked. */
export async function showProof(citation, about = {}) {
  await adopt("parts/proof.css");
  const ending = new AbortController();
  const title = newId("proof");
  const checks = el("ul", { class: "proof-checks plain", "aria-live": "polite" });
  const text = el("div", { class: "proof-text", tabindex: "0", role: "region", "aria-label": "The source text" },
    el("p", { class: "quiet" }, "Fetching the source…"));
  const facts = el("dl", { class: "facts proof-facts" });
  const dialog = el("dialog", { class: "proof", "aria-labelledby": title },
    el("div", { class: "proof-head" },
      el("div", { class: "grow" }, el("p", { class: "kicker" }, "The source of this sentence"),
        el("h2", { id: title }, citation.source ?? "Source"), el("p", { class: "quiet small proof-where" })),
      el("button", { class: "button icon bare", type: "button", "aria-label": "Close", on: { click: () => dialog.close() } }, icon("close"))),
    about.claim ? el("p", { class: "proof-claim" }, el("span", { class: "kicker" }, "What was said "), el("bdi", {}, about.claim)) : null,
    checks, text, facts);
  dialog.addEventListener("close", () => {
    ending.abort();
    dialog.remove();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  const check = { citation, checks, text, facts, where: dialog.querySelector(".proof-where"), signal: ending.signal };
  await run(check).catch((error) => {
    if (error.name === "AbortError") return;
    fill(checks);
    line(checks, "unknown", "Could not be checked: the card’s bytes did not come.");
    fill(text, problem(error));
  });
  dialog.dataset.done = "true";
  return dialog;
}

async function run({ citation, checks, text, facts, where, signal }) {
  line(checks, "wait", "Checking: the card's bytes are fetched and hashed in this browser.");
  const path = `api/cards/${part(citation.hash)}`;
  const [bytes, place] = await Promise.all([
    api.bytes(`${path}/content`, { signal }),
    api.get(`${path}/place?start=${citation.start}&end=${citation.end}`, { signal }).catch((error) => {
      if (error.name === "AbortError") throw error;
      return null; // the bytes alone are proof enough; what is known about the document is missing
    })]);
  const found = await compare(citation, bytes);
  fill(checks);
  for (const [state, words] of found.lines) line(checks, state, words);
  fill(text, ...page(bytes, citation, place, found.isGood));
  bring(text, text.querySelector("mark"));
  describe(facts, where, citation, place, bytes);
}

/** Put the mark into the middle of the text, and both into sight; the checks above stay if they can. */
function bring(text, mark) {
  const { top, height } = mark.getBoundingClientRect();
  text.scrollTop += top - text.getBoundingClientRect().top - Math.max(0, (text.clientHeight - height) / 2);
  mark.scrollIntoView({ block: "nearest" });
}

/** Hold a citation against bytes: {isGood, lines: [[state, words]…]}; states are good, bad, unknown. */
export async function compare(citation, bytes) {
  const lines = [];
  const algorithm = ALGORITHMS[citation.hash.length];
  const now = clock();
  if (!globalThis.crypto?.subtle || !algorithm) {
    lines.push(["unknown", algorithm
      ? "This browser cannot recompute the hash here: it does so only over https or on this machine. `salon verify` can."
      : "This card's hash is of a kind that browsers do not compute. `salon verify` can."]);
  } else {
    const digest = hex(new Uint8Array(await crypto.subtle.digest(algorithm, bytes)));
    lines.push(digest === citation.hash
      ? ["good", `Checked just now (${now}): this browser recomputed ${algorithm} over ${number(bytes.length)} bytes, and it is the hash that was cited.`]
      : ["bad", `The bytes are not those that were cited: their ${algorithm} is ${digest.slice(0, 16)}…, and ${citation.hash.slice(0, 16)}… was cited. Do not rely on this citation.`]);
  }
  const quoted = new TextEncoder().encode(citation.quote);
  const there = bytes.subarray(citation.start, citation.end);
  const isSame = quoted.length === there.length && quoted.every((byte, at) => byte === there[at]);
  lines.push(isSame
    ? ["good", `The quote stands at bytes ${number(citation.start)} to ${number(citation.end)}, letter for letter.`]
    : ["bad", `The quote is not what stands at bytes ${number(citation.start)} to ${number(citation.end)}.`]);
  return { lines, isGood: !lines.some(([state]) => state === "bad") };
}

const SIGNS = { good: "check", bad: "cross", unknown: "question", wait: "clock" };

function line(checks, state, words) {
  checks.append(el("li", { class: `proof-check ${state}` }, icon(SIGNS[state]), el("span", { role: state === "bad" ? "alert" : null }, words)));
}

function page(bytes, citation, place, isGood) {
  const size = (value) => new TextEncoder().encode(value).length;
  const left = Math.max(0, citation.start - (place ? size(place.before) : AROUND));
  const right = Math.min(bytes.length, citation.end + (place ? size(place.after) : AROUND));
  const decode = (from, to) => new TextDecoder().decode(bytes.subarray(from, to)).replace(/^\uFFFD+|\uFFFD+$/g, "");
  const starts = place ? place.starts_page : left === 0;
  const ends = place ? place.ends_page : right === bytes.length;
  return [el("p", { class: "serif proof-page", dir: "auto" },
    starts ? null : el("span", { class: "quiet" }, "… "), decode(left, citation.start),
    el("mark", { class: isGood ? null : "bad" }, decode(citation.start, citation.end)),
    decode(citation.end, right), ends ? null : el("span", { class: "quiet" }, " …"))];
}

function describe(facts, where, citation, place, bytes) {
  const about = place?.document ?? { authors: [] };
  const { status, notes } = about.verification ?? {};
  fill(where, [about.authors.join(", "), about.year, about.type, placeWords(place, citation)].filter(Boolean).join(" · "));
  const rows = [
    ["Source", status ? [statusBadge(status, notes), notes ? el("span", { class: "small quiet" }, ` ${sentence(notes)}`) : null] : "not known"],
    ["Links", links(about)],
    ["Hash", el("code", {}, citation.hash)],
    ["Bytes", `${number(citation.start)} to ${number(citation.end)} of ${number(bytes.length)}`],
    about.licence ? ["Licence", about.licence] : null,
  ].filter(Boolean);
  fill(facts, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function placeWords(place, citation) {
  const page = place?.page ?? citation.page;
  const words = page === null || page === undefined ? "" : `page ${page}`;
  return [words, place?.section].filter(Boolean).join(", ");
}

function links(about) {
  const found = [["url", "original"], ["archive_url", "archived copy"], ["doi", "DOI"]]
    .filter(([name]) => about[name])
    .map(([name, words]) => [externalLink(name === "doi" ? `https://doi.org/${about.doi}` : about[name], words), " "]);
  return found.length ? found : el("span", { class: "quiet" }, "none is recorded");
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
