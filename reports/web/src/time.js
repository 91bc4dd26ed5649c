// Where the seconds of an iteration go.
import { h, replace, section, table } from './dom.js';
import { PARTS } from './answers.js';
import * as f from './format.js';

/** Parts of a time, each where it begins: [key, name, kind] of `of`, which `what` of `time_s` is. */
export function waterfall(of, parts, { id, caption, what, time_s: whole }) {
  let start = 0;
  const rows = parts.map(([key, name, kind]) => ({ name, kind, s: of[key] })).filter(({ s }) => s > 0)
    .map((row) => ({ ...row, start: (start += row.s) - row.s }));
  const share = (s) => s / whole;
  return table({
    id,
    caption,
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
    rows: [...rows, { name: what, kind: 'whole', s: whole, start: 0, class: 'total' }],
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
  const draw = () => {
    const it = iteration[state.engine] ?? iteration[0];
    replace(host, waterfall(it, PARTS, { id: 'waterfall', caption: `Iteration of ${f.seconds(it.time_s)} under ${it.engine}`, what: 'iteration', time_s: it.time_s }));
  };
  state.onChange((changed) => changed.has('engine') && draw());
  draw();
  return section('time', 'Iteration', 'Communication counts here only as far as computation does not hide it.', host,
    iteration.length > 1 && engines(iteration), memory(job));
}
