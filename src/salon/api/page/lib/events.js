/* Server-sent events from a response that is still arriving. */
const LONGEST = 4_000_000;

/** Walk the events of a body: {event, data}, data read as JSON. */
export async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      waiting += (value ?? "").replace(/\r/g, "");
      if (waiting.length > LONGEST) throw new Error("the server sends an event without an end");
      const parts = waiting.split("\n\n");
      waiting = parts.pop();
      for (const part of parts) {
        const event = readEvent(part);
        if (event) yield event;
      }
      if (done) {
        const last = readEvent(waiting);
        if (last) yield last;
        return;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

export function readEvent(text) {
  let event = "message";
  let id = null;
  const data = [];
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    const name = line.slice(0, at);
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "id") id = value;
  }
  return data.length ? { event, id, data: JSON.parse(data.join("\n")) } : null;
}
