/* One round as it happens: the phases, the seats, the drafts and what was said of them, the ballot, the end. */
import { el, fill } from "../../lib/dom.js";
import { ApiError, api, part } from "../../lib/api.js";
import { wait, waitMs } from "../../lib/again.js";
import { arrived } from "../../lib/arrive.js";
import { count, isAbsent, list, when } from "../../lib/words.js";
import { aiBadge } from "../../parts/ai.js";
import { icon } from "../../parts/icons.js";
import { complain, problem, sentence } from "../../parts/notice.js";
import { words } from "../../draw/sets.js";
import { track } from "../../draw/track.js";
import { ballotPanel, ratificationPanel } from "./ballot.js";
import { showMarkdown } from "./markdown.js";
import { NUMERALS, seatMark, seatName } from "./seats.js";

const PHASES = [["sprint", "Sprint"], ["critique", "Critique"], ["refinement", "Refinement"], ["vote", "Vote"], ["runoff", "Runoff"], ["ratification", "Ratification"], ["published", "Published"]];
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const UNGRADED = ["sprint", "critique", "refinement"];
const BUSY = [408, 425, 429]; // the server is there and asks for patience

/** Show a round and keep it up to date until `signal` ends. */
export function begin({ id, signal, attempt }) {
  const head = el("header", { class: "stack tight" }, el("p", { class: "quiet" }, "One moment."));
  const body = el("div", { class: "stack" });
  const link = el("div", { role: "status" }); // whether it is followed live; what is drawn stays
  const node = el("div", { class: "stack" }, head, link, body);
  const kept = { texts: new Map(), opened: new Set(), attempt: null }; // attempt null: the latest one

  const path = `api/rounds/${part(id)}`;

  async function show(round) {
    const shown = kept.attempt ?? round.attempt;
    const isGraded = shown < round.attempt || !UNGRADED.includes(round.phase);
    const [ballot, chapter] = await Promise.all([
      isGraded ? api.get(`${path}/ballot?attempt=${shown}`, { signal }) : null,
      round.phase === "published" ? api.get(`${path}/chapter`, { signal }) : null]);
    const choose = (wanted) => attempt(() => {
      kept.attempt = wanted === round.attempt ? null : wanted;
      return show(round);
    }, complain);
    const isFirst = !head.querySelector("h1");
    draw({ head, body, round, shown, ballot, chapter, kept, choose, signal, attempt });
    if (isFirst) arrived(round.topic, head.querySelector("h1"));
    return round;
  }

  /** Follow the round until it is over; whatever cuts that short is thrown. */
  async function watch(isBack) {
    let round = await show(await api.get(path, { signal }));
    fill(link);
    while (!round.is_over && !signal.aborted) {
      for await (const { event, data } of api.stream(`${path}/events`, undefined, { signal })) {
        isBack();
        if (event === "round") round = await show(data);
      }
      if (!round.is_over) throw new ApiError(0, { message: "the connection was cut" });
    }
  }

  /** Follow it, and come back by itself after every cut; only a refusal ends that. */
  async function follow() {
    let tries = 0;
    const isBack = () => {
      tries = 0;
      fill(link);
    };
    while (!signal.aborted) {
      try {
        await watch(isBack);
        return;
      } catch (error) {
        if (signal.aborted || isRefusal(error)) throw error;
        tries += 1;
        const pause = wait(waitMs(tries), signal);
        lost(link, tries, pause.end);
        await pause.done;
      }
    }
  }

  attempt(follow, (error) => {
    fill(link);
    refused(head, body, error);
  });
  return { node };
}

function draw({ head, body, round, shown, ballot, chapter, kept, choose, signal, attempt }) {
  const names = namesOf(round);
  const name = (candidate) => names.get(candidate) ?? "Draft";
  fill(head,
    el("p", { class: "row" }, el("a", { href: "#/council", class: "small" }, "All rounds"),
      el("span", { class: `badge ${round.phase === "published" ? "good" : round.phase === "no_quorum" ? "bad" : "note"}`, role: "status" }, phaseName(round.phase)),
      round.attempt > 0 ? el("span", { class: "badge warn" }, `attempt ${round.attempt + 1}`) : null,
      el("span", { class: "quiet small" }, when(round.opened_at))),
    el("h1", { dir: "auto" }, round.topic));
  fill(body,
    phaseTrack(round),
    round.phase === "no_quorum" ? noQuorum(round, names) : reasonsSoFar(round, names),
    chapter ? chapterPanel(chapter, { signal, attempt }) : null,
    seatsPanel(round),
    attemptChoice(round, shown, choose),
    draftsPanel({ round, shown, ballot, name, kept, signal, attempt }),
    ballot ? ballotPanel(ballot, { name }) : null,
    runoffPanel({ round, shown, ballot, name }),
    ratificationPanel(ballot?.ratification ?? []));
}

const phaseName = (phase) => PHASES.find(([key]) => key === phase)?.[1] ?? "No quorum";

const isRefusal = (error) => error.status >= 400 && error.status < 500 && !BUSY.includes(error.status);

