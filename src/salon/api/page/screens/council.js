/* The council: rounds as they happen and as they ended, a new round, and the souls of the five seats.
 *
 * `#/council`, `#/council/souls`, `#/council/ROUND`.
 */
import { adopt, el, fill, newId } from "../lib/dom.js";
import { define, SalonElement } from "../lib/element.js";
import { api } from "../lib/api.js";
import { arrived } from "../lib/arrive.js";
import { address, go } from "../lib/route.js";
import { when } from "../lib/words.js";
import { problem } from "../parts/notice.js";

await adopt("draw/draw.css"); // before anything is shown, so that nothing jumps

const MOST = 100;

export default class Council extends SalonElement {
  #shown = null; // what is on the screen: "rounds", "souls" or the id of a round
  #ending = null;
  #tabs = el("nav", { class: "tabs", "aria-label": "Parts of the council" },
    [["rounds", "Rounds", "#/council"], ["souls", "Souls", "#/council/souls"]].map(([key, text, href]) => el("a", { href, "data-part": key }, text)));
  #body = el("div", { class: "stack" });

  disconnected() {
    this.#leave();
  }

  set route(route) {
    const wanted = route.path[0] ?? "rounds";
    if (wanted === this.#shown) return;
    this.#leave();
    this.#shown = wanted;
    this.#ending = new AbortController();
    if (wanted === "rounds") this.#rounds();
    else this.#open(wanted);
  }

  #leave() {
    this.#ending?.abort();
    this.#ending = null;
    this.#shown = null;
  }

  /** Rounds and souls share a frame, which stays: whoever goes from tab to tab keeps the focus there. */
  #frame(now, ...children) {
    for (const one of this.#tabs.children) {
      if (one.dataset.part === now) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    fill(this.#body, ...children);
    if (!this.contains(this.#tabs)) {
      fill(this, el("div", { class: "page stack" },
        el("header", { class: "stack tight" }, el("h1", {}, "The council"),
          el("p", { class: "lead" }, "Five seats draft, criticise, refine and vote. A text becomes published knowledge by their vote alone, with every source checked.")),
        this.#tabs, this.#body));
    }
    arrived(now === "souls" ? "Souls" : null, this.querySelector("h1"));
  }

  #rounds() {
    const { signal } = this.#ending;
    const list = el("div", {}, el("p", { class: "quiet" }, "Looking."));
    this.#frame("rounds", this.#starting(), list);
    this.attempt(async () => {
      const { rounds } = await api.get("api/rounds", { signal });
      fill(list, rounds.length ? el("ul", { class: "plain rounds" }, rounds.slice(0, MOST).map((one) => el("li", {}, roundLink(one))))
        : el("p", { class: "empty" }, "No round yet. Give the council a topic that the library covers."));
    }, (error) => fill(list, problem(error)));
  }

  #starting() {
    const id = newId("topic");
    const said = el("div", { role: "status" });
    const button = el("button", { class: "button first" }, "Start a round");
    const box = el("input", { id, type: "text", dir: "auto", maxlength: "300", required: true, autocomplete: "off", placeholder: "How do users of a commons keep each other to the rules?" });
    return el("form", { class: "panel stack tight", on: { submit: (event) => {
      event.preventDefault();
      if (!box.value.trim()) return;
      button.disabled = true;
      fill(said, el("p", { class: "quiet" }, "Calling the seats."));
      this.attempt(async () => {
        const round = await api.post("api/rounds", { topic: box.value.trim() }, { signal: this.signal });
        go(address("council", [round.id ?? round.round_id]));
      }, (error) => fill(said, problem(error))).finally(() => {
        button.disabled = false;
      });
    } } },
    el("div", { class: "row search-form" }, el("label", { class: "field grow", for: id }, el("span", {}, "Topic of a new round"), box), button), said);
  }

  #open(wanted) {
    const { signal } = this.#ending;
    const load = wanted === "souls" ? () => import("./council/souls.js") : () => import("./council/round.js");
    this.attempt(async () => {
      const view = await load();
      if (this.#shown !== wanted || signal.aborted) return;
      const { node } = view.begin({ id: wanted, signal, attempt: (work, onError) => this.attempt(work, onError) });
      if (wanted === "souls") this.#frame("souls", node);
      else fill(this, el("div", { class: "page" }, node));
    }, (error) => fill(this, el("div", { class: "page stack" }, el("h1", {}, "The council"), problem(error))));
  }
}

const KINDS = { published: "good", no_quorum: "bad" };
const NAMES = { no_quorum: "no quorum" };

function roundLink(one) {
  return el("a", { class: "card-link", href: address("council", [one.id]) },
    el("span", { class: "row apart" }, el("strong", { dir: "auto" }, one.topic), el("span", { class: `badge ${KINDS[one.phase] ?? "note"}` }, NAMES[one.phase] ?? one.phase)),
    el("span", { class: "quiet small" }, [when(one.opened_at), one.attempt ? `attempt ${one.attempt + 1}` : null].filter(Boolean).join(" · ")));
}

define("salon-council", Council);
