/* Building the page: elements from plain values. A string is always text, never markup. */
const SVG = "http://www.w3.org/2000/svg";

/** Make an element. `class`, `text`, `on: {event: fn}` are special; the rest are attributes, where
 * `true` is an empty one and `null`, `undefined`, `false` none. Children may be nested lists. */
export function el(tag, props = {}, ...children) {
  return dress(document.createElement(tag), props, children);
}

export function svg(tag, props = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), props, children);
}

function dress(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.setAttribute("class", value);
    else if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, fn] of Object.entries(value)) node.addEventListener(event, fn);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else if (name === "style" || name.startsWith("on")) throw new Error(`${name} is not set this way`);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...flat(children));
  return node;
}

function flat(children) {
  return children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);
}

/** Put these children in place of the old ones. */
export function fill(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

/** A link to somewhere else, or the plain text where the address is none that may be followed. */
export function externalLink(url, text, props = {}) {
  let parsed = null;
  try {
    parsed = new URL(url);
  } catch { /* it stays text */ }
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) return el("span", {}, text ?? String(url ?? ""));
  return el("a", { href: parsed.href, target: "_blank", rel: "noopener noreferrer external", ...props }, text ?? parsed.host);
}

const adopted = new Map();

/** Load a style sheet of the page once; resolves when it counts (or is missing, which hurts nobody). */
export function adopt(path) {
  if (!adopted.has(path)) {
    adopted.set(path, new Promise((resolve) => {
      const link = el("link", { rel: "stylesheet", href: new URL(`../${path}`, import.meta.url).href,
        on: { load: resolve, error: resolve } });
      document.head.append(link);
    }));
  }
  return adopted.get(path);
}

let made = 0;
/** An id that nothing else on the page has. */
export function newId(prefix = "id") {
  return `${prefix}-${++made}`;
}
