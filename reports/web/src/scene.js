// What the picture shows at the moment: boxes and the bundles of cables between them. The program has placed the nodes
// of every view (layout.h); here a group that is open gets most of the width, and its switches their places in it.
import { rows } from './decode.js';

const OPEN_SHARE = 0.74; // of the width, for the open group
const FEW = 64; // nodes without a group that open with any group
const LEVEL_TIER = 2; // level of tier t is t + 2

function decodeView(view) {
  const [level, tier, pod, rail, plane, group, nodes, gpus, server, x, y] = rows(view.nodes, 11, view.n);
  return { ...view, level, tier, pod, rail, plane, group, nodes, gpus, server, x, y };
}

export class Scene {
  constructor(model, views) {
    this.model = model;
    this.views = new Map(views.map((view) => [view.name, decodeView(view)]));
    this.fine = this.views.get('leaf');
    this.nBlocks = this.fine.level.indexOf(1 + LEVEL_TIER);
    const { graph } = model;
    // NICs go to the block of servers that theirs is in.
    this.blockOfServer = new Int32Array(graph.servers);
    for (let block = 0, s = 0; s < graph.servers; s++) {
      while (block + 1 < this.nBlocks && this.fine.server[block + 1] <= s) block++;
      this.blockOfServer[s] = block;
    }
    this.podOfNic = new Int32Array(graph.nics).fill(-1);
    const access = graph.boundaries[0];
    for (let i = 0; i < access.n; i++) this.podOfNic[access.lower[i]] = graph.pod[access.upper[i]];
  }

  /** Names of the views that the picture can be merged to, best first. */
  get choices() {
    return ['pod', 'rail', 'plane', 'tier'].filter((name) => this.views.has(name));
  }

  /** Every switch can be shown at once. */
  get isSmall() {
    const counts = new Map();
    for (const level of this.fine.level) counts.set(level, (counts.get(level) ?? 0) + 1);
    return Math.max(...counts.values()) <= 160;
  }

  groupOfSwitch(name, s) {
    const { pod, rail, plane } = this.model.graph;
    return name === 'pod' ? pod[s] : name === 'rail' ? rail[s] : name === 'plane' ? plane[s] : -1;
  }
  groupOfNic(name, nic) {
    return name === 'pod' ? this.podOfNic[nic] : name === 'rail' ? nic % this.model.graph.rails : -1;
  }
  groupOfBlock(name, block) {
    return name === 'pod' ? this.fine.pod[block] : name === 'tier' ? -1 : null; // null: not in one group
  }

  /** Groups of a view from the left, the one of what has none (-1) last; only groups with switches. */
  groups(name) {
    const view = this.views.get(name);
    const left = new Map();
    for (let i = 0; i < view.n; i++) {
      if (view.level[i] > LEVEL_TIER && !left.has(view.group[i])) left.set(view.group[i], view.x[i]);
    }
    return [...left].sort((a, b) => (a[0] < 0) - (b[0] < 0) || a[1] - b[1] || a[0] - b[0]).map(([group]) => group);
  }

  /** Switches of a group and tier. */
  switches(name, group, tier) {
    const { first, switches } = this.model.graph.tiers[tier - 1];
    const out = [];
    for (let s = first; s < first + switches; s++) if (this.groupOfSwitch(name, s) === group) out.push(s);
    return out;
  }

  tierName(level) {
    return level > LEVEL_TIER ? this.model.graph.tiers[level - LEVEL_TIER - 1].name : 'servers';
  }

