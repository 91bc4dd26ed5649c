// What changing a parameter buys: cost against time with the Pareto front, and both over the parameter.
import { h, keyOf, section, table } from './dom.js';
import { axis, chart, steps } from './chart.js';
import * as f from './format.js';

const number = (text) => (/^[-+]?[0-9.]+([a-zA-Z/%]*)$/.test(text) ? parseFloat(text) : NaN);
const HUES = (c) => [c.ratio[3], c.ratio[5], c.load[4], c.faint, c.ratio[7], c.ratio[1]];
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

/** Points with a time: { point, engine, e }. */
const timed = (sweep) => sweep.points.flatMap((point) => (point.engines ?? []).map((engine, e) => ({ point, engine, e })).filter((r) => r.engine.time_s !== undefined));

function front(sweep, rows, labels) {
  const sorted = [...rows].sort((a, b) => a.point.total_usd - b.point.total_usd || b.engine.compared_s - a.engine.compared_s);
  const x = sorted.map((r) => r.point.total_usd);
  const pick = (test) => sorted.map((r) => (test(r) ? r.engine.compared_s : null));
  const best = sorted.filter((r) => r.engine.pareto);
  return chart({
    title: 'Cost against time: below and left is better; the line is the Pareto front',
    label: `Cost against time of ${f.plural(rows.length, 'point')}. On the front: ${best.map((r) => `${pointName(sweep, r.point)} ${f.money(r.point.total_usd)} ${f.seconds(r.engine.compared_s)}`).join('; ')}`,
    key: keyOf(labels.map((label, i) => [`dot hue-${i % 6}`, label])),
    height: 280,
    tell: { x: (i) => `${pointName(sweep, sorted[i].point)}, ${f.money(x[i])}`, y: f.seconds },
    data: [x, ...labels.map((_, e) => pick((r) => r.e === e)), ...labels.map((_, e) => pick((r) => r.e === e && r.engine.pareto))],
    options: (c) => ({
      scales: { x: { time: false, range: (_, low, high) => pad(low, high) }, y: { range: (_, low, high) => pad(low, high) } },
      axes: [axis(c, { label: 'capital cost', values: (_, list) => list.map(f.money), space: 80 }), axis(c, { label: 'time', size: 70, values: (_, list) => list.map(f.seconds) })],
      series: [{},
        ...labels.map((label, i) => ({ label, stroke: HUES(c)[i % 6], paths: () => null, points: { show: true, size: 9, fill: HUES(c)[i % 6] } })),
        ...labels.map((label, i) => ({ label: `${label}, front`, stroke: HUES(c)[i % 6], width: 2, paths: steps, spanGaps: true, points: { show: false } }))],
    }),
  });
}

const pad = (low, high) => {
  const room = (high - low) * 0.08 || Math.abs(high) * 0.05 || 1;
  return [low - room, high + room];
};

/** Compared designs are called by themselves. */
export const pointName = (sweep, point) => sweep.paths.map((path, i) => (sweep.verdicts?.length > 0 ? point.values[i] : `${path} = ${point.values[i]}`)).join(', ');

