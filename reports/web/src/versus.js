// Two designs or two states side by side: figures with their change, bills, heat, and which links collide in one alone.
import { isCollided, Model, State } from './model.js';
import { h, replace, section, select, table, whenSized } from './dom.js';
import { collidedOf, heatNote, heatOf, heatPair } from './heat.js';
import { Picture } from './picture.js';
import { pointName } from './sweep.js';
import * as f from './format.js';

const MOST = 12; // links listed of either kind

/** Figures in two columns and their change. Rows: { name, now, then, format, less: whether less is better }. */
export function against({ id, caption, hide, names, rows }) {
  const shown = (r, v) => (v === undefined || v === null || Number.isNaN(v) ? '-' : r.format(v));
  const change = ({ now, then, less, format, isPlain }) => {
    const by = isPlain ? now - then : now / then - 1;
    if (!Number.isFinite(by) || Math.abs(by) < 1e-9) return '-';
    return h('span', { class: less === undefined ? null : by < 0 === less ? 'better' : 'worse' }, `${by > 0 ? '+' : '−'}${(isPlain ? format : f.percent)(Math.abs(by))}`);
  };
  return table({
    caption,
    hide,
    id,
    columns: [
      { title: '', head: true, cell: (r) => r.name },
      ...(names.length > 1 ? [{ title: names[0], number: true, cell: (r) => shown(r, r.then) }] : []),
      { title: names.at(-1), number: true, cell: (r) => h('data', { value: r.now }, shown(r, r.now)) },
      ...(names.length > 1 ? [{ title: 'change', number: true, cell: change }] : []),
    ],
    rows,
  });
}

/* --- two reports ---------------------------------------------------------------------------------------------------- */

/** Lines of a bill by what they are of. */
const billOf = (report) => new Map((report.cost?.lines ?? []).map((l) => [[l.part, l.tier, l.medium].filter(Boolean).join(', '), l]));

function bills(now, then, names) {
  const [a, b] = [billOf(now), billOf(then)];
  if (a.size === 0 || b.size === 0) return null;
  const rows = [...new Set([...b.keys(), ...a.keys()])].map((name) => ({ name, now: a.get(name)?.total_usd ?? 0, then: b.get(name)?.total_usd ?? 0, format: f.money, less: true, isPlain: true }));
  return against({ id: 'versus-bill', caption: 'Bills', names, rows: [...rows.filter((r) => r.now !== r.then),
    { name: 'all that does not differ', now: sum(rows, 'now'), then: sum(rows, 'then'), format: f.money, less: true, isPlain: true },
    { name: 'network', now: now.cost.total_usd, then: then.cost.total_usd, format: f.money, less: true, isPlain: true, class: 'total' }] });
}
const sum = (rows, key) => rows.filter((r) => r.now === r.then).reduce((total, r) => total + r[key], 0);

const engineOf = (model, phase, engine) => model.phases[phase]?.engines[Math.min(engine, model.engines.length - 1)];

function seconds(now, then, state, names) {
  const rows = now.phases.flatMap((phase, p) => {
    const old = then.phases.findIndex((other) => other.name === phase.name);
    const [a, b] = [engineOf(now, p, state.engine), engineOf(then, old, state.engine)];
    return [{ name: phase.name, now: f.mean(a?.time_s), then: f.mean(b?.time_s), format: f.seconds, less: true },
      { name: `${phase.name}: worst collision factor`, now: f.mean(a?.max_collision_factor), then: f.mean(b?.max_collision_factor), format: f.factor, less: true }];
  });
  const whole = (model) => f.mean(model.report.iteration?.[Math.min(state.engine, model.engines.length - 1)]?.time_s);
  if (whole(now) !== undefined) rows.push({ name: 'iteration', now: whole(now), then: whole(then), format: f.seconds, less: true, class: 'total' });
  return against({ id: 'versus-phases', caption: 'Phases', names, rows });
}

/** Links between switches that collide in a phase: name to factor. */
function collided(model, phase, engine) {
  const out = new Map();
  for (const [boundary, directions] of (model.ratios(phase, Math.min(engine, model.engines.length - 1), 0) ?? []).entries()) {
    for (const down of [0, 1]) {
      for (let i = 0; boundary > 0 && i < directions[down].length; i++) if (isCollided(directions[down][i])) out.set(model.linkName(boundary, i, down === 1), directions[down][i]);
    }
  }
  return out;
}

function links(now, then, state, names) {
  const { name } = now.phases[state.phase] ?? {};
  const old = then.phases.findIndex((phase) => phase.name === name);
  if (!now.ratios(state.phase, state.engine, 0) || old < 0 || !then.loads) return null;
  const [a, b] = [collided(now, state.phase, state.engine), collided(then, old, state.engine)];
  const alone = (from, other) => [...from].filter(([link]) => !other.has(link)).sort((x, y) => y[1] - x[1]);
  const [added, gone] = [alone(a, b), alone(b, a)];
  const rows = [...added.slice(0, MOST).map(([link, factor]) => ({ link, factor, text: 'new', place: now.findNamed(link) })),
    ...gone.slice(0, MOST).map(([link, factor]) => ({ link, factor, text: 'gone' }))];
  const rest = added.length + gone.length - rows.length;
  return [h('p', { id: 'versus-links' }, `Phase ${name}: ${f.plural(added.length, 'link')} newly collided, ${f.count(gone.length)} no longer; ${f.count(a.size - added.length)} collide in both. Links are the same where their names are.`),
    rows.length > 0 && table({
      caption: 'Links that collide on one side alone',
      columns: [{ title: 'link', head: true, cell: (r) => (r.place ? h('button', { type: 'button', class: 'link', onclick: () => state.set({ selected: r.place }) }, r.link) : r.link) },
        { title: 'factor', number: true, cell: (r) => f.factor(r.factor) }, { title: '', cell: (r) => r.text }],
      rows,
    }), rest > 0 && h('p', { class: 'note' }, `and ${f.count(rest)} more`)];
}

