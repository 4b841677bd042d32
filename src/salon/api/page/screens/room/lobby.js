/* Choosing whom to talk with: one avatar, or several that gather. */
import { el, fill, newId } from "../../lib/dom.js";
import { define, SalonElement } from "../../lib/element.js";
import { api } from "../../lib/api.js";
import { address, go } from "../../lib/route.js";
import { myName, recentSessions, rememberSession, setMyName, forgetSession } from "../../lib/here.js";
import { count, list, when, years } from "../../lib/words.js";
import { icon } from "../../parts/icons.js";
import { aiBadge, monogram } from "../../parts/ai.js";
import { complain } from "../../parts/notice.js";

const MOST_TOPICS = 4;
const MOST_SEATED = 9;
const ORDER = ["expert", "companion", "assistant"];
const KINDS = { companion: "companion", assistant: "assistant" };

/** Begin a session with these avatars and go there; `say` is sent at once. */
export async function begin(avatars, { signal, say = null } = {}) {
  const { session_id: session } = await api.post("api/sessions", undefined, { signal });
  rememberSession({ session, avatars: avatars.map((one) => one.id), names: avatars.map((one) => one.name), at: new Date().toISOString() });
  go(address("room", [session], { with: avatars.map((one) => one.id).join(","), say }));
}

export class Lobby extends SalonElement {
  #chosen = new Map();

  constructor(avatars) {
    super();
    const rank = (one) => ORDER.indexOf(one.preset);
    this.avatars = [...avatars].sort((one, other) => rank(one) - rank(other));
    this.bar = el("div", { class: "gather-bar", hidden: true, role: "region", "aria-label": "Gathering" });
  }

  connected() {
    const name = newId("name");
    fill(this, el("div", { class: "page lobby stack loose" },
      el("header", { class: "lobby-head" }, table(this.avatars),
        el("h1", {}, "With whom would you like to talk?"),
        el("p", { class: "lead" }, "Each of them is an AI and says so. What an expert states you can check: one click shows the place in the document."),
        el("label", { class: "field name-field", for: name }, el("span", {}, "Your name here"),
          el("input", { type: "text", id: name, dir: "auto", value: myName() === "Guest" ? "" : myName(), placeholder: "Guest", maxlength: "60", autocomplete: "nickname", on: { change: (event) => setMyName(event.target.value) } }))),
      this.avatars.length ? el("ul", { class: "plain grid avatars" }, this.avatars.map((one) => this.#card(one))) : this.#nobody(),
      this.#recent()), this.bar);
  }

  #card(avatar) {
    const box = newId("gather");
    const isExpert = !KINDS[avatar.preset];
    return el("li", { class: "card avatar-card", "data-avatar": avatar.id },
      el("div", { class: "avatar-card-head" }, monogram(avatar, "large"),
        el("div", { class: "grow" }, el("h2", { class: "row" }, el("span", { class: "named" }, avatar.name), aiBadge(avatar.ai_label)),
          el("p", { class: "small quiet" }, facts(avatar)))),
      el("p", { class: "serif avatar-about" }, avatar.description),
      avatar.expertise.length ? el("p", { class: "row", "aria-label": "Can speak about" }, avatar.expertise.slice(0, MOST_TOPICS).map((one) => el("span", { class: "chip" }, one))) : null,
      el("p", { class: "ai-line small quiet" }, avatar.ai_label),
      el("div", { class: "row apart avatar-card-foot" },
        el("button", { class: "button", type: "button", on: { click: () => this.#begin([avatar]) } }, icon("room"), `Talk with ${avatar.name}`),
        isExpert && this.avatars.length > 1 ? el("label", { class: "row small gather-choice", for: box },
          el("input", { type: "checkbox", id: box, on: { change: (event) => this.#choose(avatar, event.target.checked) } }), "Gather", el("span", { class: "visually-hidden" }, avatar.name)) : null));
  }

  #choose(avatar, isChosen) {
    if (isChosen) this.#chosen.set(avatar.id, avatar);
    else this.#chosen.delete(avatar.id);
    const chosen = [...this.#chosen.values()];
    this.bar.hidden = chosen.length === 0;
    fill(this.bar, el("span", { class: "gather-faces" }, chosen.map((one) => monogram(one, "small"))),
      el("span", { class: "grow", role: "status" }, chosen.length < 2 ? "Choose one more to gather." : list(chosen.map((one) => one.name))),
      el("button", { class: "button first", type: "button", disabled: chosen.length < 2, on: { click: () => this.#begin(chosen) } }, icon("people"), `Gather ${chosen.length}`));
  }

  #begin(avatars) {
    this.attempt(() => begin(avatars, { signal: this.signal }), complain);
  }

  #recent() {
    const kept = recentSessions();
    if (!kept.length) return null;
    return el("section", { class: "stack tight", "aria-labelledby": "recent" }, el("h2", { id: "recent" }, "Earlier conversations"),
      el("ul", { class: "plain recent" }, kept.map((one) => el("li", { class: "row" },
        el("a", { class: "grow", href: address("room", [one.session], { with: one.avatars.join(",") }) },
          el("span", { class: "strong" }, list(one.names ?? one.avatars)), one.title ? [": ", el("bdi", {}, one.title)] : null),
        el("span", { class: "small quiet" }, one.at ? when(one.at) : ""),
        el("button", { class: "button icon slim bare", type: "button", "aria-label": `Take the conversation with ${list(one.names ?? one.avatars)} off this list`, title: "Take off this list",
          on: { click: (event) => { forgetSession(one.session); event.target.closest("li").remove(); } } }, icon("close"))))));
  }

  #nobody() {
    return el("div", { class: "panel empty" }, el("p", {}, "There are no avatars in this home yet."),
      el("p", {}, "Make one: ", el("code", {}, "salon avatar new ID"), ", or take the demo: ", el("code", {}, "salon demo")));
  }
}

/** The house at a glance: a table, and who sits around it. Each of them is named below. */
function table(avatars) {
  const seated = avatars.slice(0, MOST_SEATED);
  return el("div", { class: "round-table", "aria-hidden": "true" }, seated.map((one, at) => {
    const seat = el("span", { class: "seat" }, monogram(one), el("span", { class: "badge ai" }, "AI"));
    const angle = (2 * Math.PI * at) / seated.length - Math.PI / 2;
    seat.style.setProperty("--x", Math.cos(angle).toFixed(3));
    seat.style.setProperty("--y", Math.sin(angle).toFixed(3));
    return seat;
  }));
}

function facts(avatar) {
  if (KINDS[avatar.preset]) return KINDS[avatar.preset];
  const docs = count(avatar.document_count ?? 0, "document");
  return [years(avatar.period), `${docs}, ${avatar.verified_count ?? 0} verified`].filter(Boolean).join(" · ");
}

define("salon-lobby", Lobby);
