/* The ballot as a table: who gave what to whom, what it comes to, and how many votes that was really. */
import { el } from "../../lib/dom.js";
import { decimal, isAbsent } from "../../lib/words.js";
import { NUMERALS, seatMark, seatName } from "./seats.js";

const figure = (value, places = 2) => (typeof value === "number" ? decimal(value, places) : "–");

/** The votes of one attempt; `ballot` is what the server counted. */
export function ballotPanel(ballot, { name }) {
  const { rows } = ballot;
  if (!rows.length) return null;
  return el("section", { class: "panel ballot", "aria-label": "Ballot" },
    el("header", {}, el("h2", {}, "Ballot"), ballot.attempt ? el("span", { class: "badge" }, `attempt ${ballot.attempt + 1}`) : null),
    effective(ballot),
    biases(ballot),
    el("p", { class: "quiet small" }, "Means of accuracy, depth and pedagogy, each 1 to 10. Nobody votes on their own draft."),
    el("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Ballot table" },
      el("table", { class: "table" },
        el("caption", { class: "visually-hidden" }, "What each seat gave each draft"),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Draft"),
          NUMERALS.map((seat) => el("th", { scope: "col", class: "num" }, seatMark(seat, { title: false }))),
          el("th", { scope: "col", class: "num" }, "Score"), el("th", { scope: "col", class: "num", title: "by what each seat's votes were worth before" }, "Weighted"), el("th", { scope: "col", class: "num" }, "Mean"), el("th", { scope: "col", class: "num" }, "Lowest"))),
        el("tbody", {}, rows.map((row) => ballotRow(row, name))))),
    rationales(rows, name));
}

function ballotRow(row, name) {
  const votes = new Map(row.votes.map((one) => [one.seat, one]));
  const { authors } = row;
  return el("tr", {},
    el("th", { scope: "row" }, name(row.candidate), el("span", { class: "quiet small" }, authors.map(seatName).join(", "))),
    NUMERALS.map((seat) => el("td", { class: "num" }, cell(votes.get(seat), authors.includes(seat)))),
    el("td", { class: "num strong" }, figure(row.score)), el("td", { class: "num" }, figure(row.weighted)), el("td", { class: "num" }, figure(row.mean)), el("td", { class: "num" }, figure(row.lowest, 0)));
}

function cell(vote, isOwn) {
  if (isOwn) return el("span", { class: "quiet", title: "does not vote on their own draft" }, "own");
  if (!vote) return el("span", { class: "quiet", title: "no vote" }, "–");
  return el("span", { title: `accuracy ${vote.accuracy}, depth ${vote.depth}, pedagogy ${vote.pedagogy}` }, decimal(vote.mean, 1),
    vote.verdict ? el("span", { class: vote.verdict === "up" ? "up" : "down" }, vote.verdict === "up" ? " up" : " down") : null);
}

function effective(ballot) {
  const found = ballot.effective_votes;
  const about = "Seats that always agree count as one: this is how many independent opinions the votes amount to.";
  return el("p", { class: "effective" },
    isAbsent(found)
      ? [el("strong", {}, "Effective number of votes: not known"), `: ${found.absent}. `]
      : [el("strong", {}, `Effective number of votes: ${decimal(found, 1)}`), ` of ${new Set(ballot.rows.flatMap((row) => row.votes.map((one) => one.seat))).size}`],
    " ", el("span", { class: "quiet small" }, about));
}

/** What else may have moved the votes, said in words. */
function biases(ballot) {
  const rows = [["Place in the order", ballot.position_bias, "points per place further back"],
    ["Likeness to one's own draft", ballot.self_preference, "points for citing all that the voter cites"]];
  return el("details", {}, el("summary", {}, "What else may have moved the votes"),
    el("dl", { class: "biases" }, rows.flatMap(([title, found, unit]) => [el("dt", {}, title),
      el("dd", {}, isAbsent(found) ? `not known: ${found.absent}`
        : `${decimal(found.points, 2)} ${unit}, between ${decimal(found.low, 2)} and ${decimal(found.high, 2)}: ${found.is_beyond_noise ? "beyond noise" : "within noise"}`)])));
}

function rationales(rows, name) {
  const said = rows.flatMap((row) => row.votes.filter((one) => one.rationale).map((one) => ({ ...one, candidate: row.candidate })));
  if (!said.length) return null;
  return el("details", {}, el("summary", {}, `Reasons (${said.length})`),
    el("ul", { class: "plain reasons" }, said.slice(0, 40).map((one) => el("li", {}, el("p", { class: "row" }, seatMark(one.seat), el("span", {}, `on ${name(one.candidate)}`),
      el("span", { class: "quiet small" }, `accuracy ${one.accuracy}, depth ${one.depth}, pedagogy ${one.pedagogy}`)), el("p", {}, one.rationale)))));
}

/** Up and down on a fusion. */
export function ratificationPanel(votes) {
  if (!votes.length) return null;
  return el("section", { class: "panel" }, el("header", {}, el("h2", {}, "Ratification")),
    el("ul", { class: "plain row" }, votes.map((one) => el("li", { class: "row" }, seatMark(one.seat),
      el("span", { class: one.verdict === "up" ? "badge good" : "badge bad" }, one.verdict === "up" ? "Up" : "Down")))));
}
