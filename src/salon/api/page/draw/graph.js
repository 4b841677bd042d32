/* A graph around one thing, laid out the same way every time: rings by distance, order by weight. */

import { svg } from "../lib/dom.js";
import { at, cut } from "./geometry.js";

const SPREAD = 0.55; // radians between children of one node, where there is room

/** Return places by id: the centre in the middle, ring after ring around it, children near what they hang on. */
export function layout(nodes, edges, width, height) {
  const rings = grouped(nodes);
  const outer = Math.max(...rings.keys(), 1);
  const turns = new Map();
  for (const ring of [...rings.keys()].sort((a, b) => a - b)) {
    for (const [id, turn] of angles(rings.get(ring), ring, edges, turns)) turns.set(id, turn);
  }
  return new Map(nodes.map(({ id, ring }) => {
    const far = ring === 0 && rings.get(0).length === 1 ? 0 : Math.max(ring, 0.35) / outer;
    return [id, {
      x: at(width / 2 + Math.cos(turns.get(id)) * far * (width / 2 - Math.min(72, width / 5))),
      y: at(height / 2 + Math.sin(turns.get(id)) * far * (height / 2 - 26)),
    }];
  }));
}

function grouped(nodes) {
  const found = new Map();
  for (const one of nodes) found.set(one.ring, [...(found.get(one.ring) ?? []), one]);
  return found;
}

/** The angle of each node of a ring; `known` are those of the rings inside. */
function angles(members, ring, edges, known) {
  if (ring < 2) return members.map(({ id }, place) => [id, (place / members.length) * 2 * Math.PI - Math.PI / 2]);
  const families = new Map();
  for (const { id } of members) {
    const inner = edges.flatMap(({ a, b }) => (a === id ? [b] : b === id ? [a] : [])).find((one) => known.has(one)) ?? null;
    families.set(inner, [...(families.get(inner) ?? []), id]);
  }
  const step = Math.min(SPREAD, (2 * Math.PI) / members.length);
  return [...families].flatMap(([inner, ids]) => ids.map((id, place) =>
    [id, (known.get(inner) ?? 0) + (place - (ids.length - 1) / 2) * step]));
}

const LINE = 14;
const GAP = 5;

let pen = null;

/** How wide a name is in the font that there is; `draw.css` says how large it is written. */
function widthOf(name, isBold) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `${isBold ? 700 : 400} 12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(name).width + 4;
}

const isApart = (one, other) => one.x2 <= other.x1 || other.x2 <= one.x1 || one.y2 <= other.y1 || other.y2 <= one.y1;

/** The places a label may have beside a circle, the best one first. */
function beside({ x, y, radius }, wide, isUpper) {
  const above = { anchor: "middle", x, y: y - radius - GAP, x1: x - wide / 2, x2: x + wide / 2 };
  const below = { ...above, y: y + radius + GAP + LINE - 4 };
  const right = { anchor: "start", x: x + radius + GAP, y: y + 4, x1: x + radius + GAP, x2: x + radius + GAP + wide };
  const left = { anchor: "end", x: x - radius - GAP, y: y + 4, x1: x - radius - GAP - wide, x2: x - radius - GAP };
  return (isUpper ? [above, right, left, below] : [below, right, left, above]).map((one) => ({ ...one, y1: one.y - LINE + 3, y2: one.y + 3 }));
}

/** Where each name stands: {id → place}, none over another or over a circle. Who finds no room has none
 * until somebody points at it; the nearest come first. */
export function labels(nodes, spots, width, height) {
  const taken = nodes.map(({ id }) => {
    const { x, y, radius } = spots.get(id);
    return { id, x1: x - radius, x2: x + radius, y1: y - radius, y2: y + radius };
  });
  const found = new Map();
  for (const { id, name, ring } of nodes) {
    const spot = spots.get(id);
    const wide = widthOf(name, ring === 0);
    const place = beside(spot, wide, ring > 0 && spot.y < height / 2).find((one) =>
      one.x1 >= 0 && one.x2 <= width && one.y1 >= 0 && one.y2 <= height && taken.every((other) => other.id === id || isApart(one, other)));
    if (!place) continue;
    found.set(id, place);
    taken.push({ ...place, id: null });
  }
  return found;
}

/**
 * Return a drawing of nodes [{id, name, ring, size, href, about}] and edges [{a, b, weight}].
 * Each node is a link, so the keyboard goes round in the order of the list beside it.
 */
export function drawGraph({ nodes, edges, width, height, title }) {
  const places = layout(nodes, edges, width, height);
  const heaviest = Math.max(...edges.map((one) => one.weight), 1);
  const most = Math.max(...nodes.map((one) => one.size), 1);
  const letters = width < 480 ? 14 : 22;
  const spots = new Map(nodes.map(({ id, size }) => [id, { ...places.get(id), radius: at(5 + 7 * Math.sqrt(size / most)) }]));
  const named = labels(nodes.map((one) => ({ ...one, name: cut(one.name, letters) })), spots, width, height);
  const drawn = svg("svg", { class: "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title });
  for (const { a, b, weight } of edges) {
    const [one, other] = [places.get(a), places.get(b)];
    if (!one || !other) continue;
    drawn.append(
      svg("line", { class: "edge", x1: one.x, y1: one.y, x2: other.x, y2: other.y, "stroke-width": at(1 + (3 * weight) / heaviest) }),
    );
  }
  for (const node of nodes) {
    const { x, y, radius } = spots.get(node.id);
    const label = named.get(node.id) ?? { x, y: y - radius - GAP, anchor: x < width / 3 ? "start" : x > (2 * width) / 3 ? "end" : "middle" };
    drawn.append(
      svg(
        "a",
        { class: `node ring${node.ring} ${node.kind ?? ""}`.trim(), href: node.href, "aria-label": node.about },
        svg("circle", { cx: x, cy: y, r: radius }),
        svg("text", { class: named.has(node.id) ? null : "pointed", x: at(label.x), y: at(label.y), "text-anchor": label.anchor }, cut(node.name, letters)),
      ),
    );
  }
  return drawn;
}
