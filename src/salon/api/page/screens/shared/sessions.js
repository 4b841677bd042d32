/* The sessions that there are, as a list of links to a screen. */
import { el, fill } from "../../lib/dom.js";
import { api } from "../../lib/api.js";
import { avatarBook } from "../../lib/avatars.js";
import { address } from "../../lib/route.js";
import { count, when } from "../../lib/words.js";
import { cut } from "../../draw/geometry.js";
import { aiBadge } from "../../parts/ai.js";
import { problem } from "../../parts/notice.js";

const MOST = 50;

/** A list that fills itself: sessions with avatars of one preset, the latest one first. */
export function sessionList({ preset, screen, empty, signal }) {
  const holder = el("div", { class: "session-list" }, el("p", { class: "quiet" }, "Looking."));
  load(holder, { preset, screen, empty, signal }).catch((error) => {
    if (error.name !== "AbortError") fill(holder, problem(error));
  });
  return holder;
}

async function load(holder, { preset, screen, empty, signal }) {
  const asked = new URLSearchParams({ limit: String(MOST), ...(preset ? { preset } : {}) });
  const [{ sessions }, avatarOf] = await Promise.all([api.get(`api/sessions?${asked}`, { signal }), avatarBook(signal)]);
  const fitting = sessions.filter((one) => !preset || one.preset === preset).slice(0, MOST);
  fill(holder, fitting.length
    ? el("ul", { class: "cards" }, fitting.map((one) => el("li", {}, sessionLink(one, screen, avatarOf(one.avatar)))))
    : el("p", { class: "empty" }, empty));
}

const at = (screen, session) => [screen.split("/")[0], [...screen.split("/").slice(1), session]];

function sessionLink(one, screen, avatar) {
  return el("a", { class: "card-link", href: address(...at(screen, one.session_id)) },
    el("strong", { dir: "auto" }, cut(one.last_message, 90)),
    el("span", { class: "quiet small" }, el("bdi", {}, one.user_id), " with ", el("bdi", {}, avatar.name), " ", aiBadge(avatar.ai_label), ` · ${count(one.turn_count, "turn")} · ${when(one.last_at)}`));
}
