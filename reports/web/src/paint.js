// What the picture draws: bands of groups, bundles of cables, boxes with their ports, the way of a flow. picture.js says where
// everything stands, and what a pointer does.
import * as f from './format.js';

const LINES = 256; // that are drawn at once
const PORTS = 110; // pixels of a box that shows its ports
const PARALLEL = 8; // cables of a bundle that are drawn one by one

export class Painted {
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

  /** Whether any of a bundle is between two pixels. */
  isWithin({ a, b }, [from, to]) {
    const [x, z] = [this.places[a].x, this.places[b].x];
    return Math.max(x, z) >= from && Math.min(x, z) <= to;
  }

  drawBundles(g, c, range) {
    const chosen = this.chosen();
    const thin = this.order.length > 1000 ? 0.7 : 1;
    const alpha = chosen ? 0.15 : 1;
    // Single cables of one colour are one line after the other: fullest bundles come last, so that these are neighbours.
    let lines = null;
    const flush = () => {
      if (!lines) return;
      g.globalAlpha = alpha;
      g.strokeStyle = lines.colour;
      g.lineWidth = thin;
      g.stroke(lines.path);
      lines = null;
    };
    for (const bundle of this.order) {
      if (chosen?.has(bundle) || !this.isWithin(bundle, range)) continue;
      if (bundle.cables.length > 2 || bundle.stopped > 0) {
        flush();
        this.drawBundle(g, c, bundle, alpha, false, thin);
        continue;
      }
      const colour = this.metric.colour(bundle.worst, c);
      if (lines?.colour !== colour || lines.n === LINES) flush();
      lines ??= { colour, path: new Path2D(), n: 0 };
      lines.n++;
      this.path(bundle).forEach(([x, y], i) => (i === 0 ? lines.path.moveTo(x, y) : lines.path.lineTo(x, y)));
    }
    flush();
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

  drawBoxes(g, c, [from, to]) {
    g.textAlign = 'center';
    g.textBaseline = 'middle';
    for (const [i, box] of this.now.boxes.entries()) {
      const p = this.places[i];
      if (p.x + p.width / 2 < from || p.x - p.width / 2 > to) continue;
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
      if (box.kind === 'switch' && p.width > PORTS) this.drawPorts(g, c, box.id, p);
    }
  }

  /** Ports of a switch by their numbers: those to the tier above on its upper edge, each as full as its cable. */
  drawPorts(g, c, s, p) {
    const { boundaries } = this.model.graph;
    const edges = [[], []];
    for (const [boundary, index] of this.model.cablesOf(s)) {
      const b = boundaries[boundary];
      const up = boundary > 0 && b.lower[index] === s;
      edges[up ? 0 : 1].push([up ? b.lowerNumber[index] : b.upperNumber[index], (up ? b.lowerPort : b.upperPort)[index], this.metric.cable(boundary, index)]);
    }
    g.font = '9px system-ui, sans-serif';
    for (const [k, edge] of edges.entries()) {
      const step = p.width / Math.max(1, edge.length);
      const y = k === 0 ? p.y - p.height / 2 - 3 : p.y + p.height / 2 - 3;
      for (const [i, [, name, value]] of edge.sort((x, z) => x[0] - z[0]).entries()) {
        const x = p.x - p.width / 2 + i * step;
        g.fillStyle = this.metric.colour(value, c);
        g.fillRect(x + step * 0.1, y, Math.max(1, step * 0.8), 6);
        if (step < 4 + g.measureText(String(name)).width) continue;
        g.fillStyle = c.faint;
        g.fillText(String(name), x + step / 2, k === 0 ? y - 6 : y + 13);
      }
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
}
