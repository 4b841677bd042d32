/* The reading: what the steps of a companion's turns found, turn by turn, live or looking back.
 *
 * `#/reading/SESSION` shows one session; without a session, those that there are. It shows what the
 * records hold and nothing else: what is absent is said to be not known, with the reason.
 */
import { adopt, el, fill, newId } from "../lib/dom.js";
import { define, SalonElement } from "../lib/element.js";
import { api, part } from "../lib/api.js";
import { arrived } from "../lib/arrive.js";
import { setCurrentSession } from "../lib/here.js";
import { address, go } from "../lib/route.js";
import { count } from "../lib/words.js";
import { complain, problem } from "../parts/notice.js";
import { fit } from "../draw/fit.js";
import { percent } from "../draw/bars.js";
import { beginTalk, noConversation } from "./shared/talk.js";
import { sessionList } from "./shared/sessions.js";
import { emotionCard, featuresCard, milestonesCard, notKnown, probesCard, relationshipCard, summaryCard, trustOf } from "./reading/cards.js";
import { emotionChart, emotionTable, trustChart } from "./reading/charts.js";
import { noteRead, readUpTo, scamWarning } from "./reading/warning.js";
import { warnings } from "./reading/known.js";

await adopt("draw/draw.css"); // before anything is shown, so that nothing jumps

const MOST_TURNS = 500;
const PRESET = "companion";

export default class Reading extends SalonElement {
  #session = null;
  #turns = [];
  #labels = {}; // every label that each feature may have
  #upTo = null; // null: the latest turn, whichever that is
  #isNew = false; // nobody has said anything yet, so there is nothing to look up
  #talk = null;
  #drawings = [];
  #parts = {};

  disconnected() {
    this.#leave();
  }

