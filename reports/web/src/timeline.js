// The iteration moment by moment: a row for every stage of a pipeline. A cursor in it lights the links that are in use
// then (metric.js), a click on a bar selects the way of the slowest flow of its phase.
import { h, keyOf, replace, section, table, whenSized } from './dom.js';
import { onTheme, palette, token } from './colour.js';
import { isPass, KINDS } from './schedule.js';
import * as f from './format.js';

const MARGIN = { left: 62, right: 8, top: 22, bottom: 4 };
const ROWS = 340; // pixels that all stages take at most
const PLAY_S = 20; // an iteration, played
const MOST_ZOOM = 4000;
const COLOUR = { forward: 'bin-2', backward: 'bin-3', weights: 'bin-1', optimizer: 'optimizer', gather: 'dp', reduce: 'dp', 'send forward': 'pp', 'send backward': 'pp' };
const KEY = [['bin-fill-2', 'forward'], ['bin-fill-3', 'backward'], ['fill tp', 'exchange in line, by its part of the pass'], ['idle', 'waits'], ['fill pp', 'sends between stages'], ['fill dp', 'parameters, gradients'], ['fill optimizer', 'optimizer']];

class Timeline {
  constructor(model, state) {
    Object.assign(this, { model, state, zoom: 1, from: 0, playing: null });
    this.canvas = h('canvas', { class: 'timeline', role: 'slider', tabindex: 0, 'aria-label': 'Moment of the iteration', 'aria-valuemin': 0 });
    this.tip = h('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
    this.status = h('p', { class: 'note', id: 'timeline-status' });
    this.take();
    this.listen();
    onTheme(() => this.draw());
  }

  /** The schedule of the engine that is chosen. */
  take() {
    this.schedule = this.model.schedule(this.state.engine);
    const { busiest_stage: busiest } = this.model.report.iteration[this.state.engine].schedule ?? {};
    this.stage = Math.min(this.stage ?? busiest ?? 0, (this.schedule?.stages ?? 1) - 1);
    if (this.state.time !== null) this.go(this.state.time);
    this.tell();
  }

  /* --- time and place --- */

  get row() {
    return Math.max(3, Math.min(30, ROWS / this.schedule.stages));
  }
  get inner() {
    return Math.max(1, this.width - MARGIN.left - MARGIN.right);
  }
  get span() {
    return this.schedule.time_s / this.zoom;
  }
  x(seconds) {
    return MARGIN.left + ((seconds - this.from) / this.span) * this.inner;
  }
  timeAt(x) {
    return this.from + ((x - MARGIN.left) / this.inner) * this.span;
  }
  stageAt(y) {
    const stage = Math.floor((y - MARGIN.top) / this.row);
    return stage >= 0 && stage < this.schedule.stages ? stage : -1;
  }
  look(from) {
    this.from = Math.min(Math.max(0, from), this.schedule.time_s - this.span);
  }
  zoomBy(by, seconds = this.state.time ?? this.from + this.span / 2) {
    const share = (seconds - this.from) / this.span;
    this.zoom = Math.min(MOST_ZOOM, Math.max(1, this.zoom * by));
    this.look(seconds - share * this.span);
    this.draw();
  }

  /** Moves the cursor; null: there is none, and links show the phase that is chosen. */
  go(seconds) {
    if (seconds === null) {
      this.state.set({ time: null, under: null });
      return;
    }
    const time = Math.min(Math.max(0, seconds), this.schedule.time_s);
    if (time < this.from || time > this.from + this.span) this.look(time - this.span / 2);
    this.now = this.schedule.at(time);
    this.state.set({ time, under: this.now.phases });
  }

  play() {
    const stop = () => {
      cancelAnimationFrame(this.playing);
      this.playing = null;
      this.onPlay(false);
    };
    if (this.playing !== null) return stop();
    let last = null;
    const step = (at) => {
      if (!this.canvas.isConnected) return;
      const next = (this.state.time ?? 0) + (last === null ? 0 : ((at - last) / 1e3 / PLAY_S) * this.span);
      last = at;
      this.go(next);
      if (next >= this.schedule.time_s) return stop();
      this.playing = requestAnimationFrame(step);
    };
    if (this.state.time === null || this.state.time >= this.schedule.time_s) this.go(0);
    this.playing = requestAnimationFrame(step);
    this.onPlay(true);
  }

  /* --- drawing --- */

  draw() {
    this.width = this.canvas.parentElement?.clientWidth ?? 0;
    if (this.width <= 0 || !this.schedule) return;
    const { canvas, schedule, row } = this;
    const scale = devicePixelRatio || 1;
    const height = MARGIN.top + row * schedule.stages + MARGIN.bottom;
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const g = canvas.getContext('2d');
    g.scale(scale, scale);
    const c = palette();
    const colours = Object.fromEntries([...new Set([...Object.values(COLOUR), 'idle', 'tp'])].map((name) => [name, token(name)]));
    g.font = '12px system-ui, sans-serif';
    this.drawAxis(g, c, height);
    g.save();
    g.beginPath();
    g.rect(MARGIN.left, 0, this.inner, height);
    g.clip();
    for (let stage = 0; stage < schedule.stages; stage++) this.drawStage(g, c, colours, stage);
    if (this.state.time !== null) {
      g.fillStyle = c.ink;
      g.fillRect(this.x(this.state.time) - 1, 0, 2, height);
    }
    g.restore();
    this.drawNames(g, c);
  }

  drawAxis(g, c, height) {
    const raw = this.span / Math.max(2, this.inner / 90);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
    g.textBaseline = 'middle';
    for (let n = Math.ceil(this.from / step); n * step <= this.from + this.span; n++) {
      const x = this.x(n * step);
      const text = f.seconds(Number((n * step).toPrecision(9)));
      g.fillStyle = c.line;
      g.fillRect(x, MARGIN.top - 5, 1, height);
      g.fillStyle = c.faint;
      g.textAlign = n === 0 ? 'left' : 'center';
      if (x + g.measureText(text).width / 2 < this.width) g.fillText(text, x, 9);
    }
  }

  drawStage(g, c, colours, stage) {
    const { schedule: s, row } = this;
    const y = MARGIN.top + stage * row;
    const gap = row > 8 ? 2 : row > 4 ? 1 : 0;
    const work = (row - gap) * 0.66;
    const [from, to] = [this.from / s.tick_s, (this.from + this.span) / s.tick_s];
    const place = (op) => {
      const x = this.x(s.start[op] * s.tick_s);
      return [x, Math.max(0.4, (s.length[op] / (to - from)) * this.inner)];
    };
    g.fillStyle = colours.idle;
    g.fillRect(MARGIN.left, y, this.inner, work);
    for (const op of s.within(stage, 'work', from, to)) {
      const [x, width] = place(op);
      const edge = width > 4 ? 1 : 0;
      const share = isPass(s.kind[op]) ? s.compute[op] / s.length[op] : 1;
      const exchange = isPass(s.kind[op]) ? s.exchange[op] / s.length[op] : 0;
      g.fillStyle = colours[COLOUR[KINDS[s.kind[op]]]];
      g.fillRect(x, y + work * (1 - share), width - edge, work * share);
      g.fillStyle = colours.tp;
      if (exchange > 0) g.fillRect(x, y + work * (1 - share - exchange), width - edge, work * exchange);
      if (width > 18 && work > 13 && isPass(s.kind[op])) {
        g.fillStyle = c.ink;
        g.textAlign = 'center';
        g.fillText(String(s.microbatch[op]), x + width / 2, y + work * (1 - share / 2));
      }
    }
    const thin = (row - gap - work) / 2;
    for (const [k, track] of ['sends', 'replicas'].entries()) {
      for (const op of s.within(stage, track, from, to)) {
        const [x, width] = place(op);
        g.fillStyle = colours[COLOUR[KINDS[s.kind[op]]]];
        g.fillRect(x, y + work + k * thin, Math.max(width - (width > 4 ? 1 : 0), 0.4), Math.max(thin, 0.8));
      }
    }
  }

  drawNames(g, c) {
    const { stages } = this.schedule;
    const every = Math.ceil(14 / this.row);
    g.textAlign = 'left';
    for (let stage = 0; stage < stages; stage++) {
      const isChosen = stage === this.stage;
      if (stage % every !== 0 && !isChosen) continue;
      if (!isChosen && Math.abs(stage - this.stage) < every) continue;
      g.fillStyle = isChosen ? c.focus : c.faint;
      g.font = `${isChosen ? '600 ' : ''}12px system-ui, sans-serif`;
      g.fillText(`stage ${stage}`, 2, MARGIN.top + stage * this.row + this.row / 2);
    }
  }

  /* --- words --- */

  opWords(op) {
    const s = this.schedule;
    const kind = KINDS[s.kind[op]];
    const length = s.length[op] * s.tick_s;
    const exchange = isPass(s.kind[op]) && s.exchange[op] > 0 ? `, ${f.percent(s.exchange[op] / s.length[op])} of it exchange` : '';
    if (s.per > 1 && kind !== 'optimizer') return `Stage ${s.stage[op]}: ${kind} of ${s.per} operations from microbatch ${s.microbatch[op]} on: ${f.seconds(length)}${exchange}`;
    return `Stage ${s.stage[op]}: ${kind}${isPass(s.kind[op]) ? ` of microbatch ${s.microbatch[op]}` : ''}${s.chunks > 1 && kind !== 'optimizer' ? `, chunk ${s.chunk[op]}` : ''}: ${f.seconds(length)}${exchange}`;
  }

  tell() {
    const { state, schedule: s, model } = this;
    if (!s) return;
    this.canvas.setAttribute('aria-valuemax', s.time_s);
    if (state.time === null) {
      this.canvas.removeAttribute('aria-valuenow');
      this.canvas.setAttribute('aria-valuetext', 'no moment is chosen');
      this.status.textContent = 'Point at a bar to read it, click to put the cursor there. Arrow keys move it, Shift to the next operation of a stage, up and down change the stage, + and − zoom, the space bar plays.';
      return;
    }
    const works = new Set(this.now.ops.filter((op) => isPass(s.kind[op]) || KINDS[s.kind[op]] === 'optimizer').map((op) => s.stage[op]));
    const names = state.under.map((p) => model.phases[p].name);
    const idle = s.stages - works.size;
    const words = `At ${f.seconds(state.time)}: ${works.size} of ${f.plural(s.stages, 'stage')} compute${idle > 0 ? `, ${f.count(idle)} wait` : ''}; ${names.length > 0 ? `under way: ${f.list(names)}` : 'nothing is in the network'}.`;
    this.canvas.setAttribute('aria-valuenow', state.time);
    this.canvas.setAttribute('aria-valuetext', words);
    this.status.textContent = `${words}${names.length > 0 ? ' The picture shows every link in the phase under way that fills it most, as if all stages were in it.' : ''}`;
  }

  /* --- pointing --- */

  opAt(x, y) {
    const stage = this.stageAt(y);
    if (stage < 0 || x < MARGIN.left) return -1;
    const { schedule: s, row } = this;
    const inRow = (y - MARGIN.top - stage * row) / row;
    const tick = this.timeAt(x) / s.tick_s;
    const near = (2 * s.ticks) / this.zoom / this.inner; // two pixels
    const tracks = inRow < 0.66 ? ['work'] : ['sends', 'replicas'];
    const found = tracks.flatMap((track) => s.within(stage, track, tick - near, tick + near));
    return found.find((op) => s.start[op] <= tick && tick <= s.start[op] + s.length[op]) ?? found[0] ?? -1;
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      drag = { x: event.offsetX, from: this.from, moved: false };
    });
    canvas.addEventListener('pointermove', (event) => {
      if (drag && (drag.moved || Math.abs(event.offsetX - drag.x) > 4)) {
        drag.moved = true;
        if (event.shiftKey || this.zoom === 1) this.go(this.timeAt(event.offsetX)); // scrubs
        else this.look(drag.from - ((event.offsetX - drag.x) / this.inner) * this.span);
        this.draw();
      }
      this.hover(event.offsetX, event.offsetY);
    });
    canvas.addEventListener('pointerup', (event) => {
      if (drag && !drag.moved) this.click(event.offsetX, event.offsetY);
      drag = null;
    });
    canvas.addEventListener('pointercancel', () => { drag = null; });
    canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 1.4 : 1 / 1.4, this.timeAt(event.offsetX));
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => {
      const step = (by) => this.go(event.shiftKey ? this.schedule.edge(this.stage, this.state.time ?? 0, by > 0) : (this.state.time ?? 0) + (by * this.span) / 200);
      const stage = (by) => {
        this.stage = Math.min(this.schedule.stages - 1, Math.max(0, this.stage + by));
        this.onStage();
        this.draw();
      };
      const acts = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowUp: () => stage(-1), ArrowDown: () => stage(1), Home: () => this.go(0), End: () => this.go(this.schedule.time_s),
        '+': () => this.zoomBy(1.6), '-': () => this.zoomBy(1 / 1.6), ' ': () => this.play(), Escape: () => this.go(null), Enter: () => this.state.time !== null && this.pick(this.now.ops.find((op) => this.schedule.stage[op] === this.stage && this.schedule.phasesOf(op).length > 0)) };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    });
  }

  hover(x, y) {
    const op = this.opAt(x, y);
    this.tip.hidden = op < 0;
    if (op < 0) return;
    this.tip.textContent = this.opWords(op);
    this.tip.style.left = `${Math.min(x + 12, Math.max(0, this.width - 240))}px`;
    this.tip.style.top = `${y + 14}px`;
  }

  click(x, y) {
    const stage = this.stageAt(y);
    if (stage >= 0) {
      this.stage = stage;
      this.onStage();
    }
    this.go(this.timeAt(x));
    this.pick(this.opAt(x, y));
  }

  /** Of the phases of an operation the slowest: it is chosen, and the way of its slowest flow selected. */
  pick(op) {
    if (op === undefined || op < 0) return;
    const { model, state } = this;
    const time = (p) => f.mean(model.phases[p].engines[state.engine]?.time_s ?? 0);
    const [phase] = this.schedule.phasesOf(op).sort((a, b) => time(b) - time(a));
    if (phase === undefined) return;
    state.set({ phase, selected: model.graph ? model.slowest(phase, state.engine) : null });
    document.getElementById('fabric-detail')?.scrollIntoView({ block: 'nearest' });
  }
}

