/* Small things that drawings share. Geometry is set by attributes: the policy allows no inline styles. */

/** A number for an attribute: two decimals are finer than a pixel. */
export const at = (number) => Math.round(number * 100) / 100;

/** A text cut to a number of characters, with an ellipsis where it was cut. */
export function cut(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("").trimEnd()}…`;
}
