// Colours of links, from style.css: below 1 blue, above it orange, which readers of every kind of colour vision tell apart.
// Overload stands out most from the paper in both themes. Load in bytes has one hue.

const query = matchMedia('(prefers-color-scheme: dark)');
const print = matchMedia('print');

/** A colour of the style sheet. */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

let known = null;
const forget = () => { known = null; };
query.addEventListener('change', forget);
print.addEventListener('change', forget);

/** The colours of the style sheet, for what is drawn on a canvas. */
export function palette() {
  const bins = (name) => Array.from({ length: 8 }, (_, i) => token(`${name}-${i}`));
  known ??= { ratio: bins('bin'), load: bins('load'), idle: token('idle'), ...Object.fromEntries(['ink', 'faint', 'line', 'paper', 'box', 'focus'].map((name) => [name, token(name)])) };
  return known;
}

/** Calls when the page turns dark or light, and for printing. */
export function onTheme(redraw) {
  query.addEventListener('change', redraw);
  print.addEventListener('change', redraw);
}
