/* The ledger: the audit log and whether it holds, sessions run again, cards and handles with their history.
 *
 * `#/ledger`, `#/ledger/replay/SESSION`, `#/ledger/handles/NAME`, `#/ledger/cards/HASH`.
 */
import { define } from "../lib/element.js";
import { Tabbed } from "./shared/tabbed.js";

const ABOUT = {
  name: "ledger",
  title: "The ledger",
  lead: "Everything that changed something, each entry sealed by the one after it. Check it yourself.",
  views: {
    log: { title: "Log", load: () => import("./ledger/log.js") },
    replay: { title: "Replay", load: () => import("./ledger/replay.js") },
    handles: { title: "Handles", load: () => import("./ledger/handles.js") },
    cards: { title: "Cards", load: () => import("./ledger/cards.js") },
  },
};

export default class Ledger extends Tabbed {
  constructor() {
    super(ABOUT);
  }
}

define("salon-ledger", Ledger);
