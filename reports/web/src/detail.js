// What is selected in the picture, down to its cables.
import { h, replace, table } from './dom.js';
import { helps } from './helps.js';
import { pathWords, sharers } from './slowest.js';
import { isCollided } from './model.js';
import * as f from './format.js';

const AT_MOST = 300; // cables listed

function cableTable(model, picture, caption, cables, from) {
  const { graph } = model;
  const { metric } = picture;
  const rows = cables.slice(0, AT_MOST).map(([boundary, index]) => ({ boundary, index, b: graph.boundaries[boundary] }));
  const side = (r) => (from !== undefined && r.boundary > 0 && r.b.lower[r.index] === from ? 'lower' : from !== undefined ? 'upper' : null);
  const end = (r, which) => (which === 'lower' ? `${model.lowerName(r.boundary, r.b.lower[r.index])}:${r.b.lowerPort[r.index]}` : `${model.switchName(r.b.upper[r.index])}:${r.b.upperPort[r.index]}`);
  const value = (r, direction) => (metric.known ? h('span', { class: `chip ${metric.css}-${metric.bin(metric.link(r.boundary, r.index, direction))}` }, metric.text(metric.link(r.boundary, r.index, direction))) : '-');
  const select = (r) => picture.state.set({ selected: { kind: 'cable', boundary: r.boundary, index: r.index } });
  return [table({
    caption,
    columns: [
      from === undefined ? { title: 'cable', head: true, cell: (r) => h('button', { type: 'button', class: 'link', onclick: () => select(r) }, `${end(r, 'lower')} - ${end(r, 'upper')}`) }
        : { title: 'port', number: true, head: true, cell: (r) => (side(r) === 'lower' ? r.b.lowerPort : r.b.upperPort)[r.index] },
      from !== undefined && { title: 'to', cell: (r) => h('button', { type: 'button', class: 'link', onclick: () => select(r) }, end(r, side(r) === 'lower' ? 'upper' : 'lower')) },
      { title: 'up', number: true, cell: (r) => value(r, 0) },
      { title: 'down', number: true, cell: (r) => value(r, 1) },
    ].filter(Boolean),
    rows,
  }), cables.length > AT_MOST && h('p', { class: 'note' }, `The first ${AT_MOST} of ${f.count(cables.length)}.`)];
}

/** Why a cable is too full: whether ideal spraying would fill it as well. */
function why(rows) {
  const worst = rows.reduce((a, b) => (b.ratio > a.ratio ? b : a));
  if (!isCollided(worst.ratio) || worst.taper === undefined) return null;
  return h('p', null, h('strong', null, isCollided(worst.taper) && worst.taper >= worst.hash ? 'The design is why: ' : 'The routing is why: '),
    `spread evenly over all paths the same flows would fill it to ${f.factor(worst.taper)}; as they are routed it is ${f.factor(worst.ratio)}.`);
}

/** Where the page can ask again: what becomes of the rest without this part, or with half of it. */
function breaking(state, name) {
  if (!state.asks) return null;
  return h('p', null, h('button', { type: 'button', onclick: () => state.asks.breakPart(name) }, `Break ${name}`), ' ',
    h('button', { type: 'button', onclick: () => state.asks.breakPart(`${name}*0.5`) }, 'Halve its rate'));
}

function ofSwitch(model, picture, s) {
  const { graph } = model;
  const cables = model.cablesOf(s);
  const where = [graph.pod[s] >= 0 && graph.pods > 1 && `pod ${graph.pod[s]}`, graph.rail[s] >= 0 && `rail ${graph.rail[s]}`, graph.planes > 1 && `plane ${graph.plane[s]}`].filter(Boolean);
  const order = [...cables].sort(([b1, i1], [b2, i2]) => port(b1, i1) - port(b2, i2));
  function port(boundary, index) {
    const b = graph.boundaries[boundary];
    return boundary > 0 && b.lower[index] === s ? b.lowerNumber[index] : b.upperNumber[index];
  }
  return [h('h3', null, model.switchName(s)),
    breaking(picture.state, model.switchName(s)),
    h('p', null, `${where.length > 0 ? `${where.join(', ')}; ` : ''}${graph.radix[s]} ports, ${f.plural(cables.length, 'cable')}.`),
    cableTable(model, picture, `Cables of ${model.switchName(s)}`, order, s)];
}

function ofBlock(model, picture, block) {
  const { scene } = picture;
  const { graph } = model;
  const access = graph.boundaries[0];
  const cables = [];
  for (let i = 0; i < access.n; i++) {
    if (scene.blockOfServer[Math.floor(access.lower[i] / graph.nics_per_server)] === block) cables.push([0, i]);
  }
  const name = scene.boxName('tier', { kind: 'block', id: block });
  return [h('h3', null, name), h('p', null, `${f.count(scene.fine.gpus[block])} GPUs, ${f.plural(cables.length, 'cable')} to the switches.`), cableTable(model, picture, `Cables of ${name}`, cables)];
}

