// What one set of failures does, and where the lost ranks go under every policy.
import { h, replace, section, table } from './dom.js';
import * as f from './format.js';

/** Why a failure can make things faster. */
export const RELIEF = 'After a failure flows take other paths; where these collide less than the ones drawn before, that is luck of this draw and no gain: another seed shows its noise.';

/** A serving job goes on with the replicas that are left. */
const serves = (policy) => policy.serving?.replicas_left > 0 && policy.serving.most_requests_per_s !== 0;
const left = (policy) => `${policy.serving.replicas_left} of ${policy.serving.replicas} replicas go on${policy.serving.most_requests_per_s > 0 ? `, ${f.digits(policy.serving.most_requests_per_s, 4)} requests/s at most` : ''}`;
const moves = (policy) => (!policy.possible && serves(policy) ? left(policy) : policy.possible ? policy.moves.map((m) => `${m.from_server} → ${m.to_server}${m.healthy ? ' (healthy)' : ''}`).join(', ') || '-' : 'the job stops');

function engine(e) {
  const rows = [{ policy: 'nothing failed', whole: true, possible: true, moves: [], ...e.healthy }, ...e.policies];
  return table({
    caption: e.engine,
    columns: [
      { title: 'policy', head: true, cell: (p) => p.policy },
      { title: 'flows cut off', number: true, cell: (p) => f.count(p.disconnected_flows) },
      { title: 'overloaded links', number: true, cell: (p) => (p.possible || serves(p) ? f.count(p.collisions) : '-') },
      { title: 'fullest', number: true, cell: (p) => (p.possible || serves(p) ? f.factor(p.worst_ratio) : '-') },
      { title: 'which', cell: (p) => (p.possible || serves(p) ? (p.worst_link ?? '') : '') },
      { title: 'time', number: true, cell: (p) => (p.time_s === undefined ? '-' : f.seconds(p.time_s)) },
      { title: 'slower', number: true, cell: (p) => (p.slowdown_ratio === undefined ? '-' : `×${f.digits(p.slowdown_ratio, 4)}`) },
      { title: 'moves of servers', cell: (p) => (p.healthy ? '' : moves(p)) },
    ],
    rows,
  });
}

/** How long GPUs wait for an exchange: the p99 of every phase that somebody waits for. */
function requests(e) {
  const waited = e.healthy.phases.filter((p) => p.request_p99_s !== undefined);
  const of = (state, phase) => state.phases.find((p) => p.phase === phase)?.request_p99_s;
  return waited.length > 0 && table({
    caption: `p99 of requests, ${e.engine}`,
    columns: [
      { title: 'exchange', head: true, cell: (p) => p.phase },
      { title: 'requests', number: true, cell: (p) => f.count(p.requests) },
      { title: 'nothing failed', number: true, cell: (p) => f.seconds(p.request_p99_s) },
      ...e.policies.map((policy) => ({ title: policy.policy, number: true, cell: (p) => { const s = of(policy, p.phase); return s === undefined ? '-' : `${f.seconds(s)} (×${f.digits(s / p.request_p99_s, 4)})`; } })),
    ],
    rows: waited,
  });
}

function told(x) {
  return section('failures', 'What the failures do', `Failed: ${f.list(x.failed.map((p) => p.name))}. ${x.lost.length > 0 ? `${f.plural(x.lost.length, 'server')} with ranks lost.` : 'No server with ranks is lost: nobody moves.'}`,
    x.engines.map((e) => [engine(e), e.note === undefined && requests(e)]),
    x.engines.some((e) => e.policies.some((p) => p.time_s < e.healthy.time_s * (1 - 1e-9))) && h('p', { class: 'note' }, `Slower below ×1: faster than where nothing failed. ${RELIEF}`),
    x.phases_left_out.length > 0 && h('p', { class: 'note' }, `Left out: ${f.list(x.phases_left_out.map((p) => p.name ?? p))}.`));
}

/** Nothing, as long as nothing is broken. */
export function failures(model, state) {
  const host = h('div');
  const draw = () => replace(host, model.report.failures && told(model.report.failures));
  state.onChange((changed) => changed.has('report') && draw());
  draw();
  return host;
}
