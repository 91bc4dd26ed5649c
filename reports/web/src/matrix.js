// Heat matrices: who sends how much to whom, and how full the links between two tiers are.
import { BINS, binOf } from './model.js';
import { h, replace, section, select, table, whenSeen, whenSized } from './dom.js';
import { onTheme, palette } from './colour.js';
import * as f from './format.js';

onTheme(() => document.querySelectorAll('.heat.sized').forEach((place) => place.draw()));

const LABEL = 12; // pixels of a label
const MARGIN = { left: 92, top: 8, right: 8, bottom: 26 };

/**
 * A matrix on a canvas. `cells`: [row, column, value] of those that have one; where there are more rows or columns than
 * pixels, neighbours share one and the largest shows. `colour(value, palette)`.
 */
function heat({ rows, columns, cells, colour, rowName, columnName, label, tell, square }) {
  const canvas = h('canvas', { role: 'img', 'aria-label': label });
  const readout = h('p', { class: 'readout', 'aria-hidden': 'true' }, 'Point at a cell to read it.');
  const value = new Map(cells.map(([r, c, v]) => [r * columns + c, v]));
  let view = null;
  const draw = () => {
    const width = canvas.parentElement?.clientWidth ?? 0;
    if (width <= 0) return;
    const c = palette();
    const room = width - MARGIN.left - MARGIN.right;
    const side = Math.min(room, square ? 420 : room);
    const nColumns = Math.min(columns, Math.floor(side));
    const cell = { w: side / nColumns };
    const most = square ? side : Math.min(360, Math.max(60, rows * Math.min(18, Math.max(2, cell.w))));
    const nRows = Math.min(rows, Math.floor(most));
    cell.h = most / nRows;
    const scale = devicePixelRatio || 1;
    const height = most + MARGIN.top + MARGIN.bottom;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = `${height}px`;
    const g = canvas.getContext('2d');
    g.scale(scale, scale);
    g.fillStyle = c.box;
    g.fillRect(MARGIN.left, MARGIN.top, side, most);
    const largest = new Map();
    for (const [row, column, v] of cells) {
      const place = Math.floor((row * nRows) / rows) * nColumns + Math.floor((column * nColumns) / columns);
      if (!(largest.get(place) >= v)) largest.set(place, v);
    }
    for (const [place, v] of largest) {
      const x = MARGIN.left + (place % nColumns) * cell.w;
      const y = MARGIN.top + Math.floor(place / nColumns) * cell.h;
      g.fillStyle = colour(v, c);
      g.fillRect(x, y, Math.max(cell.w - (cell.w > 4 ? 1 : 0), 1), Math.max(cell.h - (cell.h > 4 ? 1 : 0), 1));
    }
    g.fillStyle = c.faint;
    g.font = `${LABEL}px system-ui, sans-serif`;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    for (const row of ticks(rows, most / 28)) g.fillText(rowName(row), MARGIN.left - 6, MARGIN.top + ((row + 0.5) * most) / rows, MARGIN.left - 8);
    g.textAlign = 'center';
    g.textBaseline = 'top';
    for (const column of ticks(columns, side / 90)) {
      g.fillText(columnName(column), Math.min(Math.max(MARGIN.left + ((column + 0.5) * side) / columns, MARGIN.left + 20), MARGIN.left + side - 20), MARGIN.top + most + 6);
    }
    view = { side, most };
  };
  canvas.addEventListener('mousemove', (event) => {
    if (!view) return;
    const row = Math.floor(((event.offsetY - MARGIN.top) / view.most) * rows);
    const column = Math.floor(((event.offsetX - MARGIN.left) / view.side) * columns);
    if (row < 0 || column < 0 || row >= rows || column >= columns) return;
    readout.textContent = tell(row, column, value.get(row * columns + column));
  });
  const place = h('div', { class: 'heat' }, canvas);
  whenSeen(place, () => whenSized(place, draw));
  return h('div', null, place, readout);
}

/** About `n` places, evenly over so many, the first one among them. */
function ticks(total, n) {
  const step = Math.max(1, Math.ceil(total / Math.max(1, Math.floor(n))));
  return Array.from({ length: Math.ceil(total / step) }, (_, i) => i * step);
}

function largestTable(caption, rows, columns) {
  return h('details', null, h('summary', null, caption), table({ caption, hide: true, columns, rows }));
}

