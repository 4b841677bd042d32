/* The turns on the screen: each once, in order, and never more than a page can bear. */
import { el, fill } from "../../lib/dom.js";
import { QUIET_MS, ReplyView, busyWords, personMessage, plainMessage, silence } from "../../parts/message.js";

const MOST_TURNS = 80;
const MOST_LOOKED_BACK = 300;
const MOST_ASIDES = 12;

export class Thread {
  /** `avatarOf(id, name)` gives an avatar to show; `context` is handed to replies (see ReplyView). */
  constructor({ avatarOf, context, me, onEarlier }) {
    Object.assign(this, { avatarOf, context, me });
    this.turns = new Map(); // number → {nodes, view, message, user}
    this.pending = []; // what was sent and has no number yet: {text, nodes, view}
    this.loose = []; // replies of a gathering that have no number yet: {view, bot, response}
    this.most = MOST_TURNS;
    this.earlier = el("button", { class: "button slim earlier", type: "button", hidden: true, on: { click: onEarlier } }, "Show earlier turns");
    // Nothing is said aloud until `live()`: what was said long ago is read, not announced.
    this.list = el("div", { class: "thread", role: "log", "aria-live": "off", "aria-label": "Conversation" });
    this.node = el("div", { class: "thread-scroll", tabindex: "0", role: "region", "aria-label": "What was said" }, this.earlier, this.list);
    this.status = el("p", { class: "visually-hidden", role: "status" });
  }

  /** What was said before stands there: its end is shown, and what comes from now on is said aloud. */
  live() {
    this.#follow(true);
    setTimeout(() => this.list.setAttribute("aria-live", "polite"), QUIET_MS);
  }

  /** Say in a few words what is under way; nothing when it is over. */
  busy(text = "") {
    this.status.textContent = text;
  }

  get first() {
    return this.turns.size ? Math.min(...this.turns.keys()) : 0;
  }

  get last() {
    return this.turns.size ? Math.max(...this.turns.keys()) : 0;
  }

  /** Show recorded turns, above what is there where they came before. */
  record(turns, { above = false } = {}) {
    if (above) this.#quietly(() => this.#record(turns, above));
    else this.#record(turns, above);
  }

