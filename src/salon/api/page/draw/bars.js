/* Shares as bars, each with its name and its number beside it: the bar repeats what is written. */

import { el, svg } from "../lib/dom.js";
import { share } from "../lib/words.js";
import { at } from "./geometry.js";

/** A share as a person reads it; what is nearly nothing is not called nothing. */
export const percent = (value) => (value > 0 && value < 0.005 ? "<1%" : share(value));

/** Return one bar from 0 to 1. */
export function bar(value, kind = "") {
  const width = at(Math.min(Math.max(value, 0), 1) * 100);
  return svg(
    "svg",
    { class: `bar ${kind}`, width: "100%", height: 8, "aria-hidden": "true", focusable: "false" },
    svg("rect", { class: "bed", width: "100%", height: 8, rx: 4 }),
    width > 0 ? svg("rect", { class: "fill", width: `${width}%`, height: 8, rx: 4 }) : null,
  );
}

/** Return shares by name as a list with bars; `chosen` is the one that is meant. */
export function bars(shares, { chosen = null, name = (one) => one, most = 12 } = {}) {
  const rows = Object.entries(shares).slice(0, most);
  return el(
    "ul",
    { class: "bars" },
    ...rows.map(([key, value]) =>
      el(
        "li",
        { class: key === chosen ? "chosen" : "" },
        el("span", { class: "name" }, name(key)),
        bar(value),
        el("span", { class: "number" }, percent(value)),
      ),
    ),
  );
}
