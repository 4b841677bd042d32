/* Numbers, times and names as people read them. An absent value says why it is absent. */
const NUMBER = new Intl.NumberFormat("en");
const SHARE = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

export const number = (value) => NUMBER.format(value);
export const share = (value) => SHARE.format(value);
export const decimal = (value, places = 2) => value.toFixed(places);
export const isAbsent = (value) => value !== null && typeof value === "object" && "absent" in value;

/** A count with its noun: `1 document`, `1,204 words`. */
export function count(value, noun, plural = `${noun}s`) {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}

export function when(text) {
  const date = new Date(text);
  return Number.isNaN(date.valueOf()) ? String(text) : WHEN.format(date);
}

export function clock(text) {
  const date = text === undefined ? new Date() : new Date(text);
  return Number.isNaN(date.valueOf()) ? "" : CLOCK.format(date);
}

/** A hash short enough to read, its whole in `title`. */
export const shortHash = (hash) => `${hash.slice(0, 8)}…${hash.slice(-4)}`;

export function years(period) {
  const [first, last] = period ?? [null, null];
  if (first === null && last === null) return "";
  if (first === last) return String(first);
  return `${first ?? "…"}–${last ?? "today"}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
