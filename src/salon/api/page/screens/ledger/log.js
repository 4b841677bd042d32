/* The audit log: the latest entries first, filtered by kind, and the check of the whole chain. */
import { el, fill, newId } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { count, number, shortHash, when } from "../../lib/words.js";
import { icon } from "../../parts/icons.js";
import { problem, sentence } from "../../parts/notice.js";
import { words } from "../../draw/sets.js";

const PAGE = 100;
const RARE_PAGE = 500;
const WANTED = 50; // entries that one look should bring
const MOST_LOOKS = 20; // pages that one look for a rare kind goes back
const MOST = 1000;
const HASH = /^[0-9a-f]{64}$/;

export function begin({ signal, attempt }) {
  const result = el("div", { class: "verified", role: "status" });
  const verify = el("button", { class: "button first", type: "button", on: { click: check } }, icon("check"), "Verify now");
  const id = newId("kind");
  const kind = el("select", { id, on: { change: () => { oldest = null; entries = []; load(); } } }, el("option", { value: "" }, "Every kind"));
  const tally = el("p", { class: "quiet small", role: "status" });
  const list = el("ol", { class: "plain entries" });
  const more = el("p", {});
  const node = el("div", { class: "stack" },
    el("section", { class: "panel stack tight" },
      el("div", { class: "row apart" }, el("p", { class: "grow" }, "Every entry names the hash of the one before it; one changed byte breaks all that follow."), verify), result),
    el("div", { class: "row filters apart" }, el("label", { class: "field", for: id }, el("span", {}, "Show"), kind), tally), list, more);
  let entries = [];
  let oldest = null; // the earliest entry that was looked at; null before the first look
  let head = null;

  const fits = (one) => !kind.value || one.body.kind === kind.value;

  async function check() {
    verify.disabled = true;
    fill(result, el("p", { class: "quiet" }, "Reading the whole log."));
    await attempt(async () => fill(result, verdict(await api.post("api/audit/verify", {}, { signal }))), (error) => fill(result, problem(error)));
    verify.disabled = false;
  }

  async function page() {
    if (oldest === null) {
      const found = await api.get("api/audit?limit=1", { signal });
      head = found.head;
      oldest = head.seq + 1;
      if (kind.options.length === 1) kind.append(...found.kinds.map((one) => el("option", { value: one }, words(one))));
    }
    const after = Math.max(0, oldest - 1 - (kind.value ? RARE_PAGE : PAGE));
    const found = await api.get(`api/audit?after=${after}&limit=${oldest - 1 - after || 1}`, { signal });
    oldest = after + 1;
    return found.entries.reverse();
  }

  async function load() {
    await attempt(async () => {
      let brought = 0;
      for (let looks = 0; looks < MOST_LOOKS && brought < WANTED && (oldest === null || oldest > 1); looks += 1) {
        const found = await page();
        const wanted = found.filter(fits);
        brought += wanted.length;
        entries = [...entries, ...wanted].slice(0, MOST);
      }
      draw();
    }, (error) => fill(list, el("li", {}, problem(error, { again: load }))));
  }

  function draw() {
    tally.textContent = head ? `${count(head.seq, "entry", "entries")} in the log` : "";
    fill(list, entries.length ? entries.map(entryItem) : el("li", { class: "empty" }, "No such entry."));
    const isFull = entries.length >= MOST;
    fill(more, isFull ? el("span", { class: "quiet" }, `The latest ${number(MOST)} are shown; \`salon audit\` has them all.`)
      : oldest > 1 ? el("button", { class: "button", type: "button", on: { click: load } }, "Earlier entries") : null);
  }

  load();
  return { node, route: () => {} };
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
  const counted = Object.entries(body).filter(([, value]) => Array.isArray(value) && value.length).map(([name, value]) => `${value.length} ${words(name)}`);
  return [...told, ...counted].slice(0, 3).join(" · ");
}

function entryItem({ seq, at, by, body, hash }) {
  const facts = Object.entries(body).filter(([name]) => name !== "kind").slice(0, 24);
  return el("li", { class: "entry" }, el("details", {},
    el("summary", {}, el("span", { class: "num mono" }, String(seq)), el("span", { class: "strong" }, words(body.kind)),
      el("span", { class: "quiet small grow" }, gist(body)), el("span", { class: "quiet small" }, when(at))),
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, words(name)), el("dd", {}, shown(value))]),
      el("dt", {}, "by"), el("dd", {}, by), el("dt", {}, "hash"), el("dd", {}, el("code", {}, hash)))));
}

function shown(value) {
  if (typeof value === "string" && HASH.test(value)) return el("a", { class: "mono", href: `#/ledger/cards/${value}`, title: value }, shortHash(value));
  if (Array.isArray(value)) return [value.slice(0, 8).map((one) => [shown(one), " "]), value.length > 8 ? `and ${value.length - 8} more` : null];
  return value === null ? "none" : String(value);
}
