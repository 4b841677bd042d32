/* One card: its bytes, its hash computed again here, and the handles that lead to it. */
import { el, fill, newId } from "../../lib/dom.js";
import { api, part } from "../../lib/api.js";
import { address, go } from "../../lib/route.js";
import { count, number, when } from "../../lib/words.js";
import { problem } from "../../parts/notice.js";
import { sha256 } from "../shared/sha256.js";

const MOST_BYTES = 4_000_000;
const MOST_LETTERS = 20_000;

export function begin({ signal, attempt }) {
  const id = newId("hash");
  const box = el("input", { id, type: "search", maxlength: "130", spellcheck: "false", placeholder: "A hash, or the beginning of one" });
  const form = el("form", { class: "row search-form", on: { submit: (event) => {
    event.preventDefault();
    if (box.value.trim()) go(address("ledger", ["cards", box.value.trim()]));
  } } }, el("label", { class: "field grow", for: id }, el("span", {}, "Which card?"), box), el("button", { class: "button" }, "Show"));
  const body = el("div", { class: "stack", "aria-live": "polite" });
  const node = el("div", { class: "stack" }, form, body);

  async function show(hash) {
    box.value = hash;
    fill(body, el("p", { class: "quiet" }, "Looking."));
    await attempt(async () => {
      const card = await api.get(`api/cards/${part(hash)}`, { signal });
      const { size } = card;
      const check = el("span", { class: "badge", role: "status" }, size > MOST_BYTES ? "too large to check here" : "checking");
      const text = el("pre", { class: "card-text", tabindex: "0" });
      const handles = [...card.handles, ...card.past_of_handles];
      fill(body, el("section", { class: "panel stack tight" },
        el("header", {}, el("h2", {}, "Card"), check),
        el("p", { class: "mono" }, card.hash),
        el("dl", { class: "facts" },
          [["Size", `${number(size)} bytes`], ["Kind", card.content_type], ["Written", when(card.g_time.split("|")[1] ?? card.g_time)],
            ["Document", card.documents.map((one) => one.title).join(", ")], ["Cited by", card.citing_cards.length ? count(card.citing_cards.length, "card") : ""]]
            .filter(([, value]) => value).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
          handles.length ? [el("dt", {}, "Handles"), el("dd", {}, handles.slice(0, 20).map((one) => [el("a", { class: "mono", href: address("ledger", ["handles", one]) }, one), " "]))] : null),
        text));
      if (size <= MOST_BYTES) await prove(card.hash, check, text, signal);
    }, (error) => fill(body, problem(error)));
  }

  return { node, route: ({ path }) => (path[1] ? show(path[1]) : fill(body, el("p", { class: "quiet" }, "A card never changes; its hash is its name."))) };
}

async function prove(hash, badge, text, signal) {
  const bytes = await api.bytes(`api/cards/${part(hash)}/content`, { signal });
  text.textContent = new TextDecoder().decode(bytes.subarray(0, MOST_LETTERS)) + (bytes.length > MOST_LETTERS ? " …" : "");
  const found = hash.length === 64 ? await sha256(bytes) : null;
  if (found === null) {
    badge.textContent = "not checked here: `salon archive verify` can";
    return;
  }
  badge.className = found === hash ? "badge good" : "badge bad";
  badge.textContent = found === hash ? "checked here just now: the bytes give this hash" : "the bytes give another hash";
}
