// Two states of a network and its job: what changed, what that does, and why.
import { h, replace, section, select, table } from './dom.js';
import { heatNote, heatOf, heatPair } from './heat.js';
import * as f from './format.js';

const MOST = 12; // links
const change = (c) => `${c.kind} ${c.what}: was ${c.before ?? 'nothing'}, is ${c.after ?? 'nothing'}${c.undone_s === undefined ? '' : `; this alone undone: ${f.seconds(c.undone_s)}`}`;
const flow = (x) => `rank ${x.src_rank} on ${x.src_server} > ${x.dst_rank} on ${x.dst_server}`;

function crossing(c) {
  if (c.factor === undefined) return 'not there, or not listed';
  return `${f.factor(c.factor)}${c.flows === undefined ? '' : `, ${f.plural(c.flows, 'flow')}`}${c.listed.length > 0 ? `: ${c.listed.map(flow).join('; ')}` : ''}`;
}

function engine(model, d, e, number) {
  const seconds = (v) => (v === undefined ? '-' : f.seconds(v));
  const factor = (v) => (v === undefined ? '-' : f.factor(v));
  const all = { name: e.iterates ? 'iteration' : 'all', before_s: e.before_s, after_s: e.after_s, new_links: e.new_links, gone_links: e.gone_links };
  const places = h('div');
  const worst = (p) => Math.max(p.before_factor ?? 0, p.after_factor ?? 0);
  const draw = (phase) => replace(places, heatPair([`before: ${d.before}`, heatOf(model, 0, phase, number)], [`now: ${d.after}`, heatOf(model, 1, phase, number)]));
  const first = Math.max(0, e.phases.indexOf([...e.phases].sort((a, b) => b.new_links + b.gone_links - a.new_links - a.gone_links || worst(b) - worst(a))[0]));
  draw(first);
  return [h('h3', null, e.label), heatOf(model, 0, first, number).length > 0 && h('div', { class: 'filters' }, select('Links in phase', e.phases.map((p, i) => [i, p.name]), first, (v) => draw(Number(v)))), places, e.is_draw && h('p', { class: 'note' }, 'Of one draw of a hash or of random choices: another may differ.'),
    table({
      caption: 'Phase by phase',
      columns: [
        { title: 'phase', head: true, cell: (p) => p.name },
        { title: 'before', number: true, cell: (p) => seconds(p.before_s) },
        { title: 'now', number: true, cell: (p) => seconds(p.after_s) },
        { title: 'ratio', number: true, cell: (p) => (p.before_s > 0 && p.after_s !== undefined ? f.times(p.after_s / p.before_s) : '-') },
        { title: 'worst before', number: true, cell: (p) => factor(p.before_factor) },
        { title: 'worst now', number: true, cell: (p) => factor(p.after_factor) },
        { title: 'new', number: true, cell: (p) => f.count(p.new_links) },
        { title: 'gone', number: true, cell: (p) => f.count(p.gone_links) }],
      rows: [...e.phases, all],
    }),
    h('p', { class: 'note' }, 'worst: the largest collision factor; new, gone: links that collide in one state alone.'),
    e.links.length > 0 && table({
      caption: e.links.length > MOST ? `The worst ${MOST} of ${e.links.length} listed links that collide in one state alone` : 'Links that collide in one state alone',
      columns: [
        { title: 'link', head: true, cell: (l) => l.link },
        { title: 'phase', cell: (l) => l.phase },
        { title: '', cell: (l) => (l.is_new ? 'collides now' : 'collides no more') },
        { title: 'before', cell: (l) => crossing(l.before) },
        { title: 'now', cell: (l) => crossing(l.after) }],
      rows: e.links.slice(0, MOST),
    })];
}

export function difference(model) {
  const { diff: d } = model.report;
  return section('diff', 'What changed', null,
    h('dl', { class: 'facts' }, [['before', d.before], ['after', d.after]].map(([name, value]) => [h('dt', null, name), h('dd', null, value)])),
    d.changes.length > 0 ? h('ul', null, d.changes.map((c) => h('li', null, c.is_cause ? h('strong', null, change(c)) : change(c)))) : h('p', null, 'Nothing.'),
    d.changes_left_out > 0 && h('p', { class: 'note' }, `and ${f.count(d.changes_left_out)} more`),
    d.tests?.length > 0 && [h('h3', null, 'Tried: other servers in the place of the one that has come'), h('ul', null, d.tests.map((t) => h('li', null,
      `${t.what}: ${f.seconds(t.time_s)}, ${t.returns ? 'as before' : 'not as before'}, ${t.holds ? 'as the cause predicts' : 'against it'}`)))],
    d.engines.map((e, i) => engine(model, d, e, i)), heatNote(model));
}
