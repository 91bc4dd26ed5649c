// The fabric on a canvas, tier over tier. Boxes open on a click: pods, planes and rails into switches, a switch into its
// cables. tree.js is the same for the keyboard, detail.js tells what is selected.
import { h, replace, section, select } from './dom.js';
import { onTheme, palette } from './colour.js';
import { COLOURS, CRITICALITY, DIRECTIONS, Metric, PAUSES } from './metric.js';
import { detail } from './detail.js';
import { Scene } from './scene.js';
import { tree } from './tree.js';
import * as f from './format.js';

const MARGIN = { top: 26, bottom: 14 };
const GUTTER = 52; // for the names of the tiers
const ROW = { group: 40, switch: 22, block: 18 };
const REACH = 5; // pixels from a line
const PARALLEL = 8; // cables of a bundle that are drawn one by one

/** Distance of a point from a piece of a line. */
function toSegment(x, y, [x0, y0], [x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const t = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}

export class Picture {
  constructor(model, state, views) {
    this.model = model;
    this.state = state;
    this.scene = new Scene(model, views);
    state.set(this.scene.isSmall ? { view: 'tier', openRest: true } : { view: this.scene.choices[0] });
    this.canvas = h('canvas', { role: 'img', class: 'fabric' });
    this.tip = h('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
    this.zoom = 1;
    this.pan = 0;
    this.listen();
    state.onLinks((changed) => {
      if (['selected'].some((key) => changed.has(key))) this.reveal();
      if (['view', 'open', 'openRest'].some((key) => changed.has(key))) this.compose();
      if (['phase', 'engine', 'draw', 'colour', 'direction', 'under'].some((key) => changed.has(key))) this.measure();
      this.draw();
    });
    onTheme(() => this.draw());
    this.compose();
  }

  compose() {
    const { view, open, openRest } = this.state;
    this.now = this.scene.compose(view, open, openRest);
    this.zoom = 1;
    this.pan = 0;
    this.tip.hidden = true;
    this.measure();
  }

  measure() {
    this.metric = new Metric(this.model, this.state);
    for (const bundle of this.now.bundles) {
      const counts = new Array(9).fill(0);
      let worst = 0;
      bundle.stopped = 0;
      for (let i = 0; i < bundle.cables.length; i += 2) {
        const value = this.metric.cable(bundle.cables[i], bundle.cables[i + 1]);
        worst = Math.max(worst, value);
        bundle.stopped += this.metric.isStopped(bundle.cables[i], bundle.cables[i + 1]) ? 1 : 0;
        counts[value > 0 ? 1 + this.metric.bin(value) : 0]++;
      }
      bundle.counts = counts;
      bundle.worst = worst;
    }
    this.order = [...this.now.bundles].sort((a, b) => a.worst - b.worst);
    this.canvas.setAttribute('aria-label', this.words());
  }

  /** The picture in words. */
  words() {
    const { boxes, levels, nRows } = this.now;
    const tiers = levels.map((level) => `${this.scene.tierName(level)}: ${boxes.filter((b) => b.level === level).length}`);
    const worst = this.order.at(-1);
    const stopped = this.order.reduce((sum, bundle) => sum + bundle.stopped, 0);
    return `The fabric in ${nRows} rows from the top, boxes in each: ${tiers.join(', ')}.${this.metric.known && worst ? ` The fullest bundle of cables, between ${this.name(boxes[worst.a])} and ${this.name(boxes[worst.b])}, has ${this.metric.text(worst.worst)}.` : ''}${stopped > 0 ? ` Lossless queues stop ${f.plural(stopped, 'cable')} at times.` : ''} The list below says the same.`;
  }

  name(box) {
    return this.scene.boxName(this.state.view, box);
  }

  /** Opens what a selected switch or cable is in. */
  reveal() {
    const { selected, view } = this.state;
    const s = this.selectedSwitches();
    if (!selected || s.length === 0) return;
    const groups = s.map((one) => this.scene.groupOfSwitch(view, one));
    const inside = groups.find((g) => g >= 0);
    const values = {};
    if (inside !== undefined && !groups.includes(this.state.open)) values.open = inside;
    if (groups.includes(-1) && !this.state.openRest) values.openRest = true;
    if (Object.keys(values).length > 0) this.state.set(values);
  }

  selectedSwitches(selected = this.state.selected) {
    if (selected?.kind === 'switch') return [selected.id];
    if (selected?.kind === 'path') return selected.path.flatMap((link) => this.selectedSwitches({ kind: 'cable', ...link }));
    if (selected?.kind === 'cable') {
      const b = this.model.graph.boundaries[selected.boundary];
      return selected.boundary === 0 ? [b.upper[selected.index]] : [b.lower[selected.index], b.upper[selected.index]];
    }
    return [];
  }

  /* --- drawing --- */

  size() {
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    const { grid, nRows } = this.now;
    const gutter = width < 600 || grid ? 0 : GUTTER;
    const inner = width - gutter;
    const rows = grid ? Math.min(900, Math.max(160, (grid.height * inner) / grid.width)) : (nRows - 1) * (width < 600 ? 105 : 150);
    return { width, gutter, inner, rows, height: MARGIN.top + MARGIN.bottom + rows + 40 };
  }

  /** Pixel of a place from 0 to 1. */
  at(x, size) {
    return size.gutter + (x - 0.5) * size.inner * this.zoom + size.inner / 2 + this.pan;
  }

  place(box, size) {
    const { grid, nRows } = this.now;
    const height = ROW[box.kind];
    const room = box.room * size.inner * this.zoom;
    const width = Math.max(1.5, Math.min(box.kind === 'group' ? 128 : 72, room - Math.min(8, room * 0.25)));
    const y = MARGIN.top + 20 + (grid ? box.y / grid.height : box.row / Math.max(1, nRows - 1)) * size.rows;
    return { x: this.at(box.x, size), y, width, height };
  }

  draw() {
    const size = this.size();
    if (size.width <= 0) return;
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(size.width * scale);
    canvas.height = Math.round(size.height * scale);
    canvas.style.height = `${size.height}px`;
    const g = canvas.getContext('2d');
    g.scale(scale, scale);
    const c = palette();
    this.places = this.now.boxes.map((box) => this.place(box, size));
    this.drawBands(g, c, size);
    this.drawBundles(g, c);
    this.drawBoxes(g, c);
    this.drawLevels(g, c, size);
  }

  drawBands(g, c, size) {
    g.textBaseline = 'top';
    g.textAlign = 'center';
    for (const { group, range } of this.now.bands) {
      const [x0, x1] = range.map((x) => this.at(x, size));
      const isOpen = group === this.state.open;
      g.font = `${isOpen ? '600 ' : ''}12px system-ui, sans-serif`;
      if (isOpen) {
        g.fillStyle = c.box;
        g.fillRect(x0, 0, x1 - x0, size.height);
      }
      g.fillStyle = c.ink;
      const long = `${this.scene.groupName(this.state.view)} ${group}`;
      const text = g.measureText(long).width < x1 - x0 - 4 ? long : String(group);
      if (g.measureText(text).width < x1 - x0) g.fillText(text, (x0 + x1) / 2, 6);
    }
  }

  /** Bundles that end at what is selected; null: nothing is. */
  chosen() {
    const { selected } = this.state;
    if (!selected) return null;
    const chosen = new Set();
    if (selected.kind === 'cable' || selected.kind === 'path') {
      for (const cable of selected.path ?? [selected]) chosen.add(this.bundleOf(cable));
      chosen.delete(undefined);
    } else {
      for (const bundle of this.now.bundles) if (this.isSelected(this.now.boxes[bundle.a]) || this.isSelected(this.now.boxes[bundle.b])) chosen.add(bundle);
    }
    return chosen.size > 0 ? chosen : null;
  }

  /** The bundle that a cable is in; undefined: it runs inside a box. */
  bundleOf({ boundary, index }) {
    const b = this.model.graph.boundaries[boundary];
    const lower = boundary === 0 ? this.now.nicBox[b.lower[index]] : this.now.switchBox[b.lower[index]];
    const upper = this.now.switchBox[b.upper[index]];
    return this.now.bundles.find((bundle) => bundle.a === lower && bundle.b === upper);
  }

  isSelected(box) {
    const { selected } = this.state;
    if (!selected) return false;
    if (selected.kind === 'cable' || selected.kind === 'path') return box.kind === 'switch' && this.selectedSwitches().includes(box.id);
    return selected.kind === box.kind && selected.id === box.id && (box.kind !== 'group' || selected.level === box.level);
  }

  drawBundles(g, c) {
    const chosen = this.chosen();
    const thin = this.order.length > 1000 ? 0.7 : 1;
    for (const bundle of this.order) {
      if (!chosen?.has(bundle)) this.drawBundle(g, c, bundle, chosen ? 0.15 : 1, false, thin);
    }
    g.globalAlpha = 1;
    for (const bundle of this.order) if (chosen?.has(bundle)) this.drawBundle(g, c, bundle, 1, true);
    g.globalAlpha = 1;
    if (this.state.selected?.kind === 'path') this.drawWay(g, c, this.state.selected);
  }

  /** The way of a flow over its bundles: arrows, the bottleneck thick. */
  drawWay(g, c, { path, bottleneck }) {
    for (const link of path) {
      const bundle = this.bundleOf(link);
      if (!bundle) continue;
      const points = this.path(bundle);
      if (link.down !== points[0][1] < points.at(-1)[1]) points.reverse();
      const isHeld = link.id === bottleneck;
      g.strokeStyle = isHeld ? c.ratio[6] : c.focus;
      g.lineWidth = isHeld ? 6 : 2.5;
      g.beginPath();
      points.forEach(([x, y], i) => (i === 0 ? g.moveTo(x, y) : g.lineTo(x, y)));
      g.stroke();
      const [[x0, y0], [x1, y1]] = points.slice(-2);
      const turn = Math.atan2(y1 - y0, x1 - x0);
      g.fillStyle = g.strokeStyle;
      g.beginPath();
      for (const [angle, far] of [[0, 0], [0.5, 12], [-0.5, 12]]) g.lineTo(x1 - far * Math.cos(turn + angle), y1 - far * Math.sin(turn + angle));
      g.fill();
    }
  }

  /** Where a bundle runs: straight between rows, in a bow within one and over a grid. */
  path(bundle) {
    const a = this.places[bundle.a];
    const b = this.places[bundle.b];
    const { grid } = this.now;
    if (!grid && a.y !== b.y) {
      const [lower, upper] = a.y >= b.y ? [a, b] : [b, a];
      return [[lower.x, lower.y - lower.height / 2], [upper.x, upper.y + upper.height / 2]];
    }
    const long = Math.hypot(b.x - a.x, b.y - a.y);
    const bow = grid ? (long > 140 ? Math.min(50, long * 0.12) : 0) : -Math.min(60, long / 3 + 10);
    const [nx, ny] = grid && long > 0 ? [(b.y - a.y) / long, -(b.x - a.x) / long] : [0, 1];
    const top = grid ? 0 : a.height / 2;
    const points = [];
    for (let i = 0; i <= 12; i++) {
      const t = i / 12;
      const lift = 4 * t * (1 - t) * bow;
      points.push([a.x + (b.x - a.x) * t + nx * lift, a.y - top + (b.y - a.y) * t + ny * lift]);
    }
    return points;
  }

  drawBundle(g, c, bundle, alpha, isChosen = false, thin = 1) {
    const a = this.places[bundle.a];
    const b = this.places[bundle.b];
    const n = bundle.cables.length / 2;
    const points = this.path(bundle);
    g.globalAlpha = alpha;
    const line = (offset, width, colour) => {
      g.strokeStyle = colour;
      g.lineWidth = width;
      g.beginPath();
      points.forEach(([x, y], i) => (i === 0 ? g.moveTo(x + offset, y) : g.lineTo(x + offset, y)));
      g.stroke();
    };
    const dash = (offset, width) => {
      g.setLineDash([2, 6]);
      line(offset, width, c.ink);
      g.setLineDash([]);
    };
    const single = n === 1 || this.now.boxes[bundle.a].kind !== 'group' && this.now.boxes[bundle.b].kind !== 'group' && n <= PARALLEL && isChosen;
    if (single) {
      for (let i = 0; i < n; i++) {
        const value = this.metric.cable(bundle.cables[2 * i], bundle.cables[2 * i + 1]);
        const emphasis = this.state.selected?.kind === 'cable' && this.state.selected.boundary === bundle.cables[2 * i] && this.state.selected.index === bundle.cables[2 * i + 1];
        const strong = emphasis ? 5 : isChosen ? 2 : thin;
        line((i - (n - 1) / 2) * 3.5, strong, this.metric.colour(value, c));
        if (this.metric.marks && this.metric.isStopped(bundle.cables[2 * i], bundle.cables[2 * i + 1])) dash((i - (n - 1) / 2) * 3.5, Math.max(1.5, strong));
      }
      return;
    }
    // A band of stripes: how many cables are how full.
    const room = Math.min(a.width, b.width) * 0.8;
    const width = Math.min(Math.max(room, thin), 14, 1 + 1.6 * Math.log2(n));
    let at = -width / 2;
    for (let i = 0; i < 9; i++) {
      if (bundle.counts[i] === 0) continue;
      const stripe = Math.max(0.75, (width * bundle.counts[i]) / n);
      const colours = this.metric.isLinear ? c.load : c.ratio;
      line(at + stripe / 2, stripe, i === 0 ? c.idle : colours[i - 1]);
      at += stripe;
    }
    if (this.metric.marks && bundle.stopped > 0) dash(0, Math.max(1.5, Math.min(width, 3)));
  }

  drawBoxes(g, c) {
    g.textAlign = 'center';
    g.textBaseline = 'middle';
    for (const [i, box] of this.now.boxes.entries()) {
      const p = this.places[i];
      const selected = this.isSelected(box);
      g.fillStyle = box.kind === 'group' ? c.paper : box.kind === 'block' ? c.box : c.paper;
      g.strokeStyle = selected ? c.focus : c.faint;
      g.lineWidth = selected ? 3 : 1;
      const [x, y] = [p.x - p.width / 2, p.y - p.height / 2];
      if (p.width < 5) {
        g.fillStyle = selected ? c.focus : c.faint;
        g.fillRect(x, y, selected ? Math.max(p.width, 4) : p.width, p.height);
        continue;
      }
      g.beginPath();
      g.roundRect(x, y, p.width, p.height, box.kind === 'group' ? 6 : 3);
      g.fill();
      g.stroke();
      this.label(g, c, box, p);
    }
  }

  label(g, c, box, p) {
    const { scene } = this;
    const what = box.level > 0 ? scene.tierName(box.level) : this.state.view === 'rail' ? 'GPUs' : 'servers';
    const number = box.level > 0 ? box.n : this.state.view === 'rail' ? box.gpus : box.gpus / this.model.graph.gpus_per_server;
    const lines = box.kind === 'group' ? [f.count(number), what] : [this.name(box).replace(/^servers? /, '').replace(' to ', '-')];
    g.fillStyle = c.ink;
    g.font = `${box.kind === 'group' ? 12 : 11}px system-ui, sans-serif`;
    const short = box.kind === 'switch' ? [String(box.id - this.model.tierOf(box.id).first)] : box.kind === 'group' ? [f.count(number)] : [];
    for (const text of [lines, short]) {
      if (text.length > 0 && text.every((t) => g.measureText(t).width <= p.width - 4)) {
        text.forEach((t, i) => g.fillText(t, p.x, p.y + (i - (text.length - 1) / 2) * 14));
        return;
      }
    }
  }

  drawLevels(g, c, size) {
    if (size.gutter === 0) return;
    g.fillStyle = c.paper;
    g.fillRect(0, 0, size.gutter - 2, size.height);
    g.fillStyle = c.faint;
    g.font = '12px system-ui, sans-serif';
    g.textAlign = 'left';
    g.textBaseline = 'middle';
    for (const level of this.now.levels) {
      const box = this.now.boxes.findIndex((b) => b.level === level);
      if (box >= 0) g.fillText(this.scene.tierName(level), 6, this.places[box].y);
    }
  }

  /* --- pointing --- */

  boxAt(x, y) {
    let best = -1;
    let least = Infinity;
    for (const [i, p] of this.places.entries()) {
      if (Math.abs(y - p.y) > p.height / 2 + 3) continue;
      const distance = Math.abs(x - p.x) - p.width / 2;
      if (distance < 3 && distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  bundleAt(x, y) {
    const chosen = this.chosen();
    let best = null;
    let least = REACH;
    for (const bundle of chosen ?? this.now.bundles) {
      const points = this.path(bundle);
      const wide = bundle.cables.length > 2 ? 4 : 0;
      for (let i = 0; i + 1 < points.length; i++) {
        const distance = toSegment(x, y, points[i], points[i + 1]) - wide;
        if (distance < least) {
          least = distance;
          best = bundle;
        }
      }
    }
    return best;
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
      drag = { x: event.clientX, pan: this.pan, moved: false };
    });
    canvas.addEventListener('pointermove', (event) => {
      if (drag && this.zoom > 1 && Math.abs(event.clientX - drag.x) > 4) {
        drag.moved = true;
        this.pan = drag.pan + event.clientX - drag.x;
        this.limit();
        this.draw();
      }
      this.hover(event.offsetX, event.offsetY);
    });
    canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
      drag = null;
    });
    canvas.addEventListener('click', (event) => {
      const moved = drag?.moved;
      drag = null;
      if (!moved) this.click(event.offsetX, event.offsetY);
    });
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 1.3 : 1 / 1.3, event.offsetX);
    }, { passive: false });
  }

  limit() {
    const room = ((this.zoom - 1) * this.size().inner) / 2;
    this.pan = Math.min(room, Math.max(-room, this.pan));
  }

  zoomBy(by, x) {
    const { gutter, inner } = this.size();
    const middle = gutter + inner / 2;
    const next = Math.min(40, Math.max(1, this.zoom * by));
    const from = (x ?? middle) - middle;
    this.pan = from - ((from - this.pan) * next) / this.zoom;
    this.zoom = next;
    this.limit();
    this.draw();
  }

  hover(x, y) {
    const box = this.boxAt(x, y);
    const bundle = box < 0 ? this.bundleAt(x, y) : null;
    this.tip.hidden = box < 0 && !bundle;
    this.canvas.style.cursor = this.tip.hidden ? 'default' : 'pointer';
    if (this.tip.hidden) return;
    this.tip.textContent = box >= 0 ? this.name(this.now.boxes[box]) : this.bundleWords(bundle);
    this.tip.style.left = `${Math.min(x + 12, Math.max(0, this.size().width - 240))}px`;
    this.tip.style.top = `${y + 14}px`;
  }

  bundleWords(bundle) {
    const [a, b] = [this.name(this.now.boxes[bundle.a]), this.name(this.now.boxes[bundle.b])];
    return `${a} - ${b}: ${f.plural(bundle.cables.length / 2, 'cable')}${this.metric.known ? `, the fullest ${this.metric.text(bundle.worst)}` : ''}`;
  }

  click(x, y) {
    const { state } = this;
    const at = this.boxAt(x, y);
    if (at >= 0) {
      const box = this.now.boxes[at];
      if (box.kind === 'group') this.toggle(box);
      else state.set({ selected: { kind: box.kind, id: box.id } });
      return;
    }
    const bundle = this.bundleAt(x, y);
    if (bundle && bundle.cables.length === 2) {
      state.set({ selected: { kind: 'cable', boundary: bundle.cables[0], index: bundle.cables[1] } });
    } else if (bundle) {
      state.set({ selected: { kind: 'bundle', id: `${bundle.a} ${bundle.b}`, bundle, title: this.bundleWords(bundle) } });
    } else {
      state.set({ selected: null });
    }
  }

  /** Opens or closes the group of a box. */
  toggle(box) {
    const selected = { kind: 'group', id: box.id, level: box.level, box };
    if (box.group >= 0) this.state.set({ open: this.state.open === box.group ? null : box.group, selected });
    else this.state.set({ openRest: !this.state.openRest, selected });
  }
}

