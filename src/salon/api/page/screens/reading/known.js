/* What is known as of a turn. A slot that was not due keeps what it last held; nothing is made up. */

/** Return why a value is not known, or null where it is. */
export function absence(value) {
  if (value === null || value === undefined) return "nothing was said about it yet";
  if (typeof value === "object" && !Array.isArray(value)) {
    if (typeof value.absent === "string") return value.absent;
    if (typeof value.reason === "string" && Object.keys(value).length === 1) return value.reason;
  }
  return null;
}

/** Return the latest value of a slot up to a turn: {value, turn} or {absent, turn: null}. */
export function latest(turns, slot, upTo = Infinity) {
  let why = "no turn has been read yet";
  let isFirst = true;
  for (let place = turns.length - 1; place >= 0; place -= 1) {
    const one = turns[place];
    if (one.turn > upTo) continue;
    const value = one.slots?.[slot];
    const absent = absence(value);
    if (absent === null) return { value, turn: one.turn, absent: null };
    if (isFirst) why = value === undefined ? "this avatar does not read it" : absent;
    isFirst = false;
  }
  return { value: null, turn: null, absent: why };
}

/** Return one number for each turn, null where there is none. */
export function course(turns, slot, field) {
  return turns.map((one) => {
    const value = one.slots?.[slot];
    return absence(value) === null && typeof value[field] === "number" ? value[field] : null;
  });
}

/** Return the warnings among turns that nobody has acknowledged, the latest one last. */
export function warnings(turns, acknowledged = 0) {
  return turns
    .filter((one) => one.turn > acknowledged)
    .map((one) => ({ turn: one.turn, data: one.slots?.scam }))
    .filter(({ data }) => absence(data) === null && ["medium", "high"].includes(data.scam_warning_level));
}
