// Links that are offered more than they have, or the fullest ones where none is.
import { binOf, isCollided } from './model.js';
import { fresh, h, section, tableRow } from './dom.js';
import * as f from './format.js';

const FULLEST = 50; // shown where no link collides
const AT_ONCE = 50;
const SCALE = 2 ** 32;

/** Fabric links of a draw that collide, or the fullest ones; most offered first. null where the page has no loads. */
export function fullest(model, state) {
  const ratios = model.ratios(state.phase, state.engine, state.draw);
  if (!ratios) return null;
  let total = 0;
  let collided = 0;
  for (let boundary = 1; boundary < ratios.length; boundary++) {
    for (const values of ratios[boundary]) {
      total += values.length;
      for (let i = 0; i < values.length; i++) collided += isCollided(values[i]) ? 1 : 0;
    }
  }
  // Sorted by factor, then by number, as the report sorts its worst links.
  const [ids, factors, places] = [new Uint32Array(total), new Float64Array(total), new Float64Array(total)];
  let n = 0;
  for (let boundary = 1; boundary < ratios.length; boundary++) {
    const { cable } = model.graph.boundaries[boundary];
    for (const direction of [0, 1]) {
      const values = ratios[boundary][direction];
      for (let i = 0; i < values.length; i++) {
        if (collided > 0 ? !isCollided(values[i]) : values[i] === 0) continue;
        factors[n] = values[i];
        ids[n] = 2 * cable[i] + direction;
        places[n++] = boundary * SCALE + i;
      }
    }
  }
  const order = new Uint32Array(n).map((_, i) => i).sort((a, b) => factors[b] - factors[a] || ids[a] - ids[b]);
  const links = Array.from(order.subarray(0, collided > 0 ? n : Math.min(n, FULLEST)), (i) => ({
    boundary: Math.floor(places[i] / SCALE), index: places[i] % SCALE, down: (ids[i] & 1) === 1, id: ids[i], factor: factors[i],
  }));
  return { links, collided };
}

/** A row of the table: a link of the fabric, what the report has on it, or both. Names are made when they are read. */
class Row {
  constructor(model, link, taper, hot) {
    Object.assign(this, link);
    this.model = model;
    this.hot = hot;
    if (hot) {
      this.factor = hot.factor;
      this.taper = hot.taper_factor;
      this.hash = hot.hash_factor;
    } else if (taper !== undefined) {
      this.taper = taper;
      this.hash = taper > 0 ? this.factor / taper : this.factor;
    }
  }
  get name() {
    return this.index === undefined ? this.hot.link : this.model.linkName(this.boundary, this.index, this.down);
  }
  get place() {
    if (this.index === undefined) return `tier ${this.hot.tier} ${this.hot.direction}`;
    const b = this.model.graph.boundaries[this.boundary];
    return `${b.name} ${this.down ? b.down : b.up}`;
  }
  get words() {
    this.text ??= `${this.name} ${this.place} ${this.hot ? this.hot.flows.map((flow) => `${flow.comm ?? ''} rank ${flow.src_rank} ${flow.dst_rank}`).join(' ') : ''}`.toLowerCase();
    return this.text;
  }
}

/** The report's own worst links: exact, and with the flows that contend there. */
function hotLinks(model, state) {
  const engine = model.phases[state.phase]?.engines[state.engine];
  return state.draw === 0 ? (engine?.hot_links ?? []) : [];
}

function flows(hot) {
  const rest = hot.n_flows - hot.flows.length;
  return h('ul', { class: 'plain flows' },
    hot.flows.map((flow) => h('li', null, `rank ${flow.src_rank} → ${flow.dst_rank} (GPU ${flow.src_gpu} → ${flow.dst_gpu}), ${f.percent(flow.share)} of it${flow.comm ? `, ${flow.comm}` : ''}`)),
    rest > 0 && h('li', null, `and ${f.plural(rest, 'more flow')}`));
}