function ofCable(model, picture, { boundary, index }) {
  const { graph } = model;
  const { state } = picture;
  const b = graph.boundaries[boundary];
  const kind = graph.classes[b.kind[index]];
  const ratios = model.ratios(state.phase, state.engine, state.draw);
  const tapers = state.draw === 0 ? model.tapers(state.phase) : null;
  const bytes = state.draw === 0 ? model.bytes(state.phase, state.engine) : null;
  const pauses = state.draw === 0 ? model.pauses(state.phase, state.engine) : null;
  const hot = state.draw === 0 ? (model.phases[state.phase]?.engines[state.engine].hot_links ?? []) : [];
  const rows = [0, 1].map((d) => {
    const ratio = ratios?.[boundary][d][index];
    const found = hot.find((link) => link.link_id === 2 * b.cable[index] + d);
    const taper = found?.taper_factor ?? tapers?.[boundary][d][index];
    return { d, name: model.linkName(boundary, index, d === 1), direction: d ? b.down : b.up, ratio, taper, hash: taper > 0 ? ratio / taper : ratio, bytes: bytes?.[boundary][d][index], paused: pauses?.[boundary][d][index], hot: found };
  });
  const known = (v, format) => (v === undefined ? '-' : format(v));
  const end = (s) => h('button', { type: 'button', class: 'link', onclick: () => state.set({ selected: { kind: 'switch', id: s } }) }, model.switchName(s));
  return [h('h3', null, `Cable ${b.cable[index]}`),
    breaking(state, model.linkName(boundary, index, false)),
    h('p', null, boundary > 0 ? end(b.lower[index]) : model.lowerName(0, b.lower[index]), `:${b.lowerPort[index]} - `, end(b.upper[index]), `:${b.upperPort[index]}; ${b.name}, ${f.rate(kind.capacity_bps)} each way, ${f.metres(kind.length_m)}, ${f.seconds(kind.latency_s)}.`),
    ratios && table({
      caption: 'Its two links',
      columns: [
        { title: 'direction', head: true, cell: (r) => r.direction },
        { title: boundary > 0 ? 'factor' : 'used', number: true, cell: (r) => known(r.hot?.factor ?? r.ratio, f.factor) },
        { title: 'taper', number: true, cell: (r) => known(r.taper, f.factor) },
        { title: 'hash', number: true, cell: (r) => known(r.taper === undefined ? undefined : r.hash, f.factor) },
        { title: 'bytes', number: true, cell: (r) => known(r.bytes, f.bytes) },
        ...(pauses ? [{ title: 'stopped', number: true, cell: (r) => known(r.paused, f.seconds) }] : []),
      ],
      rows,
    }),
    why(rows), rows.some((r) => isCollided(r.ratio)) && helps(model, state, state.phase, state.engine, hot.find((link) => link.link_id >> 1 === b.cable[index])?.flows[0]?.src_gpu),
    rows.filter((r) => r.hot).map((r) => sharers(`${f.plural(r.hot.n_flows, 'flow')} share ${r.name}`, r.hot.flows, r.hot.n_flows))];
}

function ofPath(model, picture, selected) {
  const { metric, state } = picture;
  return [pathWords(model, selected), helps(model, state, selected.phase, selected.engine, model.phases[selected.phase].engines[selected.engine].last_flow?.src_gpu),
    selected.path.length > 0 && table({
      caption: 'Its way',
      columns: [
        { title: 'link', head: true, cell: (r) => h('button', { type: 'button', class: 'link', onclick: () => state.set({ selected: { kind: 'cable', boundary: r.boundary, index: r.index } }) }, model.linkName(r.boundary, r.index, r.down)) },
        { title: 'of it', number: true, cell: (r) => (metric.known ? h('span', { class: `chip ${metric.css}-${metric.bin(metric.link(r.boundary, r.index, r.down ? 1 : 0))}` }, metric.text(metric.link(r.boundary, r.index, r.down ? 1 : 0))) : '-') }],
      rows: selected.path.map((r) => ({ ...r, class: r.id === selected.bottleneck ? 'best' : null })),
    })];
}

function ofGroup(model, picture, selected) {
  const { scene, state } = picture;
  const { group } = selected.box;
  const rows = model.graph.tiers.map((tier) => ({ tier, switches: scene.switches(state.view, group, tier.tier) })).filter((r) => r.switches.length > 0);
  const isOpen = group >= 0 ? state.open === group : state.openRest;
  return [h('h3', null, group >= 0 ? `${scene.groupName(state.view)} ${group}` : 'Outside the groups'),
    h('p', null, rows.map((r) => `${f.count(r.switches.length)} ${r.tier.name} ${r.switches.length === 1 ? 'switch' : 'switches'}`).join(', '), isOpen ? ', open.' : '.'),
    h('button', { type: 'button', onclick: () => picture.toggle(selected.box) }, isOpen ? 'Close' : 'Open')];
}

export function detail(model, state, picture) {
  const host = h('div', { class: 'detail', id: 'fabric-detail', 'aria-live': 'polite', role: 'region', 'aria-label': 'What is selected' });
  const draw = () => {
    const { selected } = state;
    replace(host, selected === null ? h('p', { class: 'note' }, 'What you select in the picture is told here, down to its cables.')
      : selected.kind === 'switch' ? ofSwitch(model, picture, selected.id)
        : selected.kind === 'block' ? ofBlock(model, picture, selected.id)
          : selected.kind === 'cable' ? ofCable(model, picture, selected)
            : selected.kind === 'path' ? ofPath(model, picture, selected)
            : selected.kind === 'bundle' ? [h('h3', null, 'Bundle'), h('p', null, selected.title),
              cableTable(model, picture, 'Its cables', pairs(selected.bundle.cables).sort((x, y) => picture.metric.cable(...y) - picture.metric.cable(...x)))]
              : ofGroup(model, picture, selected));
  };
  state.onLinks(draw);
  state.onChange((changed) => changed.has('report') && draw());
  draw();
  return host;
}

function pairs(flat) {
  const out = [];
  for (let i = 0; i < flat.length; i += 2) out.push([flat[i], flat[i + 1]]);
  return out;
}
