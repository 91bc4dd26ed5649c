// The first screen: what bounds the job, how bad the collisions are, what it costs.
import { coverage, departs, faults, sure } from './audit.js';
import { breakable, h, replace, table } from './dom.js';
import { shortAnswers } from './short.js';
import { studyAnswers } from './study.js';
import { pointName } from './sweep.js';
import * as f from './format.js';

/** Parts of an iteration in the order in which they are drawn. */
export const PARTS = [
  ['compute_s', 'computation', 'compute'],
  ['bubble_s', 'pipeline bubble', 'bubble'],
  ['exposed_tp_s', 'tensor-parallel communication', 'tp'],
  ['exposed_cp_s', 'context-parallel communication', 'cp'],
  ['exposed_ep_s', 'expert-parallel communication', 'ep'],
  ['exposed_pp_s', 'pipeline communication', 'pp'],
  ['exposed_dp_s', 'data-parallel communication', 'dp'],
  ['optimizer_s', 'optimizer', 'optimizer'],
];
/** What the other engines make of the same: "spray 8.1 s, dmodk 9 s". */
const others = (list, index, name, text) => list.map((item, i) => (i === index || text(item) === null ? null : `${name(item)} ${text(item)}`)).filter(Boolean).join(', ');

const isNetwork = (key) => key.startsWith('exposed_');

export function card(id, question, answer, ...rest) {
  return h('article', { class: 'card', id, 'aria-labelledby': `${id}-q` },
    h('h2', { id: `${id}-q` }, question), h('p', { class: 'answer' }, answer), rest);
}

/** A bar of parts that add up to the whole; `parts`: [name, share, class]. */
export function stacked(parts, label) {
  return h('div', { class: 'stacked', role: 'img', 'aria-label': label },
    parts.filter(([, share]) => share > 0).map(([name, share, kind]) =>
      h('span', { class: `fill ${kind}`, style: { 'flex-grow': share }, title: `${name}: ${f.percent(share)}` })));
}

function boundByIteration(iterations, index) {
  const iteration = iterations[index];
  const rest = others(iterations, index, (it) => it.engine, (it) => f.seconds(it.time_s));
  const shares = PARTS.map(([key, name, kind]) => ({ key, name, kind, share: iteration[key] / iteration.time_s }));
  const network = shares.filter((s) => isNetwork(s.key) && s.share > 0.0005).sort((a, b) => b.share - a.share);
  const sum = shares.reduce((total, s) => total + (isNetwork(s.key) ? s.share : 0), 0);
  const most = [...shares.filter((s) => !isNetwork(s.key)), { name: 'communication', share: sum }].reduce((a, b) => (b.share > a.share ? b : a));
  const words = network.length > 0
    ? `What of communication computation does not hide takes ${f.percent(sum)}: ${f.list(network.map((s) => `${s.name} ${f.percent(s.share)}`))}.`
    : 'Computation hides all communication.';
  const optimizer = iteration.optimizer_s / iteration.time_s;
  const apart = optimizer > 0.0005 ? ` The optimizer takes ${f.percent(optimizer)}; the table of the text report counts it as compute.` : '';
  return card('answer-bound', 'What bounds my job?',
    [h('strong', null, `${most.name[0].toUpperCase()}${most.name.slice(1)}`), `: ${f.percent(most.share)} of an iteration of ${f.seconds(iteration.time_s)}`],
    stacked(shares.map((s) => [s.name, s.share, s.kind]), `Parts of the iteration: ${f.list(shares.filter((s) => s.share > 0.0005).map((s) => `${s.name} ${f.percent(s.share)}`))}`),
    h('p', null, words + apart),
    h('p', { class: 'small' }, `${f.count(iteration.tokens_per_s)} tokens/s, model FLOPs utilisation ${f.percent(iteration.mfu_ratio)}${rest ? `, under ${iteration.engine}. An iteration under the others: ${rest}` : ''}. `,
      h('a', { href: '#time' }, 'The waterfall')));
}

const holderName = (load) => `${load.boundary} ${load.direction}`;

/** The bottleneck of most flows of a phase: "leaf-spine up". */
export function holderOf(engine) {
  const list = [['links inside servers', engine.bottlenecked_flows?.scale_up ?? 0], ['PCIe', engine.bottlenecked_flows?.pcie ?? 0],
    ["receivers' windows", engine.bottlenecked_flows?.window ?? 0], ...engine.link_loads.map((l) => [`${holderName(l)} links`, l.bottlenecked_flows ?? 0])];
  const sum = list.reduce((total, [, n]) => total + n, 0);
  const [name, n] = list.reduce((a, b) => (b[1] > a[1] ? b : a));
  return sum > 0 ? { name, share: n / sum } : null;
}

