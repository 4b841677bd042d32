/* The digest of what is approved, computed again here from the very values on the screen. */
import { sha256 } from "../shared/sha256.js";

/** JSON in the one form that digests rest on: keys sorted, no white space. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const rows = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${rows.join(",")}}`;
}

/** The SHA-256 of a proposal {action, arguments, policy, session, turn}, or null where it cannot be had. */
export async function digestOf(proposal) {
  const { action, policy, session, turn } = proposal;
  const whole = canonical({ kind: "salon.proposal", action, arguments: proposal.arguments, policy, session, turn });
  return sha256(new TextEncoder().encode(whole));
}