function legend(picture) {
  const host = h('div', { class: 'legend' });
  const draw = () => {
    const { metric } = picture;
    const counts = metric.counts();
    replace(host, !metric.known ? h('p', { class: 'note' }, picture.model.loads || picture.model.criticality ? 'The file has this figure for the first seed only, or not at all.' : 'Nothing is routed: cables have no load.') : [
      h('ul', { class: 'plain swatches' }, h('li', null, h('span', { class: 'swatch idle' }), metric.kind === 'criticality' ? '0, or not looked at' : metric.kind === 'paused' ? 'never' : 'idle', h('span', { class: 'faint' }, ` ${f.count(counts[0])}`)),
        metric.bins.map((text, i) => h('li', null, h('span', { class: `swatch ${metric.css}-fill-${i}` }), text, h('span', { class: 'faint' }, ` ${f.count(counts[i + 1])}`)))),
      metric.marks && h('p', { class: 'note' }, 'Dashed: a lossless queue stops this cable at times, in a chosen direction.'),
    ]);
  };
  picture.state.onLinks(draw);
  draw();
  return host;
}

export function picture(model, state, views) {
  const shown = new Picture(model, state, views);
  const { scene } = shown;
  const colours = [...(model.loads ? COLOURS : []), ...(model.loads?.draws.some((d) => d.paused) ? [PAUSES] : []), ...(model.criticality ? [CRITICALITY] : [])];
  const open = h('button', { type: 'button', onclick: () => state.set({ open: null, openRest: false, selected: null }) }, 'Close all');
  const all = h('button', { type: 'button', onclick: () => state.set({ view: 'tier', open: null, openRest: true, selected: null }) }, 'Every switch');
  const zoomIn = h('button', { type: 'button', 'aria-label': 'Wider', onclick: () => shown.zoomBy(1.6) }, '+');
  const zoomOut = h('button', { type: 'button', 'aria-label': 'Narrower', onclick: () => shown.zoomBy(1 / 1.6) }, '−');
  const views_ = select('Merged by', scene.choices.map((name) => [name, scene.groupName(name)]), state.view, (view) => state.set({ view, open: null, openRest: false, selected: null }));
  state.onChange((changed) => {
    if (changed.has('view')) views_.querySelector('select').value = state.view;
  });
  const place = h('div', { class: 'canvas' }, shown.canvas, shown.tip);
  new ResizeObserver(() => shown.draw()).observe(place);
  return section('fabric', 'The fabric',
    'Click a box to open it, a switch or a cable for what it carries; a wide band stands for many cables, striped by how full they are. Ctrl and the wheel widen.',
    h('div', { class: 'filters' },
      colours.length > 0 && select('Colour', colours, state.colour, (colour) => state.set({ colour })),
      model.loads && select('Direction', DIRECTIONS, state.direction, (direction) => state.set({ direction })),
      scene.choices.length > 1 && views_, open, all, zoomOut, zoomIn),
    legend(shown),
    h('div', { class: 'fabric-view' }, place, detail(model, state, shown)),
    tree(model, state, shown));
}
