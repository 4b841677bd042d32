/* A draft or chapter as elements. Only what drafts consist of is read; everything else stays text.
 *
 * A note is `[^1]: "quote" card:HASH#120-160 — Title, author, year`; a mark `[^1]` in a sentence becomes
 * its citation chip, and whose words they are is listed below the text.
 */
import { el } from "../../lib/dom.js";
import { citationChip } from "../../parts/citation.js";

const NOTE = /^\[\^([\w-]+)\]:\s*(.*)$/;
const PLACE = /card:([0-9a-f]{16,128})(?:#(\d+)-(\d+))?/;
const SOURCE = /\s+—\s+([^"“”]+)$/; // after the place, and never with the signs of a quote
const MARK = /^\[\^([\w-]+)\]$/;
const PIECES = /(\[\^[\w-]+\]|"[^"]*"\s+card:[0-9a-f]{16,128}#\d+-\d+)/;

/** The parts of a text: [{kind: "heading"|"text"|"item"|"quote", level, text}], and notes by mark. */
export function readMarkdown(text) {
  const blocks = [];
  const notes = new Map();
  for (const piece of text.replaceAll("\r\n", "\n").split(/\n\s*\n/)) {
    let open = [];
    const close = () => {
      if (open.length) blocks.push({ kind: "text", text: open.join(" ") });
      open = [];
    };
    for (const line of piece.split("\n").map((one) => one.trim()).filter(Boolean)) {
      const note = NOTE.exec(line);
      const heading = /^(#{1,6})\s+(.*)$/.exec(line);
      const item = /^(?:[-*]|\d+\.)\s+(.*)$/.exec(line);
      const quote = /^>\s?(.*)$/.exec(line);
      if (note || heading || item || quote) close();
      if (note) notes.set(note[1], readNote(note[2]));
      else if (heading) blocks.push({ kind: "heading", level: heading[1].length, text: heading[2] });
      else if (item) blocks.push({ kind: "item", text: item[1] });
      else if (quote) blocks.push({ kind: "quote", text: quote[1] });
      else open.push(line);
    }
    close();
  }
  return { blocks, notes };
}

function readNote(text) {
  const at = text.lastIndexOf("card:"); // a quote may hold the like, what follows the place does not
  const place = at < 0 ? null : PLACE.exec(text.slice(at));
  const quote = readQuote((place ? text.slice(0, at) : text).trim());
  if (!place) return { quote, citation: null, source: "" };
  const [start, end] = [place[2], place[3]].map((one) => (one === undefined ? null : Number(one)));
  const source = SOURCE.exec(text.slice(at + place[0].length))?.[1].trim() ?? "";
  return { quote, source, citation: { hash: place[1], start, end, quote, source } };
}

/** A quote is spelled as a JSON string; what is none is taken as it stands. */
function readQuote(text) {
  try {
    const found = JSON.parse(text);
    if (typeof found === "string") return found;
  } catch { /* written by hand */ }
  return text.replace(/^["“]|["”]$/g, "");
}

/** A text as elements; `citations` (with source and page) go before what the notes say themselves. */
export function showMarkdown(text, { citations = [], top = 2 } = {}) {
  const { blocks, notes } = readMarkdown(text);
  const order = [...notes.keys()];
  const proofs = new Map(order.map((mark) => [mark, proofOf(notes.get(mark), citations)]));
  const made = el("div", { class: "prose" });
  let list = null;
  blocks.forEach((block, place) => {
    const before = blocks[place - 1];
    if (block.kind !== "item") list = null;
    if (block.kind === "heading" && before?.kind === "heading" && before.text === block.text) return; // said once
    if (block.kind === "heading") made.append(el(`h${Math.min(6, block.level + top - 1)}`, {}, block.text));
    else if (block.kind === "item") {
      if (!list) made.append((list = el("ul", {})));
      list.append(el("li", {}, inline(block.text, order, proofs)));
    } else made.append(el(block.kind === "quote" ? "blockquote" : "p", {}, inline(block.text, order, proofs)));
  });
  const sources = sourceList(notes, top);
  if (sources) made.append(sources);
  return made;
}

/** Whose words the notes quote: each source once, with the numbers of its notes. */
function sourceList(notes, top) {
  const numbers = new Map();
  [...notes.values()].forEach(({ source }, place) => {
    if (source) numbers.set(source, [...(numbers.get(source) ?? []), place + 1]);
  });
  if (!numbers.size) return null;
  return el("section", { class: "note-sources", "aria-label": "Sources" }, el(`h${Math.min(6, top + 1)}`, {}, "Sources"),
    el("ul", { class: "plain small" }, [...numbers].map(([source, places]) => el("li", {}, `${source} (${places.join(", ")})`))));
}

function proofOf(note, citations) {
  const own = note.citation;
  if (!own) return null;
  const known = citations.find((one) => one.hash === own.hash && (own.start === null || (one.start === own.start && one.end === own.end)));
  return known ?? (own.start === null ? null : own);
}

function inline(text, order, proofs) {
  return text.split(PIECES).filter(Boolean).map((piece) => {
    const mark = MARK.exec(piece);
    if (!mark && PLACE.test(piece)) return quoted(piece);
    if (!mark || !proofs.has(mark[1])) return emphasis(piece);
    const proof = proofs.get(mark[1]);
    const place = order.indexOf(mark[1]) + 1;
    return proof ? citationChip(proof, place) : el("span", { class: "badge warn", title: "this note names no place" }, String(place));
  });
}

/** A quote with its place, as critiques have it. */
function quoted(piece) {
  const { quote, citation } = readNote(piece);
  return [el("q", {}, quote), " ", citationChip({ ...citation, source: "the source" }, "source")];
}

function emphasis(text) {
  return text.split(/(\*\*[^*]+\*\*)/).filter(Boolean).map((piece) =>
    (piece.startsWith("**") && piece.endsWith("**") && piece.length > 4 ? el("strong", {}, piece.slice(2, -2)) : piece));
}
