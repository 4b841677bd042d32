/* Handles: stable names, the card each points at now, and every card it pointed at before. */
import { el, fill, newId } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { address, go } from "../../lib/route.js";
import { shortHash, when } from "../../lib/words.js";
import { problem } from "../../parts/notice.js";

const MOST = 200;
const cardLink = (hash) => el("a", { class: "mono", href: address("ledger", ["cards", hash]), title: hash }, shortHash(hash));
const inPath = (name) => name.split("/").map(encodeURIComponent).join("/");

export function begin({ signal, attempt }) {
  const id = newId("prefix");
  const box = el("input", { id, type: "search", maxlength: "200", placeholder: "avatars/ sessions/ completed/" });
  const form = el("form", { class: "row search-form", on: { submit: (event) => {
    event.preventDefault();
    go(address("ledger", ["handles"], { prefix: box.value.trim() }));
  } } }, el("label", { class: "field grow", for: id }, el("span", {}, "Names that begin with"), box), el("button", { class: "button" }, "Look"));
  const body = el("div", { "aria-live": "polite" });
  const node = el("div", { class: "stack" }, form, body);

  async function list(prefix) {
    box.value = prefix;
    await attempt(async () => {
      const { handles } = await api.get(`api/handles?${new URLSearchParams({ prefix, limit: String(MOST) })}`, { signal });
      fill(body, handles.length
        ? el("ul", { class: "plain handles" }, handles.slice(0, MOST).map((one) => el("li", { class: "row" },
            el("a", { class: "grow mono", href: address("ledger", ["handles", one.name]) }, one.name),
            cardLink(one.current), el("span", { class: "quiet small" }, when(one.updated_at)))))
        : el("p", { class: "empty" }, "No handle begins like that."));
    }, (error) => fill(body, problem(error)));
  }

  async function history(name) {
    fill(body, el("p", { class: "quiet" }, "Looking."));
    await attempt(async () => {
      const { moves } = await api.get(`api/handles/${inPath(name)}/history`, { signal });
      fill(body, el("section", { class: "panel" },
        el("header", {}, el("h2", { class: "mono" }, name), el("a", { class: "button slim", href: "#/ledger/handles" }, "All handles")),
        el("ol", { class: "plain history" }, moves.slice(0, MOST).map((one, place) => el("li", { class: "row" },
          el("span", { class: place === 0 ? "badge good" : "badge" }, one.current === null ? "removed" : place === 0 ? "now" : "before"),
          cardLink(one.current ?? one.previous), el("span", { class: "quiet" }, when(one.moved_at))))),
        moves.length > MOST ? el("p", { class: "quiet small" }, `and ${moves.length - MOST} earlier ones`) : null));
    }, (error) => fill(body, problem(error)));
  }

  return { node, route: ({ path, query }) => (path[1] ? history(path.slice(1).join("/")) : list(query.get("prefix") ?? "")) };
}
