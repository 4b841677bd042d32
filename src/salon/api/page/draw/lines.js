/* Lines over turns. A turn in which nothing was read breaks its line: a gap is not a value. */

import { svg } from "../lib/dom.js";
import { at, cut } from "./geometry.js";

const LETTER = 7.8; // about the width of a bold letter in the small size

/** Return the points of one line as the pieces between its gaps. */
export function pieces(values) {
  const found = [];
  let open = null;
  values.forEach((value, place) => {
    if (typeof value !== "number") {
      open = null;
      return;
    }
    if (open === null) found.push((open = []));
    open.push([place, value]);
  });
  return found;
}

/** Return which turns get a mark under the axis, so that marks do not touch. */
export function ticks(count, width, each = 28) {
  const step = Math.max(1, Math.ceil((count * each) / Math.max(width, 1)));
  const nice = [1, 2, 5, 10, 20, 50, 100].find((one) => one >= step) ?? step;
  const found = [];
  for (let place = 0; place < count; place += 1) {
    if (place === 0 || (place + 1) % nice === 0) found.push(place);
  }
  return found;
}

/** Return where words stand above the turns: one for each change, on the first row that has room; none
 * goes beyond `edge`. */
export function ribbon(words, x, edge = Infinity, rows = 2) {
  const free = Array.from({ length: rows }, () => -Infinity);
  const found = [];
  words.forEach((word, place) => {
    if (!word || word === words[place - 1]) return;
    const wide = word.length * LETTER;
    const isLast = x(place) + wide > edge;
    const start = isLast ? edge - wide : x(place);
    const row = free.findIndex((one) => one <= start);
    if (row < 0) return;
    found.push({ word, place, row, isLast });
    free[row] = start + wide + LETTER / 2;
  });
  return found;
}

/**
 * Return a chart.
 *
 * lines: [{name, kind, values}]: one value or null for each turn; `kind` is a class.
 * words: what is written above each turn where it changes. low, high: the ends of the scale.
 */
export function lineChart({ lines, words = [], turns, low, high, marks, width, height, title, about, chosen }) {
  const left = 34;
  const right = 10;
  const top = words.length ? 44 : 10;
  const bottom = 24;
  const count = turns.length;
  const inner = Math.max(width - left - right, 1);
  const x = (place) => at(left + (count < 2 ? inner / 2 : (inner * place) / (count - 1)));
  const y = (value) => at(top + ((high - value) / (high - low)) * (height - top - bottom));
  const drawn = svg("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  drawn.append(svg("title", {}, title), svg("desc", {}, about));
  for (const { value, text } of marks) {
    drawn.append(
      svg("line", { class: value === 0 && low < 0 ? "axis" : "rule", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { class: "mark", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, text),
    );
  }
  for (const place of ticks(count, inner)) {
    drawn.append(svg("text", { class: "mark", x: x(place), y: height - 6, "text-anchor": "middle" }, String(turns[place])));
  }
  if (chosen !== undefined && chosen >= 0) {
    drawn.append(svg("line", { class: "chosen", x1: x(chosen), x2: x(chosen), y1: top - 4, y2: height - bottom }));
  }
  for (const { word, place, row, isLast } of ribbon(words, x, width - right)) {
    const anchor = isLast ? "end" : "start";
    const base = top - 12 - row * 16;
    drawn.append(
      svg("line", { class: "tick", x1: x(place), x2: x(place), y1: base + 4, y2: top - 2 }),
      svg("text", { class: "word", x: anchor === "end" ? width - right : x(place) - 1, y: base, "text-anchor": anchor }, cut(word, 24)),
    );
  }
  for (const { kind, values } of lines) {
    for (const piece of pieces(values)) {
      const path = piece.map(([place, value]) => `${x(place)},${y(value)}`).join(" ");
      if (piece.length > 1) drawn.append(svg("polyline", { class: `line ${kind}`, points: path, fill: "none" }));
      for (const [place, value] of piece) {
        drawn.append(svg("circle", { class: `dot ${kind}`, cx: x(place), cy: y(value), r: count > 40 ? 1.5 : 3 }));
      }
    }
  }
  return drawn;
}
