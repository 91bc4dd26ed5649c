// Where the seconds of an iteration go.
import { h, replace, section, table } from './dom.js';
import { PARTS } from './answers.js';
import * as f from './format.js';

function waterfall(iteration) {
  let start = 0;
  const rows = PARTS.map(([key, name, kind]) => ({ name, kind, s: iteration[key] })).filter(({ s }) => s > 0)
    .map((row) => ({ ...row, start: (start += row.s) - row.s }));
  const share = (s) => s / iteration.time_s;
  return table({
    id: 'waterfall',
    caption: `Iteration of ${f.seconds(iteration.time_s)} under ${iteration.engine}`,
    columns: [
      { title: 'part', head: true, cell: (r) => r.name },
      { title: 'time', number: true, cell: (r) => f.seconds(r.s) },
      { title: 'share', number: true, cell: (r) => f.percent(share(r.s)) },
      {
        title: 'from start to end',
        cell: (r) => h('span', { class: 'fall', 'aria-hidden': 'true' },
          h('span', { class: `fill ${r.kind}`, style: { 'margin-left': `${100 * share(r.start)}%`, width: `max(${100 * share(r.s)}%, 2px)` } })),
      },
    ],
    rows: [...rows, { name: 'iteration', kind: 'whole', s: iteration.time_s, start: 0, class: 'total' }],
  });
}

function engines(list) {
  const share = (key) => ({ number: true, cell: (r) => (r[key] > 0 ? f.percent(r[key] / r.time_s) : '-') });
  return table({
    id: 'iterations',
    caption: 'Iteration under every engine',
    columns: [
      { title: 'engine', head: true, cell: (r) => r.engine },
      { title: 'time', number: true, cell: (r) => f.seconds(r.time_s) },
      { title: 'compute', ...share('compute_s') },
      { title: 'bubble', ...share('bubble_s') },
      { title: 'tensor', ...share('exposed_tp_s') },
      { title: 'pipeline', ...share('exposed_pp_s') },
      { title: 'data', ...share('exposed_dp_s') },
      { title: 'tokens/s', number: true, cell: (r) => f.count(r.tokens_per_s) },
      { title: 'TFLOP/s per GPU', number: true, cell: (r) => f.digits(r.tflops_per_gpu) },
      { title: 'MFU', number: true, cell: (r) => f.percent(r.mfu_ratio) },
      { title: '$ per 1e9 tokens', number: true, cell: (r) => (r.usd_per_1e9_tokens === undefined ? '-' : f.dollars(r.usd_per_1e9_tokens)) },
    ],
    rows: list,
  });
}

function memory(job) {
  const m = job?.memory;
  if (!m || !m.total_bytes) return null;
  return h('p', { class: m.fits ? null : 'bad' },
    `Fullest GPU (${job.gpu ?? 'GPU'}): ${f.bytes(m.total_bytes)} of ${f.bytes(m.capacity_bytes)}: weights ${f.bytes(m.weights_bytes)}, gradients ${f.bytes(m.gradients_bytes)}, optimizer ${f.bytes(m.optimizer_bytes)}, activations ${f.bytes(m.activations_bytes)}${m.fits ? '' : ': does not fit'}.`);
}

export function time(model, state) {
  const { iteration, job } = model.report;
  const host = h('div');
  const draw = () => replace(host, waterfall(iteration[state.engine] ?? iteration[0]));
  state.onChange((changed) => changed.has('engine') && draw());
  draw();
  return section('time', 'Iteration', 'Communication counts here only as far as computation does not hide it.', host,
    iteration.length > 1 && engines(iteration), memory(job));
}
