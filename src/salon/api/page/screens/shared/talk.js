/* A conversation beside a screen: what was said, and a box to say more. The room has the large one. */
import { el, newId } from "../../lib/dom.js";
import { api, part } from "../../lib/api.js";
import { myName } from "../../lib/here.js";
import { SessionSocket } from "../../lib/socket.js";
import { aiBadge } from "../../parts/ai.js";
import { citationChip } from "../../parts/citation.js";
import { icon } from "../../parts/icons.js";
import { problem } from "../../parts/notice.js";

const MOST_SHOWN = 60;
const LONGEST = 32_000;

/** Begin one: {node, close, say}. `avatar` is who replies where nobody has yet; `onEvent` hears all. */
export function beginTalk({ session, avatar = null, isNew = false, placeholder, signal, onEvent = () => {}, onState = () => {} }) {
  const talk = new Talk({ session, avatar, isNew, placeholder, signal, onEvent, onState });
  talk.open();
  return talk;
}

class Talk {
  #socket = null;
  #user = null;
  #shown = 0;
  #isClosed = false;
  #waiting = 0; // messages of this box whose reply has not come

  constructor(options) {
    Object.assign(this, options);
    const id = newId("say");
    this.log = el("ol", { class: "talk-log plain", "aria-label": "What was said", "aria-live": "polite", tabindex: "0" });
    this.box = el("textarea", { id, rows: "2", maxlength: String(LONGEST), placeholder: this.placeholder, on: { keydown: (event) => this.#key(event) } });
    this.wait = el("p", { class: "quiet small", role: "status" });
    const form = el("form", { class: "talk-form", on: { submit: (event) => { event.preventDefault(); this.#submit(); } } },
      el("label", { class: "visually-hidden", for: id }, "Your message"), this.box,
      el("button", { class: "button first icon", "aria-label": "Send", title: "Send" }, icon("send")));
    this.node = el("section", { class: "panel talk", "aria-label": "Conversation" },
      el("header", {}, el("h2", {}, "Conversation")), this.log, this.wait, form);
  }

  async open() {
    try {
      if (!this.isNew) await this.#lookBack();
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#say(el("li", {}, problem(error)));
    }
    if (this.signal.aborted || this.#isClosed) return;
    this.#socket = new SessionSocket({
      session: this.session, avatar: this.avatar, onEvent: (event) => this.#hear(event), onState: (state) => this.#stateIs(state),
    });
  }

  /** Who speaks in this session. */
  get user() {
    return this.#user ?? myName();
  }

  close() {
    this.#isClosed = true;
    this.#socket?.close();
    this.#socket = null;
  }

  /** Show the turns that are not shown yet: all of them at first, later those that came another way. */
  async #lookBack() {
    let found;
    try {
      found = await api.get(`api/sessions/${part(this.session)}?limit=${MOST_SHOWN / 2}`, { signal: this.signal });
    } catch (error) {
      if (error.status === 404) return; // it exists with its first turn
      throw error;
    }
    for (const turn of found.turns.filter((one) => one.turn > this.#shown)) {
      this.#shown = turn.turn;
      this.#user ??= turn.user_id;
      this.#person(turn.message);
      this.#reply({ ...turn, citations: turn.reply?.citations });
    }
  }

  #stateIs(state) {
    this.wait.textContent = { lost: "The connection was cut; trying again.", gone: "This session was deleted." }[state] ?? "";
    this.onState(state);
  }

  #key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#submit();
    }
  }

  #submit() {
    const content = this.box.value.trim();
    if (!content) return;
    if (!this.#socket?.send({ type: "user_message", content, user_id: this.user })) {
      this.wait.textContent = "There is no connection yet; your text stays here.";
      return;
    }
    this.#person(content);
    this.#waiting += 1;
    this.box.value = "";
    this.wait.textContent = "Reading and writing …";
  }

  #hear(event) {
    if (event.type === "bot_response") {
      this.wait.textContent = "";
      this.#hearReply(event);
    }
    if (event.type === "error") {
      this.#waiting = Math.max(0, this.#waiting - 1);
      this.wait.textContent = "";
      this.#say(el("li", {}, problem(event.error)));
    }
    this.onEvent(event);
  }

  #hearReply(event) {
    if (!event.command && event.turn <= this.#shown) return;
    if (!this.#waiting) {
      this.#lookBack().catch(() => {}); // what was answered here was said elsewhere
      return;
    }
    this.#waiting -= 1;
    if (!event.command) this.#shown = event.turn;
    this.#reply(event);
  }

  #person(text) {
    this.#say(el("li", { class: "said person" }, el("p", { class: "who" }, this.user), el("p", { class: "text" }, text)));
  }

  #reply({ bot_id: bot, content, ai_label: label, citations, is_crisis: isCrisis }) {
    this.#say(el("li", { class: isCrisis ? "said bot crisis" : "said bot" },
      el("p", { class: "who" }, bot, " ", aiBadge(label)),
      el("p", { class: "text" }, content),
      citations?.length ? el("p", { class: "row" }, citations.map((one, place) => citationChip(one, place + 1))) : null));
  }

  #say(item) {
    this.log.append(item);
    while (this.log.children.length > MOST_SHOWN) this.log.firstElementChild.remove();
    this.log.scrollTop = this.log.scrollHeight;
  }
}

