/* The documents that an avatar rests on: title, year, links, and whether somebody vouches for each. */
import { el, externalLink } from "../lib/dom.js";
import { statusBadge } from "./badges.js";

/** A list of documents as `GET /api/avatars/{id}/documents` gives them. */
export function documentList(documents, { most = 200 } = {}) {
  const shown = documents.slice(0, most);
  return el("ul", { class: "plain documents" },
    shown.map((one) => documentRow(one)),
    documents.length > most ? el("li", { class: "quiet small" }, `and ${documents.length - most} more`) : null);
}

export function documentRow(one) {
  const { status, notes } = one.verification;
  const about = [one.authors.join(", "), one.year, one.type].filter(Boolean).join(" · ");
  const links = [["url", "original"], ["archive_url", "archived copy"]].filter(([name]) => one[name]);
  return el("li", { class: "document" },
    el("p", { class: "serif document-title", dir: "auto" }, one.title),
    el("p", { class: "small quiet" }, about),
    el("p", { class: "row small" }, statusBadge(status, notes),
      links.map(([name, words]) => externalLink(one[name], words)),
      links.length ? null : el("span", { class: "quiet" }, "no link recorded")));
}
