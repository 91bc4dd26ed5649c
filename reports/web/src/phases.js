// Every phase under every engine.
import { h, section, table } from './dom.js';
import { holderOf } from './answers.js';
import * as f from './format.js';

export function phases(model) {
  const rows = model.phases.flatMap((phase) => phase.engines.map((engine, e) => ({ phase, engine, e }))).filter(({ engine }) => !engine.absent);
  const several = model.engines.length > 1;
  const has = (key) => rows.some(({ engine }) => engine[key] !== undefined);
  const handed = model.phases.filter((p) => p.formula);
  return section('phases', 'Phases', 'What is in the network together. Times are for all bytes of an iteration, and phases do not share the network with each other.',
    table({
      id: 'phases-table',
      caption: model.meta.traffic ?? 'Traffic',
      columns: [
        { title: 'phase', head: true, cell: ({ phase }) => phase.name },
        several && { title: 'engine', cell: ({ engine }) => engine.options ?? engine.engine },
        { title: 'collective', cell: ({ phase }) => phase.collective },
        { title: 'bytes', number: true, cell: ({ phase }) => f.bytes(phase.bytes) },
        { title: 'flows', number: true, cell: ({ phase }) => f.count(phase.flows) },
        { title: 'over fabric links', number: true, cell: ({ phase }) => f.count(phase.fabric_flows) },
        { title: 'taper', number: true, cell: ({ engine }) => f.spread(engine.max_taper_factor, f.factor) },
        { title: 'worst factor', number: true, cell: ({ engine }) => f.spread(engine.max_collision_factor, f.factor) },
        { title: 'mean factor', number: true, cell: ({ engine }) => f.spread(engine.mean_collision_factor, f.factor) },
        { title: 'collided links', number: true, cell: ({ engine }) => f.spread(engine.collided_links, f.count) },
        { title: 'collided flows', number: true, cell: ({ engine }) => f.spread(engine.collided_flows, f.count) },
        has('time_s') && { title: 'time', number: true, cell: ({ engine }) => f.spread(engine.time_s, f.seconds) },
        has('lower_bound_ratio') && { title: 'times the least', number: true, cell: ({ engine }) => f.spread(engine.lower_bound_ratio, (x) => f.digits(x, 3)) },
        has('busbw_bps') && { title: 'bus bandwidth', number: true, cell: ({ engine }) => f.spread(engine.busbw_bps, f.rate) },
        has('bottlenecked_flows') && { title: 'bottleneck', cell: ({ engine }) => { const holder = engine.bottlenecked_flows && holderOf(engine); return holder ? `${holder.name} ${f.percent(holder.share)}` : '-'; } },
        has('optimum_gap_ratio') && { title: 'above the optimum', number: true, cell: ({ engine }) => f.spread(engine.optimum_gap_ratio, f.percent) },
        has('effective_bisection_ratio') && { title: 'effective bisection', number: true, cell: ({ engine }) => f.spread(engine.effective_bisection_ratio, f.percent) },
        { title: 'deadlock', cell: ({ engine }) => (engine.deadlock_free ? 'free' : 'possible') },
      ].filter(Boolean),
      rows,
    }),
    rows.some(({ engine }) => engine.seeds > 1) && h('p', { class: 'note' }, 'Figures that depend on the seed: mean (least to largest).'),
    handed.length > 0 && h('details', null, h('summary', null, 'Formulas of the bytes'),
      h('dl', null, handed.map((p) => [h('dt', null, p.name), h('dd', null, p.formula)]))));
}

/** Phases that nobody has routed: what `traffic` lists. */
export const listed = (model) => section('phases', 'Phases', model.report.traffic ?? null,
  table({
    id: 'phases-table',
    caption: 'What is in the network together',
    columns: [
      { title: 'phase', head: true, cell: (p) => p.name },
      { title: 'collective', cell: (p) => p.collective },
      { title: 'groups', number: true, cell: (p) => f.count(p.communicators) },
      { title: 'flows', number: true, cell: (p) => f.count(p.flows) },
      { title: 'bytes', number: true, cell: (p) => f.bytes(p.bytes) },
      { title: 'steps', number: true, cell: (p) => f.count(p.steps) },
      { title: 'times', number: true, cell: (p) => f.count(p.executions) },
      { title: 'formula of the bytes', cell: (p) => p.formula },
    ],
    rows: model.report.phases,
  }));
