/* Search, three ways beside each other: by meaning, by words, and both joined. */
import { el, fill, newId } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { address, go } from "../../lib/route.js";
import { count } from "../../lib/words.js";
import { problem, sentence } from "../../parts/notice.js";
import { passageItem } from "./passage.js";

const WAYS = [
  ["hybrid", "Hybrid", "Meaning and words, their ranks joined."],
  ["dense", "Dense", "Near in meaning, whatever the words."],
  ["sparse", "Sparse", "The same words, the rarer the better."],
];
const LIMIT = 5;
const keyOf = (one) => `${one.hash}:${one.start}:${one.end}`;

export function begin({ signal, attempt }) {
  const id = newId("query");
  const box = el("input", { id, type: "search", dir: "auto", name: "q", maxlength: "1000", required: true, placeholder: "How do people manage a commons?" });
  const form = el("form", { class: "row search-form", role: "search", on: { submit: (event) => {
    event.preventDefault();
    if (box.value.trim()) go(address("library", ["search"], { q: box.value.trim() }));
  } } },
  el("label", { class: "field grow", for: id }, el("span", {}, "Search everything that is stored"), box),
  el("button", { class: "button first" }, "Search"));
  const found = el("div", { class: "three" });
  const status = el("p", { class: "visually-hidden", role: "status" });
  const node = el("div", { class: "stack" }, form, status, found);
  let asked = "";

  async function run(query) {
    asked = query;
    box.value = query;
    const columns = WAYS.map(([mode, title, about]) => ({ mode, node: column(title, about) }));
    fill(found, columns.map((one) => one.node));
    const answers = await Promise.all(columns.map(async ({ mode, node: holder }) => {
      let passages = null;
      let notes = [];
      await attempt(async () => {
        const answer = await api.post("api/search", { query, mode, limit: LIMIT }, { signal });
        passages = answer.passages;
        notes = answer.notes;
      }, (error) => fill(holder.lastElementChild, el("li", {}, problem(error))));
      return { mode, holder, passages, notes };
    }));
    if (asked !== query) return;
    show(answers);
    status.textContent = WAYS.map(([mode, title]) => `${title}: ${count(answers.find((one) => one.mode === mode).passages?.length ?? 0, "passage")}.`).join(" ");
  }

  return {
    node,
    route: (route) => {
      const query = route.query.get("q") ?? "";
      if (query && query !== asked) run(query);
      else if (!query) fill(found, el("p", { class: "quiet" }, "The three ways often disagree; side by side you see where."));
    },
  };
}

function column(title, about) {
  return el("section", { class: "panel column" }, el("header", {}, el("h2", {}, title)), el("p", { class: "quiet small" }, about),
    el("ol", { class: "plain passages" }, el("li", { class: "quiet" }, "Looking.")));
}

function show(answers) {
  for (const { mode, holder, passages, notes } of answers) {
    if (!passages) continue;
    holder.lastElementChild.before(...notes.map((one) => el("p", { class: "notice warn small" }, sentence(one))));
    const others = answers.filter((one) => one.mode !== mode && one.passages);
    fill(holder.lastElementChild, passages.length
      ? passages.map((one, place) => passageItem(one, place + 1, { elsewhere: elsewhere(one, others) }))
      : el("li", { class: "quiet" }, "Nothing was found this way."));
  }
}

/** Where the other ways have the same passage. */
export function elsewhere(passage, others) {
  const places = others.map(({ mode, passages }) => {
    const place = passages.findIndex((one) => keyOf(one) === keyOf(passage));
    const name = WAYS.find(([key]) => key === mode)[1].toLowerCase();
    return place < 0 ? `not in ${name}` : `${name} ${place + 1}`;
  });
  return places.join(" · ");
}
