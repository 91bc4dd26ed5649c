// What colours a link: one of four figures of it, for a direction or the worse of the two.
import { BINS, binOf } from './model.js';
import * as f from './format.js';

export const COLOURS = [
  ['ratio', 'collision factor'],
  ['taper', 'taper factor (oversubscription of the design)'],
  ['hash', 'hash factor (the routing)'],
  ['load', 'load in bytes'],
];
/** What the loss of a cable does; only where a study found it. */
export const CRITICALITY = ['criticality', 'what its loss costs'];
/** For how long lossless queues stop a link; only under such a transport. */
export const PAUSES = ['paused', 'time that it is stopped'];
export const DIRECTIONS = [['both', 'the worse of both'], ['0', 'up'], ['1', 'down']];

/** A figure of every link in a phase; `null` where the page does not have it. */
function figure(model, { engine, draw }, kind, phase) {
  const ratios = model.ratios(phase, engine, draw);
  const tapers = draw === 0 ? model.tapers(phase) : null;
  switch (kind) {
    case 'ratio': return ratios;
    case 'taper': return tapers;
    case 'hash': return ratios && tapers && ratios.map((b, i) => b.map((values, d) => values.map((v, c) => (tapers[i][d][c] > 0 ? v / tapers[i][d][c] : v))));
    case 'paused': return draw === 0 ? model.pauses(phase, engine) : null;
    case 'criticality': return model.decode('criticality', model.criticality.ratio);
    default: return draw === 0 ? model.bytes(phase, engine) : null;
  }
}

/** Of several phases the largest figure of every link; of none zeros. */
function together(model, state, kind, phases) {
  const all = phases.map((phase) => figure(model, state, kind, phase));
  if (all.some((values) => !values)) return null;
  if (all.length === 1) return all[0];
  return model.graph.boundaries.map((b, i) => [0, 1].map((d) => {
    const out = new Float64Array(b.n);
    for (const values of all) for (let c = 0; c < b.n; c++) out[c] = Math.max(out[c], values[i][d][c]);
    return out;
  }));
}

/** The chosen figure of every link, in the chosen phase or in those that are under way at a moment. */
export class Metric {
  constructor(model, state) {
    this.kind = state.colour;
    this.direction = state.direction;
    this.values = together(model, state, this.kind, state.under ?? [state.phase]);
    this.isLinear = ['load', 'paused', 'criticality'].includes(this.kind);
    this.pauses = state.draw === 0 ? model.pauses(state.phase, state.engine) : null;
    this.most = this.isLinear && this.values ? this.values.reduce((m, b) => b.reduce((n, values) => values.reduce((x, y) => Math.max(x, y), n), m), 0) : 0;
  }
  get known() {
    return this.values !== null && this.values !== undefined;
  }
  /** Of one direction (0 up, 1 down). */
  link(boundary, index, direction) {
    return this.values ? this.values[boundary][direction][index] : 0;
  }
  /** Of a cable, as the direction is chosen. */
  cable(boundary, index) {
    if (!this.values) return 0;
    const [up, down] = this.values[boundary];
    return this.direction === 'both' ? Math.max(up[index], down[index]) : this.values[boundary][this.direction][index];
  }
  /** Stopped cables are dashed, where their colour does not say it. */
  get marks() {
    return this.pauses && this.kind !== 'paused';
  }
  /** Whether a queue stops the cable at times, in a chosen direction. */
  isStopped(boundary, index) {
    if (!this.pauses) return false;
    const [up, down] = this.pauses[boundary];
    return (this.direction !== '1' && up[index] > 0) || (this.direction !== '0' && down[index] > 0);
  }
  bin(value) {
    return this.isLinear ? Math.min(7, Math.floor((8 * value) / (this.most || 1))) : binOf(value);
  }
  colour(value, palette) {
    return value > 0 ? palette[this.isLinear ? 'load' : 'ratio'][this.bin(value)] : palette.idle;
  }
  text(value) {
    return this.kind === 'load' ? f.bytes(value) : this.kind === 'paused' ? f.seconds(value) : this.kind === 'criticality' ? f.percent(value) : f.factor(value);
  }
  /** Links of the chosen directions by bin, idle ones first. */
  counts() {
    const counts = new Array(9).fill(0);
    for (const b of this.values ?? []) {
      for (const direction of this.direction === 'both' ? [0, 1] : [Number(this.direction)]) {
        for (const value of b[direction]) counts[value > 0 ? 1 + this.bin(value) : 0]++;
      }
    }
    return counts;
  }
  /** What the bins are called. */
  get bins() {
    return this.isLinear ? BINS.map((_, i) => `to ${this.text(((i + 1) * this.most) / 8)}`) : BINS;
  }
  get css() {
    return this.isLinear ? 'load' : 'bin';
  }
}
