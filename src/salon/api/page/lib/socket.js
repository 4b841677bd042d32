/* A session over the WebSocket: comes back by itself after a cut and misses nothing, twice nothing.
 *
 * States: connecting, open, lost (it tries again), gone (the session was deleted), closed (we left),
 * unsayable (the token holds characters that a WebSocket cannot carry).
 */
import { socketUrl, token, api } from "./api.js";
import { waitMs } from "./again.js";

const SESSION_GONE = 4404;

export class SessionSocket {
  #socket = null;
  #tries = 0;
  #timer = null;
  #closed = false;
  #ending = new AbortController();

  /** `after`: the id of the latest event that is known; `null` to hear only what comes. */
  constructor({ session, avatar = null, after = null, onEvent, onState }) {
    Object.assign(this, { session, avatar, after, onEvent, onState, state: "connecting" });
    window.addEventListener("online", () => this.#hurry(), { signal: this.#ending.signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.#hurry(), { signal: this.#ending.signal });
    this.#connect();
  }

  /** Send a message; false where there is no connection. */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify({ ...message, session_id: this.session }));
    return true;
  }

  close() {
    this.#closed = true;
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.#drop();
    this.#say("closed");
  }

  #address() {
    const found = socketUrl(`ws/${encodeURIComponent(this.session)}`);
    if (this.avatar) found.searchParams.set("avatar", this.avatar);
    if (this.after !== null) found.searchParams.set("last_event_id", String(this.after));
    return found;
  }

  #connect() {
    this.#drop();
    const protocols = token() ? ["salon", `bearer.${token()}`] : ["salon"];
    let socket;
    try {
      socket = new WebSocket(this.#address(), protocols);
    } catch {
      this.#say("unsayable");
      return;
    }
    let opened = false;
    this.#socket = socket;
    socket.onopen = () => {
      opened = true;
      this.#tries = 0;
      this.#say("open");
    };
    socket.onmessage = (frame) => this.#hear(frame.data);
    socket.onclose = (event) => {
      if (socket !== this.#socket || this.#closed) return;
      this.#drop();
      if (event.code === SESSION_GONE) this.#say("gone");
      else this.#again(opened);
    };
  }

  #hear(text) {
    let event;
    try {
      event = JSON.parse(text);
    } catch {
      return; // not one of ours
    }
    const isKept = event.type !== "error" && event.type !== "reply_delta" && !event.command;
    if (isKept) {
      if (this.after !== null && event.event_id <= this.after) return;
      this.after = event.event_id;
    }
    this.onEvent(event);
  }

  async #again(wasOpen) {
    this.#say("lost");
    this.#tries += 1;
    if (!wasOpen && this.#tries === 1) {
      // A refused handshake does not say why; a request does, and asks for the token where one is due.
      await api.get("ready").catch(() => {});
      if (this.#closed) return;
    }
    this.#timer = setTimeout(() => this.#connect(), waitMs(this.#tries));
  }

  #hurry() {
    if (this.state !== "lost" || this.#closed) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  #drop() {
    if (!this.#socket) return;
    const old = this.#socket;
    this.#socket = null;
    old.onopen = old.onmessage = old.onclose = null;
    old.close();
  }

  #say(state) {
    if (this.state === state && state !== "open") return;
    this.state = state;
    this.onState?.(state);
  }
}
