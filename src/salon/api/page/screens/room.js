/* The room: choose an avatar or gather several, then talk. `#/room`, `#/room/SESSION?with=a,b`. */
import { el, fill } from "../lib/dom.js";
import { define, SalonElement } from "../lib/element.js";
import { api } from "../lib/api.js";
import { arrived } from "../lib/arrive.js";
import { setCurrentSession, recentSessions } from "../lib/here.js";
import { problem } from "../parts/notice.js";
import { Lobby } from "./room/lobby.js";
import { Talk } from "./room/talk.js";

async function loadAvatars(signal) {
  return (await api.get("api/avatars", { signal })).avatars;
}

export default class Room extends SalonElement {
  #avatars = null;
  #route = null;

  set route(route) {
    this.#route = route;
    this.#show();
  }

  async #show() {
    const route = this.#route;
    this.#avatars ??= this.attempt(() => loadAvatars(this.signal), (error) => {
      this.#avatars = null;
      fill(this, el("div", { class: "page" }, el("h1", {}, "The room"), problem(error, { again: () => this.#show() })));
    });
    const avatars = await this.#avatars;
    if (!avatars || route !== this.#route || this.signal.aborted) return;
    const [session] = route.path;
    setCurrentSession(session ?? null);
    if (!session) {
      fill(this, new Lobby(avatars));
      arrived(null, this.querySelector("h1"));
      return;
    }
    const known = recentSessions().find((one) => one.session === session);
    const wanted = route.query.get("with")?.split(",").filter(Boolean) ?? known?.avatars ?? [];
    fill(this, new Talk({ session, avatars, wanted, first: route.query.get("say"), isMine: Boolean(known), isNew: Boolean(known && !known.title) }));
  }
}

define("salon-room", Room);
