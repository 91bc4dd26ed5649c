// The fabric on a canvas, tier over tier. Boxes open on a click: pods, planes and rails into switches, a switch into its
// cables. tree.js is the same for the keyboard, detail.js tells what is selected.
import { h, replace, section, select, whenSized } from './dom.js';
import { onTheme, palette } from './colour.js';
import { COLOURS, CRITICALITY, DIRECTIONS, Metric, PAUSES } from './metric.js';
import { detail } from './detail.js';
import { Painted } from './paint.js';
import { Scene } from './scene.js';
import { hottest, search } from './search.js';
import { tree } from './tree.js';
import * as f from './format.js';

const MARGIN = { top: 26, bottom: 14 };
const GUTTER = 52; // for the names of the tiers
const ROW = { group: 40, switch: 22, block: 18 };
const REACH = 5; // pixels from a line
const STRIPS = 8; // of a width
const BESIDE = 16; // pixels by which lines are wider than what they are between
const MOST_ZOOM = 200;
const OPENS = 2; // zoom at which the group under the pointer opens

/** Distance of a point from a piece of a line. */
function toSegment(x, y, [x0, y0], [x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const t = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}

/** A canvas that is empty, in pixels of the page. */
function cleared(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  const [w, t] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== t) Object.assign(canvas, { width: w, height: t });
  const g = canvas.getContext('2d');
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.clearRect(0, 0, w, t);
  g.scale(scale, scale);
  return g;
}

export class Picture extends Painted {
  constructor(model, state, views) {
    super();
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
    const groups = selected?.kind === 'block' ? [this.scene.groupOfBlock(view, selected.id) ?? -1] : this.selectedSwitches().map((one) => this.scene.groupOfSwitch(view, one));
    if (groups.length === 0) return;
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
    const room = document.fullscreenElement?.contains(this.canvas) ? innerHeight - 190 : 0; // below buttons and legend
    const rows = grid ? Math.min(Math.max(900, room), Math.max(160, (grid.height * inner) / grid.width)) : Math.max(room, (nRows - 1) * (width < 600 ? 105 : 150));
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
    const most = box.kind === 'group' ? 128 : box.kind === 'switch' && room > 200 ? 420 : 72; // with so much room it shows its ports
    const width = Math.max(1.5, Math.min(most, room - Math.min(8, room * 0.25)));
    const y = MARGIN.top + 20 + (grid ? box.y / grid.height : box.row / Math.max(1, nRows - 1)) * size.rows;
    return { x: this.at(box.x, size), y, width, height };
  }

  /** Its place has a size: from now on what changes is drawn. */
  show() {
    this.isShown = true;
    this.draw();
  }

  draw() {
    if (!this.isShown) return;
    const size = this.size();
    if (size.width <= 0) return;
    this.strips = null;
    this.drawnPan = this.pan;
    const g = cleared(this.canvas, size.width, size.height);
    this.canvas.style.height = `${size.height}px`;
    this.paint(g, palette(), size, [0, size.width]);
    this.drawLevels(g, palette(), size);
  }

  /** Everything whose x is in a range. */
  paint(g, c, size, range) {
    this.places = this.now.boxes.map((box) => this.place(box, size));
    this.drawBands(g, c, size);
    this.drawBundles(g, c, range);
    this.drawBoxes(g, c, range);
  }

  /** The picture moves under a pointer: what is drawn is shifted, and what comes into view is drawn strip by strip. */
  shift() {
    const size = this.size();
    const { width, gutter, height } = size;
    if (!this.strips) {
      const canvas = h('canvas');
      cleared(canvas, width, height).drawImage(this.canvas, 0, 0, width, height);
      this.strips = { canvas, pan: this.drawnPan, drawn: new Map() };
    }
    const by = this.pan - this.strips.pan;
    const step = Math.ceil(width / STRIPS);
    const scale = this.strips.canvas.width / width;
    const g = cleared(this.canvas, width, height);
    for (let k = Math.floor((gutter - by) / step); k * step + by < width; k++) {
      const hidden = Math.max(k * step, gutter - by) >= gutter && Math.min((k + 1) * step, width - by) <= width; // below what was drawn
      if (!hidden) g.drawImage(this.strip(k * step, step, size, by), k * step + by, 0, step, height);
    }
    g.drawImage(this.strips.canvas, gutter * scale, 0, (width - gutter) * scale, height * scale, gutter + by, 0, width - gutter, height);
    this.drawLevels(g, palette(), size);
  }

