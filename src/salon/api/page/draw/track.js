/* Steps that follow each other: what is behind, where it stands, what is ahead. */

import { el } from "../lib/dom.js";

/** Return steps [{key, name, note}] as an ordered list; `now` is the key of the current one. */
export function track(steps, now, { label, isOver = false } = {}) {
  const here = steps.findIndex((one) => one.key === now);
  const state = (place) => (place < here || (isOver && place === here) ? "behind" : place === here ? "here" : "ahead");
  return el(
    "ol",
    { class: "track", "aria-label": label },
    ...steps.map((one, place) =>
      el(
        "li",
        { class: [state(place), one.kind ?? ""].join(" ").trim(), ...(place === here ? { "aria-current": "step" } : {}) },
        el("span", { class: "name" }, one.name),
        one.note ? el("span", { class: "note" }, one.note) : null,
      ),
    ),
  );
}
