/* Running a session again: every turn must come out byte for byte as it was recorded. */
import { el, fill } from "../../lib/dom.js";
import { api, part } from "../../lib/api.js";
import { count } from "../../lib/words.js";
import { problem } from "../../parts/notice.js";
import { sessionList } from "../shared/sessions.js";

const MOST = 500;

export function begin({ signal, attempt }) {
  const node = el("div", { class: "stack" });

  function choose() {
    fill(node, el("p", { class: "quiet" }, "Choose a session. Its turns are taken again from what was recorded, and compared."),
      sessionList({ screen: "ledger/replay", empty: "No sessions yet.", signal }));
  }

  async function run(session) {
    const result = el("div", { "aria-live": "polite" }, el("p", { class: "quiet" }, "Running it again."));
    fill(node, el("div", { class: "row apart" }, el("h2", {}, session), el("a", { class: "button slim", href: "#/ledger/replay" }, "Other sessions")), result);
    await attempt(async () => {
      fill(result, verdict(await api.post(`api/sessions/${part(session)}/replay`, {}, { signal })));
    }, (error) => fill(result, problem(error, { again: () => run(session) })));
  }

  return { node, route: ({ path }) => (path[1] ? run(path[1]) : choose()) };
}

function verdict({ turns }) {
  const different = turns.filter((one) => !one.identical);
  if (!turns.length) {
    return el("div", { class: "notice" }, el("p", {}, el("strong", {}, "Nothing to run again. ")),
      el("p", {}, "Only turns with a companion hold all that is needed to run them again."));
  }
  const isSame = different.length === 0;
  return el("div", { class: "stack" },
    el("div", { class: isSame ? "notice good" : "notice bad", role: isSame ? "status" : "alert" },
      el("p", {}, isSame ? `Byte for byte the same: ${count(turns.length, "turn")}.` : `${count(different.length, "turn")} of ${turns.length} came out differently.`)),
    el("ol", { class: "plain replayed" }, turns.slice(0, MOST).map(turnItem)));
}

function turnItem(one) {
  return el("li", { class: one.identical ? "" : "changed stack tight" },
    el("p", { class: "row" }, el("span", { class: "mono num" }, String(one.turn)),
      el("span", { class: one.identical ? "badge good" : "badge bad" }, one.identical ? "identical" : "different"),
      one.why ? el("span", { class: "grow" }, one.why) : null),
    one.identical ? null : el("dl", { class: "facts" }, el("dt", {}, "recorded"), el("dd", { class: "mono" }, one.recorded ?? "nothing"),
      el("dt", {}, "now"), el("dd", { class: "mono" }, one.replayed ?? "nothing")));
}