export function collisions(model, state) {
  const search = fresh('filter');
  const least = fresh('filter');
  const status = h('p', { role: 'status', class: 'note', id: 'collisions-status' });
  const body = h('tbody');
  const caption = h('caption', { id: fresh('caption') });
  const more = h('button', { type: 'button', class: 'more', hidden: true }, 'Show more');
  let rows = [];
  let shown = AT_ONCE;
  let text = '';
  let minimum = 0;

  const columns = [
    { title: 'link', head: true, cell: (r) => r.name },
    { title: 'boundary', cell: (r) => r.place },
    { title: 'factor', number: true, cell: (r) => h('span', { class: `chip bin-${binOf(r.factor)}` }, f.factor(r.factor)) },
    { title: 'taper', number: true, cell: (r) => (r.taper === undefined ? '-' : f.factor(r.taper)) },
    { title: 'hash', number: true, cell: (r) => (r.taper === undefined ? '-' : f.factor(r.hash)) },
    { title: 'who contends there', cell: (r) => (r.hot ? h('details', null, h('summary', null, f.plural(r.hot.n_flows, 'flow')), flows(r.hot)) : '') },
    model.graph && {
      title: 'picture',
      cell: (r) => r.index !== undefined && h('a', {
        href: '#fabric',
        'aria-label': `Show ${r.name} in the picture`,
        onclick: () => state.set({ selected: { kind: 'cable', boundary: r.boundary, index: r.index, down: r.down } }),
      }, 'show'),
    },
  ].filter(Boolean);

  const list = () => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = rows.filter((r) => r.factor >= minimum && words.every((word) => r.words.includes(word)));
    body.replaceChildren(...kept.slice(0, shown).map((r) => tableRow(columns, r)));
    more.hidden = kept.length <= shown;
    status.textContent = `${f.plural(kept.length, 'link')}${kept.length < rows.length ? ` of ${f.count(rows.length)}` : ''}${kept.length > shown ? `, the first ${shown} shown` : ''}.`;
  };

  const load = () => {
    const phase = model.phases[state.phase];
    const engine = phase?.engines[state.engine];
    const hot = hotLinks(model, state);
    const found = fullest(model, state);
    const tapers = state.draw === 0 ? model.tapers(state.phase) : null;
    const byId = new Map(hot.map((link) => [link.link_id, link]));
    rows = found
      ? found.links.map((link) => new Row(model, link, tapers?.[link.boundary][link.down ? 1 : 0][link.index], byId.get(link.id)))
      : hot.map((link) => new Row(model, {}, undefined, link));
    const seed = engine && engine.seeds > 1 ? `, seed ${engine.seed + state.draw}` : '';
    const where = `phase ${phase?.name} under ${engine?.options ?? engine?.engine}${seed}`;
    caption.textContent = !found ? `The worst links of ${where}` : found.collided > 0 ? `Collided links of ${where}: ${f.count(found.collided)}` : `No link collides in ${where}; the fullest links between switches`;
    shown = AT_ONCE;
    list();
  };

  more.addEventListener('click', () => {
    shown += 10 * AT_ONCE;
    list();
  });
  state.onChange((changed) => ['engine', 'phase', 'draw'].some((key) => changed.has(key)) && load());
  load();
  return section('collisions', 'Collided links', 'Collision factor = taper factor (what the oversubscription of the design causes, even with ideal spraying) × hash factor (what the routing adds).',
    h('form', { class: 'filters', role: 'search', 'aria-label': 'Collided links', onsubmit: (event) => event.preventDefault() },
      h('span', { class: 'choice' }, h('label', { for: search }, 'Filter by name, boundary, group or rank'),
        h('input', { id: search, type: 'search', placeholder: 'leaf-12, spine-core up, dp group', autocomplete: 'off', 'aria-describedby': status.id, oninput: (event) => { text = event.target.value; shown = AT_ONCE; list(); } })),
      h('span', { class: 'choice' }, h('label', { for: least }, 'Least factor'),
        h('input', { id: least, type: 'number', min: 0, step: 0.1, inputmode: 'decimal', oninput: (event) => { minimum = Number(event.target.value) || 0; shown = AT_ONCE; list(); } }))),
    status,
    h('div', { class: 'scroll tall', role: 'region', tabindex: 0, 'aria-labelledby': caption.id },
      h('table', { id: 'collisions-table' }, caption,
        h('thead', null, h('tr', null, columns.map((c) => h('th', { scope: 'col', class: c.number ? 'number' : null }, c.title)))), body)),
    more);
}
