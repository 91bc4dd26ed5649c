// Rows and series of numbers as reports/html_code.h writes them.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUE = new Uint8Array(128);
for (let i = 0; i < DIGITS.length; i++) VALUE[DIGITS.charCodeAt(i)] = i;
const RUN = '~'.charCodeAt(0);

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }
  get more() {
    return this.at < this.text.length;
  }
  digit() {
    return VALUE[this.text.charCodeAt(this.at++)];
  }
  vlq() {
    let value = 0;
    let scale = 1;
    for (;;) {
      const digit = this.digit();
      value += (digit & 31) * scale;
      if (digit < 32) break;
      scale *= 32;
    }
    const half = Math.floor(value / 2);
    return value % 2 === 1 ? -half : half;
  }
}

/** Columns of `n` rows of whole numbers. */
export function rows(text, width, n) {
  const columns = Array.from({ length: width }, () => new Int32Array(n));
  const reader = new Reader(text);
  const last = new Array(width).fill(0);
  const step = new Array(width).fill(0);
  let row = 0;
  while (reader.more) {
    const times = reader.vlq();
    for (let i = 0; i < width; i++) step[i] = reader.vlq();
    for (let k = 0; k < times; k++, row++) {
      for (let i = 0; i < width; i++) {
        last[i] += step[i];
        columns[i][row] = last[i];
      }
    }
  }
  if (row !== n) throw new Error(`${row} rows instead of ${n}`);
  return columns;
}

/** `n` figures by their places in a table. */
export function series(text, values, n) {
  const out = new Float64Array(n);
  const reader = new Reader(text);
  const wide = values.length > 64;
  let at = 0;
  let value = 0;
  while (reader.more) {
    if (text.charCodeAt(reader.at) === RUN) {
      reader.at++;
      const times = reader.vlq();
      out.fill(value, at, at + times);
      at += times;
      continue;
    }
    let place = reader.digit();
    if (wide) place = place * 64 + reader.digit();
    value = values[place];
    out[at++] = value;
  }
  if (at !== n) throw new Error(`${at} figures instead of ${n}`);
  return out;
}
