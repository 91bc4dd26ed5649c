// route --explain: who contends for a link, and which decision brought each flow there.
import { h, section, table } from './dom.js';
import * as f from './format.js';

const gpu = (flow, end) => (flow[`${end}_rank`] === flow[`${end}_gpu`] ? '' : ` (GPU ${flow[`${end}_gpu`]})`);
const flowName = (flow) => `${flow.src_rank}${gpu(flow, 'src')} → ${flow.dst_rank}${gpu(flow, 'dst')}`;

const decisions = (path, link) => h('ol', { class: 'plain' }, path.decisions.map((d) =>
  h('li', null, d.link_id === link ? h('strong', null, d.link) : d.link, d.next_hops > 1 ? ` one of ${f.count(d.next_hops)}: ${d.reason ?? ''}` : ' the only way')));

function flows(phase, link) {
  return table({
    caption: `Flows of phase ${phase.name} that contend here`,
    columns: [
      { title: 'ranks', head: true, cell: flowName },
      { title: 'group', cell: (flow) => flow.comm ?? '' },
      { title: 'asks of the link', number: true, cell: (flow) => f.rate(flow.offered_bps * flow.share) },
      { title: 'part of the flow', number: true, cell: (flow) => f.percent(flow.share) },
      { title: 'why here; the decision for this link is bold', cell: (flow) => flow.paths.map((path) => decisions(path, link)) },
    ],
    rows: phase.flows,
  });
}

function choice(phase) {
  const { choice: c } = phase;
  if (!c) return null;
  return h('p', null, `At the switch in front of it ${f.plural(c.paths, 'path')} of ${f.plural(c.flows, 'flow')} choose among ${f.plural(c.next_hops, 'next hop')} and use ${f.count(c.used)}; an ideal hash would use ${f.digits(c.ideal_used, 3)}.`);
}

export function explanation(model) {
  const { explain } = model.report;
  return section('explain', `Who contends on ${explain.link}`, `${explain.boundary} ${explain.direction}, ${f.rate(explain.capacity_bps)}, link ${explain.link_id}. Under ${explain.options ?? explain.engine}.`,
    explain.phases.map((phase) => [h('h3', null, `Phase ${phase.name}`), phase.n_flows === 0 ? h('p', null, 'No flow crosses the link.') : [
      h('p', null, h('strong', null, `${f.factor(phase.utilisation_ratio)} of its capacity`), ` = taper ${f.factor(phase.taper_factor)} × hash ${f.factor(phase.hash_factor)}: ${f.plural(phase.n_flows, 'flow')} of ${f.plural(phase.communicators, 'communicator')} ask for ${f.rate(phase.load_bps)}.`),
      choice(phase),
      phase.flows.length > 0 && flows(phase, explain.link_id),
      phase.flows.length < phase.n_flows && h('p', { class: 'note' }, `The first ${f.count(phase.flows.length)} of ${f.count(phase.n_flows)}.`)]]));
}
