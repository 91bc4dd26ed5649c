// Where the figures come from.
import { h, section } from './dom.js';
import * as f from './format.js';

export function about(model) {
  const { meta } = model;
  const facts = [
    ['program', `${meta.program} ${meta.version}, command ${meta.command}`],
    ['design', meta.design], ['digest', meta.design_digest], ['source', meta.source], ['traffic', meta.traffic],
    ['engines', model.engines.join('; ') || undefined],
    ['seed', `${meta.seed}${meta.seeds > 1 ? `, ${f.count(meta.seeds)} seeds` : ''}`],
  ].filter(([, text]) => text);
  return section('about', 'Where the figures come from', 'The same design, options and seed give the same figures. All of them stand in report.json under the same names.',
    h('dl', { class: 'facts' }, facts.map(([name, text]) => [h('dt', null, name), h('dd', null, text)])),
    h('h3', null, 'Conventions'), h('ul', null, meta.conventions.map((line) => h('li', null, line))));
}