  /** Do something that is not to be said aloud. */
  #quietly(work) {
    this.list.setAttribute("aria-live", "off");
    work();
    setTimeout(() => this.list.setAttribute("aria-live", "polite"), QUIET_MS);
  }

  #record(turns, above) {
    if (above) this.most = Math.min(MOST_LOOKED_BACK, this.most + turns.length);
    const before = above ? this.list.firstChild : null;
    let previous = null;
    for (const turn of turns) {
      if (!this.turns.has(turn.turn)) this.#place(turn, previous, before);
      previous = turn;
    }
    this.#trim();
  }

  #place(turn, previous, before = null) {
    const view = new ReplyView(this.avatarOf(turn.bot_id), this.context);
    const goesOn = previous && previous.message === turn.message && previous.user_id === turn.user_id && previous.bot_id !== turn.bot_id;
    const isAvatar = this.avatarOf.isName?.(turn.user_id);
    const said = goesOn || isAvatar ? [] : [personMessage({ name: turn.user_id, text: turn.message, at: turn.at, mine: turn.user_id === this.me() })];
    view.put({ response: turn.content, ai_label: turn.ai_label, at: turn.at, ...(turn.reply ?? {}) }, this.avatarOf(turn.bot_id));
    const nodes = [...said, view.node];
    for (const node of nodes) this.list.insertBefore(node, before);
    this.turns.set(turn.turn, { nodes, view, message: turn.message, user_id: turn.user_id, bot_id: turn.bot_id });
  }

  /** Show a message that was just sent, and a place for its reply where one avatar will reply. */
  send(text, avatar) {
    const person = personMessage({ name: this.me(), text, at: new Date().toISOString(), mine: true });
    const view = avatar ? new ReplyView(avatar, this.context) : null;
    const entry = { text, nodes: view ? [person, view.node] : [person], view };
    if (view) this.pending.push(entry);
    if (view) this.busy(busyWords(avatar));
    this.#append(...entry.nodes);
    return entry;
  }

  /** A piece of a reply that is being written. */
  write(event) {
    const view = this.turns.get(event.turn)?.view ?? this.pending[0]?.view;
    const isNear = this.#isNear();
    view?.add(event.content, this.avatarOf(event.bot_id));
    this.#follow(isNear);
  }

  /** A whole reply. `look(turn)` fetches the record of a turn that is not on the screen. */
  async reply(event, look) {
    const whole = { ...event, response: event.content };
    const known = this.turns.get(event.turn);
    const isNear = this.#isNear();
    if (known) {
      known.view.put(whole, this.avatarOf(event.bot_id));
      this.#follow(isNear);
      return;
    }
    const loose = this.loose.find((one) => one.bot === event.bot_id && one.response === event.content);
    if (loose) {
      this.loose.splice(this.loose.indexOf(loose), 1);
      this.turns.set(event.turn, { nodes: [loose.view.node], view: loose.view, message: loose.message, bot_id: event.bot_id });
      return;
    }
    if (event.turn < this.first) return; // it was looked at and left behind
    const record = await look(event.turn).catch(() => null);
    const mine = this.pending.find((one) => !record || (record.message === one.text && record.user_id === this.me()));
    if (mine) {
      this.pending.splice(this.pending.indexOf(mine), 1);
      if (!this.pending.length) this.busy();
      mine.view.put({ ...whole, at: record?.at }, this.avatarOf(event.bot_id));
      this.turns.set(event.turn, { ...mine, message: mine.text, user_id: this.me(), bot_id: event.bot_id });
    } else if (record) {
      const waiting = this.pending[0]?.nodes[0] ?? null;
      this.#place({ ...record, reply: whole }, this.turns.get(event.turn - 1), waiting);
    }
    this.#trim();
    this.#follow(isNear, mine?.nodes[0]);
  }

  /** What one avatar did in a gathering. */
  contribute(one, text) {
    if (!one.reply) return;
    const avatar = this.avatarOf(one.avatar, one.name);
    const view = new ReplyView(avatar, this.context);
    view.put({ ...one.reply, at: new Date().toISOString() }, avatar);
    this.loose.push({ view, bot: one.avatar, response: one.reply.response, message: text });
    if (this.loose.length > MOST_TURNS) this.loose.shift();
    this.#append(view.node);
  }

  silent(contributions) {
    if (contributions.length) this.#append(silence(contributions, this.avatarOf));
  }

  /** Something that is no reply: an answer of a command, or a warning, which stands in its turn. */
  aside(node, turn = null) {
    const reply = turn === null ? null : (this.turns.get(turn) ?? this.pending[0])?.view.node;
    const isNear = this.#isNear();
    node.classList.add("is-aside");
    if (reply) this.list.insertBefore(node, reply);
    else this.#append(node);
    if (reply) this.#follow(isNear || this.pending.length > 0);
    const all = this.list.querySelectorAll(":scope > .is-aside");
    if (all.length > MOST_ASIDES) all[0].remove();
  }

  note(title, text, extra) {
    this.aside(plainMessage({ title, text, extra }));
  }

  /** The oldest message that waits could not be answered. */
  fail(error, again) {
    const waiting = this.pending.shift();
    this.busy();
    if (!waiting) return false;
    waiting.view.fail(error, again && (() => again(waiting.text)));
    this.#follow(true);
    return true;
  }

  #append(...nodes) {
    this.list.append(...nodes);
    this.#trim();
    this.#follow(true);
  }

  #trim() {
    const numbers = [...this.turns.keys()].sort((a, b) => a - b);
    for (const number of numbers.slice(0, Math.max(0, numbers.length - this.most))) {
      for (const node of this.turns.get(number).nodes) node.remove();
      this.turns.delete(number);
    }
    while (this.list.children.length > 4 * this.most) this.list.firstChild.remove();
    this.earlier.hidden = this.first <= 1 || this.turns.size >= MOST_LOOKED_BACK;
  }

  #isNear() {
    return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < 160;
  }

  /** Stay at the end, unless the person has scrolled up to read; `from` stays in sight. */
  #follow(wanted, from = null) {
    if (!wanted) return;
    const { node } = this;
    const end = node.scrollHeight - node.clientHeight;
    node.scrollTop = from ? Math.min(end, from.offsetTop - node.offsetTop - 12) : end;
  }

  clear() {
    this.turns.clear();
    this.pending.length = this.loose.length = 0;
    fill(this.list);
  }
}
