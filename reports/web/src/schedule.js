// The schedule of an iteration: every operation of one pipeline, as the program ran it. No drawing here.
import { rows } from './decode.js';

export const KINDS = ['gather', 'forward', 'backward', 'weights', 'send forward', 'send backward', 'reduce', 'optimizer'];
const [GATHER, FORWARD, BACKWARD, WEIGHTS, , , REDUCE, OPTIMIZER] = KINDS.keys();
const [SEND, OF_GATHER, OF_REDUCE] = [3, 4, 5]; // what travels, as the data number it: below 3 exchanges in line
const TRACKS = ['work', 'sends', 'replicas'];

export const isPass = (kind) => kind === FORWARD || kind === BACKWARD || kind === WEIGHTS;
const trackOf = (kind) => (isPass(kind) || kind === OPTIMIZER ? 'work' : kind === GATHER || kind === REDUCE ? 'replicas' : 'sends');

export class Schedule {
  /** `travels`: what travels in every phase. */
  constructor({ tick_s, stages, chunks, n, n_ops = n, per = 1, ops }, travels) {
    Object.assign(this, { tick_s, stages, chunks, n, n_ops, per, travels }); // per: operations of a stage that a row of each kind is of
    [this.stage, this.kind, this.chunk, this.microbatch, this.start, this.length, this.compute, this.exchange] = rows(ops, 8, n);
    this.tracks = Array.from({ length: stages }, () => Object.fromEntries(TRACKS.map((track) => [track, { ops: [], longest: 0 }])));
    this.ticks = 1;
    for (let i = 0; i < n; i++) {
      const track = this.tracks[this.stage[i]][trackOf(this.kind[i])];
      track.ops.push(i);
      track.longest = Math.max(track.longest, this.length[i]);
      this.ticks = Math.max(this.ticks, this.start[i] + this.length[i]);
    }
    for (const stage of this.tracks) for (const track of TRACKS) stage[track].ops.sort((a, b) => this.start[a] - this.start[b] || a - b);
    this.time_s = this.ticks * tick_s;
    this.sets = new Map();
  }

  /** Operations of a track that touch from ... to (ticks). */
  within(stage, track, from, to) {
    const { ops, longest } = this.tracks[stage][track];
    const out = [];
    for (let at = this.firstFrom(ops, from - longest); at < ops.length && this.start[ops[at]] <= to; at++) {
      if (this.start[ops[at]] + this.length[ops[at]] > from) out.push(ops[at]);
    }
    return out;
  }
  firstFrom(ops, tick) {
    let [low, high] = [0, ops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[ops[middle]] < tick) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Phases whose bytes travel in an operation. */
  phasesOf(op) {
    const kind = this.kind[op];
    const wanted = kind === GATHER ? OF_GATHER : kind === REDUCE ? OF_REDUCE : kind === OPTIMIZER || (isPass(kind) && this.exchange[op] === 0) ? -1 : isPass(kind) ? null : SEND;
    return [...this.travels.keys()].filter((p) => (wanted === null ? this.travels[p] < SEND : this.travels[p] === wanted));
  }

  /** What is under way at a moment: operations, and the phases they belong to (equal sets are the same array). */
  at(seconds) {
    const tick = Math.min(seconds / this.tick_s, this.ticks - 0.5);
    const ops = [];
    for (let stage = 0; stage < this.stages; stage++) for (const track of TRACKS) ops.push(...this.within(stage, track, tick, tick));
    const phases = [...new Set(ops.flatMap((op) => this.phasesOf(op)))].sort((a, b) => a - b);
    const key = phases.join();
    if (!this.sets.has(key)) this.sets.set(key, phases);
    return { ops, phases: this.sets.get(key) };
  }

  /** Where the time of a stage goes, in seconds: the sum is that of the iteration. */
  sums(stage) {
    const out = { compute_s: 0, exchange_s: 0, optimizer_s: 0, wait_s: 0 };
    let free = 0;
    for (const op of this.tracks[stage].work.ops) {
      out.wait_s += (this.start[op] - free) * this.tick_s;
      free = this.start[op] + this.length[op];
      if (this.kind[op] === OPTIMIZER) {
        out.optimizer_s += this.length[op] * this.tick_s;
      } else {
        out.compute_s += this.compute[op] * this.tick_s;
        out.exchange_s += this.exchange[op] * this.tick_s;
        out.wait_s += (this.length[op] - this.compute[op] - this.exchange[op]) * this.tick_s;
      }
    }
    out.wait_s += (this.ticks - free) * this.tick_s;
    return out;
  }

  /** Next begin or end of an operation of a stage, in seconds. */
  edge(stage, seconds, forward) {
    const now = Math.round(seconds / this.tick_s);
    const edges = TRACKS.flatMap((track) => this.tracks[stage][track].ops.flatMap((op) => [this.start[op], this.start[op] + this.length[op]]));
    const beyond = edges.filter((edge) => (forward ? edge > now : edge < now));
    return (beyond.length === 0 ? now : forward ? Math.min(...beyond) : Math.max(...beyond)) * this.tick_s;
  }
}
