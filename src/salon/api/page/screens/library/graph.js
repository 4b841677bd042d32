/* The names around a passage or a name: a drawing that is the same every time, and the same as a list. */
import { el, fill, newId } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { address, go } from "../../lib/route.js";
import { count } from "../../lib/words.js";
import { problem } from "../../parts/notice.js";
import { drawGraph } from "../../draw/graph.js";
import { fit } from "../../draw/fit.js";

const MOST_DRAWN = 24;
const ROOM_FOR_ONE = 30; // pixels of width that each name needs, so that a phone draws fewer
const linkOf = (name) => address("library", ["graph"], { entity: name });

export function begin({ signal, attempt }) {
  const id = newId("entity");
  const box = el("input", { id, type: "search", maxlength: "200", required: true, placeholder: "A name that the documents use" });
  const form = el("form", { class: "row search-form", on: { submit: (event) => {
    event.preventDefault();
    if (box.value.trim()) go(linkOf(box.value.trim()));
  } } }, el("label", { class: "field grow", for: id }, el("span", {}, "Whose surroundings?"), box), el("button", { class: "button first" }, "Show"));
  const body = el("div", { class: "stack" });
  const status = el("p", { class: "visually-hidden", role: "status" });
  const node = el("div", { class: "stack" }, form, status, body);
  let drawing = null;

  async function run(query) {
    fill(body, el("p", { class: "quiet" }, "Looking."));
    await attempt(async () => {
      const found = await api.get(`api/graph?${query}&hops=2&limit=40`, { signal });
      drawing?.stop();
      drawing = show(body, found);
      status.textContent = `${count(found.entities.length, "name")} found.`;
    }, (error) => {
      if (error.status === 404) fill(body, el("p", { class: "empty" }, "No document names that. Names are taken as the documents spell them."));
      else fill(body, problem(error));
    });
  }

  return {
    node,
    stop: () => drawing?.stop(),
    route: ({ query }) => {
      const entity = query.get("entity");
      box.value = entity ?? "";
      if (entity || query.get("hash")) run(query.toString());
      else fill(body, el("p", { class: "quiet" }, "Choose a name, or open a passage’s surroundings from the search."));
    },
  };
}

function show(body, found) {
  const names = readNames(found);
  const links = found.links.map(({ source, target, weight }) => ({ a: source, b: target, weight }));
  const holder = el("div", { class: "drawing panel" });
  const note = el("p", { class: "quiet small" });
  fill(body,
    names.length ? [holder, note] : el("p", { class: "empty" }, "No names stand in this passage."),
    names.length ? el("section", { class: "panel" }, el("header", {}, el("h2", {}, "The same as a list")), nameTable(names)) : null);
  if (!names.length) return null;
  return fit(holder, (width) => {
    const drawn = names.slice(0, Math.min(MOST_DRAWN, Math.floor(width / ROOM_FOR_ONE)));
    const kept = new Set(drawn.map((one) => one.id));
    note.textContent = names.length > drawn.length ? `The ${drawn.length} nearest are drawn; the list has all ${names.length}.` : "";
    return drawGraph({
      nodes: drawn.map((one) => ({ ...one, href: linkOf(one.name), about: `${one.name}, ${one.about}` })),
      edges: links.filter((one) => kept.has(one.a) && kept.has(one.b)),
      width, height: Math.min(460, Math.max(340, width * 0.55)), title: `Names around ${drawn[0].name}`,
    });
  });
}

/** The names, nearest first: {id, name, ring, size, kind, about}. */
export function readNames({ entities }) {
  return entities.map((one) => ({
    id: one.name, name: one.name, kind: `kind-${one.type.toLowerCase()}`, type: one.type.toLowerCase(), ring: one.hops, size: one.mentions,
    about: `named ${count(one.mentions, "time")}`,
  })).sort((a, b) => a.ring - b.ring || b.size - a.size || (a.name < b.name ? -1 : 1));
}

function nameTable(names) {
  return el("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Names" }, el("table", { class: "table" },
    el("thead", {}, el("tr", {}, ["Name", "Kind", "Steps away", "Named", "Passages"].map((one) => el("th", { scope: "col" }, one)))),
    el("tbody", {}, names.slice(0, 200).map((one) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: linkOf(one.name) }, one.name)), el("td", {}, one.type),
      el("td", { class: "num" }, String(one.ring)), el("td", { class: "num" }, String(one.size)),
      el("td", {}, el("a", { href: address("library", ["search"], { q: one.name }), "aria-label": `Search for ${one.name}` }, "search")))))));
}
