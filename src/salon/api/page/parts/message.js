/* One message in a conversation: a person's, an avatar's, or the page's own. */
import { adopt, el, fill } from "../lib/dom.js";
import { clock, when } from "../lib/words.js";
import { icon } from "./icons.js";
import { aiBadge, monogram } from "./ai.js";
import { citationChip } from "./citation.js";
import { isAnswer, outcomeFoot, outcomeHead } from "./outcome.js";
import { sentence } from "./notice.js";

await adopt("parts/message.css"); // before a message is shown, so that nothing jumps

/** How long after it stands there a text counts as old to a screen reader, which looks a little later. */
export const QUIET_MS = 300;

const BUSY = { expert: "is reading its documents", companion: "is writing", assistant: "is writing" };

/** What somebody does who was asked, in words for those who do not see the dots. */
export const busyWords = (avatar) => `${avatar.name} ${BUSY[avatar.preset] ?? "is writing"}.`;

/** What a person said. */
export function personMessage({ name, text, at, mine = false }) {
  return el("article", { class: `message person${mine ? " mine" : ""}`, "aria-label": `${name} said` },
    el("header", { class: "message-head" }, el("span", { class: "strong", dir: "auto" }, name), stamp(at)),
    el("div", { class: "message-text" }, paragraphs(text)));
}

/** The place of a reply: empty while it is awaited, then written, then whole. */
export class ReplyView {
  constructor(avatar, context = {}) {
    this.context = context;
    this.body = el("div", { class: "message-text serif" });
    this.head = el("header", { class: "message-head" });
    this.foot = el("footer", { class: "message-foot" });
    this.node = el("article", { class: "message avatar" }, el("div", { class: "message-face" }), el("div", { class: "message-main" }, this.head, this.body, this.foot));
    this.isWhole = false;
    this.written = "";
    this.#name(avatar);
    this.wait();
  }

  #name(avatar) {
    this.avatar = avatar;
    fill(this.node.firstElementChild, monogram(avatar));
    this.node.setAttribute("aria-label", `${avatar.name}, an AI, replies`);
    fill(this.head, el("span", { class: "strong named" }, avatar.name), aiBadge(avatar.ai_label));
  }

  wait() {
    this.node.classList.add("waiting");
    fill(this.body, el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i")));
  }

  /** Add a piece of a reply that is still being written. */
  add(piece, avatar) {
    if (this.isWhole) return;
    if (avatar && avatar.id !== this.avatar.id) this.#name(avatar);
    this.node.classList.remove("waiting");
    this.node.classList.add("writing");
    if (!this.written) fill(this.body);
    this.written += piece;
    this.#append();
  }

  /** Only what is new comes into the page: a screen reader says it once, and nothing again. */
  #append() {
    const wanted = split(this.written);
    for (const [at, text] of wanted.entries()) {
      const there = this.body.children[at];
      if (!there) this.body.append(...paragraphs(text));
      else if (text.length > there.firstChild.length) there.firstChild.appendData(text.slice(there.firstChild.length));
    }
  }

  /** Put the whole reply: {response, citations, claims, outcome, confidence, suggestion, redirect, at}. */
  put(reply, avatar) {
    const said = JSON.stringify(SAID.map((name) => reply[name] ?? null));
    if (this.isWhole && this.said === said) return; // what comes a second time changes nothing, and nobody hears it again
    this.said = said;
    if (avatar) this.#name({ ...avatar, ai_label: reply.ai_label ?? avatar.ai_label });
    const answered = isAnswer(reply.outcome);
    const citations = reply.citations ?? [];
    const plain = (text) => String(text).replace(MARKS, "").trim();
    if (this.written && plain(this.written) === plain(reply.response)) this.body.setAttribute("aria-live", "off"); // what was said piece by piece is not said again
    this.isWhole = true;
    this.node.classList.remove("waiting", "writing");
    this.node.classList.toggle("no-answer", !answered);
    this.node.classList.toggle("crisis", Boolean(reply.is_crisis));
    this.node.dataset.outcome = reply.outcome ?? "answered";
    this.at = reply.at ?? this.at;
    if (this.at) this.head.append(stamp(this.at));
    fill(this.body, answered ? null : outcomeHead(reply.outcome), cited(reply, this.avatar));
    const named = this.context.isBrief ? marked(reply.response) : new Set(); // where there is little room a chip beside its claim is enough
    const loose = citations.map((one, n) => [one, n]).filter(([, n]) => !named.has(n));
    const isAsking = this.context.isBrief && reply.outcome === "needs_clarification"; // what is wanted then is the answer
    fill(this.foot, loose.length ? sources(loose, reply) : null,
      answered ? answerFoot(reply) : outcomeFoot({ ...this.context, expertise: isAsking ? [] : this.avatar.expertise ?? [], name: this.avatar.name, suggestion: reply.suggestion, redirect: reply.redirect }));
    this.foot.hidden = !this.foot.childElementCount;
  }

  /** Say that the reply did not come. */
  fail(error, again) {
    this.node.classList.remove("waiting", "writing");
    this.node.classList.add("failed");
    fill(this.body, el("div", { class: "notice bad", role: "alert" }, el("p", {}, sentence(error.message)),
      error.hint ? el("p", { class: "small" }, sentence(error.hint)) : null,
      again ? el("p", {}, el("button", { class: "button slim", type: "button", on: { click: again } }, "Send again")) : null));
  }
}

