// Jobs that answer requests: time to first token and per token, alone and in a queue; a batch of a ranking model.
import { h, keyOf, section, table } from './dom.js';
import { axis, bars, chart } from './chart.js';
import { waterfall } from './time.js';
import * as f from './format.js';

const WAITS = [['p99', '99 of 100 requests stay within', 0.8], ['p50', 'median', 0.55], ['alone', 'alone', 0.3], ['network', 'network', 0.12]];
const BINS = [1, 3, 5, 7];
const PARTS = [['lookup_s', 'lookups', 'optimizer'], ['dense_s', 'dense part', 'compute'], ['exchange_s', 'exchange of vectors', 'tp'], ['reduction_s', 'reduction of gradients', 'dp']];
const usd = (v) => (v === undefined ? '-' : `$${f.digits(v, 4)}`);
const seconds = (v) => (v === undefined ? '-' : f.seconds(v));
const head = { title: 'engine', head: true, cell: (r) => r.engine };

/** Percentiles behind what a request takes alone, by engine; `key`: first_token or token. */
function waits(list, key, title) {
  const has = list.some((r) => r[`${key}_p99_s`] !== undefined);
  const values = { p99: (r) => r[`${key}_p99_s`] ?? null, p50: (r) => r[`${key}_p50_s`] ?? null, alone: (r) => r[`${key}_s`], network: (r) => r[`${key}_network_s`] };
  const shown = WAITS.map((wait, i) => [...wait, BINS[i]]).filter(([name]) => has || name === 'alone' || name === 'network');
  const x = list.map((_, i) => i);
  return chart({
    title,
    label: `${title}. ${list.map((r) => `${r.engine}: ${shown.map(([name, text]) => `${text} ${seconds(values[name](r) ?? undefined)}`).join(', ')}`).join('; ')}`,
    key: keyOf(shown.map(([, text, , bin]) => [`swatch bin-fill-${bin}`, text])),
    height: 240,
    data: [x, ...shown.map(([name]) => list.map(values[name]))],
    tell: { x: (i) => list[i].engine, y: f.seconds },
    options: (c) => ({
      scales: { x: { time: false, range: [-0.6, list.length - 0.4] }, y: { range: (_, __, max) => [0, max * 1.08 || 1] } },
      axes: [axis(c, { label: 'engine', splits: () => x, values: () => list.map((r) => r.engine), grid: { show: false } }), axis(c, { label: 'time', size: 76, values: (_, ticks) => ticks.map((v) => f.seconds(v)) })],
      series: [{}, ...shown.map(([, text, size, bin]) => ({ label: text, fill: c.ratio[bin], stroke: c.ratio[bin], width: 0, paths: bars(size, 0), points: { show: false } }))],
    }),
  });
}

export function serving(model) {
  const list = model.report.serving;
  const waiting = list.filter((r) => r.first_token_p99_s !== undefined);
  const full = list.filter((r) => r.first_token_p99_s === undefined);
  return section('serving', 'Serving', 'What a request takes alone, and among requests that arrive at random (Poisson) and join the batch between two passes.',
    waits(list, 'first_token', 'Time to first token'), waits(list, 'token', 'Time per token'),
    table({
      id: 'serving-table',
      caption: 'Alone: the batch is full, nobody waits',
      columns: [head,
        { title: 'first token', number: true, cell: (r) => f.seconds(r.first_token_s) },
        { title: 'of it network', number: true, cell: (r) => f.percent(r.first_token_network_s / r.first_token_s) },
        { title: 'per token', number: true, cell: (r) => f.seconds(r.token_s) },
        { title: 'of it network', number: true, cell: (r) => f.percent(r.token_network_s / r.token_s) },
        { title: 'reading weights', number: true, cell: (r) => f.seconds(r.weights_s) },
        { title: 'keys and values', number: true, cell: (r) => f.seconds(r.cache_s) },
        { title: 'an all-reduce', number: true, cell: (r) => seconds(r.all_reduce_s) },
        { title: 'to the other pool', number: true, cell: (r) => seconds(r.kv_transfer_s) },
        { title: 'tokens/s', number: true, cell: (r) => f.count(Math.round(r.tokens_per_s)) },
        { title: '$ per 1e6 tokens', number: true, cell: (r) => usd(r.usd_per_1e6_tokens) }],
      rows: list,
    }),
    waiting.length > 0 && table({
      id: 'waits-table',
      caption: 'With requests at random',
      columns: [head,
        { title: 'requests/s', number: true, cell: (r) => f.digits(r.arrivals_per_s) },
        { title: 'at most', number: true, cell: (r) => f.digits(r.most_requests_per_s) },
        { title: 'first token, median', number: true, cell: (r) => f.seconds(r.first_token_p50_s) },
        { title: 'first token, 99 %', number: true, cell: (r) => f.seconds(r.first_token_p99_s) },
        { title: 'per token, median', number: true, cell: (r) => f.seconds(r.token_p50_s) },
        { title: 'per token, 99 %', number: true, cell: (r) => f.seconds(r.token_p99_s) }],
      rows: waiting,
    }),
    full.map((r) => h('p', { class: 'bad' }, `${r.engine}: at most ${f.digits(r.most_requests_per_s)} requests per second can be answered; with more, who waits, waits ever longer.`)));
}

/** All-to-alls of the batch: of how many bytes, and what they take under every engine. */
function exchanges(model) {
  const rows = model.phases.filter((p) => /^embedding/.test(p.name));
  return rows.length > 0 && table({
    id: 'exchange-table',
    caption: 'Exchange of vectors and their gradients',
    columns: [{ title: 'phase', head: true, cell: (p) => p.name },
      { title: 'flows', number: true, cell: (p) => f.count(p.flows) },
      { title: 'bytes', number: true, cell: (p) => f.bytes(p.total_bytes ?? p.bytes) },
      ...model.engines.map((engine, i) => ({ title: engine, number: true, cell: (p) => (p.engines[i]?.time_s === undefined ? '-' : f.spread(p.engines[i].time_s, f.seconds)) }))],
    rows,
  });
}

export function ranking(model) {
  const list = model.report.ranking;
  return section('ranking', 'Ranking', 'One batch: lookups of the GPU with most of them, the dense part, and exchanges as far as nothing hides them.',
    list.map((r, i) => waterfall(r, PARTS, { id: `batch-${i}`, caption: `Batch of ${f.seconds(r.batch_s)} under ${r.engine}`, what: 'batch', time_s: r.batch_s })),
    table({
      id: 'ranking-table',
      caption: 'By engine',
      columns: [head,
        { title: 'batch', number: true, cell: (r) => f.seconds(r.batch_s) },
        { title: 'exchange', number: true, cell: (r) => f.percent(r.exchange_s / r.batch_s) },
        { title: 'reduction', number: true, cell: (r) => f.percent(r.reduction_s / r.batch_s) },
        { title: 'samples/s', number: true, cell: (r) => f.count(Math.round(r.samples_per_s)) },
        { title: '$ per 1e6 samples', number: true, cell: (r) => usd(r.usd_per_1e6_samples) }],
      rows: list,
    }), exchanges(model));
}
