/* What somebody has typed and not sent: this tab keeps it, for a reload or a look at another screen. */
import { passing } from "./store.js";

const place = (session) => `draft.${session}`;

export const draftOf = (session) => passing.get(place(session)) ?? "";

export function keepDraft(session, text) {
  passing.set(place(session), text.trim() ? text : null);
}
