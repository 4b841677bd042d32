/* Who the person is and which session they are in; screens share it, the address decides. */
import { lasting, passing } from "./store.js";

const MOST_RECENT = 12;
const listening = new EventTarget();

export function currentSession() {
  return passing.get("session");
}

/** Say which session is on the screen; `null` when none is. */
export function setCurrentSession(session) {
  if (passing.get("session") === session) return;
  passing.set("session", session);
  listening.dispatchEvent(new Event("session"));
}

export function onSession(work, options) {
  listening.addEventListener("session", work, options);
}

export function myName() {
  return lasting.get("name") || "Guest";
}

export function setMyName(name) {
  lasting.set("name", name.trim().slice(0, 60) || null);
}

/** The sessions that this browser has seen, the latest one first: {session, avatars: [], title, at}. */
export function recentSessions() {
  const kept = lasting.read("recent", []);
  return Array.isArray(kept) ? kept.filter((one) => one?.session && Array.isArray(one.avatars)) : [];
}

export function rememberSession(entry) {
  const others = recentSessions().filter((one) => one.session !== entry.session);
  const known = recentSessions().find((one) => one.session === entry.session) ?? {};
  lasting.write("recent", [{ ...known, ...entry }, ...others].slice(0, MOST_RECENT));
}

export function forgetSession(session) {
  lasting.write("recent", recentSessions().filter((one) => one.session !== session));
  if (currentSession() === session) setCurrentSession(null);
}
