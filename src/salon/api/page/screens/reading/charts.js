/* What is drawn over the turns of a reading, with a table that says the same. */
import { el } from "../../lib/dom.js";
import { count } from "../../lib/words.js";
import { lineChart } from "../../draw/lines.js";
import { percent } from "../../draw/bars.js";
import { words } from "../../draw/sets.js";
import { absence, course } from "./known.js";

const HEIGHT = 220;
const signed = (value) => (value > 0 ? `+${value.toFixed(2)}` : value.toFixed(2).replace("-", "−"));
const said = (value, show) => (value === null ? "not known" : show(value));

function emotionOf(one) {
  const read = one.slots?.current_emotion;
  return absence(read) === null ? words(read.emotion) : null;
}

/** Valence and arousal over the turns, with the emotion as a word. */
export function emotionChart(turns, upTo, width) {
  const valence = course(turns, "current_emotion", "valence");
  const arousal = course(turns, "current_emotion", "arousal");
  return lineChart({
    turns: turns.map((one) => one.turn),
    lines: [
      { name: "Valence", kind: "one", values: valence },
      { name: "Arousal", kind: "two", values: arousal },
    ],
    words: turns.map(emotionOf),
    low: -1,
    high: 1,
    marks: [{ value: 1, text: "1" }, { value: 0, text: "0" }, { value: -1, text: "−1" }],
    width,
    height: HEIGHT,
    title: `Emotion over ${count(turns.length, "turn")}`,
    about: "Valence from unpleasant, −1, to pleasant, 1; arousal from calm, 0, to excited, 1. The table below says the same.",
    chosen: turns.findIndex((one) => one.turn === upTo),
  });
}

/** The same as a table. */
export function emotionTable(turns) {
  const valence = course(turns, "current_emotion", "valence");
  const arousal = course(turns, "current_emotion", "arousal");
  return el("table", { class: "table" },
    el("caption", { class: "visually-hidden" }, "Emotion, turn by turn"),
    el("thead", {}, el("tr", {}, ["Turn", "Emotion", "Valence", "Arousal"].map((one) => el("th", { scope: "col" }, one)))),
    el("tbody", {}, turns.map((one, place) => el("tr", {},
      el("th", { scope: "row" }, String(one.turn)),
      el("td", {}, emotionOf(one) ?? `not known: ${absence(one.slots?.current_emotion)}`),
      el("td", { class: "num" }, said(valence[place], signed)),
      el("td", { class: "num" }, said(arousal[place], (value) => value.toFixed(2)))))));
}

/** The course of trust. */
export function trustChart(history, width) {
  return lineChart({
    turns: history.map((_, place) => place + 1),
    lines: [{ name: "Trust", kind: "three", values: history }],
    low: 0,
    high: 1,
    marks: [{ value: 1, text: "100" }, { value: 0.5, text: "50" }, { value: 0, text: "0" }],
    width,
    height: 130,
    title: "Trust over the messages",
    about: history.length ? `From ${percent(history[0])} to ${percent(history.at(-1))} over ${count(history.length, "message")}.` : "",
  });
}