/** The page's report beside another one: `names` of the two, the page's last. The other picture follows the page's. */
export function versus(model, state, other, names) {
  const then = new Model(other);
  const host = h('div');
  const heat = h('div', { class: 'grid wide', id: 'versus-heat' });
  const draw = () => replace(host, seconds(model, then, state, names), links(model, then, state, names), bills(model.report, other.report, names));
  const own = [];
  for (const [m, data, name] of [[then, other, names[0]], [model, model.data, names[1]]]) {
    if (!m.graph || !data.views) continue;
    const mine = new State({ ...state, listeners: [], time: null, under: null, selected: null, open: null, openRest: false });
    const shown = new Picture(m, mine, data.views);
    const place = h('div', { class: 'canvas' }, shown.canvas, shown.tip);
    whenSized(place, () => shown.show());
    heat.append(h('figure', { class: 'figure' }, h('figcaption', null, `${name}: ${f.count(m.report.fabric.switches)} switches${m.report.cost ? `, ${f.money(m.report.cost.total_usd)}` : ''}`), place));
    own.push([m, mine]);
  }
  const follow = (changed) => {
    for (const [m, mine] of own) {
      const phase = m.phases.findIndex((p) => p.name === model.phases[state.phase]?.name);
      mine.set({ engine: Math.min(state.engine, m.engines.length - 1), phase: Math.max(0, phase), draw: 0, colour: state.colour, direction: state.direction });
    }
    if (!changed || changed.has('engine') || changed.has('phase')) draw();
  };
  state.onLinks(follow);
  follow(null);
  return section('versus', 'Side by side', `What was ${names[0]}, and what is ${names[1]}. The pictures show the phase, engine and colour that are chosen above.`, own.length > 1 && heat, host);
}

/* --- two points of a comparison ------------------------------------------------------------------------------------ */

/** Any two designs of a comparison. */
export function pair(model) {
  const { sweep } = model.report;
  const points = sweep.points.filter((p) => p.engines);
  if (points.length < 2) return null;
  const chosen = [0, 1];
  let engine = 0;
  const names = [...new Set(points.flatMap((p) => (p.phases ?? []).map((x) => x.name)))];
  const factor = (name) => Math.max(...points.map((p) => f.mean(p.phases?.find((x) => x.name === name)?.engines[0].max_collision_factor) ?? 0));
  let phase = names.reduce((a, b) => (factor(b) > factor(a) ? b : a), names[0]);
  const host = h('div');
  const draw = () => {
    const [then, now] = chosen.map((i) => points[i]);
    const row = (name, get, format, less) => ({ name, now: get(now), then: get(then), format, less });
    const phases = (now.phases ?? []).flatMap(({ name }) => {
      const of = (p) => p.phases?.find((x) => x.name === name)?.engines[engine];
      return [row(name, (p) => f.mean(of(p)?.time_s), f.seconds, true), row(`${name}: worst collision factor`, (p) => f.mean(of(p)?.max_collision_factor), f.factor, true)];
    });
    const rows = [row('time', (p) => p.engines[engine]?.compared_s, f.seconds, true), row('$ per 1e9 tokens', (p) => p.engines[engine]?.usd_per_1e9_tokens, f.dollars, true),
      row('network', (p) => p.total_usd, f.money, true), row('power', (p) => p.power_w, f.power, true), row('switches', (p) => p.switches, f.count, true), row('cables', (p) => p.cables, f.count, true),
      row('bisection, for any traffic', (p) => p.bisection_ratio, f.percent, false), row('bought and run', (p) => p.ownership?.total_usd, f.money, true), ...phases];
    const heat = [then, now].map((p) => heatOf(model, sweep.points.indexOf(p), (p.phases ?? []).findIndex((x) => x.name === phase), engine));
    rows.push(...heat[1].map((r) => row(`${phase}: ${r.boundary} links above 1`, (p) => {
      const at = heat[p === now ? 1 : 0].find((other) => other.boundary === r.boundary);
      return at && collidedOf(at);
    }, f.count, true)));
    replace(host, heatPair(...[then, now].map((p, i) => [`${pointName(sweep, p)}: ${f.count(p.switches)} switches, ${f.money(p.total_usd)}, ${f.seconds(p.engines[engine]?.compared_s)}`, heat[i]])), against({ id: 'pair-table', caption: 'Two of them', names: [pointName(sweep, then), pointName(sweep, now)], rows: rows.filter((r) => r.now !== undefined || r.then !== undefined) }));
  };
  const choice = (which, label) => select(label, points.map((p, i) => [i, pointName(sweep, p)]), chosen[which], (v) => { chosen[which] = Number(v); draw(); });
  draw();
  return section('pair', 'Side by side', null, h('div', { class: 'filters' }, choice(0, 'This'), choice(1, 'beside'),
    select('under', points[0].engines.map((e, i) => [i, e.label]), engine, (v) => { engine = Number(v); draw(); }),
    names.length > 1 && select('links in phase', names.map((name) => [name, name]), phase, (v) => { phase = v; draw(); })), host, heatNote(model));
}
