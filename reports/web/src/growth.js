// A fabric that is built in steps: what stands, what each step adds, what it moves.
import { h, keyOf, section, table } from './dom.js';
import { axis, bars, chart } from './chart.js';
import * as f from './format.js';

const stepName = (step, i) => `${i + 1}: ${f.count(step.gpus)} GPUs`;

function curve(steps) {
  const x = steps.map((_, i) => i);
  return chart({
    title: 'Price of what stands, and of what the step buys',
    label: `Price by step. ${steps.map((s, i) => `Step ${stepName(s, i)}: ${f.money(s.total_usd)} stand, ${f.money(s.bought_usd)} bought`).join('; ')}`,
    key: keyOf([['swatch hue-0', 'stands at the end'], ['swatch hue-1', 'bought in the step']]),
    height: 240,
    data: [x, steps.map((s) => s.total_usd), steps.map((s) => s.bought_usd)],
    tell: { x: (i) => stepName(steps[i], i), y: f.money },
    options: (c) => ({
      scales: { x: { time: false, range: [-0.6, steps.length - 0.4] }, y: { range: (_, __, max) => [0, max * 1.08 || 1] } },
      axes: [axis(c, { label: 'step', splits: () => x, values: () => steps.map(stepName), grid: { show: false } }), axis(c, { label: 'price', size: 70, values: (_, list) => list.map(f.money) })],
      series: [{},
        { label: 'stands', fill: c.ratio[3], stroke: c.ratio[3], width: 0, paths: bars(0.35, -1), points: { show: false } },
        { label: 'bought', fill: c.ratio[5], stroke: c.ratio[5], width: 0, paths: bars(0.35, 1), points: { show: false } }],
    }),
  });
}

const some = (n) => (n > 0 ? f.count(n) : '-');

const parts = (step, i) => table({
  caption: i === 0 ? `Step 1: what the first ${f.count(step.gpus)} GPUs need` : `Step ${i + 1}: from ${f.count(step.before)} to ${f.count(step.gpus)} GPUs`,
  columns: [
    { title: 'part', head: true, cell: (p) => p.part },
    { title: 'for', cell: (p) => p.tier ?? '' },
    { title: 'bought', number: true, cell: (p) => some(p.bought) },
    { title: 'left over', number: true, cell: (p) => some(p.retired) },
    { title: 'price', number: true, cell: (p) => (p.bought > 0 ? f.money(p.bought_usd) : '-') },
  ],
  rows: step.parts,
});

export function growth(model) {
  const steps = model.report.growth;
  const moved = steps.reduce((sum, s) => sum + s.cables_moved, 0);
  return section('growth', 'Growth', `Built in ${f.plural(steps.length, 'step')}: ${moved > 0 ? `${f.plural(moved, 'cable')} that stand already must be plugged elsewhere` : 'no cable that stands has to move'}.`,
    curve(steps),
    table({
      id: 'growth-table',
      caption: 'Steps',
      columns: [
        { title: 'step', head: true, cell: ({ i }) => String(i + 1) },
        { title: 'GPUs', number: true, cell: ({ s }) => f.count(s.gpus) },
        { title: 'switches', number: true, cell: ({ s }) => f.count(s.switches) },
        { title: 'cables', number: true, cell: ({ s }) => f.count(s.cables) },
        { title: 'bought', number: true, cell: ({ s }) => f.money(s.bought_usd) },
        { title: 'stands', number: true, cell: ({ s }) => f.money(s.total_usd) },
        { title: 'cables moved', number: true, cell: ({ s }) => f.count(s.cables_moved) },
        { title: 'free ports', number: true, cell: ({ s }) => f.count(s.free_ports) },
        { title: 'bisection', number: true, cell: ({ s }) => f.percent(s.bisection_ratio) },
      ],
      rows: steps.map((s, i) => ({ s, i })),
    }),
    h('p', { class: 'note' }, 'Free ports: of switches, without a cable until the fabric grows into them.'),
    steps.map((s, i) => s.parts.length > 0 && h('details', null, h('summary', null, `What step ${i + 1} buys`),
      parts({ ...s, before: steps[i - 1]?.gpus }, i))));
}
