/* Putting a question to several avatars: each speaks where its documents answer, or says why not. */
import { el } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { passing } from "../../lib/store.js";
import { personMessage } from "../../parts/message.js";
import { problem } from "../../parts/notice.js";

const MOST_SILENCES = 30;

/** Ask all who are present; what each does is shown as it comes. */
export async function gather(talk, text) {
  const at = new Date().toISOString();
  const words = "They look whether they have something to say.";
  const waiting = el("p", { class: "gather-wait quiet row", "aria-hidden": "true" }, el("span", { class: "dots" }, el("i"), el("i"), el("i")), words);
  talk.thread.busy(words);
  talk.thread.list.append(waiting);
  try {
    const silent = [];
    let seen = 0;
    const body = { message: text, avatars: talk.present.map((one) => one.id), session_id: talk.session, speaker: talk.me() };
    for await (const { event, data } of api.stream("api/gather", body, { signal: talk.signal })) {
      // The whole comes last; whoever heard the parts knows it.
      const parts = event === "contribution" ? [data] : event === "reply" ? (data.contributions ?? []).slice(seen) : [];
      for (const one of parts) {
        seen += 1;
        if (!one.reply) silent.push(one);
        talk.thread.contribute(one, text);
        talk.thread.list.append(waiting);
      }
    }
    waiting.remove();
    talk.thread.silent(silent);
    const spoke = silent.length < seen;
    if (spoke) talk.recorded = (await talk.look({ limit: 1 }))?.turn_count ?? talk.recorded;
    keepSilence(talk.session, { after: talk.recorded, text, at, user: talk.me(), silent, spoke });
  } catch (error) {
    if (error.name !== "AbortError") talk.thread.aside(problem(error, { again: () => talk.send(text) }));
  } finally {
    waiting.remove();
    talk.thread.busy();
  }
}

const place = (session) => `silent.${session}`;

/** Silence leaves no record in the session; this tab keeps it for a reload. */
function keepSilence(session, entry) {
  passing.write(place(session), [...passing.read(place(session), []), entry].slice(-MOST_SILENCES));
}

/** Whether anybody was silent here: such a conversation has no record yet. */
export const hasSilence = (session) => passing.read(place(session), []).length > 0;

/** Show again who was silent after a turn. */
export function showSilence(talk, after) {
  for (const one of passing.read(place(talk.session), []).filter((kept) => kept.after === after)) {
    if (!one.spoke) talk.thread.list.append(personMessage({ name: one.user, text: one.text, at: one.at, mine: true }));
    talk.thread.silent(one.silent);
  }
}

export function forgetSilence(session) {
  passing.set(place(session), null);
}