function sums(line) {
  const { schedule, stage, model, state } = line;
  const s = schedule.sums(stage);
  const report = model.report.iteration[state.engine].schedule?.stages.find((x) => x.stage === stage);
  const rows = [['computation', s.compute_s], ['exchanges in line with it', s.exchange_s], ['waits', s.wait_s], ['optimizer', s.optimizer_s], ['iteration', schedule.time_s]];
  return [table({
    id: 'timeline-sums',
    caption: `Where the time of stage ${stage} goes`,
    columns: [{ title: 'part', head: true, cell: ([name]) => name }, { title: 'time', number: true, cell: ([, t]) => h('data', { value: t }, f.seconds(t)) },
      { title: 'share', number: true, cell: ([, t]) => f.percent(t / schedule.time_s) }],
    rows,
  }), report ? h('p', { class: 'small' }, `It would wait ${f.seconds(report.bubble_s)} if transfers were free; ${f.seconds(report.send_s)} more for those between stages, ${f.seconds(report.replica_s)} for parameters and gradients.`) : null];
}

export function timeline(model, state) {
  if (!model.report.iteration?.some((_, engine) => model.schedule(engine))) return null;
  const line = new Timeline(model, state);
  const summary = h('div');
  const note = h('p', { class: 'note' });
  const play = h('button', { type: 'button', onclick: () => line.play() }, 'Play');
  const clear = h('button', { type: 'button', onclick: () => line.go(null) }, 'No moment');
  const place = h('div', { class: 'canvas' }, line.canvas, line.tip);
  line.onPlay = (is) => { play.textContent = is ? 'Stop' : 'Play'; };
  line.onStage = () => replace(summary, line.schedule && sums(line));
  const take = () => {
    const known = line.schedule !== null;
    place.hidden = !known;
    const merged = known && line.schedule.per > 1;
    note.hidden = known && !merged;
    note.textContent = !known ? 'Of this engine the file has no schedule: there are too many stages, or too many engines.'
      : merged ? `${f.count(line.schedule.n_ops)} operations are too many to be drawn one by one: of ${f.count(line.schedule.per)} that follow each other on a stage those of a kind are one bar, and the time between them stands behind them. Sums are the same; --timeline FILE has every operation.` : '';
    line.onStage();
    line.draw();
  };
  state.onChange((changed) => {
    if (changed.has('engine')) {
      line.take();
      take();
    }
    if (changed.has('time')) {
      clear.disabled = state.time === null;
      line.tell();
      line.draw();
    }
  });
  whenSized(place, () => line.draw());
  clear.disabled = state.time === null;
  take();
  return section('timeline', 'The iteration, moment by moment', 'One pipeline; the others do the same at the same time. A click on a bar shows in the picture which way the slowest flow of its phase takes, and who is in its way. Ctrl and the wheel zoom, dragging moves.',
    h('div', { class: 'filters' }, play, h('button', { type: 'button', 'aria-label': 'Longer', onclick: () => line.zoomBy(1 / 1.6) }, '−'), h('button', { type: 'button', 'aria-label': 'Shorter', onclick: () => line.zoomBy(1.6) }, '+'), clear),
    keyOf(KEY.map(([mark, text]) => [`swatch ${mark}`, text])), note, place, line.status, h('details', null, h('summary', null, 'Where the time goes'), summary));
}