function boundByPhase(model, engineIndex) {
  const timed = model.phases.map((phase) => ({ phase, engine: phase.engines[engineIndex] })).filter(({ engine }) => engine?.time_s !== undefined);
  if (timed.length === 0) {
    return card('answer-bound', 'What bounds my traffic?', 'Not timed', h('p', null, 'Too many flows for rates and times, and of unequal bytes or limits. The collisions are exact all the same.'));
  }
  const slowest = timed.reduce((a, b) => (f.mean(b.engine.time_s) > f.mean(a.engine.time_s) ? b : a));
  const { phase, engine } = slowest;
  const holder = holderOf(engine);
  const ratio = f.mean(engine.lower_bound_ratio);
  const rest = others(phase.engines, engineIndex, (e) => e.engine, (e) => (e.time_s === undefined ? null : f.seconds(f.mean(e.time_s))));
  return card('answer-bound', 'What bounds my traffic?',
    holder ? [h('strong', null, holder.name), ` are the bottleneck of ${f.percent(holder.share)} of the flows`] : `${phase.name} takes ${f.seconds(f.mean(engine.time_s))}`,
    h('p', null, `${timed.length > 1 ? `The longest phase, ${phase.name},` : `${phase.name}`} takes ${f.seconds(f.mean(engine.time_s))}, ${ratio > 1.005 ? `${f.digits(ratio, 3)} times what every routing needs` : 'the least that any routing needs'}.`),
    model.note && h('p', { class: 'small' }, `No iteration is timed: ${model.note}.`),
    h('p', { class: 'small' }, `Under ${engine.options ?? engine.engine}. ${rest ? `Under the others: ${rest}. ` : ''}`, h('a', { href: '#phases' }, 'All phases')));
}

/** Of the report's worst link the cable, to be selected. */
function worstLink(model, hot) {
  const found = hot && model.findLink(hot.link_id);
  return found ? { kind: 'cable', ...found } : null;
}

function collisions(model, state) {
  const engineIndex = state.engine;
  const rows = model.phases.map((phase) => ({ phase, engine: phase.engines[engineIndex] })).filter(({ engine }) => engine && !engine.absent);
  const crossing = rows.filter(({ phase }) => phase.fabric_flows > 0);
  if (crossing.length === 0) {
    return card('answer-collisions', 'How bad are collisions?', h('strong', null, 'None can happen'), h('p', null, 'No flow crosses a link between switches.'));
  }
  const worst = crossing.reduce((a, b) => (f.mean(b.engine.max_collision_factor) > f.mean(a.engine.max_collision_factor) ? b : a));
  const { phase, engine } = worst;
  const factor = f.mean(engine.max_collision_factor);
  const flows = f.mean(engine.collided_flows);
  const many = typeof engine.max_collision_factor === 'object';
  const hot = engine.hot_links[0];
  const split = hot && !many ? ` = taper ${f.factor(hot.taper_factor)} × hash ${f.factor(hot.hash_factor)}` : '';
  const cause = !hot || factor <= 1 ? '' : hot.taper_factor > hot.hash_factor ? 'The design causes most of it: the taper (oversubscription).' : 'The routing causes most of it, not the taper.';
  const iteration = model.report.iteration?.[engineIndex];
  const hidden = iteration && phase.name.startsWith('dp') && iteration.exposed_dp_s === 0 ? ' Computation hides this phase.' : '';
  const ratio = f.mean(engine.lower_bound_ratio ?? 1);
  const rest = others(phase.engines, engineIndex, (e) => e.engine, (e) => (e.absent ? null : f.factor(f.mean(e.max_collision_factor))));
  return card('answer-collisions', 'How bad are collisions?',
    factor > 1 ? [h('strong', null, `${f.factor(factor)} × its rate`), ' is offered to the worst link', many ? ' (mean over seeds)' : ''] : [h('strong', null, 'No link collides'), `: the fullest is offered ${f.factor(factor)} of its rate`],
    factor > 1 && h('p', null, `Phase ${phase.name}${split}. ${cause}`),
    factor > 1 && h('p', null, `${f.count(flows)} of ${f.count(phase.fabric_flows)} flows that leave their switch cross a collided link${engine.time_s !== undefined && ratio > 1.005 ? `, and the phase takes ${f.digits(ratio, 3)} times what every routing needs` : ''}.${hidden}`),
    h('p', { class: 'small' }, `Under ${engine.options ?? engine.engine}. ${rest ? `Worst link under the others: ${rest}. ` : ''}`, model.loads && hot && [h('a', { href: '#fabric', id: 'show-worst', onclick: () => state.set({ phase: model.phases.indexOf(phase), draw: 0, time: null, under: null, colour: 'ratio', direction: 'both', selected: worstLink(model, hot) }) }, 'Show the worst one'), ', '], h('a', { href: '#collisions' }, 'all of them')));
}