/** One line for every value of the second parameter and engine. */
function curve(sweep, rows, labels, { title, unit, get }) {
  const values = [...new Set(sweep.points.map((p) => p.values[0]))];
  const numeric = values.every((v) => !Number.isNaN(number(v)));
  const x = values.map((v, i) => (numeric ? number(v) : i));
  const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b]);
  const second = sweep.paths.length > 1 ? [...new Set(sweep.points.map((p) => p.values[1]))] : [null];
  const lines = second.flatMap((v, s) => labels.map((label, e) => ({ v, s, e, label: [v, labels.length > 1 || v === null ? label : null].filter(Boolean).join(', ') })));
  const at = (line, value) => {
    const row = rows.find((r) => r.e === line.e && r.point.values[0] === value && (line.v === null || r.point.values[1] === line.v));
    return row ? get(row) : null;
  };
  const hue = (line) => (second.length > 1 ? line.s : line.e);
  return chart({
    title: `${title} over ${sweep.paths[0]}`,
    label: `${title} over ${sweep.paths[0]}. ${lines.map((line) => `${line.label}: ${values.map((v) => { const y = at(line, v); return y === null ? null : `${unit(y)} at ${v}`; }).filter(Boolean).join(', ')}`).join('; ')}`,
    key: keyOf(lines.map((line) => [`stroke dash-${second.length > 1 ? line.e % 4 : 0} hue-${hue(line) % 6}`, line.label])),
    height: 240,
    tell: { x: (i) => `${sweep.paths[0]} = ${values[order[i]]}`, y: unit },
    data: [order.map((i) => x[i]), ...lines.map((line) => order.map((i) => at(line, values[i])))],
    options: (c) => ({
      scales: { x: { time: false, range: (_, low, high) => pad(low, high) }, y: { range: (_, low, high) => pad(low, high) } },
      axes: [
        axis(c, { label: sweep.paths[0], splits: () => order.map((i) => x[i]), values: () => order.map((i) => values[i]) }),
        axis(c, { label: title.toLowerCase(), size: 74, values: (_, list) => list.map(unit) }),
      ],
      series: [{}, ...lines.map((line) => ({ label: line.label, stroke: HUES(c)[hue(line) % 6], dash: DASHES[(second.length > 1 ? line.e : 0) % 4], width: 2, spanGaps: true, points: { show: true, size: 7, fill: HUES(c)[hue(line) % 6] } }))],
    }),
  });
}

/** What the clusters cost to buy and run, a row of each; why not, where a book lacks a price. */
function ownership(s) {
  const owned = s.verdicts?.length > 0 ? s.points.filter((p) => p.ownership?.years !== undefined) : [];
  const missing = s.verdicts?.length > 0 ? s.points.filter((p) => p.ownership?.missing) : [];
  const tokens = (p) => p.engines[0]?.owned_usd_per_1e9_tokens;
  const failing = s.points.filter((p) => p.engines?.some((e) => e.goodput_ratio !== undefined));
  const columns = [['GPUs', 'gpu_usd'], ['servers', 'server_usd'], ['racks', 'rack_usd'], ['network', 'network_usd'], ['energy', 'energy_usd'], ['total', 'total_usd']];
  return [
    owned.length > 0 && table({
      id: 'ownership-table',
      caption: `Cost of ownership: bought and run for ${f.digits(owned[0].ownership.years, 3)} years by prices ${owned[0].ownership.profile}`,
      columns: [
        { title: 'bought', head: true, cell: (p) => pointName(s, p) },
        ...columns.map(([title, key]) => ({ title, number: true, cell: (p) => f.money(p.ownership[key]) })),
        { title: '$ per 1e9 tokens', number: true, cell: (p) => (tokens(p) === undefined ? '-' : f.dollars(tokens(p))) },
      ],
      rows: owned,
    }),
    failing.length > 0 && table({
      id: 'goodput-table',
      caption: `With failures: ${s.scenarios}, policy ${s.policy}`,
      columns: [
        { title: s.verdicts?.length > 0 ? 'design' : s.paths.join(', '), head: true, cell: (r) => r.p.values.join(', ') },
        { title: 'engine', cell: (r) => r.e.label },
        { title: 'goodput', number: true, cell: (r) => f.percent(r.e.goodput_ratio) },
        { title: 'tokens/s', number: true, cell: (r) => (r.e.tokens_per_s === undefined ? '-' : f.count(r.e.tokens_per_s * r.e.goodput_ratio)) },
        { title: '$ per 1e9 tokens', number: true, cell: (r) => (r.e.usd_per_1e9_tokens === undefined ? '-' : f.dollars(r.e.usd_per_1e9_tokens / r.e.goodput_ratio)) },
        { title: 'bought', number: true, cell: (r) => (r.e.owned_usd_per_1e9_tokens === undefined ? '-' : f.dollars(r.e.owned_usd_per_1e9_tokens / r.e.goodput_ratio)) },
      ],
      rows: failing.flatMap((p) => p.engines.filter((e) => e.goodput_ratio !== undefined).map((e) => ({ p, e }))),
    }),
    missing.map((p) => h('p', { class: 'small' }, `Cost of ownership of ${pointName(s, p)} is not known: prices ${p.ownership.profile} without ${p.ownership.missing}.`))];
}


