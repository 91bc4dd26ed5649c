// Figures as the text report writes them: three to four digits and a prefix.

const PREFIXES = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];

/** So many places behind the point; a tie goes to the even digit, as the program's own texts have it. */
export function fixed(value, places) {
  const halves = Math.abs(value) * 2 ** (places + 1); // a tie is (2 m + 1) / 2 units, with 2 m + 1 = halves * 5^places
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(places);
  const m = (halves * 5 ** places - 1) / 2;
  return ((Math.sign(value) * (m % 2 === 0 ? m : m + 1)) / 10 ** places).toFixed(places);
}

/** Up to so many digits, no trailing zeros. */
export function digits(value, n = 4) {
  if (!Number.isFinite(value)) return '-';
  const places = value === 0 ? 0 : n - 1 - Math.floor(Math.log10(Math.abs(value)));
  return String(Number(places >= 0 && places <= 20 ? fixed(value, places) : value.toPrecision(n)));
}

function prefixed(value, unit) {
  const row = value === 0 ? PREFIXES[5] : PREFIXES.find(([factor]) => Math.abs(value) >= factor * 0.99999) ?? PREFIXES[8];
  return `${digits(value / row[0])} ${row[1]}${unit}`;
}

export const seconds = (s) => (s < 60 ? prefixed(s, 's') : `${digits(s)} s`);
export const bytes = (b) => prefixed(b, 'B');
export const rate = (bps) => prefixed(bps, 'b/s');
export const power = (w) => prefixed(w, 'W');
export const metres = (m) => (m < 1e4 ? `${digits(m)} m` : `${digits(m / 1e3)} km`);
const { format: grouped } = new Intl.NumberFormat('en-US'); // once: to make one takes longer than all that it says
export const count = (n) => grouped(Math.round(n));
export const factor = (f) => (f === 0 ? '0' : fixed(f, 2));
export const times = (ratio) => `${digits(ratio, 3)} ×`;
/** A part of something; above 100 % as a factor. */
export const percent = (ratio, n = 3) => (ratio === undefined ? '-' : Math.abs(ratio) > 1.0005 ? times(ratio) : `${digits(100 * ratio, n)} %`);
/** How much more something is: from twice as much on as a factor. */
export const more = (ratio) => (ratio > 1.0005 ? times(1 + ratio) : `${percent(ratio)} more`);

export function money(usd) {
  const size = Math.abs(usd);
  if (size >= 999.5e6) return `$${fixed(usd / 1e9, 2)}B`;
  if (size >= 999.5e3) return `$${fixed(usd / 1e6, 1)}M`;
  if (size >= 9999.5) return `$${fixed(usd / 1e3, 1)}k`;
  return `$${fixed(usd, size >= 100 ? 0 : 2)}`;
}
export const dollars = (usd) => `$${count(usd)}`;

/** The mean of a figure that may be a distribution over seeds. */
export const mean = (figure) => (figure !== null && typeof figure === 'object' ? figure.mean : figure);

/** A figure, with its spread where it is a distribution. */
export function spread(figure, format) {
  if (figure === undefined || figure === null) return '-';
  if (typeof figure !== 'object') return format(figure);
  return `${format(figure.mean)} (${format(figure.min)} to ${format(figure.max)})`;
}

/** "1 flow", "2 flows" */
export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
/** "1:1", "6.86:1" */
export const ratio = (r) => `${digits(r, 3)}:1`;

/** Words in a row: "a, b and c". */
export function list(items) {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
