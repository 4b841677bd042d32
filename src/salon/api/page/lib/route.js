/* Addresses of the page: `#/screen/part/part?query`. Pure but for `go`. */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name, ...rest] = path.split("/").filter(Boolean).map(decode);
  return { name: name ?? "room", path: rest, query: new URLSearchParams(query) };
}

export function address(name, path = [], query = {}) {
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
  return `#/${[name, ...path].map(encodeURIComponent).join("/")}${asked ? `?${asked}` : ""}`;
}

export function go(hash, { replace = false } = {}) {
  if (!replace) location.hash = hash;
  else {
    history.replaceState(null, "", hash);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // what a person typed by hand is taken as it is
  }
}
