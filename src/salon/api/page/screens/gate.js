/* The gate: whether an action may be offered, why, and the flow from the offer to the receipt.
 *
 * `#/gate/SESSION` shows one session with an assistant. The page decides nothing: it shows what the
 * gate recorded, and an approval names the digest of exactly what is on the screen.
 */
import { adopt, el, fill } from "../lib/dom.js";
import { define, SalonElement } from "../lib/element.js";
import { api, part } from "../lib/api.js";
import { arrived } from "../lib/arrive.js";
import { setCurrentSession } from "../lib/here.js";
import { address, go } from "../lib/route.js";
import { complain, problem } from "../parts/notice.js";
import { beginTalk, noConversation } from "./shared/talk.js";
import { sessionList } from "./shared/sessions.js";
import { digestOf } from "./gate/digest.js";
import { endedPanel, formPanel, orderPanel, rulePanel, standing, statePanel, verdictsPanel } from "./gate/panels.js";

await adopt("draw/draw.css"); // before anything is shown, so that nothing jumps

const PRESET = "assistant";
const ASSISTANT = "manager-assistant";
const NOTHING_YET = { state: "INITIAL", rule: null, verdicts: [], flow: null, form: null, order: null };

export default class Gate extends SalonElement {
  #session = null;
  #isNew = false; // nobody has said anything yet, so there is nothing to look up
  #talk = null;
  #panels = null;
  #status = null; // says in a line what changed, for those who do not see the panels
  #shown = null; // what is drawn, so that what somebody types is not wiped for nothing

  disconnected() {
    this.#leave();
  }

  set route(route) {
    const session = route.path[0] ?? null;
    if (session && session === this.#session) return;
    this.#leave();
    this.#session = session;
    this.#isNew = route.query.has("new");
    if (session) this.#open(session, route.query.get("avatar"));
    else this.#choose();
  }

  #leave() {
    this.#talk?.close();
    this.#talk = null;
    this.#shown = null;
  }

  #choose() {
    fill(this, el("div", { class: "page stack" },
      el("header", { class: "stack tight" },
        el("h1", {}, "The gate"),
        el("p", { class: "lead" }, "An assistant asks, then acts: an action is offered once the context suffices, and done only after you approved exactly that.")),
      el("p", {}, el("button", { class: "button first", type: "button", on: { click: () => this.#begin() } }, "Begin with the assistant")),
      sessionList({ preset: PRESET, screen: "gate", empty: "No conversation with an assistant yet.", signal: this.signal })));
    arrived(null, this.querySelector("h1"));
  }

  async #begin() {
    await this.attempt(async () => {
      const { session_id: session } = await api.post("api/sessions", {}, { signal: this.signal });
      go(address("gate", [session], { avatar: ASSISTANT, new: "1" }));
    }, complain);
  }

  #open(session, avatar) {
    setCurrentSession(session);
    this.#panels = el("div", { class: "gate-panels stack" }, el("p", { class: "quiet" }, "One moment."));
    this.#status = el("p", { class: "visually-hidden", role: "status" });
    this.#talk = beginTalk({
      session, avatar, isNew: this.#isNew, signal: this.signal, placeholder: "Describe what is going on",
      onEvent: (event) => { if (event.type === "bot_response" && !event.command) this.#replied(); },
      onState: (state) => { if (state === "open") this.#load(); },
      onFound: (partner) => this.#found(partner),
    });
    fill(this, el("div", { class: "page stack" },
      el("header", { class: "row apart" }, el("h1", {}, "The gate"),
        el("a", { class: "button slim", href: "#/gate", on: { click: () => setCurrentSession(null) } }, "Other sessions")),
      this.#status, el("div", { class: "beside" }, this.#panels, this.#talk.node)));
    arrived(null, this.querySelector("h1"));
    this.#load();
  }

  #found(partner) {
    if (partner) arrived(`${this.#talk?.user ?? ""} with ${partner.name}`);
  }

  #replied() {
    if (this.#isNew) history.replaceState(null, "", address("gate", [this.#session])); // it is new no more
    this.#isNew = false;
    this.#load();
  }

  async #load() {
    const session = this.#session;
    await this.attempt(async () => {
      const found = await this.#fetch(session);
      if (session !== this.#session) return;
      if (found) this.#show(found);
      else this.#nowhere();
    }, (error) => fill(this.#panels, problem(error, { again: () => this.#load() })));
  }

  async #fetch(session) {
    if (this.#isNew) return NOTHING_YET;
    try {
      return await api.get(`api/sessions/${part(session)}/flow`, { signal: this.signal });
    } catch (error) {
      if (error.status === 404) return null; // there is no such conversation, or not yet
      throw error;
    }
  }

  #nowhere() {
    setCurrentSession(null);
    this.#shown = null;
    fill(this.#panels, noConversation("gate"));
  }

  #show(found) {
    const now = JSON.stringify(found);
    if (now === this.#shown) return;
    if (this.#shown) this.#status.textContent = standing(found);
    this.#shown = now;
    setCurrentSession(this.#session);
    fill(this.#panels,
      formPanel(found, (answer) => this.#send(answer)), orderPanel(found.order), endedPanel(found.flow),
      statePanel(found), rulePanel(found), verdictsPanel(found.verdicts));
    this.#check(found);
  }

  /** Compute the digest from what is shown, and say whether it is the one that an approval will name. */
  async #check({ proposal, form }) {
    const badge = this.#panels.querySelector(".checked");
    if (!badge || !form?.digest) return;
    const found = await digestOf(proposal);
    const isSame = found === form.digest;
    badge.className = found === null ? "badge checked" : `badge checked ${isSame ? "good" : "bad"}`;
    badge.textContent = found === null ? "from the server" : isSame ? "checked here: exactly these values" : "does not fit these values";
  }

  /** Answer the flow; until the answer has come nothing else can be pressed. */
  async #send(answer) {
    this.#panels.inert = true;
    await this.attempt(async () => {
      await api.post(`api/sessions/${part(this.#session)}/flow`, { user_id: this.#talk.owner, ...answer }, { signal: this.signal });
    }, complain);
    await this.#load();
    this.#panels.inert = false;
    this.#panels.querySelector(".flow, .receipt")?.focus(); // where it goes on, for the keyboard
  }
}

define("salon-gate", Gate);
