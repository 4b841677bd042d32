/* What the browser keeps for this page. Where it keeps nothing (private windows), a map stands in. */
function safe(storage) {
  const instead = new Map();
  return {
    get(name) {
      try {
        return storage().getItem(`salon.${name}`);
      } catch {
        return instead.get(name) ?? null;
      }
    },
    set(name, value) {
      try {
        if (value === null) storage().removeItem(`salon.${name}`);
        else storage().setItem(`salon.${name}`, value);
      } catch {
        instead.set(name, value);
      }
    },
    read(name, otherwise) {
      try {
        return JSON.parse(this.get(name)) ?? otherwise;
      } catch {
        return otherwise;
      }
    },
    write(name, value) {
      this.set(name, JSON.stringify(value));
    },
  };
}

/** Kept until the person deletes it: theme, name, recent sessions. */
export const lasting = safe(() => localStorage);
/** Kept until the tab closes: the token. */
export const passing = safe(() => sessionStorage);
