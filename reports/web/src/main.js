// The page: reads its block of data and lays out what there is. report.js and explored.js start it.
import { readAddress, writeAddress } from './address.js';
import { Model, State } from './model.js';
import { breakable, h, replace, section, select } from './dom.js';
import { answers } from './answers.js';
import { about } from './about.js';
import { audit } from './audit.js';
import { busbw } from './busbw.js';
import { collisions } from './collisions.js';
import { cost, switchTiers } from './cost.js';
import { difference } from './diff.js';
import { explanation } from './explain.js';
import { failures } from './failures.js';
import { growth } from './growth.js';
import { fungible, ranking, serving } from './requests.js';
import { loads } from './loads.js';
import { matrices } from './matrix.js';
import { others } from './other.js';
import { listed, phases } from './phases.js';
import { observed } from './observe.js';
import { picture } from './picture.js';
import { study } from './study.js';
import { timeline } from './timeline.js';
import { optimum, sweep } from './sweep.js';
import { pair, versus } from './versus.js';
import { time } from './time.js';
import * as f from './format.js';

const WHAT = { run: 'A training job on its fabric', route: 'Traffic on a fabric', build: 'A fabric', cost: 'Cost of fabrics', sweep: 'A design at many values', compare: 'Designs side by side', place: 'Placements of a job', mix: 'Two kinds of job', optimize: 'The cheapest fabric', study: 'Failures of a fabric', traffic: 'Traffic of a job', audit: 'An installed fabric', diff: 'Two states of a network and its job', plan: 'How to run a model', import: 'An installed network as a design', validate: 'Published figures beside ours', busbw: 'What nccl-tests should print', observe: 'What counters say of a job' };

/** The phase whose links are offered most, under the first engine: what the page opens with. */
function worstPhase(model) {
  const factors = model.phases.map(({ engines: [engine] }) => f.mean(engine?.max_collision_factor ?? 0) + 1e-3 * f.mean(engine?.max_utilisation_ratio ?? 0));
  return Math.max(0, factors.indexOf(Math.max(...factors)));
}

function subtitle(model) {
  const { fabric, sweep: s } = model.report;
  if (fabric && !model.report.designs) {
    return `${fabric.family}, ${f.count(fabric.gpus)} GPUs, ${f.plural(fabric.switches, 'switch').replace('switchs', 'switches')} in ${f.plural(switchTiers(fabric).length, 'tier')}`;
  }
  if (s?.verdicts?.length > 0) return f.plural(s.points.length, 'design');
  return s ? `${s.paths.join(' and ')} at ${f.plural(s.points.length, 'point')}` : '';
}

function header(model) {
  const { meta } = model;
  const names = (model.report.designs ?? model.report.mix?.designs)?.map((d) => d.name);
  return h('header', null,
    h('p', { class: 'kind' }, (meta.command === 'run' && ['serving', 'ranking'].includes(model.report.job?.kind) ? `A ${model.report.job.kind} job on its fabric` : WHAT[meta.command]) ?? meta.command),
    h('h1', null, names ? `${names.length} designs` : model.report.optimize ? `A fabric for ${f.count(model.report.optimize.gpus)} GPUs` : breakable(meta.design ?? meta.command)),
    h('p', { class: 'subtitle' }, [subtitle(model), meta.traffic].filter(Boolean).join('. ')));
}

/** What the file has no loads of links for, so that it stays small. */
function missing(model, nSeeds) {
  return model.loads?.left_out > 0 ? `Links of ${f.plural(nSeeds, 'seed')} of ${f.count(model.meta.seeds)} are in the file.` : '';
}

/** Engine, phase and seed for everything that shows links. */
function controls(model, state) {
  if (model.phases.length === 0) return null;
  const host = h('div', { class: 'controls', role: 'group', 'aria-label': 'What the links show' });
  const draw = () => {
    const focused = [...host.querySelectorAll('select')].indexOf(document.activeElement);
    const draws = model.drawsOf(state.phase, state.engine);
    const seeds = draws.length > 0 ? draws.map((d) => [d.draw, d.seed]) : [[0, model.phases[state.phase].engines[state.engine].seed]];
    host.replaceChildren(...[
      select('Engine', model.engines.map((e, i) => [i, e]), state.engine, (v) => change({ engine: Number(v) })),
      select('Phase', model.phases.map((p, i) => [i, p.name]).filter(([i]) => !model.phases[i].engines[state.engine].absent), state.phase, (v) => change({ phase: Number(v) })),
      select('Seed', seeds, state.draw, (v) => change({ draw: Number(v) })),
      missing(model, seeds.length) && h('p', { class: 'note' }, missing(model, seeds.length)),
    ].filter(Boolean));
    host.querySelectorAll('select')[focused]?.focus();
  };
  const change = (values) => {
    const has = (p) => !p.engines[values.engine ?? state.engine].absent;
    const { name } = model.phases[values.phase ?? state.phase];
    if (!has(model.phases[values.phase ?? state.phase])) values.phase = Math.max(model.phases.findIndex((p) => p.name === name && has(p)), model.phases.findIndex(has));
    const next = { ...state, ...values };
    const known = model.drawsOf(next.phase, next.engine).some((d) => d.draw === next.draw);
    state.set(known ? values : { ...values, draw: 0 });
  };
  state.onChange((changed) => ['engine', 'phase', 'draw'].some((key) => changed.has(key)) && draw());
  draw();
  return host;
}

/** What two reports of a job have in common, though other parts are broken. */
const jobOf = ({ failures: _, verdict: __, ...rest }) => JSON.stringify(rest);
const ofOtherJob = (beside, job) => (beside && jobOf(beside.report) !== job ? beside : null);