const KINDS = { switch: 'switches', transceiver: 'transceivers', cable: 'cables', nic: 'NICs', installation: 'installation' };

/** [name, dollars, kind] of the kinds of parts. */
export const costParts = (cost) => Object.entries(KINDS).map(([kind, name]) => [name, cost[`${kind}_usd`], kind]);

function cost(model) {
  const { cost: c, iteration, fabric } = model.report;
  const parts = costParts(c);
  const most = parts.reduce((a, b) => (b[1] > a[1] ? b : a));
  const perToken = iteration?.[0]?.usd_per_1e9_tokens;
  return card('answer-cost', 'What does it cost?',
    [h('strong', null, f.money(c.total_usd)), `, ${f.dollars(c.per_gpu_usd)} per GPU`],
    stacked(parts.map(([name, usd, kind]) => [name, usd / c.total_usd, `part-${kind}`]), `Parts of the cost: ${f.list(parts.filter((p) => p[1] > 0).map(([name, usd]) => `${name} ${f.percent(usd / c.total_usd)}`))}`),
    h('p', null, `Most of it for ${most[0]} (${f.percent(most[1] / c.total_usd)}). ${f.power(c.power_w)}; energy ${f.money(c.energy_usd_per_year)} per year.${perToken ? ` ${f.dollars(perToken)} per 1e9 tokens, GPU hours included.` : ''}`),
    h('p', { class: 'small' }, fabric.bisection_ratio !== undefined ? `Bisection ${f.rate(fabric.bisection_bps)}; any traffic may count on ${f.percent(fabric.bisection_ratio)} of what its NICs can inject. ` : '', h('a', { href: '#cost' }, 'The bill')));
}

