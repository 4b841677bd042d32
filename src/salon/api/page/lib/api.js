/* Talking with the server over HTTP: the token, the one shape of errors, streams. */
import { passing } from "./store.js";
import { readEvents } from "./events.js";

/** What went wrong, as the server says it. */
export class ApiError extends Error {
  constructor(status, { code = "unknown", message = "something went wrong", hint = null, details = {} } = {}) {
    super(message);
    this.name = "ApiError";
    Object.assign(this, { status, code, hint, details });
  }
}

export function token() {
  return passing.get("token");
}

export function setToken(value) {
  passing.set("token", value || null);
}

let askToken = async () => false;

/** Whom to ask for a token when the server wants one: `ask(wrong)` resolves to whether one was set. */
export function askTokenWith(ask) {
  askToken = ask;
}

export function url(path) {
  return new URL(path.replace(/^\//, ""), document.baseURI);
}

/** The address of a WebSocket of this server. */
export function socketUrl(path) {
  const found = url(path);
  found.protocol = found.protocol === "https:" ? "wss:" : "ws:";
  return found;
}

async function request(path, { method = "GET", body, signal, accept = "application/json" } = {}) {
  const headers = { accept };
  if (token()) headers.authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(url(path), {
      method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-cache" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "unreachable", message: "the server does not answer", hint: "is `salon serve` still running?" });
  }
  if (response.status === 401) {
    if (await askToken(Boolean(token()), signal)) return request(path, { method, body, signal, accept });
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function failure(response) {
  let said = {};
  try {
    said = (await response.json()).error ?? {};
  } catch {
    said = { message: `the server answered ${response.status}`, hint: "its log says more" };
  }
  return new ApiError(response.status, said);
}

async function asJson(response) {
  return response.status === 204 ? null : response.json();
}

export const api = {
  get: async (path, options) => asJson(await request(path, options)),
  post: async (path, body = {}, options) => asJson(await request(path, { ...options, method: "POST", body })),
  del: async (path, options) => asJson(await request(path, { ...options, method: "DELETE" })),
  text: async (path, options) => (await request(path, { ...options, accept: "*/*" })).text(),
  /** The very bytes of something. */
  bytes: async (path, options) => new Uint8Array(await (await request(path, { ...options, accept: "*/*" })).arrayBuffer()),
  /** Post (or get, where there is no body) and walk the events of the answer; a server that does not
   * stream gives one event `reply`. */
  async* stream(path, body, options = {}) {
    const method = body === undefined ? "GET" : "POST";
    const response = await request(path, { ...options, method, body, accept: "text/event-stream" });
    if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      yield { event: "reply", data: await response.json() };
      return;
    }
    for await (const one of readEvents(response.body)) {
      if (one.event === "error") throw new ApiError(500, one.data.error ?? one.data);
      yield one;
    }
  },
};

export const part = encodeURIComponent;
