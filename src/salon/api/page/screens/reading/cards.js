/* The cards of a reading: each shows one slot as of a turn, or says that it is not known and why. */

import { el } from "../../lib/dom.js";
import { bar, bars, percent } from "../../draw/bars.js";
import { predictionSet, words } from "../../draw/sets.js";
import { track } from "../../draw/track.js";
import { absence, latest } from "./known.js";

const EMOTIONS = ["joy", "love", "surprise", "neutral", "sadness", "fear", "anger", "disgust"];
const STATUSES = ["stranger", "acquaintance", "crush", "dating", "committed"];
const ADVANCE = ["yes", "no", "uncertain"];
const MILESTONES = [10, 30];

/** Return what is said in place of a value: that it is not known, and why. */
export const notKnown = (why) => el("p", { class: "not-known" }, el("strong", {}, "Not known"), `: ${why}`);

function card(title, found, fill, { upTo, kind = "" } = {}) {
  const isOlder = found && found.turn !== null && found.turn !== upTo;
  return el(
    "section",
    { class: `panel ${kind}`.trim() },
    el("header", {}, el("h2", {}, title), isOlder ? el("span", { class: "as-of" }, `from turn ${found.turn}`) : null),
    ...(found && found.absent !== null ? [notKnown(found.absent)] : fill(found?.value)),
  );
}

const row = (name, value) => [el("dt", {}, name), el("dd", {}, value)];

function known(value, show = (one) => words(one)) {
  const why = absence(value);
  return why === null ? show(value) : el("span", { class: "not-known" }, `not known: ${why}`);
}

/** Return what the latest message feels like. */
export function emotionCard(turns, upTo) {
  return card("Now", latest(turns, "current_emotion", upTo), (one) => [
    el("p", { class: "headline" }, words(one.emotion)),
    el("p", { class: "aside" }, `${percent(one.confidence)} sure · intensity ${percent(one.intensity)}`),
    predictionSet({
      members: one.prediction_set ?? EMOTIONS,
      space: EMOTIONS,
      likely: one.emotion,
      sureness: { guarantee: one.coverage_guarantee, isCalibrated: one.calibrated },
    }),
    one.reply_strategy ? el("p", { class: "aside" }, `Met with: ${one.reply_strategy.toLowerCase()}, ${one.tone}`) : null,
  ], { upTo, kind: "now" });
}

/** Return where the relationship stands, with its probabilities. */
export function relationshipCard(turns, upTo) {
  return card("Relationship", latest(turns, "relationship_result", upTo), (one) => [
    track(STATUSES.map((key) => ({ key, name: key, note: percent(one.rel_status_probs?.[key] ?? 0) })), one.rel_status, {
      label: "Status, each with its probability",
    }),
    one.regressed_from && absence(one.regressed_from) === null
      ? el("p", { class: "aside" }, `It had been ${words(one.regressed_from)}; the evidence no longer bears that.`)
      : null,
    el("div", { class: "pair" }, el(
      "dl",
      {},
      ...row("Kind", `${words(one.rel_type)} (${percent(one.rel_type_probs?.[one.rel_type] ?? 0)})`),
      ...row("Sentiment", `${one.sentiment} (${percent(one.sentiment_confidence)} sure)`),
      ...row("Next", `${words(one.next_status_prediction)} (${percent(one.next_status_probs?.[one.next_status_prediction] ?? 0)})`),
    ),
    el("div", { class: "stack tight" }, el("h3", {}, "Can it advance?"), predictionSet({
      members: one.advance_prediction_set,
      space: ADVANCE,
      likely: one.advance,
      sureness: { guarantee: one.advance_coverage_guarantee, isCalibrated: one.advance_calibrated },
    }))),
    el(
      "details",
      {},
      el("summary", {}, "All probabilities"),
      el("h3", {}, "Kind"),
      bars(one.rel_type_probs ?? {}, { chosen: one.rel_type, name: words }),
      el("h3", {}, "Next status"),
      bars(inOrder(one.next_status_probs ?? {}), { chosen: one.next_status_prediction, name: words }),
    ),
  ], { upTo, kind: "relationship" });
}

/** Return the latest trust; its course is drawn beside it. */
export function trustOf(turns, upTo) {
  const found = latest(turns, "features", upTo);
  const bond = latest(turns, "relationship_result", upTo);
  const history = found.absent === null ? found.value.predicted_features?.trust_history : null;
  const score = found.absent === null ? found.value.predicted_features?.trust_score : null;
  if (bond.absent === null && (found.turn === null || bond.turn > found.turn)) {
    return { value: bond.value.trust_score, turn: bond.turn, history: history ?? [], absent: null };
  }
  if (typeof score === "number") return { value: score, turn: found.turn, history: history ?? [], absent: null };
  return { value: null, turn: null, history: [], absent: bond.absent ?? found.absent };
}

function featureValue(name, value) {
  if (typeof value !== "number") return words(value);
  if (name.endsWith("_velocity")) return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
  return value >= 0 && value <= 1 && !Number.isInteger(value) ? percent(value) : String(Math.round(value * 100) / 100);
}

const sureOf = (one, name) => one.feature_confidences?.[name] ?? 0;

