/* The library: the documents and who vouches for them, search three ways at once, the names around a passage.
 *
 * `#/library`, `#/library/search?q=…`, `#/library/graph?entity=…` or `?hash=&start=&end=`.
 */
import { define } from "../lib/element.js";
import { Tabbed } from "./shared/tabbed.js";

const ABOUT = {
  name: "library",
  title: "The library",
  lead: "What the avatars rest on: every source, whether somebody has verified it, and how it is found.",
  views: {
    documents: { title: "Documents", load: () => import("./library/documents.js") },
    search: { title: "Search", load: () => import("./library/search.js") },
    graph: { title: "Graph", load: () => import("./library/graph.js") },
  },
};

export default class Library extends Tabbed {
  constructor() {
    super(ABOUT);
  }
}

define("salon-library", Library);
