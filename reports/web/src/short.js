// Cards of the first screen for commands with one question each.
import { card } from './answers.js';
import { size } from './busbw.js';
import { breakable, h } from './dom.js';
import * as f from './format.js';
import { usd } from './requests.js';

const list = (lines) => h('ul', { class: 'plain' }, lines.map((line) => h('li', null, line)));
const to = (id, text) => h('p', { class: 'small' }, h('a', { href: `#${id}` }, text));
const most = (rows, get) => rows.reduce((a, b) => (get(b) > get(a) ? b : a));

/** Under every engine the largest size, and what was measured there. */
function ofBusbw(b) {
  const last = [...new Set(b.rows.map((r) => r.engine))].map((engine) => most(b.rows.filter((r) => r.engine === engine), (r) => r.bytes));
  const rate = (bps) => `${f.digits(bps / 8e9)} GB/s`;
  return [card('answer-busbw', 'What should nccl-tests print?', [h('strong', null, rate(last[0].busbw_bps)), ` of bus bandwidth at ${size(last[0].bytes)}`],
    list(last.map((r) => `${r.engine === 'none' ? 'no network' : r.engine}: ${rate(r.busbw_bps)}, bound by ${r.bound_by}`)), to('busbw', 'Every size')),
  b.measured && card('answer-measured', 'Does the site reach it?', b.short_sizes > 0 ? [h('strong', null, f.plural(b.short_sizes, 'size')), ` of ${f.count(b.rows.length)} falls short`] : h('strong', null, 'At every size'),
    h('p', null, `At ${size(last[0].bytes)} it printed ${rate(last[0].measured_busbw_bps)}: ${f.fixed(last[0].measured_ratio, 3)} of what it should.`))];
}

function ofObserve({ suspects, more_suspects: more, fits, fitting_ratio: ratio }) {
  const [first] = suspects;
  return [card('answer-observe', 'Who is late, or slow?', first ? [h('strong', null, first.suspect), ': ', breakable(first.name)] : h('strong', null, 'Nobody that this pair could show'),
    first && h('p', null, `It ${first.evidence}.`), suspects.length + more > 1 && h('p', null, `and ${f.plural(suspects.length + more - 1, 'suspect')} more`), to('observe', 'All of them')),
  card('answer-fits', 'Do the counters fit the job?', h('strong', null, fits ? 'Yes' : 'No'), h('p', null, `${f.percent(ratio)} of the links between switches carried what the job puts on them.`))];
}

function ofPlan(p) {
  const [best, next] = p.plans;
  if (!best) return [card('answer-plan', 'How should it run?', h('strong', null, 'No plan fits'))];
  const words = (x) => ['tp', 'cp', 'pp', 'dp', 'ep', 'interleave', 'microbatch', 'recompute', 'zero'].map((key) => `${key}=${x[key]}`).join(',');
  return [card('answer-plan', 'How should it run?', [h('strong', null, f.seconds(best.time_s)), ' per iteration'], h('p', null, h('code', null, breakable(words(best)))),
    h('p', null, p.is_proven ? 'Proven: no other plan that fits is faster.' : `Not proven: nothing is faster than ${f.seconds(p.lower_bound_s)}.`), to('plan', 'The others')),
  next && card('answer-next', 'What comes close?', [h('strong', null, `${f.percent(next.slower_ratio)} slower`)], h('p', null, h('code', null, breakable(words(next)))))];
}

function ofServing(rows) {
  const best = most(rows, (r) => r.tokens_per_s);
  return [card('answer-serving', 'How fast does it serve?', [h('strong', null, `${f.count(best.tokens_per_s)} tokens/s`), `, a token in ${f.seconds(best.token_s)}`],
    h('p', null, `The first token after ${f.seconds(best.first_token_s)}; ${f.percent(best.token_network_s / best.token_s)} of a token is the network.${best.usd_per_1e6_tokens === undefined ? '' : ` ${usd(best.usd_per_1e6_tokens)} per million tokens.`}`),
    h('p', { class: 'small' }, `Under ${best.engine}. `, h('a', { href: '#serving' }, 'Waits under load')))];
}

function ofExplain(e) {
  const worst = most(e.phases, (p) => p.utilisation_ratio ?? 0);
  if (!worst?.n_flows) return [card('answer-explain', 'Who contends there?', h('strong', null, 'No flow crosses the link'))];
  const why = worst.taper_factor >= worst.hash_factor ? 'The design is why' : 'The routing is why';
  return [card('answer-explain', 'Who contends there?', [h('strong', null, f.plural(worst.n_flows, 'flow')), ` of ${worst.name} ask for ${f.factor(worst.utilisation_ratio)} of what ${e.link} carries`],
    worst.utilisation_ratio > 1 + 1e-9 && h('p', null, `${why}: taper ${f.factor(worst.taper_factor)} × hash ${f.factor(worst.hash_factor)}.`), to('explain', 'Decision by decision'))];
}

