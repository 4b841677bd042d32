/* The message box, with commands: a slash opens their list, arrows and Tab choose, Escape closes. */
import { el, fill, newId } from "../lib/dom.js";
import { define, SalonElement } from "../lib/element.js";
import { draftOf, keepDraft } from "../lib/draft.js";
import { icon } from "./icons.js";
import { toneOf } from "./ai.js";

/** Every command of the page. `server`: Salon answers it in the session; the others the page does. */
export const COMMANDS = [
  { name: "/ask", about: "ask one avatar by name", takes: "AVATAR QUESTION" },
  { name: "/sources", about: "the documents that the avatars here rest on" },
  { name: "/analyze-relationship", about: "a detailed report on the relationship so far", server: true },
  { name: "/predict-future", about: "where the relationship may stand in turn 50", server: true },
  { name: "/export-data", about: "everything about you in one file", server: true },
  { name: "/help", about: "this list" },
];
const LONGEST = 32_000;
const PLACEHOLDER = "Say something, or type /";

/** Split what was typed: {name, rest}, or null where it is no command. */
export function readCommand(text) {
  const found = /^\s*(\/[\w-]+)\s*([^]*)$/.exec(text);
  return found ? { name: found[1].toLowerCase(), rest: found[2].trim() } : null;
}

/** Fires `say` {text}. Set `avatars` for completion after /ask, `session` for the draft to be kept. */
export class Composer extends SalonElement {
  #choices = [];
  #at = 0;
  avatars = [];
  session = null;

  constructor() {
    super();
    this.id_ = newId("box");
    this.box = el("textarea", { rows: "1", id: this.id_, maxlength: LONGEST, placeholder: PLACEHOLDER, dir: "auto", "aria-label": "Your message",
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${this.id_}-list`, enterkeyhint: "send", autocomplete: "off" });
    this.list = el("ul", { class: "plain choices", id: `${this.id_}-list`, role: "listbox", "aria-label": "Commands", hidden: true });
    this.button = el("button", { class: "button first icon", type: "submit", "aria-label": "Send", title: "Send (Enter)" }, icon("send"));
    this.form = el("form", { class: "composer-form" }, this.list, this.box, this.button);
  }

  connected() {
    this.classList.add("composer-box");
    if (!this.firstChild) this.append(this.form);
    const { signal } = this;
    this.box.addEventListener("input", () => this.#typed(), { signal });
    this.box.addEventListener("keydown", (event) => this.#key(event), { signal });
    this.box.addEventListener("blur", () => this.later(() => this.#close(), 150), { signal });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    }, { signal });
    const draft = this.session ? draftOf(this.session) : "";
    if (draft && !this.box.value) {
      this.box.value = draft;
      this.#typed();
      this.#close();
    }
  }

  /** Let nothing be said, with the reason in the box; `null` opens it again. */
  shut(reason) {
    this.box.disabled = this.button.disabled = reason !== null;
    this.box.placeholder = reason ?? PLACEHOLDER;
    this.#close();
  }

  /** Put back what could not be done, unless something else was typed meanwhile. */
  giveBack(text) {
    if (this.box.value) return;
    this.box.value = text;
    this.#typed();
    this.#close();
  }

  /** Put words into the box, ready to be sent. */
  suggest(text) {
    this.box.value = text;
    this.box.focus();
    this.#typed();
  }

  #send() {
    const text = this.box.value.trim();
    if (!text) return;
    const event = new CustomEvent("say", { detail: { text }, cancelable: true });
    if (!this.dispatchEvent(event)) return; // it could not be sent: the words stay
    this.box.value = "";
    this.#typed();
  }

  #typed() {
    if (this.session) keepDraft(this.session, this.box.value);
    this.box.style.setProperty("height", "auto");
    this.box.style.setProperty("height", `${Math.min(this.box.scrollHeight + 2, 220)}px`);
    this.#choices = this.#matching(this.box.value);
    this.#at = 0;
    this.#draw();
  }

  #matching(text) {
    const asked = /^\/ask\s+(\S*)$/i.exec(text);
    if (asked) {
      return this.avatars.filter((one) => one.id.startsWith(asked[1].toLowerCase()) || one.name.toLowerCase().startsWith(asked[1].toLowerCase()))
        .slice(0, 8).map((one) => ({ fill: `/ask ${one.id} `, name: one.name, about: "AI avatar", tone: toneOf(one.id) }));
    }
    if (!/^\/[\w-]*$/.test(text)) return [];
    return COMMANDS.filter((one) => one.name.startsWith(text.toLowerCase()))
      .map((one) => ({ fill: one.takes ? `${one.name} ` : one.name, name: one.name, about: one.about }));
  }

  #draw() {
    const open = this.#choices.length > 0;
    this.list.hidden = !open;
    this.box.setAttribute("aria-expanded", String(open));
    fill(this.list, this.#choices.map((one, at) => el("li", { role: "option", id: `${this.id_}-${at}`, "aria-selected": String(at === this.#at),
      on: { mousedown: (event) => event.preventDefault(), click: () => this.#choose(at) } },
    el("span", { class: one.name.startsWith("/") ? "mono" : "strong" }, one.name), el("span", { class: "quiet small" }, one.about))));
    if (open) this.box.setAttribute("aria-activedescendant", `${this.id_}-${this.#at}`);
    else this.box.removeAttribute("aria-activedescendant");
    this.list.children[this.#at]?.scrollIntoView({ block: "nearest" });
  }

  #choose(at) {
    this.suggest(this.#choices[at].fill);
    if (!this.box.value.endsWith(" ")) this.#close();
  }

  #close() {
    this.#choices = [];
    this.#draw();
  }

  #key(event) {
    if (event.isComposing) return;
    const open = this.#choices.length > 0;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (open && moves[event.key]) {
      this.#at = (this.#at + moves[event.key] + this.#choices.length) % this.#choices.length;
      this.#draw();
    } else if (open && event.key === "Escape") this.#close();
    else if (open && (event.key === "Tab" || event.key === "Enter") && !event.shiftKey && this.box.value.trim() !== this.#choices[this.#at].fill.trim()) this.#choose(this.#at);
    else if (event.key === "Enter" && !event.shiftKey) this.#send();
    else return;
    event.preventDefault();
  }
}

define("salon-composer", Composer);
