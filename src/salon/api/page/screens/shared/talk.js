/* A conversation beside a screen: what was said, and a box to say more. The room has the large one. */
import { el, newId } from "../../lib/dom.js";
import { api, part } from "../../lib/api.js";
import { avatarBook } from "../../lib/avatars.js";
import { draftOf, keepDraft } from "../../lib/draft.js";
import { myName } from "../../lib/here.js";
import { SessionSocket } from "../../lib/socket.js";
import { QUIET_MS, ReplyView, busyWords } from "../../parts/message.js";
import { icon } from "../../parts/icons.js";
import { problem } from "../../parts/notice.js";

const MOST_SHOWN = 60;
const LONGEST = 32_000;

/** Begin one: {node, close, user}. `avatar` is who replies where nobody has yet. `onEvent` hears all;
 * `onFound(avatar)` is called with who replies here, `undefined` before anybody did, and `null` where there
 * is no such conversation. */
export function beginTalk({ session, avatar = null, isNew = false, placeholder, signal, onEvent = () => {}, onState = () => {}, onFound = () => {} }) {
  const talk = new Talk({ session, avatar, isNew, placeholder, signal, onEvent, onState, onFound });
  talk.open();
  return talk;
}

class Talk {
  #socket = null;
  #user = null;
  #shown = 0;
  #isClosed = false;
  #waiting = 0; // messages of this box whose reply has not come
  #avatarOf = (id) => ({ id, name: id, ai_label: "AI" });
  #partner = null; // who replied last

  constructor(options) {
    Object.assign(this, options);
    const id = newId("say");
    // Nothing is said aloud before what was said earlier stands there.
    this.log = el("ol", { class: "talk-log plain", "aria-label": "What was said", "aria-live": "off", tabindex: "0" });
    this.box = el("textarea", { id, rows: "2", dir: "auto", maxlength: String(LONGEST), placeholder: this.placeholder, value: draftOf(this.session),
      on: { keydown: (event) => this.#key(event), input: () => keepDraft(this.session, this.box.value) } });
    this.wait = el("p", { class: "quiet small", role: "status" });
    this.button = el("button", { class: "button first icon", "aria-label": "Send", title: "Send" }, icon("send"));
    const form = el("form", { class: "talk-form", on: { submit: (event) => { event.preventDefault(); this.#submit(); } } },
      el("label", { class: "visually-hidden", for: id }, "Your message"), this.box, this.button);
    this.node = el("section", { class: "panel talk", "aria-label": "Conversation" },
      el("header", {}, el("h2", {}, "Conversation")), this.log, this.wait, form);
  }

  async open() {
    try {
      const book = avatarBook(this.signal);
      const found = this.isNew ? null : await this.#fetch();
      this.#user = found?.turns.at(-1)?.user_id ?? null;
      this.#avatarOf = await book;
      if (this.#isClosed) return;
      const isThere = this.isNew || found !== null;
      if (found) this.#draw(found);
      if (!isThere) this.#shut("There is no conversation here");
      this.onFound(isThere ? this.#partner ?? (this.avatar ? this.#avatarOf(this.avatar) : undefined) : null);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#say(el("li", {}, problem(error)));
    }
    if (this.signal.aborted || this.#isClosed) return;
    setTimeout(() => this.log.setAttribute("aria-live", "polite"), QUIET_MS);
    this.#socket = new SessionSocket({
      session: this.session, avatar: this.avatar, onEvent: (event) => this.#hear(event), onState: (state) => this.#stateIs(state),
    });
  }

  /** Who speaks in this session. */
  get user() {
    return this.#user ?? myName();
  }

  /** Whose session it is; null while that is not known, and where nobody has spoken yet. */
  get owner() {
    return this.#user;
  }

  close() {
    this.#isClosed = true;
    this.#socket?.close();
    this.#socket = null;
  }

  #shut(reason) {
    this.box.disabled = this.button.disabled = reason !== null;
    this.box.placeholder = reason ?? this.placeholder;
  }

  /** The latest turns; null where there is no such session. */
  async #fetch() {
    try {
      return await api.get(`api/sessions/${part(this.session)}?limit=${MOST_SHOWN / 2}`, { signal: this.signal });
    } catch (error) {
      if (error.status === 404) return null; // it exists with its first turn
      throw error;
    }
  }

  /** Show the turns that are not shown yet: all of them at first, later those that came another way. */
  #draw({ turns }) {
    for (const turn of turns.filter((one) => one.turn > this.#shown)) {
      this.#shown = turn.turn;
      this.#user ??= turn.user_id;
      this.#person(turn.message, turn.user_id);
      this.#reply({ response: turn.content, ai_label: turn.ai_label, at: turn.at, ...(turn.reply ?? {}) }, turn.bot_id);
    }
  }

  /** Show what was said elsewhere. */
  async #catchUp() {
    const found = await this.#fetch();
    if (!found || this.#isClosed) return;
    this.#draw(found);
    this.onFound(this.#partner);
  }

  #stateIs(state) {
    this.wait.textContent = { lost: "The connection was cut; trying again.", gone: "This session was deleted." }[state] ?? "";
    if (state === "gone") this.#shut("This conversation was deleted");
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
    this.#person(content, this.user);
    this.#waiting += 1;
    this.box.value = "";
    keepDraft(this.session, "");
    this.wait.textContent = this.#partner ? busyWords(this.#partner) : "Reading and writing …";
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
      this.#shut(null);
      this.#catchUp().catch(() => {}); // what was answered here was said elsewhere
      return;
    }
    this.#waiting -= 1;
    if (!event.command) this.#shown = event.turn;
    const isFirst = !this.#partner;
    this.#reply({ ...event, response: event.content }, event.bot_id);
    if (isFirst) this.onFound(this.#partner);
  }

  #person(text, name) {
    this.#say(el("li", { class: "said person" }, el("p", { class: "who", dir: "auto" }, name), el("p", { class: "text", dir: "auto" }, text)));
  }

  /** Shown as the room shows it: what is no answer looks like none, and each claim has its chips. */
  #reply(reply, bot) {
    const avatar = this.#avatarOf(bot);
    this.#partner = avatar;
    const view = new ReplyView(avatar, { isBrief: true, onTopic: (topic) => this.#suggest(`What do you say about ${topic}?`) });
    view.body.classList.add("text");
    view.put(reply, avatar);
    this.#say(el("li", { class: "said bot" }, view.node));
  }

  #suggest(text) {
    this.box.value = text;
    keepDraft(this.session, text);
    this.box.focus();
  }

  #say(item) {
    this.log.append(item);
    while (this.log.children.length > MOST_SHOWN) this.log.firstElementChild.remove();
    this.log.scrollTop = this.log.scrollHeight;
  }
}

/** What a screen shows where there is no such conversation, with the way to those that there are. */
export function noConversation(screen) {
  return el("section", { class: "panel empty nowhere" },
    el("h2", {}, "There is no such conversation"),
    el("p", {}, "It was deleted, or nothing was ever said in it."),
    el("p", { class: "row" }, el("a", { class: "button", href: `#/${screen}` }, "Those that there are"), el("a", { class: "button bare", href: "#/room" }, "Begin one in the room")));
}
