// Bills of materials, and designs side by side.
import { h, keyOf, section, table } from './dom.js';
import { costParts, stacked } from './answers.js';
import * as f from './format.js';

function bill(cost, name) {
  return table({
    id: name ? null : 'bill',
    caption: name ? `Bill of materials: ${name}` : 'Bill of materials',
    columns: [
      { title: 'part', head: true, cell: (l) => l.part },
      { title: 'for', cell: (l) => l.tier ?? '' },
      { title: 'medium', cell: (l) => l.medium ?? '' },
      { title: 'quantity', number: true, cell: (l) => (l.quantity === undefined ? '' : f.count(l.quantity)) },
      { title: 'each', number: true, cell: (l) => (l.unit_usd === undefined ? '' : f.money(l.unit_usd)) },
      { title: 'total', number: true, cell: (l) => f.money(l.total_usd) },
      { title: 'share', number: true, cell: (l) => f.percent(l.total_usd / cost.total_usd) },
      { title: 'power', number: true, cell: (l) => f.power(l.power_w) },
    ],
    rows: [...cost.lines, { part: 'total', total_usd: cost.total_usd, power_w: cost.power_w, class: 'total' }],
  });
}

// Tiers of switches; entries behind them are of cables alone.
export const switchTiers = (fabric) => fabric.tiers.filter((t) => t.switches !== undefined);

function tiers(fabric) {
  const rows = switchTiers(fabric);
  const name = ({ tier }) => ['leaf', 'spine', 'core'][tier - 1] ?? `tier ${tier}`;
  return table({
    id: 'tiers',
    caption: 'Switches and cables by tier',
    columns: [
      { title: 'tier', head: true, cell: (t) => (rows.length > 1 ? name(t) : 'switch') },
      { title: 'switches', number: true, cell: (t) => f.count(t.switches) },
      { title: 'radix', number: true, cell: (t) => f.count(t.radix) },
      { title: 'port', number: true, cell: (t) => f.rate(t.port_bps) },
      { title: 'taper, as built', number: true, cell: (t) => (t.built_taper === undefined ? '-' : f.ratio(t.built_taper)) },
      { title: 'cables below', number: true, cell: (t) => f.count(t.cables) },
      { title: 'length', number: true, cell: (t) => f.metres(t.length_m) },
    ],
    rows,
  });
}

const notes = (cost) => h('p', { class: 'small' },
  `${cost.counting ?? ''}. Price book ${cost.profile}: ${cost.source ?? ''}`);

const facts = (fabric) => h('p', null,
  `${f.count(fabric.gpus)} GPUs in ${f.plural(fabric.servers, 'server')} of ${fabric.gpus_per_server} GPUs and ${fabric.nics_per_server} NICs at ${f.rate(fabric.nic_bps)}; ${f.plural(fabric.rails, 'rail')}, ${f.plural(fabric.planes, 'plane')}${fabric.pods > 0 ? `, ${f.plural(fabric.pods, 'pod')}` : ''}.${fabric.bisection_bps !== undefined ? ` Bisection ${f.rate(fabric.bisection_bps)} in one direction; any traffic may count on ${f.percent(fabric.bisection_ratio)} of what its NICs can inject.` : ''}`);

export function cost(model) {
  const { fabric, cost: c, designs } = model.report;
  if (designs) return comparison(designs);
  return section('cost', 'Bill of materials', null, facts(fabric), tiers(fabric),
    c && [stacked(costParts(c).map(([name, usd, kind]) => [name, usd / c.total_usd, `part-${kind}`]), 'Parts of the cost'),
      keyOf(costParts(c).filter(([, usd]) => usd > 0).map(([name, usd, kind]) => [`swatch part-${kind}`, `${name} ${f.money(usd)}`])),
      bill(c),
      h('p', null, `${f.money(c.total_usd)} is ${f.dollars(c.per_gpu_usd)} per GPU${c.per_bisection_gbps_usd ? ` and ${f.money(c.per_bisection_gbps_usd)} per Gb/s of bisection` : ''}; capital ${f.money(c.capital_usd_per_year)}, energy ${f.money(c.energy_usd_per_year)} per year.`),
      notes(c)]);
}

function comparison(designs) {
  const row = (title, get, format) => ({ title, get, format });
  const rows = [
    row('GPUs', (d) => d.fabric.gpus, f.count), row('tiers', (d) => switchTiers(d.fabric).length, f.count), row('switches', (d) => d.fabric.switches, f.count),
    row('cables', (d) => d.fabric.cables, f.count), row('transceivers', (d) => d.cost.transceivers, f.count),
    row('bisection', (d) => d.fabric.bisection_bps, f.rate), row('of full, for any traffic', (d) => d.fabric.bisection_ratio, f.percent),
    ...costParts(designs[0].cost).filter(([, , kind]) => designs.some((d) => d.cost[`${kind}_usd`] > 0)).map(([name, , kind]) => row(name, (d) => d.cost[`${kind}_usd`], f.money)),
    { ...row('total', (d) => d.cost.total_usd, f.money), class: 'total' },
    row('less than the first', (d) => d.reduction_ratio, f.percent),
    row('per GPU', (d) => d.cost.per_gpu_usd, f.dollars), row('per Gb/s of bisection', (d) => d.cost.per_bisection_gbps_usd, f.money),
    row('power', (d) => d.cost.power_w, f.power), row('capital per year', (d) => d.cost.capital_usd_per_year, f.money),
    row('energy per year', (d) => d.cost.energy_usd_per_year, f.money),
  ];
  const most = Math.max(...designs.map((d) => d.cost.total_usd));
  return section('cost', 'Designs side by side', null,
    h('div', { class: 'totals' }, designs.map((d) => h('div', { class: 'total-bar' },
      h('span', { class: 'total-name' }, `${d.name}: ${f.money(d.cost.total_usd)}`),
      h('div', { style: { width: `${(100 * d.cost.total_usd) / most}%` } },
        stacked(costParts(d.cost).map(([name, usd, kind]) => [name, usd / d.cost.total_usd, `part-${kind}`]), `${d.name}: ${f.money(d.cost.total_usd)}`))))),
    keyOf(costParts(designs[0].cost).filter(([, , kind]) => designs.some((d) => d.cost[`${kind}_usd`] > 0)).map(([name, , kind]) => [`swatch part-${kind}`, name])),
    table({
      id: 'designs',
      caption: 'Designs',
      columns: [{ title: '', head: true, cell: (r) => r.title },
        ...designs.map((d) => ({ title: d.name, number: true, cell: (r) => { const v = r.get(d); return v === undefined ? '-' : r.format(v); } }))],
      rows,
    }),
    designs.map((d) => h('details', null, h('summary', null, `Bill of ${d.name}`), facts(d.fabric), bill(d.cost, d.name))),
    notes(designs[0].cost));
}
