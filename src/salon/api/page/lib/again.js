/* Trying again: how long to wait, and a wait that whoever is impatient can end. */
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 15_000;

/** How long to wait before the next try; the more went wrong the longer, and never all at once. */
export function waitMs(tries) {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
  return longest * (0.5 + Math.random() / 2);
}

/** A wait of `ms`: {done, end}. It ends early when the network is back or somebody looks, or by `end()`. */
export function wait(ms, signal) {
  const over = new AbortController();
  const end = () => over.abort();
  const done = new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    over.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
    window.addEventListener("online", end, { signal: over.signal });
    document.addEventListener("visibilitychange", () => document.hidden || end(), { signal: over.signal });
    signal?.addEventListener("abort", end, { signal: over.signal });
  });
  return { done, end };
}
