// What is wrong with an installed fabric: the work order, worst first.
import { section, table } from './dom.js';
import * as f from './format.js';

const end = (node, port) => (node ? `${node}${port ? `:${port}` : ''}` : '');

export function audit(model) {
  const { audit: a } = model.report;
  return [
    section('audit', 'Work', a.findings.length > 0 ? 'Worst first, with the boxes and ports to walk to.' : 'Nothing departs from the structure.',
      a.findings.length > 0 && table({
        id: 'findings',
        caption: f.plural(a.findings.length, 'finding'),
        columns: [
          { title: 'finding', head: true, cell: (x) => x.finding },
          { title: 'capacity', number: true, cell: (x) => f.rate(x.damage_bps) },
          { title: 'cables', number: true, cell: (x) => f.count(x.cables) },
          { title: 'from', cell: (x) => end(x.node, x.port) },
          { title: 'to', cell: (x) => end(x.other_node, x.other_port) },
          { title: 'what', cell: (x) => `${x.what}${x.line ? ` (line ${x.line})` : ''}` },
          { title: 'work', cell: (x) => x.work },
        ],
        rows: a.findings,
      })),
    section('installed', 'What is installed', `${f.plural(a.hosts, 'host')} known by name, ${f.plural(a.adapters, 'adapter')}, ${f.count(a.switches)} switches${a.rails ? ', rail-optimised' : ''}.`,
      table({
        caption: 'Cables',
        columns: [
          { title: 'boundary', head: true, cell: (b) => b.boundary },
          { title: 'planned', number: true, cell: (b) => f.count(b.planned_cables) },
          { title: 'present', number: true, cell: (b) => f.count(b.present_cables) },
          { title: 'of them', number: true, cell: (b) => (b.planned_cables > 0 ? f.percent(b.present_cables / b.planned_cables, 4) : '-') },
        ],
        rows: a.boundaries,
      })),
  ];
}
