// The flow of a phase that ends last, and who is in its way.
import { h } from './dom.js';
import * as f from './format.js';

const FEW = 4; // flows that are listed at once

/** Flows that share a link, of `n`. */
export function sharers(title, flows, n) {
  return h('details', { open: flows.length <= FEW }, h('summary', null, title),
    h('ul', { class: 'plain flows' }, flows.map((flow) => h('li', null, `rank ${flow.src_rank} → ${flow.dst_rank}, ${f.percent(flow.share)} of it${flow.comm ? `, ${flow.comm}` : ''}`)),
      n > flows.length && h('li', null, `and ${f.count(n - flows.length)} more`)));
}

/** What the detail of a selected way says, before its cables. */
export function pathWords(model, { phase, engine, path }) {
  const figures = model.phases[phase].engines[engine];
  const last = figures.last_flow;
  const others = (last.flows ?? []).filter((flow) => flow.flow !== last.flow);
  return [h('h3', null, `The slowest flow of ${model.phases[phase].name}`),
    h('p', null, `GPU ${last.src_gpu} → ${last.dst_gpu}${last.comm ? `, ${last.comm}` : ''}: ${f.bytes(last.bytes)} in ${f.seconds(last.finish_s)} at ${f.rate(last.rate_bps)}, ${path.length > 0 ? `over ${f.plural(path.length, 'link')} of the network` : last.path ? 'inside its servers' : 'over many paths at once'}.`),
    h('p', null, last.bottleneck ? [h('strong', null, last.bottleneck), ' holds it.'] : "Its receiver's window holds it."),
    others.length > 0 && sharers(`${f.plural(last.bottleneck_flows - 1, 'other flow')} cross${last.bottleneck_flows === 2 ? 'es' : ''} that link`, others, last.bottleneck_flows - 1),
    f.mean(figures.lower_bound_ratio ?? 1) > 1.005 && h('p', null, `The phase takes ${f.digits(f.mean(figures.lower_bound_ratio), 3)} times what every routing needs.`)];
}