  set route(route) {
    const session = route.path[0] ?? null;
    const wanted = Number.parseInt(route.query.get("turn") ?? "", 10);
    this.#upTo = Number.isFinite(wanted) ? wanted : null;
    if (session && session === this.#session) return this.#show();
    this.#leave();
    this.#session = session;
    this.#isNew = route.query.has("new");
    return session ? this.#open(session) : this.#choose();
  }

  #leave() {
    this.#talk?.close();
    this.#talk = null;
    for (const one of this.#drawings) one.stop();
    this.#drawings = [];
    this.#turns = [];
  }

  #choose() {
    const list = sessionList({
      preset: PRESET,
      screen: "reading",
      empty: "No conversation with a companion yet. Begin one: what is read from it appears beside it.",
      signal: this.signal,
    });
    fill(this, el("div", { class: "page stack" },
      el("header", { class: "stack tight" },
        el("h1", {}, "The reading"),
        el("p", { class: "lead" }, "What a conversation with a companion shows, turn by turn, and what it does not.")),
      el("p", {}, el("button", { class: "button first", type: "button", on: { click: () => this.#begin() } }, "Begin a conversation")),
      list));
    arrived(null, this.querySelector("h1"));
  }

  async #begin() {
    await this.attempt(async () => {
      const { session_id: session } = await api.post("api/sessions", {}, { signal: this.signal });
      go(address("reading", [session], { new: "1" }));
    }, complain);
  }

  #open(session) {
    setCurrentSession(session);
    const made = {
      warnings: el("div", { class: "warnings" }),
      now: el("div", { class: "reading-cards" }),
      turn: el("input", { type: "range", min: "1", max: "1", value: "1", id: newId("turn"), on: { input: (event) => this.#look(Number(event.target.value)) } }),
      turnText: el("output", {}, ""),
      state: el("span", { class: "badge", role: "status" }, "connecting"),
      chart: el("div", { class: "drawing" }),
      table: el("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Emotion, turn by turn" }),
      trust: el("section", { class: "panel trust" }),
      nowhere: el("div", { hidden: true }, noConversation("reading")),
      about: el("p", { class: "notice", hidden: true }),
    };
    this.#parts = made;
    this.#talk = beginTalk({
      session,
      isNew: this.#isNew,
      signal: this.signal,
      placeholder: "Say something to the companion",
      onEvent: (event) => this.#hear(event),
      onState: (state) => this.#connectionIs(state),
      onFound: (partner) => this.#found(partner),
    });
    fill(this, el("div", { class: "page stack" },
      el("header", { class: "row" },
        el("h1", { class: "grow" }, "The reading"), made.state,
        el("a", { class: "button slim", href: "#/reading", on: { click: () => setCurrentSession(null) } }, "Other sessions")),
      made.warnings, made.nowhere, made.about,
      made.columns = el("div", { class: "reading-columns" },
        el("div", { class: "reading-main" },
          el("div", { class: "scrubber" }, el("label", { for: made.turn.id }, "As of"), made.turn, made.turnText),
          el("section", { class: "panel emotion" },
            el("header", {}, el("h2", {}, "Emotion over time"),
              el("ul", { class: "legend" }, el("li", { class: "one" }, "valence"), el("li", { class: "two" }, "arousal"))),
            made.chart,
            el("details", {}, el("summary", {}, "As a table"), made.table)),
          made.now),
        this.#talk.node)));
    arrived(null, this.querySelector("h1"));
    this.#draw();
    this.#load();
  }

  /** Who replies in this conversation; `null` where there is none (yet). */
  #found(partner) {
    const { nowhere, columns, about } = this.#parts;
    nowhere.hidden = partner !== null;
    columns.hidden = partner === null;
    setCurrentSession(partner === null ? null : this.#session);
    if (!partner) return;
    arrived(`${this.#talk?.user ?? ""} with ${partner.name}`);
    columns.classList.toggle("only-talk", Boolean(partner.preset) && partner.preset !== PRESET);
    about.hidden = !partner.preset || partner.preset === PRESET;
    about.textContent = `Readings are made of conversations with companions. This one is with ${partner.name}, so there is nothing to read.`;
  }

  #draw() {
    const { chart } = this.#parts;
    const drawing = fit(chart, (width) => (this.#turns.length
      ? emotionChart(this.#turns, this.#shownTurn(), width)
      : el("p", { class: "quiet" }, "Drawn with the first turn.")));
    this.#drawings.push(drawing);
  }

  #connectionIs(state) {
    this.#parts.state.textContent = { open: "live", lost: "connecting again", gone: "deleted", closed: "" }[state] ?? state;
    if (state === "open") this.#load(); // also after a cut: whatever was missed is in the records
  }

  #hear(event) {
    if (event.type === "scam_warning") this.#warn({ data: event.data, turn: Math.floor(event.event_id / 100) });
    if (event.type === "bot_response" && !event.command) {
      if (this.#isNew) history.replaceState(null, "", address("reading", [this.#session])); // it is new no more
      this.#isNew = false;
      this.#load();
    }
  }

  async #load() {
    const session = this.#session;
    const last = this.#turns.at(-1)?.turn ?? 0;
    await this.attempt(async () => {
      const found = await this.#fetch(session, last);
      if (session !== this.#session || found === null) return;
      const fresh = found.turns.filter((one) => one.turn > (this.#turns.at(-1)?.turn ?? 0));
      this.#labels = found.labels;
      this.#turns = [...this.#turns, ...fresh].slice(-MOST_TURNS);
      this.#show();
    }, (error) => fill(this.#parts.now, problem(error)));
  }

  async #fetch(session, last) {
    try {
      if (this.#isNew) return { turns: [], labels: {} };
      return await api.get(`api/sessions/${part(session)}/readings?after=${last}`, { signal: this.signal });
    } catch (error) {
      if (error.status === 404) return { turns: [], labels: {} }; // it exists with its first turn
      throw error;
    }
  }

  #shownTurn() {
    return Math.min(this.#upTo ?? Infinity, this.#turns.at(-1)?.turn ?? 0);
  }

  #look(turn) {
    this.#upTo = turn === this.#turns.at(-1)?.turn ? null : turn;
    this.#show();
  }

  #show() {
    const turns = this.#turns;
    const upTo = this.#shownTurn();
    const { turn, turnText, now, table, trust } = this.#parts;
    for (const [name, value] of [["min", turns[0]?.turn ?? 1], ["max", turns.at(-1)?.turn ?? 1]]) turn.setAttribute(name, value);
    turn.value = String(upTo || 1);
    turn.disabled = turns.length < 2;
    turnText.textContent = turns.length ? `turn ${upTo} of ${turns.at(-1).turn}` : "no turn yet";
    const opened = new Set([...now.querySelectorAll("details[open] > summary")].map((one) => one.textContent.replace(/ \(.*/, "")));
    fill(now,
      emotionCard(turns, upTo), this.#trustCard(trust, turns, upTo), relationshipCard(turns, upTo),
      milestonesCard(turns, upTo), el("div", { class: "stack" }, probesCard(turns, upTo), summaryCard(turns, upTo)),
      featuresCard(turns, upTo, this.#labels));
    for (const one of now.querySelectorAll("details > summary")) {
      if (opened.has(one.textContent.replace(/ \(.*/, ""))) one.parentElement.open = true;
    }
    fill(table, turns.length ? emotionTable(turns) : notKnown("there was no turn yet"));
    for (const one of this.#drawings) one.again();
    for (const one of warnings(turns, readUpTo(this.#session)).slice(-1)) {
      this.#warn({ turn: one.turn, data: { warning_level: one.data.scam_warning_level, risk_score: one.data.scam_risk_score, patterns: one.data.scam_patterns } });
    }
  }

  #trustCard(panel, turns, upTo) {
    const found = trustOf(turns, upTo);
    const holder = el("div", { class: "drawing" });
    fill(panel,
      el("header", {}, el("h2", {}, "Trust"), found.turn !== null && found.turn !== upTo ? el("span", { class: "as-of" }, `from turn ${found.turn}`) : null),
      found.absent === null
        ? [el("p", { class: "headline" }, percent(found.value)), found.history.length > 1 ? holder : null,
          el("p", { class: "quiet" }, found.history.length > 1 ? `over ${count(found.history.length, "message")}` : "")]
        : notKnown(found.absent));
    for (const one of this.#drawings.splice(1)) one.stop();
    if (found.history.length > 1) {
      this.later(() => this.#drawings.push(fit(holder, (width) => trustChart(found.history, width))), 0);
    }
    return panel;
  }

  #warn({ data, turn }) {
    const session = this.#session;
    if (turn <= readUpTo(session)) return;
    fill(this.#parts.warnings, scamWarning({ data, turn, acknowledge: () => noteRead(session, turn) }));
  }
}

define("salon-reading", Reading);
