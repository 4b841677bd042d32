/* Asking for the server's token, once, however many requests wait for it. */
import { el } from "../lib/dom.js";
import { setToken } from "../lib/api.js";

let asking = null;

/** Resolves to whether a token was given. `wrong`: the one that was sent did not do. */
export function askToken(wrong) {
  asking ??= ask(wrong).finally(() => {
    asking = null;
  });
  return asking;
}

function ask(wrong) {
  return new Promise((resolve) => {
    const input = el("input", { type: "password", name: "token", autocomplete: "off", required: true, id: "token-input" });
    const dialog = el("dialog", { "aria-labelledby": "token-title" },
      el("form", { method: "dialog" },
        el("h2", { id: "token-title" }, "This server asks for a token"),
        wrong ? el("p", { class: "notice bad", role: "alert" }, "That token is not the right one.") : null,
        el("p", { class: "quiet" }, "It is the setting serve.token of whoever runs this Salon. This tab keeps it until it is closed."),
        el("label", { class: "field", for: "token-input" }, el("span", {}, "Token"), input),
        el("div", { class: "row" },
          el("button", { class: "button first", value: "yes" }, "Go on"),
          el("button", { class: "button bare", value: "", formnovalidate: true }, "Not now"))));
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "yes" && input.value.trim();
      setToken(given || null);
      dialog.remove();
      resolve(Boolean(given));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