function traffic(model, state) {
  const host = h('div');
  const draw = () => {
    const { blocks: n, servers, bytes } = model.blocks[state.phase];
    const total = model.report.fabric.servers;
    const cells = [];
    for (let i = 0; i < bytes.length; i += 3) cells.push([bytes[i], bytes[i + 1], bytes[i + 2]]);
    const most = cells.reduce((m, [, , v]) => Math.max(m, v), 0);
    const name = (b) => (servers === 1 ? `server ${b}` : `servers ${b * servers}-${Math.min((b + 1) * servers, total) - 1}`);
    const inside = cells.reduce((sum, [a, b, v]) => sum + (a === b ? v : 0), 0);
    const all = cells.reduce((sum, [, , v]) => sum + v, 0);
    const words = all > 0 ? `${f.bytes(all)}; ${f.percent(inside / all)} of it stays inside ${servers === 1 ? 'a server' : `a block of ${servers} servers`}` : 'nothing is sent';
    replace(host,
      h('h3', null, `Traffic of phase ${model.phases[state.phase].name}`),
      h('p', null, `From row to column, ${words}. The strongest cell has ${f.bytes(most)}.`),
      heat({
        rows: n, columns: n, cells, square: true,
        colour: (v, c) => c.load[Math.min(7, Math.floor((8 * v) / (most || 1)))],
        rowName: (r) => name(r).replace('servers ', ''), columnName: (column) => name(column).replace('servers ', ''),
        label: `Bytes from ${f.plural(n, 'block')} of servers to each other: ${words}`,
        tell: (r, column, v) => `${name(r)} to ${name(column)}: ${v ? f.bytes(v) : 'nothing'}`,
      }),
      largestTable('The largest cells as a table', [...cells].sort((a, b) => b[2] - a[2]).slice(0, 25), [
        { title: 'from', head: true, cell: (r) => name(r[0]) }, { title: 'to', cell: (r) => name(r[1]) }, { title: 'bytes', number: true, cell: (r) => f.bytes(r[2]) }]));
  };
  state.onChange((changed) => changed.has('phase') && draw());
  draw();
  return host;
}

function links(model, state) {
  const { graph } = model;
  let boundary = Math.min(1, graph.boundaries.length - 1);
  let pod = -1;
  let down = false;
  const host = h('div');
  const draw = () => {
    const ratios = model.ratios(state.phase, state.engine, state.draw);
    if (!ratios) return replace(host, h('p', { class: 'note' }, 'The loads of this choice are not in the file.'));
    const b = graph.boundaries[boundary];
    const values = ratios[boundary][down ? 1 : 0];
    const inPod = (i) => pod < 0 || graph.pod[b.lower[i]] === pod;
    const cableList = [];
    for (let i = 0; i < b.n; i++) if (inPod(i)) cableList.push(i);
    const order = (get) => [...new Set(cableList.map(get))].sort((x, y) => x - y);
    const lowers = order((i) => b.lower[i]);
    const uppers = order((i) => b.upper[i]);
    const column = new Map(lowers.map((s, i) => [s, i]));
    const row = new Map(uppers.map((s, i) => [s, i]));
    const cells = new Map();
    for (const i of cableList) {
      const place = row.get(b.upper[i]) * lowers.length + column.get(b.lower[i]);
      if (!(cells.get(place) >= values[i])) cells.set(place, values[i]);
    }
    const list = [...cells].map(([place, v]) => [Math.floor(place / lowers.length), place % lowers.length, v]);
    const counts = new Array(BINS.length).fill(0);
    for (const [, , v] of list) counts[binOf(v)]++;
    const [from, to] = [model.tierOf(lowers[0]).name, model.tierOf(uppers[0]).name];
    const words = BINS.map((bin, i) => [bin, counts[i]]).filter(([, n]) => n > 0).map(([bin, n]) => `${f.count(n)} ${bin}`).join(', ');
    return replace(host,
      h('p', { class: 'key' }, h('span', { class: 'swatch idle' }), 'idle', BINS.map((bin, i) => [h('span', { class: `swatch bin-fill-${i}` }), bin])),
      heat({
        rows: uppers.length, columns: lowers.length, cells: list,
        colour: (v, c) => (v > 0 ? c.ratio[binOf(v)] : c.idle),
        rowName: (r) => model.switchName(uppers[r]), columnName: (c) => model.switchName(lowers[c]),
        label: `Utilisation of the links between ${f.plural(lowers.length, from)} and ${f.plural(uppers.length, to)}: pairs of switches by the fullest link, ${words}`,
        tell: (r, c, v) => `${model.switchName(lowers[c])} and ${model.switchName(uppers[r])}: ${v === undefined ? 'no cable' : f.factor(v)}`,
      }),
      largestTable('The fullest pairs as a table', list.sort((x, y) => y[2] - x[2]).slice(0, 25), [
        { title: to, head: true, cell: (r) => model.switchName(uppers[r[0]]) }, { title: from, cell: (r) => model.switchName(lowers[r[1]]) },
        { title: 'utilisation', number: true, cell: (r) => f.factor(r[2]) }]));
  };
  const between = graph.boundaries.map((b, i) => [i, b.name]).slice(1);
  if (between.length === 0) return null;
  const b = graph.boundaries[boundary];
  state.onChange((changed) => ['phase', 'engine', 'draw'].some((key) => changed.has(key)) && draw());
  draw();
  return h('div', null, h('h3', null, 'Load of the links between switches'),
    h('div', { class: 'filters' },
      between.length > 1 && select('Boundary', between, boundary, (v) => { boundary = Number(v); draw(); }),
      select('Direction', [[0, b.up], [1, b.down]], 0, (v) => { down = v === '1'; draw(); }),
      graph.pods > 1 && select('Pod', [[-1, 'all'], ...Array.from({ length: graph.pods }, (_, i) => [i, `pod ${i}`])], -1, (v) => { pod = Number(v); draw(); })),
    host);
}

export function matrices(model, state) {
  const parts = [model.blocks && traffic(model, state), model.loads && links(model, state)].filter(Boolean);
  return parts.length > 0 && section('matrix', 'Heat matrices', null, parts);
}
