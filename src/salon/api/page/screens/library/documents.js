/* The documents: what each is, where it is from, and whether somebody has verified it. */
import { el, externalLink, fill, newId } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { count, number, shortHash, when } from "../../lib/words.js";
import { statusBadge } from "../../parts/badges.js";
import { problem } from "../../parts/notice.js";

const PAGE = 100;
const AT_ONCE = 500;
const MOST = 5000;

export function begin({ signal, attempt }) {
  const id = newId("filter");
  const box = el("input", { id, type: "search", placeholder: "Title, author, year", on: { input: () => draw() } });
  const status = el("select", { "aria-label": "Verification", on: { change: () => draw() } },
    [["", "Any status"], ["verified", "Verified"], ["pending", "Not verified yet"], ["disputed", "Disputed"]].map(([value, text]) => el("option", { value }, text)));
  const tally = el("p", { class: "quiet", role: "status" }, "Looking.");
  const list = el("ul", { class: "plain library-documents" });
  const more = el("p", {});
  const node = el("div", { class: "stack" },
    el("div", { class: "row filters" }, el("label", { class: "field grow", for: id }, el("span", {}, "Filter"), box), status), tally, list, more);
  let documents = [];
  let shown = PAGE;
  let total = 0;

  function matching() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    return documents.filter((one) => {
      if (status.value && statusOf(one) !== status.value) return false;
      const text = [one.title, ...one.authors, one.year, one.type].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  function draw() {
    const found = matching();
    const verified = documents.filter((one) => statusOf(one) === "verified").length;
    tally.textContent = documents.length ? `${count(found.length, "document")} of ${number(total)}, ${number(verified)} verified` : "No documents yet. `salon ingest` or `salon avatar add` brings them in.";
    fill(list, found.slice(0, shown).map(documentItem));
    fill(more, found.length > shown
      ? el("button", { class: "button", type: "button", on: { click: () => { shown += PAGE; draw(); } } }, `Show ${Math.min(PAGE, found.length - shown)} more`) : null);
  }

  async function load() {
    await attempt(async () => {
      const found = await api.get(`api/documents?limit=${AT_ONCE}&offset=${documents.length}`, { signal });
      documents = [...documents, ...found.documents];
      total = found.total;
      draw();
      if (documents.length < Math.min(total, MOST) && found.documents.length) await load();
    }, (error) => fill(list, el("li", {}, problem(error, { again: load }))));
  }
  load();
  return { node, route: () => {} };
}

const statusOf = (one) => one.verification.status;

function documentItem(one) {
  const judged = one.verification;
  return el("li", { class: "panel document" },
    el("div", { class: "row apart" },
      el("h2", { class: "h3", dir: "auto" }, one.title),
      el("span", { class: "row" }, one.derived ? el("span", { class: "badge note", title: "written by the council, never the only support of a claim" }, "derived") : null, statusBadge(statusOf(one), one.verification?.notes))),
    el("p", { class: "quiet" }, [one.authors.join(", "), one.year, one.type].filter(Boolean).join(" · ")),
    judged.status !== "pending" ? el("p", { class: "small" }, [judged.by ? `Judged by ${judged.by}` : null, judged.at ? when(judged.at) : null, judged.notes].filter(Boolean).join(" · ")) : null,
    el("p", { class: "row" },
      one.url ? externalLink(one.url, "Source", { class: "chip" }) : null,
      one.archive_url ? externalLink(one.archive_url, "Archived copy", { class: "chip" }) : null,
      one.licence ? el("span", { class: "chip" }, one.licence) : null,
      one.text ? el("a", { class: "chip mono", href: `#/ledger/cards/${encodeURIComponent(one.text)}`, title: one.text }, shortHash(one.text)) : null));
}
