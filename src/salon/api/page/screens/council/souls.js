/* The souls: what each seat is told to look after, who holds it, how it did, and what came before. */
import { el, fill } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { address } from "../../lib/route.js";
import { decimal, isAbsent, shortHash, when } from "../../lib/words.js";
import { problem } from "../../parts/notice.js";
import { words } from "../../draw/sets.js";
import { showMarkdown } from "./markdown.js";
import { seatMark } from "./seats.js";

export function begin({ signal, attempt }) {
  const node = el("div", { class: "stack" }, el("p", { class: "quiet" }, "Looking."));
  attempt(async () => {
    const { souls } = await api.get("api/souls", { signal });
    fill(node, souls.map(soulPanel));
  }, (error) => fill(node, problem(error)));
  return { node };
}

function soulPanel(soul) {
  const figures = Object.entries(soul.performance ?? {}).filter(([, value]) => typeof value === "number" || isAbsent(value)).slice(0, 8);
  return el("section", { class: "panel soul" },
    el("header", {}, el("h2", {}, seatMark(soul.seat)), el("span", { class: "badge" }, soul.virtue),
      soul.on_probation ? el("span", { class: "badge warn" }, "on probation, no vote") : null,
      el("span", { class: "quiet small" }, soul.holder)),
    showMarkdown(soul.soul.replace(/^# .*\n/, ""), { top: 3 }),
    figures.length ? el("dl", { class: "figures" }, figures.map(([name, value]) => el("div", {}, el("dt", {}, words(name)),
      el("dd", { title: isAbsent(value) ? value.absent : null }, isAbsent(value) ? "not known" : Number.isInteger(value) ? String(value) : decimal(value))))) : null,
    el("details", {}, el("summary", {}, `History (${soul.history.length})`),
      el("ol", { class: "plain history" }, soul.history.slice(0, 50).map((one) => el("li", { class: "row" },
        el("a", { class: "mono", href: address("ledger", ["cards", one.hash ?? one.current]), title: one.hash ?? one.current }, shortHash(one.hash ?? one.current)),
        el("span", { class: "quiet" }, one.at ?? one.moved_at ? when(one.at ?? one.moved_at) : ""), one.why || one.reason ? el("span", {}, one.why ?? one.reason) : null)))));
}