function sweepAnswers(sweep) {
  const built = sweep.points.filter((p) => p.engines);
  const rows = built.flatMap((p) => p.engines.filter((e) => e.compared_s !== undefined).map((e) => ({ p, e })));
  const name = ({ p }) => pointName(sweep, p);
  if (rows.length === 0) return [];
  const fastest = rows.reduce((a, b) => (b.e.compared_s < a.e.compared_s ? b : a));
  const cheapest = rows.reduce((a, b) => (b.p.total_usd < a.p.total_usd ? b : a));
  const slowest = rows.reduce((a, b) => (b.e.compared_s > a.e.compared_s ? b : a));
  const dearest = rows.reduce((a, b) => (b.p.total_usd > a.p.total_usd ? b : a));
  const front = rows.filter(({ e }) => e.pareto);
  const verdict = (sweep.verdicts ?? []).find((v) => v.best);
  const isEven = verdict && (verdict.margin_ratio < 0.01 || verdict.margin_ratio <= (verdict.uncertainty_ratio ?? 0)); // as compare says it in text
  const next = verdict && sweep.points[verdict.next - 1].values[0];
  const isFlat = slowest.e.compared_s <= fastest.e.compared_s * 1.0005;
  const even = rows.filter((r) => r !== fastest && r.e.compared_s / fastest.e.compared_s - 1 < Math.max(5e-4, Math.hypot(r.e.ci95_ratio ?? 0, fastest.e.ci95_ratio ?? 0))); // as the text has it
  const seeds = fastest.e.draws === undefined ? '' : fastest.e.draws > 1 ? `, means of ${f.count(fastest.e.draws)} seeds` : ', one draw of its paths';
  return [
    verdict && card('answer-best', 'Which is best?',
      [h('strong', null, breakable(verdict.design)), isEven ? `, even with ${next}` : `, ${f.percent(verdict.margin_ratio)} ahead of ${next}`],
      h('p', null, verdict.by_price ? 'By dollars per token: GPU hours, network and energy.' : 'By time.', verdict.turning_ratio > 0 && !isEven ? (verdict.turning_ratio > 1 ? ' Not even a network for nothing would bring the next one level.' : ` The next one draws level if its network costs ${f.percent(verdict.turning_ratio)} less.`) : ''),
      h('p', { class: 'small' }, `Under ${verdict.label}.`)),
    card('answer-bound', 'How much time is in it?',
      [h('strong', null, f.seconds(fastest.e.compared_s)), isFlat ? ' at every point' : ` at ${name(fastest)}`, !isFlat && even.length > 0 && (even.length === 1 ? `, even with ${name(even[0])}` : `, even with ${even.length} others`)],
      h('p', null, isFlat ? 'What is varied does not change the time.' : `The slowest point, ${name(slowest)}, takes ${f.seconds(slowest.e.compared_s)}: ${f.digits(slowest.e.compared_s / fastest.e.compared_s, 4)} times as long.`),
      h('p', { class: 'small' }, `Under ${fastest.e.label}${seeds}.`)),
    card('answer-cost', 'How much money?',
      [h('strong', null, f.money(cheapest.p.total_usd)), ` at ${name(cheapest)}`],
      h('p', null, `The dearest point, ${name(dearest)}, costs ${f.money(dearest.p.total_usd)}: ${f.more(dearest.p.total_usd / cheapest.p.total_usd - 1)}.`)),
    card('answer-front', 'Which points are worth it?',
      [h('strong', null, f.plural(front.length, 'point')), ` of ${rows.length} on the Pareto front`],
      h('ul', { class: 'plain' }, front.slice(0, 6).map((row) => h('li', null, `${name(row)}: ${f.money(row.p.total_usd)}, ${f.seconds(row.e.compared_s)}${sweep.points[0]?.engines?.length > 1 ? ` (${row.e.label})` : ''}`))),
      h('p', { class: 'small' }, h('a', { href: '#sweep' }, 'The curves'))),
  ].filter(Boolean);
}

function designAnswers(designs) {
  const cheapest = designs.reduce((a, b) => (b.cost.total_usd < a.cost.total_usd ? b : a));
  const base = designs[0];
  const rest = designs.slice(1);
  return [
    card('answer-cost', 'Which costs least?', [h('strong', null, breakable(cheapest.name)), `: ${f.money(cheapest.cost.total_usd)}, ${f.dollars(cheapest.cost.per_gpu_usd)} per GPU`],
      h('ul', { class: 'plain' }, rest.map((d) => h('li', null, `${d.name}: ${d.reduction_ratio >= 0 ? `${f.percent(d.reduction_ratio)} less` : f.more(-d.reduction_ratio)} ${d.reduction_ratio < -1.0005 ? 'of' : 'than'} ${base.name}`)))),
    card('answer-power', 'Which draws least?', (() => {
      const least = designs.reduce((a, b) => (b.cost.power_w < a.cost.power_w ? b : a));
      return [h('strong', null, f.power(least.cost.power_w)), ': ', breakable(least.name)];
    })(), h('ul', { class: 'plain' }, designs.map((d) => h('li', null, `${d.name}: ${f.power(d.cost.power_w)}`)))),
    card('answer-bisection', 'What do they carry?', (() => {
      const most = designs.reduce((a, b) => ((b.fabric.bisection_bps ?? 0) > (a.fabric.bisection_bps ?? 0) ? b : a));
      return most.fabric.bisection_bps ? [h('strong', null, f.rate(most.fabric.bisection_bps)), ' of bisection: ', breakable(most.name)] : 'Bisections are not known';
    })(), h('ul', { class: 'plain' }, designs.map((d) => h('li', null, `${d.name}: ${d.fabric.bisection_ratio !== undefined ? f.percent(d.fabric.bisection_ratio) : '-'}`)))),
  ];
}

