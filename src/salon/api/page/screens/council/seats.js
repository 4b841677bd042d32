/* The five seats as the council's screen names them. */
import { el } from "../../lib/dom.js";

export const SEATS = { I: "Chair", II: "Miner", III: "Auditor", IV: "Professor", V: "Vizier" };
export const NUMERALS = Object.keys(SEATS);

/** The numeral of a seat with its title. */
export function seatName(seat) {
  return SEATS[seat] ? `${seat} ${SEATS[seat]}` : String(seat);
}

/** A seat as a small mark, its title for whoever cannot see it. */
export function seatMark(seat, { title = true } = {}) {
  return el("span", { class: `seat seat-${String(seat).toLowerCase()}` },
    el("span", { class: "numeral" }, seat), title ? el("span", {}, SEATS[seat] ?? "") : el("span", { class: "visually-hidden" }, ` ${SEATS[seat] ?? ""}`));
}
