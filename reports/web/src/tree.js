// The fabric as a tree for the keyboard and for screen readers: groups, tiers, switches, cables. Arrow keys walk it,
// Enter shows an item in the picture.
import { h } from './dom.js';
import * as f from './format.js';

const AT_ONCE = 200; // children shown under an item

function children(model, picture, node) {
  const { scene, metric, state } = picture;
  const { graph } = model;
  const worst = (cables) => (metric.known && cables.length > 0 ? `, fullest ${metric.text(cables.reduce((m, [b, i]) => Math.max(m, metric.cable(b, i)), 0))}` : '');
  const ofSwitch = (s) => ({ kind: 'switch', id: s, text: `${model.switchName(s)}${worst(model.cablesOf(s))}`, select: { kind: 'switch', id: s } });
  const ofTier = (group, tier) => {
    const switches = scene.switches(state.view, group, tier.tier);
    return switches.length > 0 && { kind: 'tier', text: `${f.count(switches.length)} ${tier.name} ${switches.length === 1 ? 'switch' : 'switches'}`, switches };
  };
  switch (node.kind) {
    case 'root':
      return scene.groups(state.view).map((group) => ({
        kind: 'group', group, text: group >= 0 ? `${scene.groupName(state.view)} ${group}` : (scene.groups(state.view).length > 1 ? 'above the groups' : 'all switches'), open: group,
      }));
    case 'group': return graph.tiers.map((tier) => ofTier(node.group, tier)).filter(Boolean);
    case 'tier': return node.switches.map(ofSwitch);
    case 'switch': return model.cablesOf(node.id).map(([boundary, index]) => ({
      kind: 'cable', boundary, index, leaf: true, select: { kind: 'cable', boundary, index },
      text: `${model.linkName(boundary, index, false)}${metric.known ? `: ${graph.boundaries[boundary].up} ${metric.text(metric.link(boundary, index, 0))}, ${graph.boundaries[boundary].down} ${metric.text(metric.link(boundary, index, 1))}` : ''}`,
    }));
    default: return [];
  }
}

export function tree(model, state, picture) {
  const root = h('ul', { role: 'tree', 'aria-label': 'The fabric', class: 'tree', id: 'fabric-tree' });
  const nodes = new WeakMap();
  let current = null;

  const item = (node, level) => {
    const element = h('li', { role: 'treeitem', 'aria-level': level, tabindex: -1, 'aria-expanded': node.leaf ? null : 'false' }, h('span', { class: 'label' }, node.text));
    nodes.set(element, { node, level });
    return element;
  };
  const fill = (host, node, level) => {
    const all = children(model, picture, node);
    host.replaceChildren(...all.slice(0, AT_ONCE).map((child) => item(child, level)));
    if (all.length > AT_ONCE) {
      let shown = AT_ONCE;
      const more = item({ kind: 'more', leaf: true, text: '' }, level);
      const label = () => `${f.count(all.length - shown)} more: Enter shows them`;
      more.firstChild.textContent = label();
      nodes.get(more).node.more = () => {
        const added = all.slice(shown, shown + AT_ONCE).map((child) => item(child, level));
        more.before(...added);
        shown += added.length;
        more.firstChild.textContent = label();
        focus(added[0]);
        if (shown >= all.length) more.remove();
      };
      host.append(more);
    }
  };
  const expand = (element, on) => {
    const { node, level } = nodes.get(element);
    if (node.leaf) return;
    element.setAttribute('aria-expanded', String(on));
    element.querySelector(':scope > ul')?.remove();
    if (on) {
      const list = h('ul', { role: 'group' });
      fill(list, node, level + 1);
      element.append(list);
    }
  };
  const focus = (element, quietly = false) => {
    if (!element) return;
    current?.setAttribute('tabindex', '-1');
    current = element;
    current.setAttribute('tabindex', '0');
    if (!quietly) current.focus();
  };
  const act = (element) => {
    const { node } = nodes.get(element);
    if (node.more) return node.more();
    if (!node.leaf) expand(element, element.getAttribute('aria-expanded') !== 'true');
    if (node.kind === 'group') {
      const on = element.getAttribute('aria-expanded') === 'true';
      state.set(node.group >= 0 ? { open: on ? node.group : null } : { openRest: on });
    }
    if (node.select) state.set({ selected: node.select });
    return undefined;
  };
  const visible = () => [...root.querySelectorAll('[role=treeitem]')];

  root.addEventListener('keydown', (event) => {
    const element = event.target.closest('[role=treeitem]');
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const list = visible();
    const at = list.indexOf(element);
    const isOpen = element.getAttribute('aria-expanded') === 'true';
    const keys = {
      ArrowDown: () => focus(list[at + 1]),
      ArrowUp: () => focus(list[at - 1]),
      Home: () => focus(list[0]),
      End: () => focus(list.at(-1)),
      ArrowRight: () => (isOpen ? focus(element.querySelector('[role=treeitem]')) : expand(element, true)),
      ArrowLeft: () => (isOpen ? expand(element, false) : focus(element.parentElement.closest('[role=treeitem]'))),
      Enter: () => act(element),
      ' ': () => act(element),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  root.addEventListener('click', (event) => {
    const element = event.target.closest('[role=treeitem]');
    if (!element) return;
    focus(element);
    act(element);
  });

  const restart = () => {
    fill(root, { kind: 'root' }, 1);
    focus(root.firstElementChild, true);
  };
  state.onChange((changed) => changed.has('view') && restart());
  // Figures in the labels are those of the choice: what is open is read again.
  state.onChange((changed) => {
    if (['phase', 'engine', 'draw', 'colour', 'direction'].some((key) => changed.has(key)) && root.querySelector('[aria-expanded=true]')) restart();
  });
  restart();
  return h('details', { class: 'tree-place' }, h('summary', null, 'The fabric as a list, for the keyboard'),
    h('p', { class: 'note' }, 'Arrow keys walk and open, Enter shows an item in the picture.'), root);
}
