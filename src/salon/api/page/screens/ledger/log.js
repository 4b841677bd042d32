/* The audit log: the latest entries first, those that were asked for, and the check of the whole chain.
 *
 * `#/ledger?kind=…&session=…&since=…`: what is asked for stands in the address, and the server looks
 * for it, however long the log is.
 */
import { el, fill, newId } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { address, go } from "../../lib/route.js";
import { count, number, shortHash, when } from "../../lib/words.js";
import { icon } from "../../parts/icons.js";
import { problem, sentence } from "../../parts/notice.js";
import { words } from "../../draw/sets.js";

const PAGE = 100;
const MOST = 1000;
const HASH = /^[0-9a-f]{64}$/;
// The facts that name cards. What else looks like a hash is the digest of something that is no card.
const CARDS = new Set(["hash", "hashes", "also_deleted", "previous", "current", "source", "text", "layout", "citing", "spans", "card", "from_card",
  "turn", "artefact", "handles", "citations", "derivations"]);
const ONE = { hashes: "hash", spans: "span", handles: "handle", handles_removed: "handle removed", documents: "document", documents_removed: "document removed",
  citations: "citation", derivations: "derivation", tombstones: "tombstone" };
const ABOUT = { session: "Session", handle: "Handle", document: "Document", avatar: "Avatar", round: "Round", by: "Actor" };

export function begin({ signal, attempt }) {
  const result = el("div", { class: "verified", role: "status" });
  const verify = el("button", { class: "button first", type: "button", on: { click: check } }, icon("check"), "Verify now");
  const filters = filterForm();
  const tally = el("p", { class: "quiet small", role: "status" });
  const list = el("ol", { class: "plain entries" });
  const more = el("button", { class: "button", type: "button", hidden: true, on: { click: () => load() } }, "Earlier entries");
  const foot = el("div", { class: "stack tight" });
  const node = el("div", { class: "stack" },
    el("section", { class: "panel stack tight" },
      el("div", { class: "row apart" }, el("p", { class: "grow" }, "Every entry names the hash of the one before it; one changed byte breaks all that follow."), verify), result),
    filters.node, tally, list, foot, el("p", {}, more));
  let next = null; // entries before this one are still to come; null where there are none
  let look = 0; // counts what was asked for, so that a late answer to something else is dropped
  let loading = false;

  async function check() {
    verify.disabled = true;
    fill(result, el("p", { class: "quiet" }, "Reading the whole log."));
    await attempt(async () => fill(result, verdict(await api.post("api/audit/verify", {}, { signal }))), (error) => fill(result, problem(error)));
    verify.disabled = false;
  }

  function begun() {
    look += 1;
    next = null;
    loading = false;
    return load({ first: true });
  }

  async function load({ first = false } = {}) {
    if (loading) return;
    loading = true;
    const mine = look;
    const query = new URLSearchParams({ ...filters.asked(), order: "newest", limit: String(PAGE), ...(first ? {} : { before: String(next) }) });
    await attempt(async () => {
      const found = await api.get(`api/audit?${query}`, { signal });
      if (mine === look) draw(found, first);
    }, (error) => {
      if (mine !== look) return;
      if (first) {
        fill(list);
        tally.textContent = "";
        more.hidden = true;
      }
      fill(foot, problem(error, { again: () => load({ first }) }));
    });
    if (mine === look) loading = false;
  }

  function draw({ entries, next: following, matching, head, kinds }, first) {
    filters.offer(kinds);
    next = following;
    const all = count(head.seq, "entry", "entries");
    const isAll = !Object.keys(filters.asked()).length;
    tally.textContent = isAll || matching === null ? `${all} in the log` : `${number(matching)} of ${all} match`;
    if (first) fill(list);
    list.append(...entries.map(entryItem)); // those that are open stay open
    if (!list.children.length) fill(list, el("li", { class: "empty" }, "No such entry."));
    const isFull = next !== null && list.children.length >= MOST;
    more.hidden = next === null || isFull;
    fill(foot, isFull ? el("p", { class: "quiet" }, `The latest ${number(MOST)} are shown; \`salon audit log\` has them all.`) : null);
  }

  return { node, route: ({ query }) => {
    filters.read(query);
    begun();
  } };
}