/** An answer of the page or of a command: set apart from what avatars say. */
export function plainMessage({ title, text, extra = null, ai = null, code = false }) {
  return el("article", { class: "message aside-message", "aria-label": title },
    el("header", { class: "message-head" }, el("span", { class: "strong" }, title), ai ? aiBadge(ai) : null),
    text ? el("div", { class: "message-text" }, code ? el("pre", { tabindex: "0" }, text) : paragraphs(text)) : null, extra);
}

/** Who stayed silent in a gathering, and why. */
export function silence(contributions, avatarOf) {
  return el("div", { class: "silence" }, el("p", { class: "kicker row" }, icon("silent"), "Stayed silent"),
    el("ul", { class: "plain stack tight" }, contributions.map((one) => {
      const avatar = avatarOf(one.avatar, one.name);
      return el("li", { class: "row", "data-silent": one.avatar }, monogram(avatar, "small"),
        el("span", { class: "strong" }, avatar.name), aiBadge(avatar.ai_label),
        el("span", { class: "quiet" }, `because ${one.decision.reason}`));
    })));
}

function stamp(at) {
  if (!at) return null;
  return el("time", { class: "small quiet", datetime: at, title: when(at) }, clock(at));
}

const SAID = ["response", "citations", "claims", "outcome", "confidence", "suggestion", "redirect", "is_crisis"];
const MARKS = /\s*\[\d{1,3}\]/g;
const split = (text) => String(text).split(/\n{2,}/).filter(Boolean);

/** The places of the citations that stand as marks in a text. */
const marked = (text) => new Set(Array.from(String(text).matchAll(/\[(\d{1,3})\]/g), ([, n]) => Number(n) - 1));

export function paragraphs(text) {
  return split(text).map((one) => el("p", { dir: "auto" }, one));
}

/** The words of a reply; each mark [n] becomes the chip of that citation, beside the claim it bears. */
function cited(reply, avatar) {
  const citations = reply.citations ?? [];
  const claims = reply.claims ?? [];
  return split(reply.response).map((text) => {
    const claim = (n) => claims.find((one) => one.citations.includes(n) && text.includes(one.text));
    const parts = text.split(/\s*\[(\d{1,3})\]/);
    return el("p", { dir: "auto" }, parts.map((piece, at) => {
      if (at % 2 === 0) return piece;
      const n = Number(piece) - 1;
      if (!citations[n]) return ` [${piece}]`;
      return ["\u00a0", citationChip(citations[n], n + 1, { about: { claim: claim(n)?.text.replace(/\s*\[\d+\]/g, ""), avatar } })];
    }));
  });
}

function sources(citations, reply) {
  const support = (n) => (reply.claims ?? []).find((one) => one.citations.includes(n))?.text.replace(/\s*\[\d+\]/g, "");
  return el("div", { class: "row rests-on" }, el("span", { class: "small quiet" }, "Rests on"),
    citations.map(([one, n]) => citationChip(one, n + 1, { long: true, about: { claim: support(n) } })));
}

const SURE = { high: "The documents answer this clearly.", medium: "The documents answer this fairly well.", low: "The documents may not answer this fully." };

function answerFoot(reply) {
  if (!reply.confidence && !reply.suggestion) return null;
  return el("p", { class: "small quiet" },
    reply.confidence && (reply.citations ?? []).length ? `Confidence ${reply.confidence}. ${SURE[reply.confidence] ?? ""} ` : null,
    reply.suggestion ? sentence(reply.suggestion) : null);
}
