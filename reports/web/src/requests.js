// Jobs that answer requests: time to first token and per token, alone and in a queue; a batch of a ranking model.
import { h, keyOf, section, table } from './dom.js';
import { axis, bars, chart } from './chart.js';
import { waterfall } from './time.js';
import * as f from './format.js';

const PARTS = [['lookup_s', 'lookups', 'optimizer'], ['dense_s', 'dense part', 'compute'], ['exchange_s', 'exchange of vectors', 'tp'], ['reduction_s', 'reduction of gradients', 'dp']];
export const usd = (v) => (v === undefined ? '-' : `$${f.digits(v, 4)}`);
const seconds = (v) => (v === undefined ? '-' : f.seconds(v));
const head = { title: 'engine', head: true, cell: (r) => r.engine };

/** A request alone and among others, under every engine; `key`: first_token or token. */
function waits(list, key, title) {
  const all = list.flatMap((r) => [['alone', r[`${key}_s`], r[`${key}_network_s`]], ['median', r[`${key}_p50_s`]], ['99 %', r[`${key}_p99_s`]]]
    .filter(([, time]) => time !== undefined).map(([name, time, network]) => ({ name: `${r.engine}, ${name}`, time, network: network ?? null })));
  const x = all.map((_, i) => i);
  const bar = (fill) => ({ fill, stroke: fill, width: 0, paths: bars(0.7, 0), points: { show: false } });
  return chart({
    title,
    label: `${title}. ${all.map((b) => `${b.name}: ${f.seconds(b.time)}${b.network === null ? '' : `, network ${f.seconds(b.network)}`}`).join('; ')}`,
    key: keyOf([['swatch bin-fill-3', 'time'], ['swatch bin-fill-5', 'of it the network, alone']]),
    height: 240,
    data: [x, all.map((b) => b.time), all.map((b) => b.network)],
    tell: { x: (i) => all[i].name, y: f.seconds },
    options: (c) => ({
      scales: { x: { time: false, range: [-0.6, all.length - 0.4] }, y: { range: (_, __, max) => [0, max * 1.08 || 1] } },
      axes: [axis(c, { label: 'engine, request', splits: () => x, values: () => all.map((b) => b.name), grid: { show: false } }), axis(c, { label: 'time', size: 76, values: (_, ticks) => ticks.map((v) => f.seconds(v)) })],
      series: [{}, { label: 'time', ...bar(c.ratio[3]) }, { label: 'network', ...bar(c.ratio[5]) }],
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
      caption: 'Alone, in a full batch; of a token: reading weights, keys and values (cache)',
      columns: [head,
        { title: 'first token', number: true, cell: (r) => f.seconds(r.first_token_s) },
        { title: 'network', number: true, cell: (r) => f.percent(r.first_token_network_s / r.first_token_s) },
        { title: 'per token', number: true, cell: (r) => f.seconds(r.token_s) },
        { title: 'network', number: true, cell: (r) => f.percent(r.token_network_s / r.token_s) },
        { title: 'weights', number: true, cell: (r) => f.seconds(r.weights_s) },
        { title: 'cache', number: true, cell: (r) => f.seconds(r.cache_s) },
        { title: 'all-reduce', number: true, cell: (r) => seconds(r.all_reduce_s) },
        { title: 'to decode', number: true, cell: (r) => seconds(r.kv_transfer_s) },
        { title: 'tokens/s', number: true, cell: (r) => f.count(r.tokens_per_s) },
        { title: '$/1e6 tokens', number: true, cell: (r) => usd(r.usd_per_1e6_tokens) }],
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
        { title: 'samples/s', number: true, cell: (r) => f.count(r.samples_per_s) },
        { title: '$ per 1e6 samples', number: true, cell: (r) => usd(r.usd_per_1e6_samples) }],
      rows: list,
    }), exchanges(model));
}

const JOBS = ['training', 'ranking', 'serving'];
const slowdown = (e, job) => e[`${job}_slowdown_ratio`];

/** Which fabrics serve all jobs of a mix, and which of them the others slow most. */
export function fungible(model) {
  const rows = model.report.mix.designs.flatMap((d) => (d.engines ?? []).map((e) => ({ ...e, name: d.name, jobs: JOBS.filter((job) => slowdown(e, job) > 0) })));
  const jobs = JOBS.filter((job) => rows.some((r) => r.jobs.includes(job)));
  const worst = (r) => r.jobs.reduce((a, b) => (slowdown(r, b) > slowdown(r, a) ? b : a));
  return rows.length > 0 && section('fungible', 'Which fabrics serve all jobs', 'Every job beside the fastest of these designs; one that serves all slows none by more than a twentieth.',
    table({
      id: 'fungible-table',
      caption: 'Times over those on the fastest design',
      columns: [{ title: 'design', head: true, cell: (r) => r.name },
        { title: 'engine', cell: (r) => r.engine ?? r.label },
        ...jobs.map((job) => ({ title: `${job} takes`, number: true, cell: (r) => (slowdown(r, job) > 0 ? `${f.fixed(slowdown(r, job), 3)} ×` : '-') })),
        { title: 'serves all', cell: (r) => (r.serves_all ? 'yes' : r.jobs.length > 0 ? `no: ${worst(r)}` : '-') }],
      rows,
    }));
}
