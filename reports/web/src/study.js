// What failures do to a job: how often how much, which parts it must not lose, and what a policy is worth.
import { h, section, table } from './dom.js';
import { card } from './answers.js';
import { axis, bars, chart } from './chart.js';
import * as f from './format.js';
import { RELIEF } from './failures.js';

const factor = (v) => (v === undefined ? '-' : `×${f.digits(v, 4)}`);
const impact = (v) => (v === undefined ? '-' : f.percent(v));
const shown = (study) => study.policy.find((v) => v.engine === study.shown_engine && v.policy === study.shown_policy) ?? study.policy[0];
/** Names of the bins of factors. */
const binNames = (edges) => [`below ${edges[0]}`, ...edges.slice(1).map((edge, i) => `${edges[i]} - ${edge}`), `above ${edges.at(-1)}`];

export function studyAnswers(study) {
  const v = shown(study);
  const costly = study.critical.filter((c) => c.impact_ratio > 1e-9); // of single losses all are listed
  const [worst] = costly;
  const ran = v.done - v.stopped;
  const bad = v.goodput_ratio
    ? [[h('strong', null, f.percent(v.goodput_ratio.mean, 4)), ' of the work gets done'], `Mean of ${f.plural(v.goodput_ratio.n, 'history').replace('historys', 'histories')} of ${f.digits(study.span_s / 86400)} days; 99 % of them reach ${f.percent(v.goodput_ratio.p99, 4)}, the worst ${f.percent(v.goodput_ratio.min, 4)}.`]
    : v.slowdown_ratio ? [[h('strong', null, factor(v.slowdown_ratio.mean)), ' as long on average'], `Where the job runs: 99 % of the scenarios stay at ${factor(v.slowdown_ratio.p99)} or below, the worst takes ${factor(v.slowdown_ratio.max)}.`]
      : v.worst_ratio ? [[h('strong', null, factor(v.worst_ratio.mean)), ' is offered to the fullest link'], `Mean over ${f.plural(v.worst_ratio.n, 'scenario')}; the worst ${factor(v.worst_ratio.max)}. Times are not known.`]
        : [[h('strong', null, 'The job stops'), ' in every scenario'], ''];
  const same = study.policy.filter((other) => other.engine === v.engine);
  const choice = study.choices?.find((c) => c.engine === v.engine);
  const idle = v.policy !== 'none' && same.find((other) => other.policy === 'none');
  return [
    card('answer-bound', 'How bad are failures?', bad[0], bad[1] && h('p', null, bad[1]),
      v.tokens_per_s > 0 && h('p', null, `${f.count(v.tokens_per_s)} tokens a second of the span stay${v.policy === 'shrink' ? `, of fewer replicas too (${study.failure_model.keep_batch ? 'they do all of the batch' : 'an iteration has fewer tokens then'})` : ''}.`),
      v.stopped > 0 && h('p', null, `The job stops in ${f.count(v.stopped)} of ${f.plural(v.done, 'scenario')}${ran > 0 ? ` (${f.percent(v.stopped / v.done)})` : ''}.`),
      idle?.goodput_ratio && h('p', null, `Where nobody moves (none) it is ${f.percent(idle.goodput_ratio.mean, 4)}.`),
      h('p', { class: 'small' }, `Under ${v.engine}, ${v.policy}. `, h('a', { href: '#study' }, 'The distribution'))),
    worst && card('answer-critical', 'What must not fail?', [h('strong', null, worst.name), `: ${impact(worst.impact_ratio)} of the speed is lost`],
      h('ul', { class: 'plain' }, costly.slice(1, 4).map((c) => h('li', null, `${c.name}: ${impact(c.impact_ratio)}`))),
      h('p', { class: 'small' }, h('a', { href: '#critical' }, 'The ranking'))),
    choice && card('answer-policy', 'What is a policy worth?', [h('strong', null, impact(choice.baseline_impact_ratio - choice.impact_ratio)), ' of the speed, chosen scenario by scenario'],
      h('p', null, `Lost on average ${impact(choice.baseline_impact_ratio)} under ${choice.baseline}, ${impact(choice.impact_ratio)} under the best of ${same.length}; they differ in ${f.count(choice.differ)} of ${f.plural(choice.compared, 'scenario')}${choice.rescued > 0 ? `, and ${f.count(choice.rescued)} that stop would run` : ''}.`)),
  ].filter(Boolean);
}