/** A collective by all its algorithms: seconds over the first parameter, both in powers where it is a number. */
function algorithms(sweep, e, label) {
  const points = sweep.points.filter((p) => p.algorithms?.length > 0);
  const names = [...new Set(points.flatMap((p) => p.algorithms.map((a) => a.name)))];
  const seconds = (point, name) => point.algorithms.find((a) => a.name === name)?.engines[e].time_s;
  const best = (point) => Math.min(...names.map((name) => seconds(point, name) ?? Infinity));
  const x = points.map((_, i) => i);
  return [
    chart({
      title: `Time by algorithm under ${label}`,
      label: `Time by algorithm under ${label}. ${names.map((name) => `${name}: ${points.map((p) => `${f.seconds(seconds(p, name))} at ${p.values.join(', ')}`).join(', ')}`).join('; ')}`,
      key: keyOf(names.map((name, i) => [`stroke hue-${i % 6}`, name])),
      height: 260,
      tell: { x: (i) => points[i].values.join(', '), y: f.seconds },
      data: [x, ...names.map((name) => points.map((p) => seconds(p, name) ?? null))],
      options: (c) => ({
        scales: { x: { time: false, range: (_, low, high) => pad(low, high) }, y: { distr: 3, log: 10 } },
        axes: [axis(c, { label: sweep.paths.join(', '), splits: () => x, values: () => points.map((p) => p.values.join(', ')) }), axis(c, { label: 'time', size: 74, values: (_, list) => list.map((v) => (v === null ? '' : f.seconds(v))) })],
        series: [{}, ...names.map((name, i) => ({ label: name, stroke: HUES(c)[i % 6], width: 2, spanGaps: true, points: { show: true, size: 6, fill: HUES(c)[i % 6] } }))],
      }),
    }),
    table({
      caption: `By algorithm under ${label}; × against the fastest of the row`,
      id: `algorithms-table-${e}`,
      columns: [
        ...sweep.paths.map((path, i) => ({ title: path, head: i === 0, cell: (p) => p.values[i] })),
        ...names.map((name) => ({ title: name, number: true, cell: (p) => (seconds(p, name) === undefined ? '-' : `${f.seconds(seconds(p, name))} (${f.times(seconds(p, name) / best(p))})`) })),
      ],
      rows: points,
    }),
  ];
}