  /**
   * Boxes in units of the width (x) and rows (y), and the box of every switch and NIC.
   * `open`: group that is open, or null; `openRest`: what has no group is open too.
   */
  compose(name, open, openRest) {
    const view = this.views.get(name);
    const { fine, model: { graph }, nBlocks } = this;
    const levels = [...new Set(view.rows.map((r) => r.level))].filter((level) => level === 0 || level > LEVEL_TIER);
    const row = new Map(levels.map((level, i) => [level, i]));
    const groups = this.groups(name).filter((g) => g >= 0);
    const rest = [];
    for (let i = nBlocks; i < fine.n; i++) if (this.groupOfSwitch(name, i - nBlocks) < 0) rest.push(i);
    const restOpen = openRest || (open !== null && open >= 0 && rest.length <= FEW);
    const bands = new Map();
    let at = 0;
    const width = (g) => (open === null || open < 0 ? 1 / groups.length : g === open ? (groups.length === 1 ? 1 : OPEN_SHARE) : (1 - OPEN_SHARE) / (groups.length - 1));
    for (const g of groups) {
      bands.set(g, [at, at + width(g)]);
      at += width(g);
    }
    bands.set(-1, [0, 1]);
    const boxes = [];
    const switchBox = new Int32Array(graph.nSwitches).fill(-1);
    const blockBox = new Int32Array(Math.max(nBlocks, 1)).fill(-1);
    const isOpen = (g) => (g < 0 ? restOpen : g === open);
    const isGrid = fine.grid && name === 'tier' && restOpen; // switches without an order: the layout places both ways

    // Nodes of what is open, at their places in the layout, squeezed into the band of their group.
    const opened = new Map();
    for (let i = 0; i < fine.n; i++) {
      const group = i < nBlocks ? this.groupOfBlock(name, i) : this.groupOfSwitch(name, i - nBlocks);
      if (group === null || !isOpen(group)) continue;
      if (!opened.has(group)) opened.set(group, []);
      opened.get(group).push(i);
    }
    for (const [group, nodes] of opened) {
      const [x0, x1] = bands.get(group);
      const perRow = new Map();
      for (const i of nodes) {
        const r = perRow.get(fine.level[i]) ?? { n: 0, low: Infinity, high: -Infinity };
        perRow.set(fine.level[i], { n: r.n + 1, low: Math.min(r.low, fine.x[i]), high: Math.max(r.high, fine.x[i]) });
      }
      for (const i of nodes) {
        // The layout leaves a row as narrow as it can be; here every row has the whole width of its group.
        const r = perRow.get(fine.level[i]);
        const { n, low, high } = r;
        const inRow = fine.grid ? (r.at = (r.at ?? -1) + 1) / Math.max(1, n - 1) : (fine.x[i] - low) / (high - low);
        const where = n > 1 ? 0.5 / n + inRow * (1 - 1 / n) : 0.5; // a grid has several in one column: in their order
        if (i < nBlocks) blockBox[i] = boxes.length;
        else switchBox[i - nBlocks] = boxes.length;
        boxes.push({
          kind: i < nBlocks ? 'block' : 'switch',
          id: i < nBlocks ? i : i - nBlocks,
          group,
          level: fine.level[i],
          row: row.get(fine.level[i]),
          x: isGrid ? 0.06 + (0.88 * fine.x[i]) / fine.width : x0 + where * (x1 - x0),
          y: isGrid ? fine.y[i] : 0,
          room: isGrid ? 1 : (x1 - x0) / n,
          n: fine.nodes[i],
          gpus: fine.gpus[i],
        });
      }
    }

    narrow(boxes);

    // Everything else as the merged view has it.
    const merged = new Map();
    for (let i = 0; i < view.n; i++) {
      const level = view.level[i];
      const group = view.group[i];
      if (!row.has(level) || (level > 0 && isOpen(group))) continue;
      if (level === 0 && isOpen(group) && this.groupOfBlock(name, 0) !== null) continue;
      const [x0, x1] = bands.get(bands.has(group) ? group : -1);
      merged.set(`${level} ${group}`, boxes.length);
      boxes.push({ kind: 'group', id: group, group, level, row: row.get(level), x: (x0 + x1) / 2, room: x1 - x0, n: view.nodes[i], gpus: view.gpus[i] });
    }
    const nicBox = new Int32Array(graph.nics).fill(-1);
    for (let s = 0; s < graph.nSwitches; s++) {
      if (switchBox[s] < 0) switchBox[s] = merged.get(`${this.model.tierOf(s).tier + LEVEL_TIER} ${this.groupOfSwitch(name, s)}`) ?? -1;
    }
    for (let nic = 0; nic < graph.nics; nic++) {
      const block = blockBox[this.blockOfServer[Math.floor(nic / graph.nics_per_server)]];
      nicBox[nic] = block >= 0 ? block : (merged.get(`0 ${this.groupOfNic(name, nic)}`) ?? -1);
    }
    return { boxes, bands: groups.length > 1 ? groups.map((g) => ({ group: g, range: bands.get(g) })) : [], switchBox, nicBox, grid: isGrid ? { width: fine.width, height: fine.height } : null, nRows: levels.length, levels, bundles: this.bundles(boxes, switchBox, nicBox) };
  }

  /** Cables by the boxes at their ends: { a, b, cables: [boundary, index, boundary, index, ...] }, a below. */
  bundles(boxes, switchBox, nicBox) {
    const found = new Map();
    for (const [boundary, b] of this.model.graph.boundaries.entries()) {
      for (let i = 0; i < b.n; i++) {
        const a = boundary === 0 ? nicBox[b.lower[i]] : switchBox[b.lower[i]];
        const z = switchBox[b.upper[i]];
        if (a < 0 || z < 0 || a === z) continue;
        const key = a * boxes.length + z;
        let bundle = found.get(key);
        if (!bundle) found.set(key, (bundle = { a, b: z, boundary, cables: [] }));
        bundle.cables.push(boundary, i);
      }
    }
    return [...found.values()];
  }

  /** "leaf-12", "block-3: servers 24-31", "pod 3: 192 leaf switches". */
  boxName(name, box) {
    const { model, fine } = this;
    if (box.kind === 'switch') return model.switchName(box.id);
    if (box.kind === 'block') {
      const last = (box.id + 1 < this.nBlocks ? fine.server[box.id + 1] : model.graph.servers) - 1;
      const first = fine.server[box.id];
      return first === last ? `server ${first}` : `servers ${first} to ${last}`;
    }
    const group = box.group >= 0 ? `${this.groupName(name)} ${box.group}: ` : '';
    const servers = box.gpus / model.graph.gpus_per_server;
    return box.level > 0 ? `${group}${box.n} ${this.tierName(box.level)} ${box.n === 1 ? 'switch' : 'switches'}`
      : name === 'rail' ? `${group}${box.gpus} GPUs` : `${group}${servers} ${servers === 1 ? 'server' : 'servers'}`;
  }
  groupName(name) {
    return name === 'pod' && this.model.graph.wiring === 'dragonfly' ? 'group' : name;
  }
}

/** No box gets more room than its nearest neighbour in the row leaves it. */
function narrow(boxes) {
  const rowsOf = new Map();
  for (const box of boxes) {
    const key = `${box.level} ${box.y}`;
    if (!rowsOf.has(key)) rowsOf.set(key, []);
    rowsOf.get(key).push(box);
  }
  for (const list of rowsOf.values()) {
    list.sort((a, b) => a.x - b.x);
    for (let i = 0; i + 1 < list.length; i++) {
      const gap = list[i + 1].x - list[i].x;
      list[i].room = Math.min(list[i].room, gap);
      list[i + 1].room = Math.min(list[i + 1].room, gap);
    }
  }
}