/** The form: {node, read(query) from the address, asked() of the server, offer(kinds)}. */
function filterForm() {
  const kind = el("select", { id: newId("kind") }, el("option", { value: "" }, "Every kind"));
  const field = el("select", { id: newId("field") }, Object.entries(ABOUT).map(([value, text]) => el("option", { value }, text)));
  const name = el("input", { id: newId("name"), type: "search", maxlength: "255", spellcheck: "false", placeholder: "Its exact name" });
  const since = el("input", { id: newId("since"), type: "date" });
  const until = el("input", { id: newId("until"), type: "date" });
  const all = el("a", { class: "button slim bare", href: "#/ledger" }, "All entries");
  const labelled = (text, node, more = "") => el("label", { class: `field ${more}`, for: node.id }, el("span", {}, text), node);
  const chosen = () => ({ kind: kind.value, [field.value]: name.value.trim(), since: since.value, until: until.value });
  let shown = "";

  function apply(event) {
    event.preventDefault();
    const wanted = address("ledger", [], chosen());
    if (wanted !== shown) go(wanted);
  }

  function read(query) {
    const about = Object.keys(ABOUT).find((one) => query.get(one));
    const wanted = query.get("kind") ?? "";
    offer(wanted ? [wanted] : []); // an address may name a kind before the server has listed them
    kind.value = wanted;
    field.value = about ?? field.value;
    name.value = about ? query.get(about) : "";
    since.value = query.get("since") ?? "";
    until.value = query.get("until") ?? "";
    shown = address("ledger", [], chosen());
    all.hidden = shown === "#/ledger";
  }

  function offer(kinds) {
    const there = new Set(Array.from(kind.options, (one) => one.value));
    kind.append(...kinds.filter((one) => !there.has(one)).map((one) => el("option", { value: one }, words(one))));
  }

  /** Days are those of this browser's clock. */
  function asked() {
    const { since: from, until: to, ...rest } = chosen();
    return Object.fromEntries(Object.entries({ ...rest,
      since: from && new Date(`${from}T00:00:00.000`).toISOString(),
      until: to && new Date(`${to}T23:59:59.999`).toISOString().replace("Z", "999Z") }).filter(([, value]) => value));
  }

  const node = el("form", { class: "row filters log-filters", role: "search", "aria-label": "Entries of the log", on: { submit: apply, change: apply } },
    labelled("Show", kind), labelled("About", field), labelled("Name", name, "grow"), labelled("From", since), labelled("To", until),
    el("button", { class: "button" }, "Find"), all);
  return { node, read, asked, offer };
}

function verdict({ holds, head, entry, reason }) {
  if (!holds) {
    return el("div", { class: "notice bad", role: "alert" },
      el("p", {}, entry ? `The log does not hold at entry ${number(entry)}.` : "The log does not hold."),
      el("p", {}, sentence(reason ?? "")), el("p", { class: "small" }, "Somebody or something changed the file behind Salon’s back; compare it with a copy or an export."));
  }
  return el("div", { class: "notice good" },
    el("p", {}, el("strong", {}, "The log holds. "), `All ${count(head.seq, "entry", "entries")} follow from each other${head.signature ? ", and the head is signed by this archive’s key" : ""}.`),
    el("p", { class: "small" }, "Head ", el("code", {}, head.hash)));
}

const TOLD = ["avatar", "session", "handle", "document", "round", "act", "phase", "flow", "step", "status", "action", "number"];

/** What an entry is about, in a few words. */
export function gist(body) {
  const told = TOLD.filter((name) => ["string", "number"].includes(typeof body[name])).map((name) => String(body[name]));
  const counted = Object.entries(body).filter(([, value]) => Array.isArray(value) && value.length).map(([name, value]) => `${value.length} ${value.length === 1 ? ONE[name] ?? words(name) : words(name)}`);
  return [...told, ...counted].slice(0, 3).join(" · ");
}

function entryItem({ seq, at, by, body, hash }) {
  const facts = Object.entries(body).filter(([name]) => name !== "kind").slice(0, 24);
  return el("li", { class: "entry" }, el("details", {},
    el("summary", {}, el("span", { class: "num mono" }, String(seq)), el("span", { class: "strong" }, words(body.kind)),
      el("span", { class: "quiet small grow" }, gist(body)), el("span", { class: "quiet small" }, when(at))),
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, words(name)), el("dd", { dir: "auto" }, shown(value, CARDS.has(name)))]),
      el("dt", {}, "by"), el("dd", {}, by), el("dt", {}, "hash"), el("dd", {}, el("code", {}, hash)))));
}

function shown(value, isCard) {
  if (typeof value === "string" && HASH.test(value)) {
    return isCard ? el("a", { class: "mono", href: `#/ledger/cards/${value}`, title: value }, shortHash(value)) : el("code", { title: value }, shortHash(value));
  }
  if (Array.isArray(value) && !value.length) return "none";
  if (Array.isArray(value)) return [value.slice(0, 8).map((one) => [shown(one, isCard), " "]), value.length > 8 ? `and ${value.length - 8} more` : null];
  return value === null ? "none" : String(value);
}