function distribution(study) {
  const v = shown(study);
  const names = [...binNames(study.bin_edges), 'stops'];
  const counts = [...v.bins, v.goodput_ratio ? 0 : v.stopped];
  const x = names.map((_, i) => i);
  return chart({
    title: `Scenarios by how many times longer the same work takes, under ${v.engine}, ${v.policy}`,
    label: `Scenarios by factor: ${names.map((name, i) => [name, counts[i]]).filter(([, n]) => n > 0).map(([name, n]) => `${f.count(n)} ${name}`).join(', ')}`,
    height: 260,
    data: [x, counts],
    tell: { x: (i) => names[i], y: (n) => f.plural(n, 'scenario') },
    options: (c) => ({
      scales: { x: { time: false, range: [-0.6, names.length - 0.4] }, y: { range: (_, __, max) => [0, max * 1.08 || 1] } },
      axes: [axis(c, { label: 'times as long', size: 64, rotate: -35, splits: () => x, values: () => names, grid: { show: false } }), axis(c, { label: 'scenarios', size: 58, values: (_, list) => list.map((n) => (Number.isInteger(n) ? f.count(n) : '')) })],
      series: [{}, { fill: c.ratio[5], stroke: c.ratio[5], width: 0, paths: bars(0.75, 0), points: { show: false } }],
    }),
  });
}

function variants(study) {
  const has = (key) => study.policy.some((v) => v[key] !== undefined);
  const spread = (key, end, format) => [
    { title: `${key.replace(/_ratio$/, '').replace(/_/g, ' ')}, mean`, number: true, cell: (v) => (v[key] ? format(v[key].mean) : '-') },
    { title: '99 %', number: true, cell: (v) => (v[key] ? format(v[key].p99) : '-') },
    { title: 'worst', number: true, cell: (v) => (v[key] ? format(v[key][end]) : '-') },
  ];
  return table({
    id: 'study-table',
    caption: 'Engines and policies',
    columns: [
      { title: 'engine', head: true, cell: (v) => v.engine },
      { title: 'policy', cell: (v) => v.policy },
      { title: 'scenarios', number: true, cell: (v) => f.count(v.done) },
      { title: 'stop', number: true, cell: (v) => f.count(v.stopped) },
      { title: 'lose paths', number: true, cell: (v) => f.count(v.disconnected) },
      { title: 'speed lost, mean', number: true, cell: (v) => impact(v.impact_ratio) },
      ...(has('slowdown_ratio') ? spread('slowdown_ratio', 'max', factor) : []),
      ...(has('goodput_ratio') ? spread('goodput_ratio', 'min', (x) => f.percent(x, 4)) : []),
      has('tokens_per_s') && { title: 'tokens a second that stay', number: true, cell: (v) => (v.tokens_per_s === undefined ? '-' : f.count(v.tokens_per_s)) },
      ...(has('worst_ratio') ? spread('worst_ratio', 'max', f.factor) : []),
      has('best') && { title: 'best in', number: true, cell: (v) => (v.best === undefined ? '-' : f.count(v.best)) },
    ].filter(Boolean),
    rows: study.policy.map((v) => ({ ...v, class: v === shown(study) ? 'best' : null })),
  });
}

function ranking(model, state, study) {
  const most = Math.max(...study.critical.map((c) => c.impact_ratio), 1e-9);
  return table({
    id: 'critical-table',
    caption: `Components by ${study.impact}`,
    columns: [
      { title: 'component', head: true, cell: (c) => c.name },
      { title: 'kind', cell: (c) => c.kind },
      { title: 'scenarios', number: true, cell: (c) => f.count(c.scenarios) },
      { title: 'of them stop', number: true, cell: (c) => f.count(c.stopped) },
      { title: 'speed lost', number: true, cell: (c) => `${impact(c.impact_ratio)}${c.impact_ci95_ratio !== undefined ? ` ± ${impact(c.impact_ci95_ratio)}` : ''}` },
      { title: '', cell: (c) => h('span', { class: 'fall', 'aria-hidden': 'true' }, h('span', { class: 'fill dp', style: { width: `${(100 * c.impact_ratio) / most}%` } })) },
      { title: 'slowdown, mean', number: true, cell: (c) => factor(c.mean_slowdown_ratio) },
      { title: 'worst', number: true, cell: (c) => factor(c.max_slowdown_ratio) },
      model.graph && { title: 'picture', cell: (c) => { const place = model.findNamed(c.name); return place && h('a', { href: '#fabric', 'aria-label': `Show ${c.name} in the picture`, onclick: () => state.set({ selected: place }) }, 'show'); } },
    ].filter(Boolean),
    rows: study.critical,
  });
}