export function sweep(model) {
  const { sweep: s } = model.report;
  const rows = timed(s);
  const labels = s.points.find((p) => p.engines)?.engines.map((e) => e.label) ?? [];
  const failed = s.points.filter((p) => p.error);
  const perToken = rows.some((r) => r.engine.usd_per_1e9_tokens !== undefined);
  const unequal = rows.some((r) => r.point.tokens !== rows[0].point.tokens);
  const isDrawn = rows.some((r) => r.engine.draws !== undefined);
  const verdicts = (s.verdicts ?? []).filter((v) => v.best);
  return section('sweep', verdicts.length > 0 ? 'Designs compared' : s.paths.join(' and ') + ' varied', `${f.plural(s.points.length, 'point')}, ${f.count(s.built)} built. On the front: nothing costs less and is as fast under the same engine, or is faster and costs as much.${unequal ? ' Iterations have unlike numbers of tokens: points are compared, and drawn, by the time for as many as the first has.' : ''}${s.model ? ` Where no model is named it is ${s.model} everywhere.` : ''}`,
    verdicts.length > 0 && table({
      caption: 'Verdicts',
      columns: [
        { title: 'engine', head: true, cell: (v) => v.label },
        { title: 'best', cell: (v) => h('code', null, v.design) },
        { title: 'the next costs or takes more', number: true, cell: (v) => (v.margin_ratio > 1.0005 ? f.more(v.margin_ratio) : f.percent(v.margin_ratio)) },
        { title: 'its network would have to be cheaper by', number: true, cell: (v) => (v.turning_ratio === undefined ? '-' : v.turning_ratio > 1 ? 'more than all' : f.percent(v.turning_ratio)) },
      ],
      rows: verdicts,
    }),
    s.points.some((p) => p.algorithms?.length > 0) && labels.map((label, e) => algorithms(s, e, label)),
    rows.length > 0 && h('div', { class: 'grid wide' },
      front(s, rows, labels),
      curve(s, rows, labels, { title: 'Time', unit: f.seconds, get: (r) => r.engine.compared_s }),
      curve(s, rows, labels.slice(0, 1), { title: 'Cost', unit: f.money, get: (r) => r.point.total_usd }),
      rows.every((r) => r.engine.usd_per_1e9_tokens !== undefined) && curve(s, rows, labels, { title: 'Dollars per 1e9 tokens', unit: f.dollars, get: (r) => r.engine.usd_per_1e9_tokens })),
    rows.length > 0 && table({
      id: 'sweep-table',
      caption: labels.length === 1 ? `Points under ${labels[0]}` : 'Points',
      columns: [
        ...s.paths.map((path, i) => ({ title: path, head: i === 0, cell: (r) => r.point.values[i] })),
        labels.length > 1 && { title: 'engine', cell: (r) => r.engine.label },
        { title: 'taper, as built', cell: (r) => (r.point.built_taper ?? []).map(f.ratio).join(', ') || '-' },
        { title: 'switches', number: true, cell: (r) => f.count(r.point.switches) },
        { title: 'bisection', number: true, cell: (r) => (r.point.bisection_ratio === undefined ? '-' : f.percent(r.point.bisection_ratio)) },
        { title: 'power', number: true, cell: (r) => f.power(r.point.power_w) },
        { title: 'cost', number: true, cell: (r) => f.money(r.point.total_usd) },
        unequal && { title: 'batch', number: true, cell: (r) => (r.point.batch === undefined ? '-' : f.count(r.point.batch)) },
        { title: 'time', number: true, cell: (r) => f.seconds(r.engine.time_s) },
        isDrawn && { title: 'seeds', number: true, cell: (r) => (r.engine.draws === undefined ? '' : `${f.count(r.engine.draws)}${r.engine.ci95_ratio ? ` (±${f.percent(r.engine.ci95_ratio)})` : ''}`) },
        unequal && { title: 'tokens/s', number: true, cell: (r) => (r.engine.tokens_per_s === undefined ? '-' : f.count(r.engine.tokens_per_s)) },
        { title: 'slower', number: true, cell: (r) => `${f.digits(r.engine.slowdown_ratio, 4)} ×` },
        perToken && { title: '$ per 1e9 tokens', number: true, cell: (r) => (r.engine.usd_per_1e9_tokens === undefined ? '-' : f.dollars(r.engine.usd_per_1e9_tokens)) },
        { title: 'front', cell: (r) => (r.engine.pareto ? 'yes' : '') },
      ].filter(Boolean),
      rows: rows.map((r) => ({ ...r, class: r.engine.pareto ? 'best' : null })),
    }),
    ownership(s),
    h('details', null, h('summary', null, 'Phases of every point'), table({
      caption: 'Times of phases',
      columns: [
        ...s.paths.map((path, i) => ({ title: path, head: i === 0, cell: (r) => r.point.values[i] })),
        { title: 'phase', cell: (r) => r.phase.name },
        { title: 'engine', cell: (r) => r.engine.label },
        { title: 'bytes', number: true, cell: (r) => f.bytes(r.phase.bytes) },
        { title: 'time', number: true, cell: (r) => f.spread(r.engine.time_s, f.seconds) },
        { title: 'worst factor', number: true, cell: (r) => f.spread(r.engine.max_collision_factor, f.factor) },
        { title: 'taper', number: true, cell: (r) => f.factor(r.phase.max_taper_factor) },
      ],
      rows: s.points.flatMap((point) => (point.phases ?? []).flatMap((phase) => phase.engines.map((engine) => ({ point, phase, engine })))),
    })),
    failed.length > 0 && table({ caption: 'Points that could not be built or replayed', columns: [{ title: 'point', head: true, cell: (p) => pointName(s, p) }, { title: 'why', cell: (p) => p.error }], rows: failed }));
}