function optimumAnswers(o) {
  const { winner } = o;
  const next = o.runners_up[0];
  return [
    card('answer-cost', 'What does it cost at least?', [h('strong', null, f.money(winner.total_usd)), ` for ${f.count(o.gpus)} GPUs`],
      h('p', null, `${f.dollars(winner.total_usd / o.gpus)} per GPU, ${f.power(winner.power_w)}, bisection ${f.percent(winner.bisection_ratio)}.`),
      h('p', { class: 'small' }, o.proven ? 'Proven: no design of the catalog that keeps the limits costs less. ' : `Not proven: nothing costs less than ${f.money(o.lower_bound_usd)}. `, h('a', { href: '#cost' }, 'The bill'))),
    card('answer-design', 'Which fabric is it?', [h('strong', null, winner.family), `, ${f.plural(winner.tiers, 'tier')}, ${f.count(winner.switches)} switches`],
      h('p', null, h('code', null, winner.design))),
    next && card('answer-next', 'What comes close?', [h('strong', null, `${f.more(next.difference_ratio)}`), ` costs ${next.family} with ${f.plural(next.tiers, 'tier')}`],
      h('p', null, h('code', null, next.design)), h('p', { class: 'small' }, h('a', { href: '#optimum' }, 'What else, and why not'))),
  ].filter(Boolean);
}

function adviceAnswers(advice) {
  const { best, base } = advice;
  return [card('answer-advice', 'What should I change?',
    best ? [h('code', null, best.change), `: ${f.percent(best.gain_ratio)} faster`] : 'Nothing that was tried is clearly faster',
    h('p', null, best ? `Links need ${f.seconds(best.time_s)} instead of ${f.seconds(base.time_s)}; the worst factor is ${f.factor(best.max_collision_factor)} instead of ${f.factor(base.max_collision_factor)}.` : `Links need ${f.seconds(base.time_s)} as it is.`),
    h('p', { class: 'small' }, `${f.count(advice.evaluated)} configurations tried. `, h('a', { href: '#advice' }, 'All of them')))];
}

function contentionAnswers(contention) {
  const rows = contention.engines[0].jobs.filter((j) => j.slowdown_ratio !== undefined);
  if (rows.length === 0) return [];
  const most = [...rows].sort((a, b) => f.mean(b.slowdown_ratio) - f.mean(a.slowdown_ratio)).slice(0, 8);
  const worst = most[0];
  return [card('answer-contention', 'What do the jobs do to each other?',
    [h('strong', null, `${f.digits(f.mean(worst.slowdown_ratio), 3)} times`), ` as long takes ${worst.phase} of job ${worst.job}`],
    h('ul', { class: 'plain' }, most.map((j) => h('li', null, `${j.job}, ${j.phase}: ${f.seconds(f.mean(j.alone_s))} alone, ${f.seconds(f.mean(j.together_s))} together${j.iteration_alone_s ? `; an iteration ${f.seconds(j.iteration_alone_s)} and ${f.seconds(j.iteration_together_s)}` : ''}${j.loses_most_to ? `; without ${j.loses_most_to} ${f.seconds(j.without_s)}` : ''}`))),
    rows.length > most.length && h('p', null, `And ${f.plural(rows.length - most.length, 'more job')}, which lose less or as much.`),
    h('p', { class: 'small' }, h('a', { href: '#contention' }, 'Where they contend')))];
}

function degradationAnswers(degradation) {
  const worst = degradation.phases.filter((p) => p.factor_ratio !== undefined).reduce((a, b) => (a && a.factor_ratio >= b.factor_ratio ? a : b), null);
  const iteration = degradation.iterations?.[0];
  const parts = degradation.parts.map((p) => `${p.part} at ${f.percent(p.speed_ratio)}`);
  if (!worst) return [];
  return [card('answer-degradation', 'What do the slower parts do?',
    [h('strong', null, `${f.digits(worst.factor_ratio, 4)} times`), ` as long takes phase ${worst.phase}`],
    h('p', null, `With ${f.list(parts)}.${iteration ? ` An iteration takes ${f.seconds(iteration.after_s)} instead of ${f.seconds(iteration.before_s)}.` : ''}`),
    h('p', { class: 'small' }, h('a', { href: '#degradation' }, 'Phase by phase')))];
}

function mixAnswers(mix) {
  const rows = mix.designs.flatMap((d) => (d.engines ?? []).map((e) => ({ d, e }))).filter(({ e }) => e.speed_ratio !== undefined);
  const best = rows.find(({ e }) => e.best);
  if (!best) return [];
  return [card('answer-mix', 'Which design serves both jobs best?', [h('strong', null, breakable(best.d.name)), ': most speed for its cost'],
    h('ul', { class: 'plain' }, rows.map(({ d, e }) => h('li', null, `${d.name}: speed ${f.percent(e.speed_ratio)}, per dollar ${f.percent(e.speed_per_usd_ratio)} of the best`))),
    h('p', { class: 'small' }, `Training ${f.percent(mix.training_share)} of the time, ranking ${f.percent(mix.ranking_share)}; under ${best.e.label}.`))];
}

