// The flow of a phase that ends last, and who is in its way.
import { h } from './dom.js';
import * as f from './format.js';

const FEW = 4; // flows that are listed at once
const gpu = (flow, end) => `${flow[`${end}_gpu`]}`;

/** What the detail of a selected way says, before its cables. */
export function pathWords(model, { phase, engine, path }) {
  const figures = model.phases[phase].engines[engine];
  const last = figures.last_flow;
  const others = (last.flows ?? []).filter((flow) => flow.flow !== last.flow);
  const more = (last.bottleneck_flows ?? 0) - 1 - others.length;
  const list = h('ul', { class: 'plain flows' }, others.map((flow) => h('li', null, `rank ${flow.src_rank} → ${flow.dst_rank}, ${f.percent(flow.share)} of it${flow.comm ? `, ${flow.comm}` : ''}`)), more > 0 && h('li', null, `and ${f.count(more)} more`));
  return [h('h3', null, `The slowest flow of ${model.phases[phase].name}`),
    h('p', null, `GPU ${gpu(last, 'src')} → ${gpu(last, 'dst')}${last.comm ? `, ${last.comm}` : ''}: ${f.bytes(last.bytes)} in ${f.seconds(last.finish_s)} at ${f.rate(last.rate_bps)}, ${path.length > 0 ? `over ${f.plural(path.length, 'link')} of the network` : last.path ? 'inside its servers' : 'over many paths at once'}.`),
    h('p', null, last.bottleneck ? [h('strong', null, last.bottleneck), ' holds it.'] : "Its receiver's window holds it."),
    others.length > 0 && h('details', { open: others.length <= FEW }, h('summary', null, `${f.plural(last.bottleneck_flows - 1, 'other flow')} cross${last.bottleneck_flows === 2 ? 'es' : ''} that link`), list),
    f.mean(figures.lower_bound_ratio ?? 1) > 1.005 && h('p', null, `The phase takes ${f.digits(f.mean(figures.lower_bound_ratio), 3)} times what every routing needs.`)];
}
