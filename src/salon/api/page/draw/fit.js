/* Drawing to the width that there is, and again whenever that changes.
 * Text in a drawing keeps its size this way, which a scaled view box would not give on a phone. */

/** Call `draw(width)` now and on every change of the holder's width; return what ends that. */
export function fit(holder, draw) {
  let drawn = 0;
  const look = () => {
    const width = Math.floor(holder.clientWidth);
    if (width < 1 || width === drawn) return;
    drawn = width;
    holder.replaceChildren(draw(width));
  };
  const watching = new ResizeObserver(look);
  watching.observe(holder);
  look();
  return {
    again() {
      drawn = 0;
      look();
    },
    stop() {
      watching.disconnect();
    },
  };
}