function auditAnswers(a) {
  const planned = a.boundaries.reduce((sum, b) => sum + b.planned_cables, 0);
  const present = a.boundaries.reduce((sum, b) => sum + b.present_cables, 0);
  const found = faults(a);
  const choices = a.findings.length - found.length;
  const kinds = Object.entries(found.reduce((all, x) => ({ ...all, [x.finding]: (all[x.finding] ?? 0) + 1 }), {}));
  const lost = a.lost_bisection_bps;
  const worst = found[0];
  return [
    card('answer-audit', 'What is wrong?', worst ? [h('strong', null, f.plural(found.length, 'finding')), ` in ${f.count(a.switches)} switches`] : h('strong', null, departs(a)),
      choices > 0 && h('p', null, `${f.plural(choices, 'choice')} of the design, no faults.`),
      h('p', null, `${coverage(a)}.`),
      h('ul', { class: 'plain' }, kinds.map(([kind, n]) => h('li', null, `${kind}: ${f.count(n)}`))),
      h('p', { class: 'small' }, a.cables_with_rule > 0 ? `${f.count(present)} of ${f.count(planned)} cables are there. ` : '', h('a', { href: '#audit' }, 'The work'))),
    card('answer-bisection', 'What does it cost in bandwidth?',
      a.bisection_bps === undefined ? 'The bisection is not known' : lost === undefined ? [h('strong', null, f.rate(a.bisection_bps)), ' of bisection'] : lost > 0 ? [h('strong', null, f.percent(a.lost_bisection_ratio)), ' of the bisection'] : [h('strong', null, 'No bisection'), ' is lost'],
      h('p', null, a.bisection_bps === undefined || lost === undefined ? `${a.bisection_unknown}.` : `${f.rate(a.bisection_bps)} of ${f.rate(a.planned_bisection_bps)}.`)),
    ...(worst ? [card('answer-work', 'What first?', [h('strong', null, worst.finding), worst.node ? [': ', breakable(worst.node)] : '', `, ${sure(worst)}`], h('p', null, worst.work), worst.rack && h('p', null, `In ${f.list([...new Set([worst.rack, worst.other_rack].filter(Boolean))])}.`))] : []),
  ];
}

function diffAnswers(d) {
  const told = d.changes.filter((c) => c.is_cause).concat(d.changes.filter((c) => !c.is_cause));
  const rest = told.length - FEW_CHANGES + (d.changes_left_out ?? 0);
  const { engines: [e] } = d;
  return [
    card('answer-diff', 'Is it slower, and why?', h('strong', null, `${d.verdict}.`),
      d.stopped && h('p', null, `${d.stopped}.`),
      d.cause && h('p', null, `${d.is_verified ? 'Cause, verified: ' : ''}${d.cause}.`),
      d.tolerance_ratio > 0 && h('p', null, `${d.is_beyond ? 'Beyond' : 'Within'} the tolerance of ×${f.digits(d.tolerance_ratio, 4)}.`),
      h('p', { class: 'small' }, h('a', { href: '#diff' }, 'Phase by phase'))),
    card('answer-changes', 'What changed?', [h('strong', null, f.plural(told.length + (d.changes_left_out ?? 0), 'change')), ` from ${d.before} to ${d.after}`],
      h('ul', { class: 'plain' }, told.slice(0, FEW_CHANGES).map((c) => h('li', null, `${c.kind} ${c.what}: was ${c.before ?? 'nothing'}, is ${c.after ?? 'nothing'}`))),
      rest > 0 && h('p', { class: 'small' }, `and ${f.count(rest)} more`)),
    e && card('answer-links', 'What does that do?', [h('strong', null, f.plural(e.new_links, 'link')), e.new_links === 1 ? ' collides now that did not' : ' collide now that did not'],
      h('p', null, `${f.plural(e.gone_links, 'link')} that collided ${e.gone_links === 1 ? 'does' : 'do'} no longer.`),
      h('p', { class: 'small' }, `Under ${e.label}.`)),
  ].filter(Boolean);
}