  /** What stands from a pixel of what was drawn on. */
  strip(from, step, size, by) {
    const { drawn } = this.strips;
    if (drawn.size > 4 * STRIPS) drawn.clear();
    if (!drawn.has(from)) {
      const canvas = h('canvas');
      const g = cleared(canvas, step, size.height);
      g.translate(-from - by, 0);
      this.paint(g, palette(), size, [from + by - BESIDE, from + by + step + BESIDE]);
      drawn.set(from, canvas);
    }
    return drawn.get(from);
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
    const end = () => {
      if (drag?.moved) this.draw();
      drag = null;
    };
    canvas.addEventListener('pointerdown', (event) => {
      drag = { x: event.clientX, pan: this.pan, moved: false };
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) {
        this.hover(event.offsetX, event.offsetY);
      } else if (this.zoom > 1 && (drag.moved || Math.abs(event.clientX - drag.x) > 4)) {
        drag.moved = true;
        this.tip.hidden = true;
        this.pan = drag.pan + event.clientX - drag.x;
        this.limit();
        this.shift();
      }
    });
    canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
      end();
    });
    canvas.addEventListener('click', (event) => {
      const moved = drag?.moved;
      end();
      if (!moved) this.click(event.offsetX, event.offsetY);
    });
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !document.fullscreenElement) return;
      event.preventDefault();
      this.zoomInto(event.deltaY < 0 ? 1.3 : 1 / 1.3, event.offsetX);
    }, { passive: false });
  }

  limit() {
    const room = ((this.zoom - 1) * this.size().inner) / 2;
    this.pan = Math.min(room, Math.max(-room, this.pan));
  }

  /** Zoom that opens what it comes to, and closes what it leaves: groups, their switches, ports of these. */
  zoomInto(by, x) {
    const size = this.size();
    const { open, view } = this.state;
    const next = this.zoom * by;
    const band = this.now.bands.find(({ range: [a, b] }) => x >= this.at(a, size) && x <= this.at(b, size));
    if (by > 1 && open === null && band && next > OPENS) this.state.set({ open: band.group });
    else if (by < 1 && open !== null && next < 1 && this.scene.groups(view).length > 1) this.state.set({ open: null });
    else this.zoomBy(by, x);
  }

  zoomBy(by, x) {
    const { gutter, inner } = this.size();
    const middle = gutter + inner / 2;
    const next = Math.min(MOST_ZOOM, Math.max(1, this.zoom * by));
    const from = (x ?? middle) - middle;
    this.pan = from - ((from - this.pan) * next) / this.zoom;
    this.zoom = next;
    this.limit();
    this.draw();
  }

  hover(x, y) {
    if (!this.isShown) return;
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
  const hot = h('button', { type: 'button', id: 'fabric-hottest', onclick: () => {
    state.set({ selected: hottest(model, shown.metric) });
    place.scrollIntoView({ block: 'nearest' });
  } }, 'Fullest link');
  state.onLinks(() => { hot.disabled = !shown.metric.known; });
  hot.disabled = !shown.metric.known;
  const place = h('div', { class: 'canvas' }, shown.canvas, shown.tip);
  const full = document.fullscreenEnabled && h('button', { type: 'button', onclick: () => (document.fullscreenElement ? document.exitFullscreen() : part.requestFullscreen()) }, 'Full screen');
  whenSized(place, () => shown.show());
  const part = section('fabric', 'The fabric',
    'Click a box to open it, a switch or a cable for what it carries; a wide band stands for many cables, striped by how many of them are how full. Ctrl and the wheel zoom: from groups to their switches, and to the ports of these.',
    h('div', { class: 'filters' },
      colours.length > 0 && select('Colour', colours, state.colour, (colour) => state.set({ colour })),
      model.loads && select('Direction', DIRECTIONS, state.direction, (direction) => state.set({ direction })),
      scene.choices.length > 1 && views_, hot, open, all, zoomOut, zoomIn, full, search(model, state, shown)),
    legend(shown),
    h('div', { class: 'fabric-view' }, place, detail(model, state, shown)),
    tree(model, state, shown));
  part.addEventListener('fullscreenchange', () => shown.draw());
  return part;
}
