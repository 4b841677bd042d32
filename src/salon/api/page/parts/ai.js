/* Avatars as they are shown everywhere: a monogram, a name, and always that it is an AI. */
import { el } from "../lib/dom.js";

const TONES = 8;

export function toneOf(id) {
  let sum = 7;
  for (const letter of String(id)) sum = (sum * 31 + letter.codePointAt(0)) >>> 0;
  return sum % TONES;
}

export function initials(name) {
  const words = String(name).trim().split(/[\s-]+/).filter(Boolean);
  const first = [...(words[0] ?? "?")][0];
  return (words.length > 1 ? first + [...words.at(-1)][0] : first).toUpperCase();
}

/** `avatar`: {id, name}. `size`: "", "small" or "large". */
export function monogram(avatar, size = "") {
  return el("span", { class: `monogram ${size} tone-${toneOf(avatar.id ?? avatar.name)}`, "aria-hidden": "true" }, initials(avatar.name ?? avatar.id));
}

/** The label that stands beside every avatar and its words. The whole sentence is in its title. */
export function aiBadge(label = "AI") {
  const text = String(label || "AI");
  return el("span", { class: "badge ai", title: text }, "AI",
    text === "AI" ? null : el("span", { class: "visually-hidden" }, `: ${text}`));
}

/** Name and label together, so that neither is ever alone. */
export function avatarName(avatar, { tag = "span" } = {}) {
  return el(tag, { class: "avatar-name" }, el("span", { class: "strong" }, avatar.name ?? avatar.id), " ", aiBadge(avatar.ai_label));
}