function failureAnswers(failures) {
  const { policies, healthy } = failures.engines[0];
  const stays = policies.find((p) => p.policy === 'none');
  const able = policies.filter((p) => p.possible && p.policy !== 'none' && p.disconnected_flows === 0);
  const figure = (p) => p.time_s ?? p.worst_ratio;
  const best = able.length > 0 ? able.reduce((a, b) => (figure(b) < figure(a) ? b : a)) : null;
  const told = (p) => `${f.plural(p.collisions, 'collision')}, the fullest link at ${f.factor(p.worst_ratio)}${p.slowdown_ratio ? `, ${f.times(p.slowdown_ratio)} as long` : ''}`;
  return [card('answer-failures', 'What does the failure do?',
    stays && stays.disconnected_flows > 0 ? [h('strong', null, 'The job stops'), `: ${f.plural(stays.disconnected_flows, 'flow')} lose every path`] : stays ? [h('strong', null, 'The job goes on'), `: ${told(stays)}`] : `Whole: ${told(healthy)}`,
    h('p', null, `Failed: ${f.list(failures.failed.map((x) => x.name))}.`),
    best && failures.lost.length > 0 && h('p', null, `Best is ${best.policy}: ${told(best)}.`),
    h('p', { class: 'small' }, `Under ${failures.engines[0].engine}.`))];
}

const FEW_CHANGES = 4;
const LINES = [['bound_by', 'Bound by'], ['collisions', 'Collisions'], ['cost', 'Cost'], ['to_do', 'To do'], ['how_sure', 'How sure']];

/** The five lines of the text report, word for word, and the engines that were tried for them. */
function verdict({ verdict: v }) {
  if (!v) return null;
  const tried = v.alternatives.filter((a) => a.possible);
  return h('div', { id: 'verdict', role: 'group', 'aria-label': 'Verdict' },
    h('dl', { class: 'facts' }, LINES.filter(([key]) => v[key]).map(([key, name]) => [h('dt', null, name), h('dd', null, v[key])])),
    tried.length > 0 && h('details', null, h('summary', null, 'Engines that were tried'), table({
      caption: `What the phases that take longer than they must would make of ${f.seconds(v.compared_s)}`,
      columns: [
        { title: 'Engine', head: true, cell: (a) => a.engine },
        { title: 'Time', number: true, cell: (a) => f.seconds(a.time_s) },
        { title: 'Saved', number: true, cell: (a) => f.seconds(v.compared_s - a.time_s) },
        { title: 'Worst link', number: true, cell: (a) => f.factor(a.max_collision_factor) },
        { title: 'Needs switches that can', cell: (a) => (a.needs_switch_support ? 'yes' : 'no') }],
      rows: tried })));
}

/** What was accepted that a reviewer would ask about. */
const warnings = ({ meta }) => meta.warnings?.length > 0 && h('ul', { id: 'warnings', class: 'plain', 'aria-label': 'Warnings' }, meta.warnings.map((w) => h('li', null, h('strong', null, 'Warning: '), `${w}.`)));

export function answers(model, state) {
  const host = h('div', { id: 'answers', role: 'region', 'aria-label': 'In short', 'aria-live': 'polite' });
  const draw = () => {
    const { report } = model;
    const cards = [];
    // What was asked for by name comes first.
    if (report.contention) cards.push(...contentionAnswers(report.contention));
    if (report.degradation) cards.push(...degradationAnswers(report.degradation));
    cards.push(...shortAnswers(report));
    if (report.diff) cards.push(...diffAnswers(report.diff));
    if (report.failures) cards.push(...failureAnswers(report.failures));
    if (report.audit) cards.push(...auditAnswers(report.audit));
    if (report.advice) cards.push(...adviceAnswers(report.advice));
    if (report.iteration?.[state.engine]) cards.push(boundByIteration(report.iteration, state.engine));
    else if (model.phases.length > 0) cards.push(boundByPhase(model, state.engine));
    if (model.phases.length > 0) cards.push(collisions(model, state));
    if (report.mix) cards.push(...mixAnswers(report.mix));
    if (report.study) cards.push(...studyAnswers(report.study));
    if (report.sweep) cards.push(...sweepAnswers(report.sweep));
    if (report.optimize) cards.push(...optimumAnswers(report.optimize, report.cost));
    if (report.designs) cards.push(...designAnswers(report.designs));
    else if (report.cost && !report.optimize) cards.push(cost(model));
    replace(host, warnings(model), verdict(report), h('div', { class: 'cards' }, cards));
  };
  state.onChange((changed) => (changed.has('engine') || changed.has('report')) && draw());
  draw();
  return host;
}