function ofValidate(v) {
  const rows = v.rows.filter((r) => r.deviation_ratio !== undefined);
  const worst = rows.length > 0 && most(rows, (r) => Math.abs(r.deviation_ratio));
  return [card('answer-validate', 'How far is it from what was published?', [h('strong', null, `${f.count(v.met)} of ${f.count(v.met + v.missed)}`), ' figures are met'],
    worst && h('p', null, `The furthest: ${worst.what} of ${worst.source}, ${f.percent(worst.deviation_ratio)} off.`), v.fitted > 0 && h('p', null, `Further ${f.count(v.fitted)} were fitted to.`), to('validate', 'Figure by figure'))];
}

const ofImport = (i) => [card('answer-import', 'What was found?', [h('strong', null, `${f.count(i.servers)} servers`), ` of ${f.plural(i.nics_per_server, 'NIC')}, ${f.plural(i.boundaries.length, 'tier')} of switches`],
  list(i.boundaries.map((b) => `${b.boundary}: ${f.count(b.cables)} cables of ${f.rate(b.cable_bps)}`)), to('import', 'All of it')),
i.assumed.length > 0 && card('answer-assumed', 'What is assumed?', h('strong', null, f.plural(i.assumed.length, 'thing')), list(i.assumed.map((a) => a.what)))];

function ofTraffic(report) {
  const worst = most(report.phases, (p) => p.bytes);
  const m = report.memory;
  return [card('answer-traffic', 'What is in the network?', [h('strong', null, f.bytes(report.phases.reduce((sum, p) => sum + p.bytes, 0))), ` in ${f.plural(report.phases.length, 'phase')}`],
    h('p', null, `Most of it in ${worst.name}, ${worst.collective}: ${f.bytes(worst.bytes)}.`), to('phases', 'Phase by phase')),
  m && card('answer-memory', 'Does it fit?', [h('strong', null, m.fits ? 'Yes' : 'No'), `: ${f.bytes(m.total_bytes)} of ${f.bytes(m.capacity_bytes)} on the fullest GPU`])];
}

/** What was found by `place`, and whether other seeds say the same. */
const ofSearches = (searches) => searches.filter((s) => s.best).map((s, i) => card(`answer-place-${i}`, 'Where should it run?', [h('strong', null, `servers ${s.best.servers}`)],
  h('p', null, `${f.seconds(s.best.time_s)}; as listed ${f.seconds(s.listed.time_s)}, at worst ${f.seconds(s.worst.time_s)}.${s.check_seeds > 0 ? ` On ${f.plural(s.check_seeds, 'other seed')}: ${f.seconds(s.best.check_s)} and ${f.seconds(s.listed.check_s)}.` : ''}`),
  h('p', { class: 'small' }, `${s.proven ? 'Proven.' : `Of ${f.count(s.tried)} that were tried.`} Under ${s.label}.`)));

function ofAlgorithms(points) {
  const rows = points.map((p) => ({ at: p.values.join(', '), best: [...p.algorithms].sort((a, b) => (a.engines[0].time_s ?? Infinity) - (b.engines[0].time_s ?? Infinity))[0] }));
  return [card('answer-algorithms', 'Which algorithm?', [h('strong', null, rows.at(-1).best.name), ` at ${rows.at(-1).at}`],
    list(rows.slice(0, 6).map((r) => `${r.at}: ${r.best.name}, ${f.seconds(r.best.engines[0].time_s)}`)), h('p', { class: 'small' }, `Under ${rows[0].best.engines[0].label}.`))];
}

export function shortAnswers(report) {
  const tried = report.sweep?.points.filter((p) => p.algorithms?.length > 0) ?? [];
  return [
    report.busbw && ofBusbw(report.busbw), report.observe && ofObserve(report.observe), report.plan && report.meta.command === 'plan' && ofPlan(report.plan), report.serving?.length > 0 && ofServing(report.serving),
    report.explain && ofExplain(report.explain), report.validate && ofValidate(report.validate), report.import && ofImport(report.import),
    report.meta.command === 'traffic' && report.phases?.length > 0 && ofTraffic(report), report.sweep?.searches && ofSearches(report.sweep.searches), tried.length > 0 && ofAlgorithms(tried),
  ].flat().filter(Boolean);
}
