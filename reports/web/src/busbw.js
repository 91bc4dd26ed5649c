// What nccl-tests should print: bus bandwidth over the size, under each engine, and what was measured.
import { h, keyOf, section, table } from './dom.js';
import { axis, chart } from './chart.js';
import * as f from './format.js';

const HUES = (c) => [c.ratio[3], c.ratio[5], c.load[4], c.ratio[7], c.ratio[1]];
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const GB = 8e9; // bit/s in a GB/s, as nccl-tests print it

export function size(bytes) {
  let unit = 0;
  let value = bytes;
  while (unit + 1 < UNITS.length && value >= 1024 && value % 1024 === 0) {
    value /= 1024;
    unit += 1;
  }
  return `${value} ${UNITS[unit]}`;
}

const gigabytes = (bps) => f.digits(bps / GB);

/** Bus bandwidth over the size, both in powers. */
function curves(b, engines) {
  const sizes = [...new Set(b.rows.map((r) => r.bytes))].sort((x, y) => x - y);
  const lines = engines.map((engine) => ({ label: engine === 'none' ? 'should be' : engine, rows: b.rows.filter((r) => r.engine === engine), get: (r) => r.busbw_bps }));
  if (b.measured) lines.push({ label: 'measured', rows: lines[0].rows, get: (r) => r.measured_busbw_bps });
  const values = lines.map((line) => sizes.map((bytes) => {
    const row = line.rows.find((r) => r.bytes === bytes);
    return row ? line.get(row) / GB : null;
  }));
  const hue = (i) => i % 5;
  return chart({
    title: 'Bus bandwidth in GB/s over the size',
    label: `Bus bandwidth over the size. ${lines.map((line, i) => `${line.label}: ${values[i].map((v, k) => (v === null ? null : `${f.digits(v)} GB/s at ${size(sizes[k])}`)).filter(Boolean).join(', ')}`).join('; ')}`,
    key: keyOf(lines.map((line, i) => [`stroke dash-${line.label === 'measured' ? 1 : 0} hue-${hue(i)}`, line.label])),
    height: 280,
    data: [sizes, ...values],
    tell: { x: (i) => size(sizes[i]), y: (v) => `${f.digits(v)} GB/s` },
    options: (c) => ({
      scales: { x: { time: false, distr: 3, log: 2 }, y: { distr: 3, log: 10 } },
      axes: [axis(c, { label: 'size', space: 70, values: (_, list) => list.map((v) => (v === null ? '' : size(v))) }), axis(c, { label: 'GB/s', size: 64 })],
      series: [{}, ...lines.map((line, i) => ({ label: line.label, stroke: HUES(c)[hue(i)], dash: line.label === 'measured' ? [6, 4] : [], width: 2, spanGaps: true, points: { show: true, size: 6, fill: HUES(c)[hue(i)] } }))],
    }),
  });
}

function rowsOf(b, engine, i) {
  const rows = b.rows.filter((r) => r.engine === engine);
  const bound = (r) => (r.bound_by === 'network' && r.max_collision_factor > 1 + 1e-9 ? `${r.max_hash_factor > 1 + 1e-9 ? 'collisions' : 'taper'} ${f.times(r.max_collision_factor)}` : r.bound_by);
  return table({
    caption: engine === 'none' ? 'By size, in GB/s' : `Under ${engine}, by size, in GB/s`,
    columns: [
      { title: 'size', head: true, cell: (r) => size(r.bytes) },
      { title: 'algorithm', cell: (r) => `${r.algorithm} ${r.protocol}` },
      { title: 'time', number: true, cell: (r) => f.seconds(r.time_s) },
      { title: 'algbw', number: true, cell: (r) => gigabytes(r.algbw_bps) },
      { title: 'busbw', number: true, cell: (r) => gigabytes(r.busbw_bps) },
      ...(b.measured ? [{ title: 'measured', number: true, cell: (r) => gigabytes(r.measured_busbw_bps) },
        { title: 'ratio', number: true, cell: (r) => `${f.fixed(r.measured_ratio, 3)}${r.falls_short ? ' falls short' : ''}` }] : []),
      { title: 'bound by', cell: bound },
    ],
    rows,
    id: `busbw-table-${i}`,
  });
}

export function busbw(model) {
  const b = model.report.busbw;
  const engines = [...new Set(b.rows.map((r) => r.engine))];
  const short = b.measured ? ` ${f.count(b.short_sizes)} of ${f.plural(b.rows.length, 'size')} measured in ${b.measured} fall short.` : '';
  return section('busbw', 'Bus bandwidth', `${b.collective} of ${f.plural(b.ranks, 'rank')} in ${f.plural(b.domains, 'scale-up domain')} of ${b.gpu}, algorithm ${b.choice}.${short}`,
    curves(b, engines), engines.map((engine, i) => rowsOf(b, engine, i)), h('p', { class: 'note' }, b.source));
}
