// Finds what is written in the fabric: a rank, GPU, server, NIC, switch, port or cable; and the fullest link.
import { completed } from './complete.js';
import { fresh, h } from './dom.js';
import * as f from './format.js';

const KINDS = [['rank ', 'its first cable'], ['GPU ', 'its first cable'], ['server ', 'all its cables'], ['cable ', 'by its number']];

/** The first cable of a GPU's NIC. */
function ofGpu(model, gpu) {
  const { graph } = model;
  const { gpus_per_server: gpus, nics_per_server: nics } = graph;
  const nic = Math.floor(gpu / gpus) * nics + Math.floor(((gpu % gpus) * nics) / gpus);
  const index = graph.boundaries[0].lower.indexOf(nic);
  return index >= 0 ? { kind: 'cable', boundary: 0, index } : null;
}

/** What is meant, to be selected; null: there is none. */
export function findPlace(model, scene, text) {
  const { graph } = model;
  const [, kind, digits] = /^(rank|gpu|server|nic|cable)[ -]?(\d+)$/i.exec(text.trim()) ?? [];
  const n = Number(digits);
  switch (kind?.toLowerCase()) {
    case 'rank': return model.ranks ? (n < model.ranks.length ? ofGpu(model, model.ranks[n]) : null) : ofGpu(model, n);
    case 'gpu': return n < graph.servers * graph.gpus_per_server ? ofGpu(model, n) : null;
    case 'server': return n < graph.servers ? { kind: 'block', id: scene.blockOfServer[n] } : null;
    case 'nic': {
      const index = graph.boundaries[0].lower.indexOf(n);
      return index >= 0 ? { kind: 'cable', boundary: 0, index } : null;
    }
    case 'cable': {
      const found = model.findLink(2 * n);
      return found && { kind: 'cable', boundary: found.boundary, index: found.index };
    }
    default: return model.findNamed(text.trim()) ?? ofPort(model, text.trim());
  }
}

/** "leaf-5:17": the cable in this port of a switch. */
function ofPort(model, text) {
  const cut = text.lastIndexOf(':');
  const place = cut > 0 ? model.findNamed(text.slice(0, cut)) : null;
  if (place?.kind !== 'switch') return null;
  const port = text.slice(cut + 1);
  const found = model.cablesOf(place.id).find(([boundary, index]) => {
    const b = model.graph.boundaries[boundary];
    return String((boundary > 0 && b.lower[index] === place.id ? b.lowerPort : b.upperPort)[index]) === port;
  });
  return found ? { kind: 'cable', boundary: found[0], index: found[1] } : null;
}

/** The fullest link by what is shown; between switches where any is full, and the lowest of equal ones. */
export function hottest(model, metric) {
  let best = null;
  for (const [boundary, directions] of (metric.values ?? []).entries()) {
    const { cable } = model.graph.boundaries[boundary];
    for (const down of metric.direction === 'both' ? [0, 1] : [Number(metric.direction)]) {
      for (let index = 0; index < cable.length; index++) {
        const value = directions[down][index];
        const id = 2 * cable[index] + down;
        const isFirst = best === null || (best.boundary === 0 && boundary > 0);
        if (value > 0 && (isFirst || value > best.value || (value === best.value && id < best.id))) best = { kind: 'cable', boundary, index, down: down === 1, value, id };
      }
    }
  }
  return best;
}

export function search(model, state, picture) {
  const { scene } = picture;
  const said = h('span', { class: 'note', role: 'status' });
  const tiers = model.graph.names ? [] : model.graph.tiers;
  const offers = (text) => ({
    from: 0,
    rows: text === '' ? [] : [
      ...tiers.flatMap((tier) => (`${tier.name}-`.startsWith(text) ? [{ text: `${tier.name}-`, summary: f.plural(tier.switches, 'switch').replace('switchs', 'switches') }]
        : text.startsWith(`${tier.name}-`) && !text.includes(':') ? Array.from({ length: 10 }, (_, i) => `${text}${i}`).filter((name) => model.findNamed(name)).map((name) => ({ text: name, summary: '' })) : [])),
      ...(model.graph.names?.switches ?? []).filter((name) => name.toLowerCase().includes(text.toLowerCase())).slice(0, 8).map((name) => ({ text: name, summary: '' })),
      ...KINDS.filter(([kind]) => kind.toLowerCase().startsWith(text.toLowerCase())).map(([kind, summary]) => ({ text: kind, summary })),
    ],
  });
  const done = (text) => {
    const place = findPlace(model, scene, text);
    said.textContent = place || text.trim() === '' ? '' : `There is no ${text.trim()}.`;
    if (place) state.set({ selected: place });
  };
  const id = fresh('find');
  return [h('span', { class: 'choice' }, h('label', { for: id }, 'Find'), completed({ id, class: 'find', placeholder: 'rank 17, leaf-5, leaf-5:17' }, offers, done)), said];
}
