/* SHA-256 in this browser, so that a person need not take the server's word. */

/** The hash of bytes in hex, or null where it cannot be had: only pages from this machine or over https have it. */
export async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) return null;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (one) => one.toString(16).padStart(2, "0")).join("");
}
