/* A warning of fraud: said at once to a screen reader, in the way until somebody has read it. */

import { el } from "../../lib/dom.js";
import { passing } from "../../lib/store.js";
import { percent } from "../../draw/bars.js";
import { words } from "../../draw/sets.js";

const HEADLINES = { high: "This looks like fraud", medium: "This may be fraud" };

/**
 * Return a warning; `acknowledge` is called once, when a person says that they have read it.
 * data: {warning_level, risk_score, patterns} of a `scam_warning`; turn: where it was read.
 */
export function scamWarning({ data, turn, acknowledge }) {
  const level = data.warning_level in HEADLINES ? data.warning_level : "medium";
  const made = el(
    "div",
    { class: `scam-warning ${level}`, role: "alert" },
    el("p", { class: "headline" }, HEADLINES[level]),
    el(
      "p",
      {},
      `Risk ${percent(data.risk_score)}, read in turn ${turn}. `,
      "Send no money, codes or documents, and talk to somebody you trust before you answer.",
    ),
    data.patterns.length ? el("p", {}, el("strong", {}, "What was found: "), data.patterns.map(words).join(", ")) : null,
    el("button", { type: "button", class: "button first" }, "I have read this"),
  );
  made.querySelector("button").addEventListener("click", () => {
    made.remove();
    acknowledge();
  }, { once: true });
  return made;
}

const KEY = "scam.read";
const MOST = 50; // sessions that are remembered

/** Up to which turn of a session warnings were read. */
export function readUpTo(session) {
  return Number(passing.read(KEY, {})[session]) || 0;
}

/** Remember that the warnings up to a turn were read. */
export function noteRead(session, turn) {
  const { [session]: known = 0, ...others } = passing.read(KEY, {});
  const kept = Object.entries(others).slice(-MOST);
  passing.write(KEY, { ...Object.fromEntries(kept), [session]: Math.max(turn, known) });
}
