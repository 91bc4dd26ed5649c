// What the page knows: the report (the same object as report.json), and the fabric and its loads, decoded when asked for.
import { rows, series } from './decode.js';
import { Schedule } from './schedule.js';

export const EDGES = [0.25, 0.5, 0.75, 1, 1.5, 2, 3];
const COLLIDED = 1 + 1e-9; // as the program counts
export const isCollided = (ratio) => ratio > COLLIDED;

/** Bin of a utilisation, as in the histograms of the report: a bound is met up to rounding. */
export function binOf(use) {
  let bin = 0;
  while (bin < EDGES.length && (bin < 3 ? use * COLLIDED >= EDGES[bin] : use > EDGES[bin] * COLLIDED)) bin++;
  return bin;
}
export const BINS = ['below 0.25', '0.25 - 0.5', '0.5 - 0.75', '0.75 - 1', '1 - 1.5', '1.5 - 2', '2 - 3', 'above 3'];

function decodeGraph(g) {
  const [pod, rail, plane, radix] = rows(g.switches, 4, g.tiers.reduce((sum, tier) => sum + tier.switches, 0));
  let first = 0;
  const tiers = g.tiers.map((tier, i) => {
    const at = first;
    first += tier.switches;
    return { ...tier, tier: i + 1, first: at };
  });
  const boundaries = g.boundaries.map((b) => {
    const [cable, lower, lowerPort, upper, upperPort, kind] = rows(b.cables, 6, b.n);
    // ports of what is installed have names
    return { ...b, cable, lower, lowerNumber: lowerPort, lowerPort: b.lower_ports ?? lowerPort, upper, upperNumber: upperPort, upperPort: b.upper_ports ?? upperPort, kind };
  });
  return { ...g, nSwitches: first, tiers, boundaries, pod, rail, plane, radix };
}

/** What a phase of a report has of an engine, by its place in the command line: of engines with plans of their own a phase
 *  has those whose plan has it. */
export const engineAt = (phase, place) => phase.engines?.find((e, i) => (e.number ?? i + 1) === place + 1);

/** The same of all engines: others stand there by name, without figures. */
function withAll(phases) {
  const named = [];
  const none = { absent: true, max_collision_factor: 0, hot_links: [], link_loads: [] };
  for (const e of phases.flatMap((phase) => phase.engines ?? [])) if (e.number !== undefined) named[e.number - 1] = { ...none, engine: e.engine, options: e.options, seed: e.seed };
  return named.length === 0 ? phases : phases.map((phase) => ({ ...phase, engines: named.map((name, i) => engineAt(phase, i) ?? name) }));
}

export class Model {
  constructor(data) {
    this.data = data;
    this.report = data.report;
    this.meta = data.report.meta;
    this.note = data.iteration_note;
    this.blocks = data.blocks ?? null;
    this.leftOut = data.graph_left_out ?? 0;
    this.graph = data.graph ? decodeGraph(data.graph) : null;
    this.loads = this.graph && data.loads ? data.loads : null;
    this.phases = withAll(data.report.phases ?? []).filter((phase) => phase.engines); // `traffic` lists phases without routes
    this.engines = this.phases[0]?.engines.map((e) => e.options ?? e.engine) ?? [];
    this.criticality = this.graph ? (data.criticality ?? null) : null;
    this.ranks = data.ranks === undefined ? null : rows(data.ranks, 1, data.n_ranks)[0]; // their GPUs; null: rank and GPU are one
    this.coded = { travels: data.travels, schedules: data.schedules ?? [] };
    this.cache = new Map();
    this.draws = new Map();
    for (const draw of this.loads?.draws ?? []) this.draws.set(`${draw.phase} ${draw.engine} ${draw.draw}`, draw);
  }

  /** Draws of a phase and engine whose links the page has: [{ draw, seed }]. */
  drawsOf(phase, engine) {
    return (this.loads?.draws ?? []).filter((d) => d.phase === phase && d.engine === engine);
  }

  decode(key, source) {
    let found = this.cache.get(key);
    if (!found) {
      const { values, code } = source;
      found = this.graph.boundaries.map((b, i) => [series(code[2 * i], values, b.n), series(code[2 * i + 1], values, b.n)]);
      this.cache.set(key, found);
    }
    return found;
  }

  /** Utilisation of the links, [boundary][0 up, 1 down][cable of the boundary]; null where the page does not have it. */
  ratios(phase, engine, draw) {
    const found = this.draws.get(`${phase} ${engine} ${draw}`);
    return found ? this.decode(`r ${phase} ${engine} ${draw}`, found.ratio) : null;
  }

  /** The same under ideal spraying; of the first seed. */
  tapers(phase) {
    const source = this.loads?.taper[phase]?.ratio;
    return source ? this.decode(`t ${phase}`, source) : null;
  }

  /** Seconds for which lossless queues stop the links, of the first seed. */
  pauses(phase, engine) {
    const source = this.draws.get(`${phase} ${engine} 0`)?.paused;
    return source ? this.decode(`p ${phase} ${engine}`, source) : null;
  }

