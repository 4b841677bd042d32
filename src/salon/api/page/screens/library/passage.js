/* One passage as the library shows it: where it is from, how well it fits, and its proof. */
import { el } from "../../lib/dom.js";
import { address } from "../../lib/route.js";
import { statusBadge } from "../../parts/badges.js";
import { citationChip } from "../../parts/citation.js";
import { bar, percent } from "../../draw/bars.js";
import { cut } from "../../draw/geometry.js";

const LONGEST = 420;

/** The citation that proves a passage. */
export function citationOf({ hash, start, end, content, quote, text, source, page }) {
  return { hash, start, end, quote: quote ?? content ?? text ?? "", source, page };
}

/** A link to the names around a passage. */
export function graphLink({ hash, start, end }) {
  return el("a", { class: "chip", href: address("library", ["graph"], { hash, start: String(start), end: String(end) }) }, "names around it");
}

/** A passage with its score; `elsewhere` says where the other ways have it. */
export function passageItem(one, number, { elsewhere = null } = {}) {
  const text = one.content ?? one.text ?? "";
  return el("li", { class: "passage" },
    el("p", { class: "row" }, el("strong", {}, one.source), one.page ? el("span", { class: "quiet" }, `page ${one.page}`) : null,
      one.verified ? statusBadge("verified") : el("span", { class: "badge" }, "not verified"), one.derived ? el("span", { class: "badge note" }, "derived") : null),
    el("p", { class: "serif", dir: "auto" }, cut(text, LONGEST)),
    typeof one.score === "number" ? el("div", { class: "score" }, bar(one.score), el("span", { class: "number" }, percent(one.score))) : null,
    el("p", { class: "row" }, citationChip(citationOf(one), number), graphLink(one), elsewhere ? el("span", { class: "quiet small" }, elsewhere) : null));
}
