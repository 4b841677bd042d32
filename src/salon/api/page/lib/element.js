/* The base of every custom element here: what it began ends when it leaves the page. */
export class SalonElement extends HTMLElement {
  #ending = null;
  #timers = new Set();

  /** Ends when the element leaves the page. */
  get signal() {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
  }

  connectedCallback() {
    if (this.#ending?.signal.aborted) this.#ending = null;
    this.connected?.();
  }

  disconnectedCallback() {
    this.#ending?.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.disconnected?.();
  }

  /** Do something after a while, unless the element has gone by then. */
  later(work, ms) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  /** Run something that may fail; leaving the page meanwhile is no failure. */
  async attempt(work, onError) {
    try {
      return await work();
    } catch (error) {
      if (this.signal.aborted || error?.name === "AbortError") return undefined;
      onError(error);
      return undefined;
    }
  }
}

export function define(tag, type) {
  if (!customElements.get(tag)) customElements.define(tag, type);
  return type;
}