/** Draws the page of a report; `kept`: what the reader had chosen on the page before it; `beside`: another block of data. */
function build(data, kept, asks, beside) {
  const model = new Model(data);
  const job = jobOf(data.report);
  const against = ofOtherJob(beside, job);
  const state = new State({ engine: 0, phase: worstPhase(model), draw: 0, colour: model.loads || !model.criticality ? 'ratio' : 'criticality', direction: 'both', view: 'tier', open: null, openRest: false, selected: null, time: null, under: null, asks });
  const chosen = kept ?? readAddress().chosen ?? {};
  Object.assign(state, stillThere(model, chosen));
  const drawn = model.graph && data.views ? picture(model, state, data.views)
    : model.leftOut > 0 ? section('fabric', 'The fabric', `${f.count(model.leftOut)} cables are too many to be drawn here, and their loads are not in this file: fabric.graphml has them.`) : null;
  const { report } = model;
  const has = model.phases.length > 0;
  const linked = [timeline(model, state), drawn, against && versus(model, state, against, ['kept', 'now']), has && collisions(model, state), has && loads(model, state), has && matrices(model, state)].filter(Boolean);
  const parts = [
    report.iteration && time(model, state),
    report.serving && serving(model),
    report.ranking && ranking(model),
    report.mix && fungible(model),
    ...(report.study ? study(model, state) : []),
    report.observe && observed(model),
    report.busbw && busbw(model),
    report.sweep && sweep(model),
    report.sweep && pair(model),
    report.optimize && optimum(model),
    report.explain && explanation(model),
    ...(report.audit ? audit(model) : []),
    report.diff && difference(model),
    failures(model, state),
    has ? phases(model) : report.phases && listed(model),
    (report.cost || report.designs) && cost(model),
    report.growth && growth(model),
    ...others(model),
    about(model),
  ].filter(Boolean);
  const toParts = h('ul');
  const main = h('main', { id: 'content', tabindex: -1 }, answers(model, state), h('nav', { 'aria-label': 'Parts of the report' }, toParts),
    linked.length > 0 && h('div', { class: 'linked' }, controls(model, state), linked), parts);
  const list = () => replace(toParts, [...main.querySelectorAll('.part')].map((part) => h('li', null, h('a', { href: `#${part.id}` }, part.querySelector('h2').textContent))));
  list();
  replace(document.getElementById('page'), header(model), main, h('footer', null, `${model.meta.program} ${model.meta.version}`));
  // The picture opens what is selected, and chooses a view by itself before.
  if (drawn && data.views.some((v) => v.name === chosen.view)) state.set({ view: chosen.view });
  const selected = drawn && chosen.selected && model.findNamed(chosen.selected);
  if (selected) state.set({ selected });
  // A cursor that is played would write too often.
  let later = 0;
  const write = () => writeAddress({ chosen: chosenOf(model, state) });
  state.onChange((changed) => {
    if (changed.has('report')) return list();
    clearTimeout(later);
    if (changed.has('time')) later = setTimeout(write, 250);
    else write();
  });
  return {
    chosen: () => chosenOf(model, state),
    /** Shows a report that differs in what is broken alone; else returns false. What broken parts do not change stays as it is. */
    breaks: (next, other) => {
      const isSame = jobOf(next) === job && ofOtherJob(other, job) === against;
      if (isSame) state.set({ report: (model.report = next) });
      return isSame;
    },
  };
}

/** Of what was chosen on another page, or stands in the address: what this page has too. */
function stillThere(model, { engine, phase, draw, colour, direction, time }) {
  const out = {};
  if (engine >= 0 && engine < model.engines.length) out.engine = engine;
  if (phase >= 0 && phase < model.phases.length) out.phase = phase;
  if (model.drawsOf(out.phase ?? -1, out.engine ?? -1).some((d) => d.draw === draw)) out.draw = draw;
  if (['ratio', 'criticality', 'taper', 'bytes', 'paused'].includes(colour)) out.colour = colour;
  if (['both', 'up', 'down'].includes(direction)) out.direction = direction;
  const schedule = model.schedule(out.engine ?? 0);
  if (schedule && typeof time === 'number' && time >= 0) Object.assign(out, { time: Math.min(time, schedule.time_s), under: schedule.at(time).phases });
  return out;
}

/** What is chosen, by names: a switch or a cable keeps its own in another design. */
function chosenOf(model, { engine, phase, draw, colour, direction, view, selected, time }) {
  const name = selected?.kind === 'switch' ? model.switchName(selected.id)
    : selected?.kind === 'cable' ? model.linkName(selected.boundary, selected.index, false) : undefined;
  return { engine, phase, draw, colour, direction, view, time, selected: name };
}

// Closed parts open for the printer, and close again.
let opened = [];
addEventListener('beforeprint', () => {
  opened = [...document.querySelectorAll('details:not([open])')].filter((d) => !d.closest('tbody'));
  for (const d of opened) d.open = true;
});
addEventListener('afterprint', () => {
  for (const d of opened) d.open = false;
});

/** Shows the page's report; `explore`: what asks the core, where the page carries one. */
export function start(explore) {
  const data = JSON.parse(document.getElementById('data').textContent);
  let ask = null;
  const asks = explore && { breakPart: (name) => ask.breakPart(name), tryOut: (change) => ask.tryOut(change), take: (change) => ask.take(change) };
  let page = data && build(data, null, asks);
  ask = explore?.(data, (next, beside) => {
    if (!page?.breaks(next.report, beside)) page = build(next, page?.chosen(), asks, beside);
  });
  performance.mark('fabriscope-ready');
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}
