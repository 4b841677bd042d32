/* A conversation: who is here, what was said, the message box, and what the avatars rest on. */
import { el, fill, newId } from "../../lib/dom.js";
import { define, SalonElement } from "../../lib/element.js";
import { api, part } from "../../lib/api.js";
import { SessionSocket } from "../../lib/socket.js";
import { address, go } from "../../lib/route.js";
import { arrived } from "../../lib/arrive.js";
import { forgetSession, myName, rememberSession, setCurrentSession, setMyName } from "../../lib/here.js";
import { list } from "../../lib/words.js";
import { aiBadge, monogram } from "../../parts/ai.js";
import { Composer, readCommand } from "../../parts/composer.js";
import { icon } from "../../parts/icons.js";
import { complain, problem, say } from "../../parts/notice.js";
import { Thread } from "./thread.js";
import { EVENTS } from "./events.js";
import { sourcesPanel } from "./sources.js";
import { confirmDelete, OWN, showAnswer } from "./commands.js";
import { forgetSilence, gather, hasSilence, showSilence } from "./gathering.js";
import { begin } from "./lobby.js";

const SHOWN_AT_FIRST = 20;
const IDS_PER_TURN = 100; // documented: docs/reference/websocket.md
const UNSURE_MS = 8000;
const OWNED = ["companion", "assistant"]; // what they remember belongs to one person, so only that one may go on
const STATES = {
  connecting: ["", "Connecting"],
  open: ["good", "Connected"],
  lost: ["bad", "Connection lost. Trying again"],
  gone: ["bad", "This conversation was deleted"],
  closed: ["", "Closed"],
  unsayable: ["bad", "No connection: a browser cannot send this token; take one of letters, digits, - and _"],
};

export class Talk extends SalonElement {
  #socket = null;
  #queue = Promise.resolve();
  #wasLost = false;
  #owner = null; // whose conversation it is, once a turn was taken; null where everybody may speak
  #command = null; // the command that was sent last, to give it back where it is refused

  constructor({ session, avatars, wanted, first, isMine, isNew }) {
    super();
    Object.assign(this, { session, avatars, first, isMine, isNew });
    this.me = () => this.#owner ?? myName();
    const names = new Set(avatars.map((one) => one.name));
    this.avatarOf = (id, name) => avatars.find((one) => one.id === id) ?? { id, name: name ?? id, ai_label: "AI" };
    this.avatarOf.isName = (name) => names.has(name);
    this.present = wanted.map((id) => this.avatarOf(id));
    this.thread = new Thread({ avatarOf: this.avatarOf, me: this.me, onEarlier: () => this.#earlier(),
      context: { onTopic: (topic) => this.composer.suggest(`What do you say about ${topic}?`), others: avatars, onOther: (one) => this.composer.suggest(`/ask ${one.id} `) } });
    this.composer = new Composer();
    Object.assign(this.composer, { avatars, session });
    this.pill = el("span", { class: "badge", role: "status" });
  }

  get isGathering() {
    return this.present.length > 1;
  }