/** Say that the connection is lost and how often it was tried; what was drawn before stays below. */
function lost(link, tries, end) {
  const trying = el("button", { class: "button slim", type: "button", on: { click: () => {
    trying.disabled = true;
    fill(trying, "Trying …");
    end();
  } } }, "Try again now");
  fill(link, el("div", { class: "notice warn" }, el("p", {}, "Connection lost. What stands here may be out of date; the page tries again by itself."),
    el("p", { class: "row small" }, tries > 1 ? `The server has not answered ${count(tries, "time")}.` : null, trying)));
}

function refused(head, body, error) {
  const isMissing = error.status === 404;
  fill(head, el("p", {}, el("a", { href: "#/council", class: "small" }, "All rounds")), el("h1", {}, isMissing ? "There is no such round" : "The round cannot be shown"));
  fill(body, isMissing ? el("p", { class: "quiet" }, "The address may be wrong; all rounds that there are stand in the list.") : problem(error));
  arrived(null, head.querySelector("h1"));
}

/** Drafts are called A, B, C … in the order in which they came, a fusion by what it joins. */
export function namesOf(round) {
  const found = new Map();
  const counts = new Map();
  for (const one of round.candidates) {
    const place = counts.get(one.attempt) ?? 0;
    found.set(one.id, one.is_fusion ? "Fusion" : `Draft ${LETTERS[place % LETTERS.length]}`);
    if (!one.is_fusion) counts.set(one.attempt, place + 1);
  }
  return found;
}

/** A sentence of the server with the names that this screen uses instead of ids. */
function named(text, names) {
  const ids = [...names.keys()].sort((a, b) => b.length - a.length); // one id may begin another
  return sentence(ids.reduce((said, id) => said.replaceAll(id, names.get(id)), text));
}

function phaseTrack(round) {
  const isFused = round.candidates.some((one) => one.is_fusion);
  const happened = { sprint: true, critique: round.critiques.length, refinement: round.candidates.some((one) => one.is_refined),
    vote: round.candidates.length, runoff: round.finalists.length || isFused, ratification: isFused, published: round.published };
  const steps = PHASES.filter(([key]) => !round.is_over || happened[key]).map(([key, name]) => ({ key, name }));
  if (round.phase === "no_quorum") steps.push({ key: "no_quorum", name: "No quorum", kind: "bad" });
  return track(steps, round.phase, { label: "Phases of the round", isOver: round.is_over });
}

function noQuorum(round, names) {
  return el("section", { class: "notice bad", role: "alert" },
    el("p", {}, "The council found no quorum. Nothing was published; a person has to decide what to do."),
    el("ol", {}, round.reasons.map((one) => el("li", {}, named(one.replace(/^attempt \d+: /, ""), names)))));
}

function reasonsSoFar(round, names) {
  if (!round.reasons.length) return null;
  return el("section", { class: "notice warn" }, el("p", {}, el("strong", {}, "Earlier attempts did not pass")),
    el("ol", {}, round.reasons.map((one) => el("li", {}, named(one.replace(/^attempt \d+: /, ""), names)))));
}

function seatsPanel(round) {
  return el("section", { "aria-label": "The five seats" }, el("ul", { class: "plain seats" }, NUMERALS.map((seat) => {
    const away = round.absences.filter((one) => one.seat === seat && one.attempt === round.attempt).at(-1);
    const state = away ? ["warn", "absent"] : round.is_over ? ["", "done"] : seat in round.due ? ["note", "at work"] : ["good", "has acted"];
    return el("li", { class: `panel seat-card${seat in round.due && !round.is_over ? " due" : ""}` },
      el("p", { class: "row apart" }, seatMark(seat), el("span", { class: `badge ${state[0]}` }, state[1])),
      el("p", { class: "quiet small" }, [round.holders[seat], round.on_probation.includes(seat) ? "on probation, no vote" : null].filter(Boolean).join(" · ")),
      away ? el("p", { class: "small" }, sentence(away.reason)) : sentBack(round, seat));
  })));
}

/** Earlier attempts stay to be looked at. */
function attemptChoice(round, shown, choose) {
  if (round.attempt === 0) return null;
  return el("div", { class: "tabs", role: "group", "aria-label": "Attempts" }, Array.from({ length: round.attempt + 1 }, (_, one) =>
    el("button", { type: "button", "aria-current": one === shown ? "true" : null, on: { click: () => choose(one) } }, `Attempt ${one + 1}`)));
}

/** What the mechanical checks found in a seat's texts before anybody judged them. */
function sentBack(round, seat) {
  const found = round.returns.filter((one) => one.seat === seat && one.attempt === round.attempt);
  if (!found.length) return null;
  const why = [...new Set(found.flatMap((one) => one.failings.map((each) => sentence(each.message))))].slice(0, 3);
  return el("p", { class: "small" }, `The checks sent back ${count(found.length, "text")}: ${why.join(" ")}`);
}

