// What is wrong with an installed fabric: the work order, worst first.
import { h, section, table } from './dom.js';
import * as f from './format.js';

const bisection = (a) => {
  if (a.bisection_bps === undefined) return ` Bisection: not known; ${a.bisection_unknown}.`;
  if (a.lost_bisection_bps === undefined) return ` Bisection: ${f.rate(a.bisection_bps)}; what is lost is not known: ${a.bisection_unknown}.`;
  const lost = a.lost_bisection_bps > 0 ? `; lost ${f.rate(a.lost_bisection_bps)} (${f.percent(a.lost_bisection_ratio, 4)})` : '';
  return ` Bisection: ${f.rate(a.bisection_bps)} of ${f.rate(a.planned_bisection_bps)}${lost}.`;
};

const end = (node, port) => (node ? `${node}${port ? `:${port}` : ''}` : '');

export const faults = (a) => a.findings.filter((x) => !x.is_choice);
/** A confidence is rounded down: "99 % sure" is not certain. */
export const sure = (x) => (x.confidence < 1 ? `${Math.floor(100 * x.confidence)} % sure` : 'sure');

/** Of how much a rule speaks, and that nothing is said of the rest. */
export const coverage = (a) => `Rules speak of ${f.count(a.cables_with_rule)} of ${f.count(a.cables)} cables, ${f.count(a.switches_with_rule)} of ${f.count(a.switches)} switches, ${f.count(a.adapters_with_rule)} of ${f.count(a.adapters)} adapters${
  a.cables_with_rule < a.cables ? '; of the others nothing is said but speed and who reports them' : ''}${a.cables_with_rule > 0 && a.cables_out_of_port_order > 0
  ? `. Names tell no order of hosts along the ports at ${f.count(a.cables_out_of_port_order)} cables: hosts that have changed places ${a.cables_out_of_order > 0 ? '' : 'at one leaf '}do not show there` : ''}`;

/** What is said where nothing was found. */
export const departs = (a) => (a.cables_with_rule === 0 ? 'No regular structure was found: nothing can be said of missing or misplaced cables'
  : a.cables_left_out > 0 ? `No rule is broken, but ${f.count(a.cables_left_out)} cables stand out of the order of names: ${a.hosts_left}`
  : a.cables_with_rule < a.cables ? 'Nothing departs from the rules, where there are rules'
  : `Nothing departs from the structure${a.cables_out_of_port_order > 0 ? ', of which the order of hosts is no part' : ''}`);

const findings = (id, caption, rows) => rows.length > 0 && table({
  id,
  caption,
  columns: [
    { title: 'finding', head: true, cell: (x) => x.finding },
    { title: 'confidence', number: true, cell: sure },
    { title: 'capacity', number: true, cell: (x) => f.rate(x.damage_bps) },
    { title: 'cables', number: true, cell: (x) => f.count(x.cables) },
    { title: 'from', cell: (x) => end(x.node, x.port) },
    { title: 'to', cell: (x) => end(x.other_node, x.other_port) },
    { title: 'what', cell: (x) => `${x.what}${x.line ? ` (line ${x.line})` : ''}` },
    { title: 'work', cell: (x) => x.work },
    ...(rows.some((x) => x.rack || x.other_rack) ? [{ title: 'racks', cell: (x) => [x.rack, x.other_rack].filter(Boolean).join(', ') }] : []),
  ],
  rows,
});

/** The program's drawing of it: racks of the plan's floor, or boxes by tier. Its colours are those of the page. */
function drawn(text) {
  const bare = text.replace(/<style>.*?<\/style>|<rect class="bg"[^>]*>| style="[^"]*"/gs, ''); // a page's policy refuses styles
  const { documentElement: svg } = new DOMParser().parseFromString(bare, 'image/svg+xml');
  return h('div', { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': 'Where it is' }, document.importNode(svg, true));
}

export function audit(model) {
  const { audit: a } = model.report;
  const wrong = faults(a);
  const choices = a.findings.filter((x) => x.is_choice);
  const racks = wrong.some((x) => x.rack || x.other_rack);
  return [
    a.findings.length > 0 && section('audit-place', 'Where it is', `Red and dashed: missing, to be plugged or put in. Orange: wrong, to be moved or looked at. Point at a line, or at a ${racks ? 'rack' : 'box'}, to read what to do.`, drawn(model.data.audit_picture)),
    section('audit', 'Work', wrong.length > 0 ? 'Worst first, with the boxes and ports to walk to.' : `${departs(a)}.`,
      findings('findings', f.plural(wrong.length, 'finding'), wrong)),
    choices.length > 0 && section('choices', 'By design', 'No faults: what one failure more would cost.', findings('by-design', f.plural(choices.length, 'choice'), choices)),
    section('installed', 'What is installed', `${f.plural(a.hosts, 'host')} known by name, ${f.plural(a.adapters, 'adapter')}, ${f.count(a.switches)} switches${a.rails ? ', rail-optimised' : ''}.${bisection(a)}`,
      table({
        caption: 'Cables',
        columns: [
          { title: 'boundary', head: true, cell: (b) => b.boundary },
          { title: 'planned', number: true, cell: (b) => f.count(b.planned_cables) },
          { title: 'present', number: true, cell: (b) => f.count(b.present_cables) },
          { title: 'of them', number: true, cell: (b) => (b.planned_cables > 0 ? f.percent(b.present_cables / b.planned_cables, 4) : '-') },
        ],
        rows: a.boundaries,
      }),
      h('p', null, `${coverage(a)}.`),
      a.cables_with_rule < a.cables && table({
        id: 'coverage',
        caption: 'Cables that some rule speaks of',
        columns: [
          { title: 'boundary', head: true, cell: (b) => b.boundary },
          { title: 'there', number: true, cell: (b) => f.count(b.cables) },
          { title: 'with a rule', number: true, cell: (b) => f.count(b.with_rule) },
        ],
        rows: a.coverage,
      })),
  ].filter(Boolean);
}
