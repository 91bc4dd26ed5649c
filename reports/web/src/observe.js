// What counters say of a job: who is suspected, with the evidence, then what was counted.
import { section, table } from './dom.js';
import { show } from './other.js';
import * as f from './format.js';

export function observed(model) {
  const { suspects, ...rest } = model.report.observe;
  const least = `This pair can show a link from ${f.percent(rest.least_link_ratio)} on, a host from ${f.percent(rest.least_host_ratio)}.`;
  const said = suspects.length > 0 ? `${f.plural(suspects.length + rest.more_suspects, 'suspect')}, the most certain first.` : `None: no host and no ${rest.fits ? 'link' : 'link of an adapter'} deviates by what this pair can show.`;
  return section('observe', 'Suspects', `${said} ${least}`,
    suspects.length > 0 && table({
      caption: 'Suspects',
      columns: [
        { title: 'suspect', head: true, cell: (s) => s.name },
        { title: 'as', cell: (s) => s.suspect },
        { title: 'evidence', cell: (s) => s.evidence },
        { title: 'part of the job', number: true, cell: (s) => f.percent(s.job_ratio) },
      ],
      rows: suspects,
      id: 'observe-table',
    }),
    show('observe', rest));
}
