// How full links are where the loads of each are not kept: a bar for every boundary, in which area is links.
import { h, keyOf } from './dom.js';
import { BINS } from './model.js';
import * as f from './format.js';

const FULL = 4; // bins from here on are above what a link carries

/** Rows of a point (or state), phase and engine, the highest boundary first: { boundary, bins }. */
export const heatOf = (model, point, phase, engine) => (model.data.heat ?? [])
  .filter(([p, q, e]) => p === point && q === phase && e === engine).map(([, , , boundary, ...bins]) => ({ boundary, bins })).reverse();

/** Said where a page has too few of them. */
export const heatNote = ({ data }) => data.heat_left_out > 0 && h('p', { class: 'note' }, `How full links are is in this page for the first designs and phases alone: ${f.count(data.heat_left_out)} more were left out.`);

const sum = (bins) => bins.reduce((a, b) => a + b, 0);
export const collidedOf = ({ bins }) => sum(bins.slice(FULL));

function figure(name, rows, widest) {
  const told = (row) => `${row.boundary}: ${f.count(collidedOf(row))} of ${f.plural(sum(row.bins), 'link')} above 1`;
  return h('figure', { class: 'figure' }, h('figcaption', null, name), h('div', { class: 'heat-rows', role: 'img', 'aria-label': `${name}. ${rows.map(told).join('; ')}` },
    rows.map((row) => h('div', { class: 'heat-row' }, h('p', { class: 'small' }, told(row)),
      h('div', { class: 'heat-bar', style: { width: `${(100 * sum(row.bins)) / widest}%` } },
        row.bins.map((n, bin) => n > 0 && h('span', { class: `bin-fill-${bin}`, style: { 'flex-grow': n } })))))));
}

/** Two of them: [name, rows] each, to one scale. */
export function heatPair(...two) {
  if (two.some(([, rows]) => rows.length === 0)) return null;
  const widest = Math.max(1, ...two.flatMap(([, rows]) => rows.map((row) => sum(row.bins))));
  return [h('div', { class: 'grid wide pair-heat' }, two.map(([name, rows]) => figure(name, rows, widest))),
    keyOf(BINS.map((name, bin) => [`swatch bin-fill-${bin}`, name]))];
}
