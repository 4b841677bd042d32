/* The shell of the page: which screen is shown, how it is named, what is lit in the navigation.
 *
 * HOW A SCREEN IS MADE (read this before writing one)
 * - `screens/NAME.js` has one default export: a class that extends `SalonElement` (lib/element.js),
 *   registered with `define("salon-NAME", TheClass)`. It is shown for `#/NAME…`; `screens/NAME.css`
 *   is loaded with it. The row in SCREENS below names it. Nothing of it is loaded before it is shown.
 * - The shell sets `screen.route = {path: ["a", "b"], query: URLSearchParams}` for `#/NAME/a/b?x=1`
 *   once it is connected, and again whenever only the address changes. Go elsewhere with `go("#/…")`
 *   from lib/route.js.
 * - `this.signal` (an AbortSignal) ends when the screen is left: hand it to every `api.…({signal})`
 *   and every `addEventListener(…, {signal})`, so that nothing stays behind. `this.later(fn, ms)` is a
 *   timer that ends with it too.
 * - `lib/dom.js`: `el("div", {class, text, on: {click}, aria-…, …}, ...children)`, `svg(…)`, `fill(node,
 *   ...children)`, `externalLink(url, text)`. Strings become text nodes, never markup. There is no
 *   innerHTML anywhere, and no style attribute: use classes, or `node.style.setProperty("--x", …)`.
 * - `lib/api.js`: `api.get/post/del/bytes/stream`; an error is an `ApiError` {status, code, message,
 *   hint}. `parts/notice.js`: `problem(error)` shows one in words, `say(text)` a passing message.
 *   A 401 asks for the token by itself and repeats the request.
 * - `lib/socket.js`: `SessionSocket`, the WebSocket with replay. `lib/events.js`: server-sent events.
 * - `lib/here.js`: the session that the person is in (`currentSession()`), for reading and gate.
 * - `lib/words.js`: numbers, shares, dates, hashes as people read them.
 * - Parts: `parts/ai.js` (`aiBadge(label)`, `monogram(avatar)`, `avatarName(avatar)`),
 *   `parts/citation.js` (`citationChip(citation, number)`: opens the proof), `parts/badges.js`
 *   (`statusBadge(status, notes)`), `parts/outcome.js`,
 *   `parts/documents.js` (the list of sources with links and status), `parts/icons.js`.
 * - Give each screen one `<h1>` (class `visually-hidden` where the design has none), and call
 *   `arrived(what, node)` from lib/arrive.js once something is drawn: the title of the window names it,
 *   and after a move the focus goes to that node. What people wrote has `dir="auto"`.
 * - A live region holds a short line about what changed, never a whole screen.
 * - Looks: tokens and shared classes are in app.css; use them (`.panel .stack .row .grid .button .chip
 *   .badge .field .table .notice .quiet .serif .mono .empty .tabs .meter`).
 */
import { el, fill, adopt } from "./lib/dom.js";
import { icon } from "./parts/icons.js";
import { problem } from "./parts/notice.js";
import { askTokenWith } from "./lib/api.js";
import { moving, onScreen } from "./lib/arrive.js";
import { parse, go } from "./lib/route.js";
import { currentSession, onSession } from "./lib/here.js";
import { themeButton } from "./parts/theme.js";

const SCREENS = {
  room: { title: "Room", icon: "room", about: "Talk with avatars" },
  reading: { title: "Reading", icon: "reading", about: "What a conversation shows", session: true },
  gate: { title: "Gate", icon: "gate", about: "What may be done", session: true },
  council: { title: "Council", icon: "council", about: "Rounds and ballots" },
  library: { title: "Library", icon: "library", about: "Documents and search" },
  ledger: { title: "Ledger", icon: "ledger", about: "The audit log" },
};
const main = document.getElementById("main");
const nav = document.getElementById("nav");
let shown = null;
let place = ""; // the path that is shown, without what is asked there
let wanted = 0;

function drawNavigation() {
  const links = Object.entries(SCREENS).map(([name, screen]) =>
    el("a", { href: `#/${name}`, "data-screen": name, title: screen.about },
      icon(screen.icon), el("span", {}, screen.title)));
  fill(nav, ...links);
  onSession(markSession);
  markSession();
}

function markSession() {
  const session = currentSession();
  for (const link of nav.children) {
    const name = link.dataset.screen;
    const held = session && (SCREENS[name].session || name === "room");
    link.setAttribute("href", held ? `#/${name}/${encodeURIComponent(session)}` : `#/${name}`);
  }
}

function light(name) {
  for (const link of nav.children) {
    if (link.dataset.screen === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

const pathOf = (route) => [route.name, ...route.path].join("/");

/** Show another place of the same screen. A tab that was chosen keeps the focus, and so does a form. */
function turnTo(route) {
  const isElsewhere = pathOf(route) !== place;
  place = pathOf(route);
  const isTab = document.activeElement?.closest(".tabs");
  if (isElsewhere && !isTab) moving(main);
  shown.route = route;
  if (isElsewhere) window.scrollTo(0, 0);
  if (document.activeElement === document.body) moving(main); // what had the focus has gone
}

async function show() {
  const route = parse(location.hash);
  const screen = SCREENS[route.name];
  if (!screen) return go("#/room", { replace: true });
  light(route.name);
  if (pathOf(route) !== place) onScreen(screen.title); // what is there is named by whoever draws it
  const turn = ++wanted; // whatever is still being loaded for an earlier place comes too late
  if (shown?.dataset.screen === route.name) {
    turnTo(route);
    return undefined;
  }
  try {
    const [{ default: Screen }] = await Promise.all([
      import(`./screens/${route.name}.js`), adopt(`screens/${route.name}.css`)]);
    if (turn !== wanted) return undefined; // somebody has gone on meanwhile
    const first = shown === null;
    shown = new Screen();
    shown.dataset.screen = route.name;
    shown.classList.add("screen");
    fill(main, shown);
    if (!first) moving(main);
    place = pathOf(parse(location.hash));
    shown.route = parse(location.hash);
    window.scrollTo(0, 0);
  } catch (error) {
    if (turn !== wanted) return undefined;
    shown = null;
    fill(main, el("div", { class: "pad" }, el("h1", {}, screen.title), problem(
      error instanceof TypeError ? { message: "this screen could not be loaded", hint: "is the server still running? Reload the page" } : error)));
  }
  return undefined;
}

askTokenWith(async (wrong) => (await import("./parts/token.js")).askToken(wrong)); // loaded when first wanted
drawNavigation();
document.getElementById("top-end").append(themeButton());
document.getElementById("skip").addEventListener("click", () => main.focus());
window.addEventListener("hashchange", show);
show();
