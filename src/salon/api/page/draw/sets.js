/* A prediction set inside its label space: what remains is inside, what is ruled out is outside. */

import { el } from "../lib/dom.js";
import { percent } from "./bars.js";

/** Return a name of the wire as words. */
export const words = (name) => String(name).replaceAll("_", " ");

/** Return how sure a set is, without promising what no data stands behind. */
export function coverage({ guarantee, isCalibrated, withdrawn }) {
  if (withdrawn) return `guarantee withdrawn: ${withdrawn}`;
  if (isCalibrated) return `holds the true one ${percent(guarantee)} of the time (calibrated)`;
  return "not calibrated: nothing is ruled out";
}

/** Return a set as a list; `space` is every label there is, `likely` the point prediction. */
export function predictionSet({ members, space = members, likely = null, sureness, isBrief = false }) {
  const inside = new Set(members);
  const all = [...space, ...members.filter((one) => !space.includes(one))];
  return el(
    "div",
    { class: "set" },
    el(
      "ul",
      { class: sureness.isCalibrated ? "labels calibrated" : "labels" },
      ...all.map((one) =>
        el(
          "li",
          { class: [inside.has(one) ? "in" : "out", one === likely ? "likely" : ""].join(" ").trim() },
          words(one),
          el("span", { class: "visually-hidden" }, inside.has(one) ? (one === likely ? ", likeliest" : "") : ", ruled out"),
        ),
      ),
    ),
    isBrief && !sureness.withdrawn ? null : el("p", { class: "coverage" }, coverage(sureness)),
  );
}
