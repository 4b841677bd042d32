/* Arriving somewhere: the title of the window says what is shown, and focus goes where it begins.
 *
 * The shell calls `moving()` when the address leads elsewhere; whoever draws what is there calls
 * `arrived(…)` once it stands. Whoever has put the focus somewhere else meanwhile keeps it.
 */
let isMoving = false;
let screen = "";

/** Which screen is shown; its name stands in the title. */
export function onScreen(title) {
  screen = title;
  document.title = `${title} · Salon`;
}

/** Somebody goes elsewhere: until it is drawn the focus waits in `place`. */
export function moving(place) {
  isMoving = true;
  place.focus({ preventScroll: true });
}

/** `what` is shown now (nothing: the screen itself), and `target` is where it begins. */
export function arrived(what, target = null) {
  document.title = [what, screen, "Salon"].filter(Boolean).join(" · ");
  if (!isMoving) return;
  isMoving = false;
  const { activeElement: now } = document;
  if (!target || (now && now !== document.body && now.id !== "main")) return;
  if (!target.matches("a, button, input, select, textarea, [tabindex]")) target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
}
