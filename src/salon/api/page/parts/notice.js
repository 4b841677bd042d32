/* Saying that something went wrong, or well, in words and with what to do about it. */
import { el } from "../lib/dom.js";

const PASSING_MS = 5000;
const MOST = 3;

/** An error as a block: the message, and the hint where there is one. `again` adds a button. */
export function problem(error, { again } = {}) {
  return el("div", { class: "notice bad", role: "alert" },
    el("p", {}, sentence(error?.message ?? "something went wrong")),
    error?.hint ? el("p", { class: "small" }, sentence(error.hint)) : null,
    again ? el("p", {}, el("button", { class: "button slim", type: "button", on: { click: again } }, "Try again")) : null);
}

/** Show a passing message at the foot of the page; `kind`: good, bad, warn or none. */
export function say(text, kind = "") {
  const place = document.getElementById("notices");
  const note = el("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, el("p", {}, text));
  place.append(note);
  while (place.children.length > MOST) place.firstElementChild.remove();
  setTimeout(() => note.remove(), PASSING_MS);
}

/** Show an error at the foot of the page. */
export function complain(error) {
  say([sentence(error?.message ?? "something went wrong"), error?.hint ? sentence(error.hint) : ""].join(" ").trim(), "bad");
}

export function sentence(text) {
  const whole = String(text).trim();
  const big = whole.charAt(0).toUpperCase() + whole.slice(1);
  return /[.!?…]$/.test(big) ? big : `${big}.`;
}
