// What helps where links are too full: on a page that answers knobs a button for each, with what it changes in seconds
// and dollars; else what the run has tried by itself.
import { engineAt } from './model.js';
import { h, replace } from './dom.js';
import * as f from './format.js';

const CHANGES = [
  ['Adaptive routing instead', { engine: 'adaptive' }],
  ['No taper instead', { sets: { 'fabric.taper': '1' } }],
  ['Servers packed instead', { sets: { 'job.placement': 'packed' } }],
];

/** Seconds of an iteration, or of all phases one after the other, under the best engine; with what is broken where
 *  something is. */
export function secondsOf(report) {
  const best = report.verdict?.best_engine ?? 0;
  const broken = report.failures?.engines[best]?.policies.filter((p) => p.possible && p.time_s !== undefined).map((p) => p.time_s) ?? [];
  if (broken.length > 0) return Math.min(...broken);
  const iteration = report.iteration?.[best];
  return iteration ? f.mean(iteration.time_s) : (report.phases ?? []).reduce((sum, phase) => sum + (f.mean(engineAt(phase, best)?.time_s) ?? NaN), 0);
}

const MOST_SPARES = 4; // that are tried: as far apart as there are free servers

/** "0-2,9,4-7": servers in their order. */
function listed(servers) {
  const runs = [];
  for (const s of servers) {
    if (runs.length > 0 && runs.at(-1)[1] + 1 === s) runs.at(-1)[1] = s;
    else runs.push([s, s]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(',');
}

/** Other servers in the place of the spare that has taken over for a lost one, else in that of the sender `gpu`: a change for each. */
function otherSpares(model, gpu) {
  const { graph, ranks, report } = model;
  if (!ranks || !graph) return [];
  const serverOf = (x) => Math.floor(x / graph.gpus_per_server);
  const servers = [...new Set(Array.from(ranks, serverOf))];
  const { failures: broken } = report;
  const dead = new Set((broken?.failed ?? []).map(({ name }) => Number(/^server-(\d+)$/.exec(name)?.[1] ?? NaN)));
  const moves = broken?.lost?.length > 0 ? broken.engines[report.verdict?.best_engine ?? 0].policies.find((p) => p.possible && p.moves.length > 0)?.moves ?? [] : [];
  for (const { from_server: from, to_server: to } of moves) servers[servers.indexOf(from)] = to;
  const taken = moves[0]?.to_server ?? (gpu === undefined ? undefined : serverOf(gpu));
  const free = Array.from({ length: graph.servers }, (_, s) => s).filter((s) => !servers.includes(s) && !dead.has(s));
  if (!servers.includes(taken)) return [];
  const some = free.length <= MOST_SPARES ? free : Array.from({ length: MOST_SPARES }, (_, i) => free[Math.floor((i * free.length) / MOST_SPARES)]);
  return some.map((s) => [`server-${s} for server-${taken}`, { sets: { 'job.servers': listed(servers.map((x) => (x === taken ? s : x))), 'job.placement': 'order' } }]);
}

const signed = (value, format) => (Math.abs(value) < 1e-12 || !Number.isFinite(value) ? 'no change' : `${value > 0 ? '+' : '−'}${format(Math.abs(value))}`);

const outcomes = new WeakMap(); // of a report, by what was tried: what was said stays when the panel is drawn anew
function outcomeOf(report, key) {
  if (!outcomes.has(report)) outcomes.set(report, new Map());
  const known = outcomes.get(report);
  if (!known.has(key)) known.set(key, h('span', { class: 'outcome', 'aria-live': 'polite' }));
  return known.get(key);
}

/** A button for changes that are tried one after the other: [what, change]; the best of them is told. */
function offer(state, report, text, changes) {
  const said = outcomeOf(report, JSON.stringify(changes));
  const ask = async () => {
    let best = null;
    let refused = '';
    for (const [what, change] of changes) {
      said.textContent = ` asked${changes.length > 1 ? ` of ${what}` : ''} …`;
      const answer = await state.asks.tryOut(change);
      const seconds = answer.report && secondsOf(answer.report) - secondsOf(report);
      if (!answer.report) refused = answer.said;
      else if (!best || seconds < best.seconds) best = { what, change, seconds, dollars: (answer.report.cost?.total_usd ?? NaN) - (report.cost?.total_usd ?? NaN) };
    }
    const of = changes.length > 1 ? `, the best of ${changes.length} tried` : '';
    if (!best) {
      said.textContent = ` cannot be: ${refused}`;
      return;
    }
    const { what, change, seconds, dollars } = best;
    if (Math.abs(seconds) < 1e-12 && Math.abs(dollars) < 1e-12) {
      said.textContent = ` changes nothing${of}`;
      return;
    }
    replace(said, what ? ` ${what}${of}: ` : ' ', h('span', { class: seconds < 0 ? 'better' : seconds > 0 ? 'worse' : null }, h('data', { value: seconds }, signed(seconds, f.seconds))),
      ', ', h('span', { class: dollars < 0 ? 'better' : dollars > 0 ? 'worse' : null }, h('data', { value: dollars }, signed(dollars, f.money))), ' ',
      h('button', { type: 'button', class: 'link', onclick: () => state.asks.take(change) }, 'take it'));
  };
  return h('li', null, h('button', { type: 'button', onclick: ask }, text), said);
}

/** Under `engine` in `phase`; `gpu`: who sends what is slow. */
export function helps(model, state, phase, engine, gpu) {
  const { report } = model;
  const spares = state.asks ? otherSpares(model, gpu) : [];
  if (state.asks) return h('div', { class: 'helps' }, h('p', null, 'What would help? Against now, per iteration and for the network:'), h('ul', { class: 'plain' }, CHANGES.map(([text, change]) => offer(state, report, text, [['', change]])),
    spares.length > 0 && offer(state, report, 'Another spare instead', spares)));
  const here = f.mean(model.phases[phase]?.engines[engine]?.time_s);
  const tried = (model.phases[phase]?.engines ?? []).filter((other, e) => e !== engine && f.mean(other.time_s) < here * 0.9995);
  const better = (report.verdict?.alternatives ?? []).filter((a) => a.possible && a.time_s < report.verdict.compared_s * 0.9995);
  const lines = [...tried.map((e) => `${e.options ?? e.engine}: this phase in ${f.seconds(f.mean(e.time_s))} instead of ${f.seconds(here)}`),
    ...better.map((a) => `${a.engine}: all in ${f.seconds(a.time_s)} instead of ${f.seconds(report.verdict.compared_s)}`),
    ...(report.advice?.best ? [`${report.advice.best.change}: ${f.percent(report.advice.best.gain_ratio)} faster`] : [])];
  return h('div', { class: 'helps' }, lines.length > 0 ? [h('p', null, 'What helps, of what was tried:'), h('ul', { class: 'plain' }, lines.map((line) => h('li', null, line)))]
    : h('p', null, report.verdict?.to_do ? `What helps: ${report.verdict.to_do}.` : 'No other routing was tried.'));
}