const cases = (caption, rows) => rows.length > 0 && table({
  caption,
  columns: [
    { title: 'scenario', head: true, cell: (c) => `${c.scenario}${c.name ? ` ${c.name}` : ''}` },
    { title: 'failed', cell: (c) => c.failed },
    { title: 'speed lost', number: true, cell: (c) => (c.stopped ? 'stops' : impact(c.impact_ratio)) },
    { title: 'slowdown', number: true, cell: (c) => factor(c.slowdown_ratio) },
    { title: 'fullest link', number: true, cell: (c) => (c.worst_ratio === undefined ? '-' : f.factor(c.worst_ratio)) },
    { title: 'which', cell: (c) => c.fullest ?? '' },
    { title: 'flows without a path', number: true, cell: (c) => f.count(c.disconnected_flows) },
  ],
  rows,
});

const rollouts = (v) => v.rollouts?.length > 0 && table({
  caption: 'Rolling update, by how many switches are down at a time',
  columns: [
    { title: 'switches', head: true, cell: (r) => `${r.at_a_time} at a time${r.steps === 1 || r.at_a_time === 1 ? '' : r.far_apart ? ', far apart' : ', side by side'}` },
    { title: 'steps', number: true, cell: (r) => f.count(r.steps) },
    { title: 'of them stop the job', number: true, cell: (r) => f.count(r.stopped) },
    { title: 'work lost, in steps', number: true, cell: (r) => (r.lost_steps === undefined ? '-' : f.digits(r.lost_steps, 3)) },
    { title: 'worst step', number: true, cell: (r) => impact(r.max_impact_ratio) },
  ],
  rows: v.rollouts.map((r, i) => ({ ...r, class: i === 0 ? 'best' : null })),
});

export function study(model, state) {
  const { study: s } = model.report;
  const v = shown(s);
  return [
    section('study', 'What failures do', `${f.count(s.done)} of ${f.plural(s.scenarios, 'scenario')} of ${s.source}. Speed lost: ${s.impact}.`,
      distribution(s), rollouts(v), variants(s), cases('The worst scenarios', v.worst), cases('Scenarios in which the job stops', v.stopping),
      v.access_loss && h('p', null, `One link of a server lost: ${f.plural(v.access_loss.scenarios, 'scenario')}, the job stops in ${f.count(v.access_loss.stopped)} and is slower in ${f.count(v.access_loss.slower)}${v.access_loss.mean_slowdown_ratio !== undefined ? `; ${factor(v.access_loss.mean_slowdown_ratio)} on average, ${factor(v.access_loss.max_slowdown_ratio)} at worst` : ''}.`)),
    section('critical', 'What must not fail', null,
      v.classes.length > 0 && table({
        caption: 'By kind of component',
        columns: [
          { title: 'kind', head: true, cell: (c) => c.name },
          { title: 'parts', number: true, cell: (c) => f.count(c.parts) },
          { title: 'that failed', number: true, cell: (c) => f.count(c.components) },
          { title: 'always stop the job', number: true, cell: (c) => f.count(c.stopping) },
          { title: 'speed lost, mean', number: true, cell: (c) => impact(c.impact_ratio) },
          { title: 'stand out', number: true, cell: (c) => f.count(c.clear) },
          { title: 'most', number: true, cell: (c) => impact(c.max_impact_ratio) },
          { title: 'by', cell: (c) => `${c.worst}${c.worst_components > 1 ? ` and ${f.count(c.worst_components - 1)} more` : ''}` },
        ],
        rows: v.classes,
      }),
      s.critical.length > 0 ? ranking(model, state, s) : h('p', { class: 'note' }, 'No part stands out.'),
      [v, ...v.classes, ...s.critical].some((x) => x.impact_ratio < -1e-9) && h('p', { class: 'note' }, `Speed lost below 0: the job runs faster than where nothing failed. ${RELIEF}`)),
  ];
}