function draftsPanel({ round, shown, ballot, name, kept, signal, attempt }) {
  const drafts = round.candidates.filter((one) => one.attempt === shown);
  if (!drafts.length) return el("p", { class: "quiet" }, round.is_over ? "No draft came in." : "No draft has come in yet.");
  const rows = new Map((ballot?.rows ?? []).map((one) => [one.candidate, one]));
  return el("section", { "aria-label": "Drafts" }, el("h2", {}, "Drafts"),
    el("div", { class: "drafts" }, drafts.map((one) => draftItem({ one, row: rows.get(one.id), round, name, kept, signal, attempt }))));
}

function draftItem({ one, row, round, name, kept, signal, attempt }) {
  const critiques = round.critiques.filter((each) => each.candidate === one.id);
  const holder = el("div", { class: "draft-text" });
  const key = `${one.id}:${one.at}:${one.is_refined}:${critiques.length}`;
  const made = el("details", { class: "panel draft", on: { toggle: () => {
    if (made.open) kept.opened.add(one.id);
    else kept.opened.delete(one.id);
    if (made.open) attempt(() => openText({ round, one, key, holder, kept, signal }), (error) => fill(holder, problem(error)));
  } } },
  el("summary", {}, el("span", { class: "strong" }, name(one.id)), one.authors.map((seat) => seatMark(seat)),
    el("span", { class: "quiet small" }, [count(one.citations.length, "source"), critiques.length ? count(critiques.length, "critique") : null, one.is_refined ? "refined" : null].filter(Boolean).join(" · ")),
    one.failings.length ? el("span", { class: "badge bad" }, count(one.failings.length, "failing")) : null,
    row && !isAbsent(row.score) ? el("span", { class: "badge" }, `score ${row.score.toFixed(2)}`) : null,
    round.published?.candidate === one.id ? el("span", { class: "badge good" }, "published") : null),
  one.failings.length ? el("ul", { class: "failings" }, one.failings.map((each) => el("li", {}, sentence(each.message), each.excerpt ? [" ", el("q", {}, each.excerpt)] : null))) : null,
  holder);
  if (kept.opened.has(one.id)) made.open = true;
  return made;
}

async function openText({ round, one, key, holder, kept, signal }) {
  if (!kept.texts.has(key)) {
    fill(holder, el("p", { class: "quiet" }, "Fetching."));
    kept.texts.set(key, await api.get(`api/rounds/${part(round.id)}/candidates/${part(one.id)}`, { signal }));
  }
  const found = kept.texts.get(key);
  fill(holder, showMarkdown(found.markdown, { citations: one.citations, top: 3 }), critiqueList(found.critiques));
}

function critiqueList(critiques) {
  if (!critiques?.length) return null;
  return el("section", {}, el("h3", {}, "What the others said"), el("ul", { class: "plain critiques" }, critiques.map((one) =>
    el("li", {}, seatMark(one.seat), showMarkdown(one.feedback, { top: 4 })))));
}

function runoffPanel({ round, shown, ballot, name }) {
  const finalists = shown === round.attempt && round.finalists.length ? round.finalists : ballot?.runoff ?? [];
  const fusion = round.candidates.find((one) => one.is_fusion && one.attempt === shown);
  if (!finalists.length || (!fusion && !["runoff", "ratification"].includes(round.phase))) return null;
  return el("section", { class: "panel" }, el("header", {}, el("h2", {}, "Runoff")),
    el("p", {}, `${list(finalists.map(name))} were within half a point of each other.`),
    el("p", {}, fusion ? `Their authors, ${list(fusion.authors.map(seatName))}, joined them in a fusion; the others ratify it.` : "Their authors join them in a fusion."));
}

function chapterPanel(chapter, { signal, attempt }) {
  const checked = el("div", { role: "status" });
  const check = el("button", { class: "button slim", type: "button", on: { click: () => attempt(
    async () => fill(checked, report(await api.get(`api/rounds/${part(chapter.round_id)}/verify`, { signal }))), (error) => fill(checked, problem(error))) } }, "Check it again");
  return el("article", { class: "panel chapter", "aria-label": "The published chapter" },
    el("p", { class: "row" }, el("span", { class: "badge good" }, icon("check"), "published"), aiBadge("The seats of the council are programs and language models."),
      el("span", { class: "badge note", title: "It may be found and cited, but never as the only support of a claim." }, "derived knowledge")),
    showMarkdown(chapter.markdown, { citations: chapter.citations, top: 2 }),
    el("footer", { class: "quiet small" }, "Behind ", el("a", { href: `#/ledger/handles/${chapter.handle.split("/").map(encodeURIComponent).join("/")}`, class: "mono" }, chapter.handle),
      ", with ", count(chapter.citations.length, "source"), ", each checked again before it was published. Published by the system ", when(chapter.at), "."),
    el("p", {}, check), checked);
}

function report({ holds, checks }) {
  return el("div", { class: holds ? "notice good" : "notice bad" },
    el("p", {}, holds ? "Everything stands up to a second look." : "Something does not stand up to a second look."),
    el("ul", {}, checks.map((one) => el("li", {}, `${words(one.name)}: ${one.holds ? "holds" : one.reason}`))));
}