function frontOf(points, { title, unit, get, label }) {
  const sorted = [...points].sort((a, b) => a.total_usd - b.total_usd);
  return chart({
    title,
    label: `${title}: ${sorted.map((p) => `${f.money(p.total_usd)} ${unit(get(p))}`).join('; ')}`,
    height: 260,
    tell: { x: (i) => f.money(sorted[i].total_usd), y: unit },
    data: [sorted.map((p) => p.total_usd), sorted.map(get)],
    options: (c) => ({
      scales: { x: { time: false, range: (_, low, high) => pad(low, high) }, y: { range: (_, low, high) => pad(low, high) } },
      axes: [axis(c, { label: 'capital cost', values: (_, list) => list.map(f.money), space: 80 }), axis(c, { label, size: 74, values: (_, list) => list.map(unit) })],
      series: [{}, { stroke: c.ratio[3], width: 2, paths: steps, points: { show: true, size: 8, fill: c.ratio[3] } }],
    }),
  });
}

export function optimum(model) {
  const o = model.report.optimize;
  const columns = [
    { title: 'design', head: true, cell: (p) => h('code', null, p.design) },
    { title: 'switches', number: true, cell: (p) => f.count(p.switches) },
    { title: 'taper', cell: (p) => p.built_taper.map(f.ratio).join(', ') || '-' },
    { title: 'bisection', number: true, cell: (p) => f.percent(p.bisection_ratio) },
    { title: 'power', number: true, cell: (p) => f.power(p.power_w) },
    { title: 'cost', number: true, cell: (p) => f.money(p.total_usd) },
    { title: 'more', number: true, cell: (p) => (p.difference_ratio > 1.0005 ? f.more(p.difference_ratio) : f.percent(p.difference_ratio)) },
  ];
  return section('optimum', 'The cheapest fabric, and what comes close', null,
    table({ id: 'optimum-table', caption: 'Winner and the best of other structural choices', columns, rows: [{ ...o.winner, class: 'best' }, ...o.runners_up] }),
    h('div', { class: 'grid wide' },
      o.pareto_bisection.length > 1 && frontOf(o.pareto_bisection, { title: 'What more bisection costs', unit: (v) => f.percent(v), get: (p) => p.bisection_ratio, label: 'bisection' }),
      o.pareto_power.length > 1 && frontOf(o.pareto_power, { title: 'What less power costs', unit: f.power, get: (p) => p.power_w, label: 'power' })),
    h('details', null, h('summary', null, 'The fronts as tables'),
      table({ caption: 'Cost against bisection', columns, rows: o.pareto_bisection }), table({ caption: 'Cost against power', columns, rows: o.pareto_power })),
    h('details', null, h('summary', null, `${f.plural(o.rejected.length, 'choice')} that lost`), table({
      caption: 'Choices that lost',
      hide: true,
      columns: [{ title: 'choice', head: true, cell: (r) => `${r.family}, ${r.switch_models}` }, { title: 'why', cell: (r) => r.reason },
        { title: 'cost', number: true, cell: (r) => (r.total_usd === undefined ? '-' : f.money(r.total_usd)) }],
      rows: o.rejected,
    })));
}
