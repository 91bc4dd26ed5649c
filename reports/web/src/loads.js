// How full the links are, tier by tier: the table, and a histogram of every boundary.
import { BINS } from './model.js';
import { h, replace, section, table } from './dom.js';
import { axis, bars, chart } from './chart.js';
import * as f from './format.js';

const COLUMNS = [
  { title: 'links', head: true, cell: (l) => `${l.boundary} ${l.direction}` },
  { title: 'number', number: true, cell: (l) => f.count(l.links) },
  { title: 'used', number: true, cell: (l) => f.count(l.used_links) },
  { title: 'collided', number: true, cell: (l) => f.count(l.collided_links) },
  { title: 'mean', number: true, cell: (l) => f.factor(l.mean_utilisation_ratio) },
  { title: 'largest', number: true, cell: (l) => f.factor(l.max_utilisation_ratio) },
  { title: 'under ideal spraying', number: true, cell: (l) => f.factor(l.max_taper_factor) },
  { title: 'bytes', number: true, cell: (l) => f.bytes(l.bytes) },
  { title: 'flows bottlenecked', number: true, cell: (l) => (l.bottlenecked_flows === undefined ? '-' : f.count(l.bottlenecked_flows)) },
];

function histogram(up, down) {
  const x = BINS.map((_, i) => i);
  const label = `Links ${up.boundary} by utilisation. ${[up, down].map((l) => `${l.direction}: ${BINS.map((bin, i) => [bin, l.histogram[i]]).filter(([, n]) => n > 0).map(([bin, n]) => `${f.count(n)} ${bin}`).join(', ')}`).join('. ')}`;
  const key = h('p', { class: 'key' }, h('span', { class: 'swatch up' }), up.direction, ' ', h('span', { class: 'swatch down' }), down.direction);
  return chart({
    title: `${up.boundary}: links by utilisation`,
    label,
    key,
    height: 210,
    data: [x, up.histogram, down.histogram],
    tell: { x: (i) => BINS[i], y: (n) => f.plural(n, 'link') },
    options: (c) => ({
      scales: { x: { time: false, range: [-0.6, BINS.length - 0.4] }, y: { range: (_, __, max) => [0, max * 1.08 || 1] } },
      axes: [
        axis(c, { label: 'utilisation, from', size: 30, splits: () => x, values: () => ['0', '¼', '½', '¾', '1', '1½', '2', '3+'], grid: { show: false } }),
        axis(c, { label: 'links', size: 58, values: (_, list) => list.map((v) => (Number.isInteger(v) ? f.count(v) : '')) }),
      ],
      series: [
        {},
        { label: up.direction, fill: c.ratio[3], stroke: c.ratio[3], width: 0, paths: bars(0.4, -1), points: { show: false } },
        { label: down.direction, fill: c.ratio[5], stroke: c.ratio[5], width: 0, paths: bars(0.4, 1), points: { show: false } },
      ],
    }),
  });
}

function binTable(loads) {
  return h('details', null, h('summary', null, 'The histograms as a table'),
    table({
      caption: 'Links by utilisation',
      hide: true,
      columns: [{ title: 'links', head: true, cell: (l) => `${l.boundary} ${l.direction}` },
        ...BINS.map((bin, i) => ({ title: bin, number: true, cell: (l) => f.count(l.histogram[i]) }))],
      rows: loads,
    }));
}

export function loads(model, state) {
  const host = h('div');
  const draw = () => {
    const phase = model.phases[state.phase];
    const engine = phase?.engines[state.engine];
    const list = engine?.link_loads ?? [];
    const pairs = [];
    for (let i = 0; i + 1 < list.length; i += 2) {
      if (list[i].used_links > 0 || list[i + 1].used_links > 0) pairs.push([list[i], list[i + 1]]);
    }
    replace(host,
      table({ id: 'loads-table', caption: `Utilisation of links in phase ${phase?.name} under ${engine?.options ?? engine?.engine}${engine?.seeds > 1 ? `, seed ${engine.seed}` : ''}`, columns: COLUMNS, rows: list }),
      pairs.length > 0 ? [h('div', { class: 'grid' }, pairs.map(([up, down]) => histogram(up, down))), binTable(list)]
        : h('p', { class: 'note' }, 'This phase stays inside the servers: no network link is used.'));
  };
  state.onChange((changed) => (changed.has('engine') || changed.has('phase')) && draw());
  draw();
  return section('loads', 'Link loads', 'Utilisation is the offered rate over the capacity; above 1 a link is offered more than it has. Of the first seed.', host);
}