function featureRow(name, one, labels) {
  const { prediction_sets: sets, calibrated, coverage_guarantee: guarantee, withdrawn = {} } = one.conformal_result;
  const value = one.predicted_features[name];
  const members = sets[name];
  return el("li", {},
    el("span", { class: "name" }, words(name)), el("span", { class: "value" }, featureValue(name, value)),
    bar(sureOf(one, name)), el("span", { class: "number" }, `${percent(sureOf(one, name))} sure`),
    members
      ? predictionSet({ members, space: labels[name] ?? members, likely: value, sureness: { guarantee, isCalibrated: calibrated[name] === true, withdrawn: withdrawn[name] }, isBrief: true })
      : null);
}

/** What the sets of the features promise, said once for all of them. */
function promise({ calibrated, coverage_guarantee: guarantee }) {
  const count = Object.values(calibrated).filter(Boolean).length;
  return count
    ? `Solid sets are calibrated: they hold the true answer ${percent(guarantee)} of the time. Dashed ones are not, so they rule nothing out.`
    : "No set here is calibrated: no data stands behind them, so none rules anything out.";
}

/** Return the features: what is known with its sets first, then what is not. */
export function featuresCard(turns, upTo, labels) {
  return card("What is known about the person", latest(turns, "features", upTo), (one) => {
    const values = one.predicted_features;
    const isSaid = (name) => absence(values[name]) === null && !Array.isArray(values[name]);
    const names = Object.keys(values).filter((name) => name !== "trust_history");
    const said = names.filter(isSaid);
    const open = names.filter((name) => !isSaid(name));
    const sure = (name) => sureOf(one, name);
    said.sort((a, b) => sure(b) - sure(a) || (a < b ? -1 : 1));
    const first = said.filter((name) => sure(name) >= 0.6);
    const weak = said.filter((name) => sure(name) < 0.6);
    return [
      el("p", { class: "coverage" }, promise(one.conformal_result)),
      first.length ? el("ul", { class: "features" }, ...first.map((name) => featureRow(name, one, labels))) : notKnown("nothing is sure enough yet"),
      weak.length
        ? el("details", {}, el("summary", {}, `Unsure (${weak.length})`), el("ul", { class: "features" }, ...weak.map((name) => featureRow(name, one, labels))))
        : null,
      open.length
        ? el(
            "details",
            {},
            el("summary", {}, `Not known (${open.length})`),
            el("p", { class: "aside" }, "Nothing was said that tells these; none is guessed."),
            el("ul", { class: "plain-chips" }, ...open.map((name) => el("li", {}, words(name)))),
          )
        : null,
    ];
  }, { upTo, kind: "wide" });
}

/** Return the questions that would tell more. */
export function probesCard(turns, upTo) {
  return card("What could be asked", latest(turns, "suggested_probes", upTo), (one) => {
    const items = [...(one.items ?? [])].slice(0, 8);
    if (!items.length) return [el("p", {}, "Nothing needs asking.")];
    return [
      el(
        "ul",
        { class: "probes" },
        ...items.map((probe) =>
          el("li", {}, el("q", {}, probe.probe_question), el("span", { class: "aside" }, `${words(probe.feature)}, ${percent(probe.current_confidence)} sure so far`)),
        ),
      ),
    ];
  }, { upTo });
}

/** Return the two reports, or when they come. */
export function milestonesCard(turns, upTo) {
  const reports = MILESTONES.map((turn) => ({ turn, report: turns.find((one) => one.turn === turn && turn <= upTo)?.slots?.milestone_report }));
  return el(
    "section",
    { class: "panel milestones" },
    el("header", {}, el("h2", {}, "Milestones")),
    ...reports.flatMap(({ turn, report }) => {
      const why = report === undefined ? `comes with turn ${turn}` : absence(report);
      return [el("h3", {}, `Turn ${turn}`), ...(why === null ? (turn === 10 ? firstReport(report) : lastReport(report)) : [notKnown(why)])];
    }),
  );
}

const inOrder = (shares) => Object.fromEntries(STATUSES.filter((one) => one in shares).map((one) => [one, shares[one]]));
const number = (value) => String(Math.round(value * 1000) / 1000);

function firstReport(report) {
  return [
    el(
      "dl",
      {},
      ...row("Status", known(report.current_status)),
      ...row("Expected at turn 30", known(report.predicted_status_at_30)),
      ...row("Sentiment", known(report.sentiment_trend)),
      ...row("Trust", known(report.trust_level, percent)),
      ...row("Confidence", known(report.confidence, percent)),
    ),
    absence(report.predicted_status_probs) === null ? bars(inOrder(report.predicted_status_probs), { chosen: report.predicted_status_at_30, name: words }) : null,
  ];
}

function lastReport(report) {
  const settled = absence(report.feature_convergence) === null ? Object.values(report.feature_convergence) : null;
  return [
    el(
      "dl",
      {},
      ...row("Final status", known(report.final_status)),
      ...row("Prediction was worth", known(report.prediction_accuracy, percent)),
      ...row("Mean size of the sets", known(report.conformal_efficiency, number)),
      ...row("Memory added", known(report.memory_contribution, number)),
      ...row("Features settled", settled ? `${settled.filter((one) => one.settled).length} of ${settled.length}` : known(report.feature_convergence)),
      ...row("Trust", known(report.trust_trajectory_analysis, (one) => `${one.direction}, from ${percent(one.start)} to ${percent(one.end)}`)),
    ),
  ];
}

/** Return what the steps found, in plain sentences. */
export function summaryCard(turns, upTo) {
  return card("In plain sentences", latest(turns, "discussion_synthesis", upTo), (one) => [el("p", {}, one.text)], { upTo });
}
