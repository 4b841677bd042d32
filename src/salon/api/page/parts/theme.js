/* Light, dark, or as the system has it. */
import { el, fill } from "../lib/dom.js";
import { lasting } from "../lib/store.js";
import { icon } from "./icons.js";

const WAYS = [["auto", "as the system"], ["light", "light"], ["dark", "dark"]];
const ICONS = { auto: "auto", light: "sun", dark: "moon" };

function apply(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function themeButton() {
  let at = Math.max(0, WAYS.findIndex(([name]) => name === lasting.get("theme")));
  const button = el("button", { class: "button icon bare", type: "button", on: { click: next } });
  function draw() {
    const [name, words] = WAYS[at];
    apply(name);
    fill(button, icon(ICONS[name]));
    button.title = `Colours: ${words}`;
    button.setAttribute("aria-label", `Colours: ${words}. Change.`);
  }
  function next() {
    at = (at + 1) % WAYS.length;
    lasting.set("theme", at === 0 ? null : WAYS[at][0]);
    draw();
  }
  draw();
  return button;
}
