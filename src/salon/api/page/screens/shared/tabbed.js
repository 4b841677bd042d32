/* A screen of several views, one at a time: `#/NAME` is the first, `#/NAME/VIEW/…` another.
 *
 * A view is a module with `begin({signal, attempt})`, which returns {node, route(route), stop?}.
 */
import { adopt, el, fill } from "../../lib/dom.js";
import { arrived } from "../../lib/arrive.js";
import { SalonElement } from "../../lib/element.js";
import { cut } from "../../draw/geometry.js";
import { problem } from "../../parts/notice.js";

const LONGEST = 60; // letters of a name in the title of the window

await adopt("draw/draw.css"); // before anything is shown, so that nothing jumps

export class Tabbed extends SalonElement {
  #view = null;
  #shown = null;
  #body = el("section", { class: "stack" });
  #tabs;

  /** about: {name, title, lead, views: {key: {title, load}}}, the first view first. */
  constructor(about) {
    super();
    this.about = about;
    this.#tabs = el("nav", { class: "tabs", "aria-label": `Parts of ${about.title.toLowerCase()}` },
      Object.entries(about.views).map(([key, view], place) => el("a", { href: place ? `#/${about.name}/${key}` : `#/${about.name}`, "data-view": key }, view.title)));
  }

  connected() {
    const { title, lead } = this.about;
    fill(this, el("div", { class: "page stack" },
      el("header", { class: "stack tight" }, el("h1", {}, title), el("p", { class: "lead" }, lead)), this.#tabs, this.#body));
  }

  disconnected() {
    this.#leave();
  }

  set route(route) {
    const { views } = this.about;
    const [first] = Object.keys(views);
    const name = route.path[0] in views ? route.path[0] : first;
    this.#light(name);
    if (name === this.#view && this.#shown) {
      this.#shown.route(route);
      this.#arrive(name, route);
      return;
    }
    this.#leave();
    this.#view = name;
    this.attempt(async () => {
      const { begin } = await views[name].load();
      if (this.#view !== name || this.signal.aborted) return;
      this.#shown = begin({ signal: this.signal, attempt: (work, onError) => this.attempt(work, onError) });
      fill(this.#body, this.#shown.node);
      this.#shown.route(route);
      this.#arrive(name, route);
    }, (error) => fill(this.#body, problem(error)));
  }

  #leave() {
    this.#shown?.stop?.();
    this.#shown = null;
    this.#view = null;
  }

  /** The links stay the same ones, so that whoever chose one still has the focus there. */
  #light(now) {
    for (const one of this.#tabs.children) {
      if (one.dataset.view === now) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
  }

  /** Name what is shown: the thing in the address, and the view unless it is the first one. */
  #arrive(name, { path, query }) {
    const { views } = this.about;
    const thing = [path.slice(1).join("/"), query.get("q"), query.get("entity")].filter(Boolean).map((one) => cut(one, LONGEST))[0];
    const view = name === Object.keys(views)[0] && !thing ? null : views[name].title;
    const words = [thing, view].filter(Boolean).join(" · ");
    this.#body.setAttribute("aria-label", [views[name].title, thing].filter(Boolean).join(": "));
    arrived(words || null, thing ? this.#body : this.querySelector("h1"));
  }
}
