/* The avatars of this home by id, to show names where records hold ids. */
import { api } from "./api.js";

/** A look-up `(id) => avatar`; an avatar that nobody knows has its id for a name. Never fails. */
export async function avatarBook(signal) {
  let known = [];
  try {
    known = (await api.get("api/avatars", { signal })).avatars;
  } catch { /* ids are better than nothing */ }
  return (id) => known.find((one) => one.id === id) ?? { id, name: id, ai_label: "AI" };
}
