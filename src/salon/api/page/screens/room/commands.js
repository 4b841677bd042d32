/* The commands that the page itself answers, and how answers of the server are shown. */
import { el } from "../../lib/dom.js";
import { api, part } from "../../lib/api.js";
import { list } from "../../lib/words.js";
import { COMMANDS } from "../../parts/composer.js";
import { icon } from "../../parts/icons.js";
import { plainMessage } from "../../parts/message.js";
import { complain } from "../../parts/notice.js";
import { begin } from "./lobby.js";
import { sourcesPanel } from "./sources.js";

const KEPT_MS = 10_000;

/** By name, what the page does: from the room and what stands behind the name. */
export const OWN = { "/help": help, "/sources": sources, "/ask": ask };

function help(talk) {
  talk.thread.aside(plainMessage({ title: "Commands", extra: el("dl", { class: "facts" }, COMMANDS.flatMap((one) => [
    el("dt", {}, el("code", {}, [one.name, one.takes].filter(Boolean).join(" "))), el("dd", {}, one.about)])) }));
}

function sources(talk) {
  talk.empty.hidden = true;
  talk.thread.aside(plainMessage({ title: "Sources", extra: sourcesPanel(talk.present, talk.signal, talk.session) }));
}

function ask(talk, rest) {
  const [name, avatar] = named(talk.avatars, rest) ?? [];
  const question = avatar ? rest.slice(name.length).trim() : "";
  if (!avatar) talk.thread.note("/ask", `Whom? There are ${list(talk.avatars.map((one) => one.id))}. Write /ask AVATAR QUESTION.`);
  else if (!question) talk.composer.suggest(`/ask ${avatar.id} `);
  else put(talk, avatar, question);
}

/** Whom a text begins with, by id or by name: [what it says, avatar]. */
function named(avatars, text) {
  const wanted = text.toLowerCase();
  return avatars.flatMap((one) => [[one.id, one], [one.name, one]])
    .filter(([name]) => wanted === name.toLowerCase() || wanted.startsWith(`${name.toLowerCase()} `))
    .sort((one, other) => other[0].length - one[0].length)[0];
}

function put(talk, avatar, question) {
  const entry = talk.thread.send(question, avatar);
  talk.remember(question);
  const path = `api/sessions/${part(talk.session)}/messages`;
  talk.attempt(async () => {
    const answer = await api.post(path, { content: question, user_id: talk.me(), avatar: avatar.id }, { signal: talk.signal });
    for (const event of answer.events) if (event.type === "bot_response") talk.hear(event);
  }, (error) => {
    talk.thread.pending = talk.thread.pending.filter((one) => one !== entry);
    entry.view.fail(error);
    if (error.status !== 422) return;
    const elsewhere = () => talk.attempt(() => begin([avatar], { signal: talk.signal, say: question }), complain);
    entry.view.body.append(el("p", {}, el("button", { class: "button slim", type: "button", on: { click: elsewhere } }, `Ask ${avatar.name} in a conversation of its own`)));
  });
}

/** Show what the server answered to a command; a file is offered for saving. */
export function showAnswer(talk, event) {
  const save = el("button", { class: "button", type: "button", on: { click: () => download(event.filename, event.content) } }, icon("save"), `Save ${event.filename}`);
  talk.thread.aside(plainMessage({ title: event.command, ai: event.ai_label,
    text: event.filename ? "Everything about you is in this file; it can be imported again." : event.content,
    extra: event.filename ? el("p", {}, save) : null }));
}

function download(filename, content) {
  const href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  el("a", { href, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}

/** Ask whether to delete a conversation; resolves to the answer. */
export function confirmDelete() {
  return new Promise((resolve) => {
    const dialog = el("dialog", { "aria-labelledby": "delete-title" }, el("form", { method: "dialog" },
      el("h2", { id: "delete-title" }, "Delete this conversation?"),
      el("p", {}, "Its turns go, and the memories that only they support. This cannot be undone."),
      el("div", { class: "row" }, el("button", { class: "button danger", value: "yes" }, "Delete it"), el("button", { class: "button bare", value: "" }, "Keep it"))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
