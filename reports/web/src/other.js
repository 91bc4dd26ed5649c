// Parts of the report that have no picture of their own: shown as they are, so that nothing is missing from the page.
import { h, section, table } from './dom.js';
import * as f from './format.js';

const TITLES = {
  advice: 'What could be changed', contention: 'What the jobs do to each other', degradation: 'What slower parts do',
  mix: 'Two kinds of job', front_end: 'The front-end network', job: 'The job', memory: 'Memory of the fullest GPU',
  not_evaluated: 'What would take too much memory', ownership: 'What is bought and run',
  plan: 'Plans', serving: 'Serving', ranking: 'Ranking', published: 'Beside what was published', import: 'What was imported', validate: 'Figure by figure',
};
// With a section of their own, or told in the header.
const SHOWN = ['fabric', 'cost', 'designs', 'phases', 'iteration', 'study', 'sweep', 'optimize', 'explain', 'audit', 'diff', 'failures', 'growth', 'traffic', 'verdict', 'busbw', 'serving', 'ranking', 'observe', 'meta'];
const FEW = 2; // items whose parts are open at once
const UNITS = [[/_s$/, f.seconds], [/_bps$/, f.rate], [/(_|^)usd(_|$)/, f.money], [/bytes$/, f.bytes], [/_w$/, f.power], [/_m$/, f.metres]];

const isScalar = (v) => v === null || typeof v !== 'object';
const isStat = (v) => v !== null && typeof v === 'object' && 'ci95' in v;
const title = (key) => key.replace(/_(s|bps|usd|w|m|ratio)$/, '').replace(/_/g, ' ');

function format(key, value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (isStat(value)) return f.spread(value, (v) => format(key, v));
  if (/_ratio$/.test(key) && !/slowdown|lower_bound|speed/.test(key)) return f.percent(value);
  const unit = UNITS.find(([pattern]) => pattern.test(key));
  if (unit) return unit[1](value);
  return Number.isInteger(value) ? f.count(value) : f.digits(value);
}

const isPlain = (v) => isScalar(v) || isStat(v) || (Array.isArray(v) && v.every(isScalar));
const plain = (key, v) => (Array.isArray(v) ? v.map((item) => format(key, item)).join(', ') : format(key, v));

function list(key, items) {
  if (items.length === 0) return null;
  const keys = [...new Set(items.flatMap(Object.keys))];
  const scalars = keys.filter((k) => items.every((item) => item[k] === undefined || isPlain(item[k])));
  const nested = keys.filter((k) => !scalars.includes(k));
  const numeric = (k) => items.every((item) => item[k] === undefined || typeof item[k] === 'number' || isStat(item[k]));
  return [scalars.length > 0 && table({
    caption: title(key),
    columns: scalars.map((k, i) => ({ title: title(k), head: i === 0, number: i > 0 && numeric(k), cell: (item) => plain(k, item[k]) })),
    rows: items.map(({ class: _, ...item }) => item),
  }),
  items.map((item, i) => nested.some((k) => item[k] !== undefined) && h('details', { open: items.length <= FEW },
    h('summary', null, `${title(key)}: ${plain(scalars[0], item[scalars[0]]) || i + 1}`), nested.map((k) => item[k] !== undefined && show(k, item[k]))))];
}

/** Everything that a value holds: facts, lists as tables, and what is within them. */
export function show(key, value) {
  if (Array.isArray(value)) return value.every(isScalar) ? h('p', null, `${title(key)}: ${plain(key, value)}`) : list(key, value);
  const entries = Object.entries(value);
  const scalars = entries.filter(([, v]) => isPlain(v));
  return [scalars.length > 0 && h('dl', { class: 'facts' }, scalars.map(([k, v]) => [h('dt', null, title(k)), h('dd', null, plain(k, v))])),
    entries.filter(([, v]) => !isPlain(v)).map(([k, v]) => [h('h3', null, title(k)), show(k, v)])];
}

/** What has no section of its own, known or not. */
export const others = (model) => [...Object.keys(TITLES), ...Object.keys(model.report).filter((key) => !(key in TITLES))]
  .filter((key) => model.report[key] !== undefined && !SHOWN.includes(key))
  .map((key) => section(key, TITLES[key] ?? title(key), null, show(key, model.report[key])));