  connected() {
    this.#draw();
    arrived(this.title, matchMedia("(pointer: coarse)").matches ? this.who.querySelector("h1") : this.composer.box); // a keyboard on the glass comes only when it is wanted
    this.composer.addEventListener("say", (event) => this.#said(event), { signal: this.signal });
    this.attempt(() => this.#load(), (error) => fill(this.thread.list, problem(error, { again: () => go(location.hash, { replace: true }) })));
  }

  disconnected() {
    this.#socket?.close();
    this.#socket = null;
    this.thread.clear();
    document.documentElement.style.removeProperty("--foot");
  }

  get title() {
    return list(this.present.map((one) => one.name));
  }

  #draw() {
    this.who = el("div", { class: "talk-who" });
    this.drawPresent();
    this.empty = el("div", { class: "talk-empty" });
    fill(this, el("section", { class: "talk-main", "aria-label": "Conversation" },
      el("header", { class: "talk-head" }, this.who, el("div", { class: "row talk-tools" }, this.pill, this.thread.status,
        el("button", { class: "button slim bare for-phone", type: "button", on: { click: () => OWN["/sources"](this) } }, icon("book"), "Sources"),
        el("a", { class: "button slim bare", href: "#/room" }, icon("plus"), "New"),
        el("button", { class: "button slim bare icon", type: "button", "aria-label": "Delete this conversation", title: "Delete this conversation", on: { click: () => this.#askDelete() } }, icon("trash")))),
      this.thread.node, this.empty,
      this.bottom = el("div", { class: "composer" }, this.composer, this.speaker = el("div", { class: "composer-foot row apart" }))),
    this.aside = el("aside", { class: "talk-aside", "aria-label": "Sources" }));
    fill(this.aside, sourcesPanel(this.present, this.signal, this.session));
    this.#drawSpeaker();
    this.#state("connecting");
    this.#keepClear();
  }

  /** Passing messages stand above the message box, however tall that is. */
  #keepClear() {
    const watching = new ResizeObserver(() => document.documentElement.style.setProperty("--foot", `${this.bottom.offsetHeight}px`));
    watching.observe(this.bottom);
    this.signal.addEventListener("abort", () => watching.disconnect());
  }

  drawPresent() {
    fill(this.who, el("h1", { class: "visually-hidden" }, this.title ? `Conversation with ${this.title}` : "A conversation"),
      this.present.map((one) => el("span", { class: "talk-face", title: one.ai_label }, monogram(one, "small"), el("span", { class: "strong" }, one.name), aiBadge(one.ai_label))),
      this.isGathering ? null : el("span", { class: "small quiet talk-label" }, this.present[0]?.ai_label));
  }

  get #isOwned() {
    return this.present.length === 1 && OWNED.includes(this.present[0].preset);
  }

  /** From its first turn on such a conversation is one person's. */
  #own(name) {
    if (!this.#isOwned || name === this.#owner) return;
    this.#owner = name;
    this.#drawSpeaker();
    if (name !== null && !this.isMine && name !== myName()) this.composer.shut(`Only ${name} can go on here`);
  }

  #drawSpeaker() {
    const keys = el("span", { class: "small quiet hint-keys" }, "Enter sends, Shift+Enter breaks the line, / lists commands");
    fill(this.speaker, this.#owner === null ? this.#rename() : this.#ownerLine(), keys);
  }

  #ownerLine() {
    const { name } = this.present[0];
    const isMe = this.isMine || this.#owner === myName();
    const who = el("bdi", { class: "strong" }, this.#owner);
    return el("p", { class: "small quiet owner" },
      isMe ? ["You speak as ", who, ` here, and only so: what ${name} remembers belongs to one person. `]
        : ["This conversation is ", who, `’s; you can read it. What ${name} remembers belongs to one person. `],
      el("button", { class: "button slim bare", type: "button", on: { click: () => this.#anew() } }, isMe ? "Begin another under a new name" : "Begin your own"));
  }

  #anew() {
    this.attempt(() => begin(this.present, { signal: this.signal }), complain);
  }

  #rename() {
    const id = newId("me");
    const shown = el("button", { class: "button slim bare", type: "button", on: { click: () => {
      field.hidden = false;
      shown.hidden = true;
      input.focus();
    } } });
    const input = el("input", { type: "text", id, dir: "auto", value: myName(), maxlength: "60", autocomplete: "nickname" });
    const field = el("form", { class: "row rename", hidden: true }, el("label", { class: "small", for: id }, "You speak as"), input, el("button", { class: "button slim" }, "Keep"));
    const draw = () => fill(shown, "You speak as\u00a0", el("bdi", {}, myName()));
    field.addEventListener("submit", (event) => {
      event.preventDefault();
      setMyName(input.value);
      field.hidden = true;
      shown.hidden = false;
      draw();
      shown.focus();
      this.#connect(this.#socket?.after ?? null); // a connection speaks for one person
    });
    draw();
    return el("span", { class: "row" }, shown, field);
  }

  async #load() {
    const found = this.isNew ? null : await this.look({ limit: SHOWN_AT_FIRST });
    if (found && !this.present.length) {
      this.present = [...new Set(found.turns.map((one) => one.bot_id))].map((id) => this.avatarOf(id));
      this.drawPresent();
      arrived(this.title);
      fill(this.aside, sourcesPanel(this.present, this.signal, this.session));
    }
    if (found?.turns.length) this.#own(found.turns.at(-1).user_id);
    for (const turn of found?.turns ?? []) {
      this.thread.record([turn]);
      showSilence(this, turn.turn);
    }
    if (!found) showSilence(this, 0);
    this.recorded = found?.turn_count ?? 0;
    if (found || this.isNew || hasSilence(this.session)) this.#welcome();
    else this.#nowhere();
    this.thread.live();
    const seen = this.thread.first;
    this.#connect(seen > 1 ? (seen - 1) * IDS_PER_TURN + IDS_PER_TURN - 1 : 0);
  }

  /** The turns of this session; null where there is none yet. */
  async look(query) {
    try {
      return await api.get(`api/sessions/${part(this.session)}?${new URLSearchParams(query)}`, { signal: this.signal });
    } catch (error) {
      if (error.status === 404) return null;
      throw error;
    }
  }

  async #turn(number) {
    const found = await this.look({ limit: 1, before: number + 1 });
    return found?.turns.find((one) => one.turn === number) ?? null;
  }

  async #earlier() {
    const found = await this.look({ limit: SHOWN_AT_FIRST, before: this.thread.first });
    if (!found?.turns.length) return;
    const height = this.thread.node.scrollHeight;
    this.thread.record([...found.turns], { above: true });
    this.thread.node.scrollTop += this.thread.node.scrollHeight - height;
  }

  /** Nothing is recorded under this address. Should a turn come after all, it is shown. */
  #nowhere() {
    setCurrentSession(null);
    this.isNowhere = true;
    this.composer.shut("There is no conversation here");
    this.speaker.hidden = true;
    const names = this.title;
    fill(this.empty, el("h2", {}, "There is no such conversation"),
      el("p", { class: "quiet" }, "It was deleted, or nothing was ever said in it."),
      el("p", { class: "row middle" }, names ? el("button", { class: "button first", type: "button", on: { click: () => this.#anew() } }, `Begin a new one with ${names}`) : null,
        el("a", { class: "button", href: "#/room" }, "Choose somebody")));
    this.dataset.found = "none";
  }

  #welcome() {
    const isNew = this.thread.list.childElementCount === 0;
    this.empty.hidden = !isNew;
    if (!isNew) return;
    const topics = [...new Set(this.present.flatMap((one) => one.expertise ?? []))].slice(0, 6);
    fill(this.empty, el("div", { class: "row" }, this.present.map((one) => monogram(one, "large"))),
      el("p", { class: "serif empty-title" }, this.isGathering ? "They are gathered. Put a question to all of them." : `${this.present[0]?.name ?? "Somebody"} listens.`),
      this.present.map((one) => el("p", { class: "small quiet" }, one.ai_label)),
      topics.length ? el("div", { class: "row middle" }, topics.map((topic) => el("button", { class: "chip", type: "button", on: { click: () => this.composer.suggest(`What do you say about ${topic}?`) } }, topic))) : null);
  }

  #connect(after) {
    this.#socket?.close();
    this.#socket = new SessionSocket({ session: this.session, after, avatar: this.isGathering ? null : this.present[0]?.id ?? null,
      onEvent: (event) => this.hear(event), onState: (state) => this.#state(state) });
  }

  #state(state) {
    const [kind, words] = STATES[state];
    this.pill.className = `badge ${kind}`;
    fill(this.pill, el("span", { class: "pill-dot", "aria-hidden": "true" }), words);
    this.dataset.state = state;
    if (state === "gone") this.composer.shut("This conversation was deleted");
    if (state === "lost") this.#wasLost = true;
    if (state === "open" && this.#wasLost) {
      this.#wasLost = false;
      const waiting = [...this.thread.pending];
      if (waiting.length) this.later(() => this.#unsure(waiting), UNSURE_MS);
    }
    if (state === "open" && this.first) {
      const text = this.first;
      this.first = null;
      history.replaceState(null, "", address("room", [this.session], { with: this.present.map((one) => one.id).join(",") }));
      this.send(text);
    }
  }

  #unsure(waiting) {
    const error = { message: "the connection was cut while this was on its way", hint: "it may not have arrived" };
    for (const one of waiting) if (this.thread.pending.includes(one)) this.thread.fail(error, (text) => this.send(text));
  }

  /** Take an event in, from wherever it came; one that is known already changes nothing. */
  hear(event) {
    this.next(() => this.#show(event));
  }

  /** Do something after what is under way: a reply may need its record before the next is shown. */
  next(work) {
    this.#queue = this.#queue.then(() => this.signal.aborted || work()).catch((error) => this.signal.aborted || complain(error));
  }

  #show(event) {
    if (event.type === "reply_delta") return this.thread.write(event);
    if (event.type === "bot_response") {
      if (this.isNowhere) return go(location.hash, { replace: true }); // there is something now: look again
      return event.command ? showAnswer(this, event) : this.thread.reply(event, (turn) => this.#turn(turn));
    }
    if (event.type === "error") return this.#refused(event.error);
    const node = EVENTS[event.type]?.(event.data, this.session);
    return node && this.thread.aside(node, Math.floor(event.event_id / IDS_PER_TURN));
  }

  #refused(error) {
    const isMessage = this.thread.fail(error, (text) => this.send(text));
    if (isMessage && !this.thread.last) this.#own(null); // nothing was recorded, so it is nobody's yet
    if (isMessage) return;
    complain(error);
    if (this.#command) this.composer.giveBack(this.#command);
    this.#command = null;
  }

  // Sending

  #said(event) {
    const { text } = event.detail;
    this.#command = readCommand(text) ? text : null;
    if (!this.send(text)) {
      event.preventDefault();
      say("There is no connection at the moment. Your words stay in the box.", "bad");
    }
  }

  send(text) {
    const command = readCommand(text);
    if (command) return this.#run(command);
    this.empty.hidden = true;
    if (this.isGathering) {
      this.thread.send(text, null);
      this.remember(text);
      this.next(() => gather(this, text));
      return true;
    }
    if (!this.#socket?.send({ type: "user_message", content: text, user_id: this.me() })) return false;
    this.thread.send(text, this.present[0] ?? this.avatarOf("salon", "Salon"));
    this.remember(text);
    this.#own(this.me());
    return true;
  }

  remember(text) {
    rememberSession({ session: this.session, avatars: this.present.map((one) => one.id), names: this.present.map((one) => one.name), title: text.slice(0, 80), at: new Date().toISOString() });
  }

  // Commands

  #run({ name, rest }) {
    const own = OWN[name];
    const isDone = own ? (own(this, rest), true) : Boolean(this.#socket?.send({ type: "command", name, user_id: this.me() }));
    if (isDone) this.empty.hidden = true;
    return isDone;
  }

  async #askDelete() {
    if (!await confirmDelete()) return;
    this.attempt(async () => {
      await api.del(`api/sessions/${part(this.session)}`, { signal: this.signal }).catch((error) => {
        if (error.status !== 404) throw error; // nobody had said anything yet
      });
      forgetSilence(this.session);
      forgetSession(this.session);
      say("The conversation is deleted.", "good");
      go("#/room");
    }, complain);
  }
}

define("salon-talk", Talk);
