/* A screen of several views, one at a time: `#/NAME` is the first, `#/NAME/VIEW/…` another.
 *
 * A view is a module with `begin({signal, attempt})`, which returns {node, route(route), stop?}.
 */
import { adopt, el, fill } from "../../lib/dom.js";
import { SalonElement } from "../../lib/element.js";
import { problem } from "../../parts/notice.js";

await adopt("draw/draw.css"); // before anything is shown, so that nothing jumps

export class Tabbed extends SalonElement {
  #view = null;
  #shown = null;
  #body = el("div", { class: "stack" });
  #tabs;

  /** about: {name, title, lead, views: {key: {title, load}}}, the first view first. */
  constructor(about) {
    super();
    this.about = about;
    this.#tabs = el("nav", { class: "tabs", "aria-label": `Parts of ${about.title.toLowerCase()}` });
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
    }, (error) => fill(this.#body, problem(error)));
  }

  #leave() {
    this.#shown?.stop?.();
    this.#shown = null;
    this.#view = null;
  }

  #light(now) {
    const { name, views } = this.about;
    fill(this.#tabs, Object.entries(views).map(([key, view], place) =>
      el("a", { href: place ? `#/${name}/${key}` : `#/${name}`, "aria-current": key === now ? "page" : null }, view.title)));
  }
}