  /** Bytes over the links, of the first seed. */
  bytes(phase, engine) {
    const key = `b ${phase} ${engine}`;
    const found = this.draws.get(`${phase} ${engine} 0`);
    if (!found || (found.seconds === undefined && !found.bytes)) return null;
    if (found.bytes) return this.decode(key, found.bytes);
    if (!this.cache.has(key)) {
      const ratios = this.ratios(phase, engine, 0);
      const { classes } = this.graph;
      this.cache.set(key, this.graph.boundaries.map((b, i) => ratios[i].map((values) =>
        values.map((value, c) => (value * classes[b.kind[c]].capacity_bps * found.seconds) / 8))));
    }
    return this.cache.get(key);
  }

  /** What every stage does when, under an engine; null where the page does not have it. */
  schedule(engine) {
    const key = `s ${engine}`;
    const { schedules, travels } = this.coded;
    if (!this.cache.has(key)) this.cache.set(key, schedules[engine] ? new Schedule(schedules[engine], travels) : null);
    return this.cache.get(key);
  }

  /** The flow of a phase that ends last with its way, to be selected; null where nobody knows which it is. */
  slowest(phase, engine) {
    const last = this.phases[phase]?.engines[engine]?.last_flow;
    const path = (last?.path ?? []).map((id) => ({ id, ...this.findLink(id) })).filter((link) => link.index !== undefined);
    return last ? { kind: 'path', phase, engine, path, bottleneck: last.bottleneck_id } : null;
  }

  /** "leaf-5" of a switch, "nic-3" of a NIC; or what is installed under that name. */
  switchName(s) {
    if (this.graph.names) return this.graph.names.switches[s];
    const tier = this.tierOf(s);
    return `${tier.name}-${s - tier.first}`;
  }
  tierOf(s) {
    return this.graph.tiers.find((tier) => s < tier.first + tier.switches);
  }
  lowerName(boundary, number) {
    return boundary === 0 ? (this.graph.names?.nics[number] ?? `nic-${number}`) : this.switchName(number);
  }

  /** "leaf-5:17 > spine-8:3", as the program names links. */
  linkName(boundary, index, down) {
    const b = this.graph.boundaries[boundary];
    const lower = `${this.lowerName(boundary, b.lower[index])}:${b.lowerPort[index]}`;
    const upper = `${this.switchName(b.upper[index])}:${b.upperPort[index]}`;
    return down ? `${upper} > ${lower}` : `${lower} > ${upper}`;
  }

  /** What a switch or link of this name is, as something to select; null where there is none. */
  findNamed(name) {
    const installed = this.graph.names?.switches.indexOf(name) ?? -1;
    if (installed >= 0) return { kind: 'switch', id: installed };
    const [, tierName, number] = /^(\w+)-(\d+)$/.exec(name) ?? [];
    const tier = this.graph.names ? null : this.graph.tiers.find((t) => t.name === tierName);
    if (tier && number < tier.switches) return { kind: 'switch', id: tier.first + Number(number) };
    for (const [boundary, b] of this.graph.boundaries.entries()) {
      for (let index = 0; name.includes(' > ') && index < b.n; index++) {
        if (!name.includes(`:${b.lowerPort[index]}`) || !name.includes(`:${b.upperPort[index]}`)) continue;
        for (const down of [false, true]) if (this.linkName(boundary, index, down) === name) return { kind: 'cable', boundary, index };
      }
    }
    return null;
  }

  /** Where a link of this number is: { boundary, index, down }. */
  findLink(id) {
    const cable = id >> 1;
    for (const [boundary, b] of this.graph.boundaries.entries()) {
      const index = b.cable.indexOf(cable);
      if (index >= 0) return { boundary, index, down: (id & 1) === 1 };
    }
    return null;
  }

  /** Cables of every switch: [boundary, index] pairs, by tier below first. */
  cablesOf(s) {
    if (!this.incident) {
      this.incident = Array.from({ length: this.graph.nSwitches }, () => []);
      for (const [boundary, b] of this.graph.boundaries.entries()) {
        for (let i = 0; i < b.n; i++) {
          if (boundary > 0) this.incident[b.lower[i]].push(boundary, i);
          this.incident[b.upper[i]].push(boundary, i);
        }
      }
    }
    const flat = this.incident[s];
    const out = [];
    for (let i = 0; i < flat.length; i += 2) out.push([flat[i], flat[i + 1]]);
    return out;
  }
}

/** What the reader chose: engine, phase, seed, colour, direction, and what is selected in the fabric. */
export class State {
  constructor(values) {
    Object.assign(this, values);
    this.listeners = [];
  }
  onChange(listener) {
    this.listeners.push(listener);
  }
  set(values) {
    const changed = Object.keys(values).filter((key) => this[key] !== values[key]);
    if (changed.length === 0) return;
    Object.assign(this, values);
    for (const listener of this.listeners) listener(new Set(changed));
  }
  /** For what shows links: a moment by itself changes none, but what is under way does; nor do broken parts. */
  onLinks(listener) {
    this.onChange((changed) => (changed.size > 1 || !(changed.has('time') || changed.has('report'))) && listener(changed));
  }
}
