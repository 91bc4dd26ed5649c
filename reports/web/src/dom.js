// Elements without HTML text: names from files stay text.

/** An element; attributes that are functions listen, `class` and `for` are as in HTML, null and false are left out. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else element.setAttribute(name, value === true ? '' : value);
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

/** A long name that breaks behind its commas and colons, not within a number. */
export const breakable = (text) => String(text).split(/(?<=[,:])/).flatMap((piece, i) => (i > 0 ? [h('wbr'), piece] : [piece]));

/** What the colours of a chart stand for: [class of the mark, text]. A mark stays with its text. */
export const keyOf = (items) => h('p', { class: 'key' }, items.flatMap(([mark, text]) => [h('span', { class: 'item' }, h('span', { class: mark }), text), ' ']));

let ids = 0;
/** An id that is not taken. */
export const fresh = (stem) => `${stem}-${++ids}`;

/** A region of the page with its heading. */
export function section(id, title, intro, ...children) {
  return h('section', { id, 'aria-labelledby': `${id}-title`, class: 'part' },
    h('h2', { id: `${id}-title` }, title),
    intro && h('p', { class: 'intro' }, intro),
    ...children);
}

/**
 * A table that scrolls by itself where it is too wide. Columns: { title, number, head } and `cell(row)` gives text or
 * an element; the column with `head` names its row.
 */
export function table({ caption, columns, rows, hide, id }) {
  const name = fresh('caption');
  return h('div', { class: 'scroll', role: 'region', tabindex: 0, 'aria-labelledby': name },
    h('table', { id, class: columns.length > 16 ? 'wide widest' : columns.length > 9 ? 'wide' : null },
      h('caption', { id: name, class: hide ? 'hidden' : null }, caption),
      h('thead', null, h('tr', null, columns.map((c) => h('th', { scope: 'col', class: c.number ? 'number' : null }, c.title)))),
      h('tbody', null, rows.map((row) => tableRow(columns, row)))));
}

/** Where a cell may break: a figure before its spread, a long name behind its commas. */
function broken(content, number) {
  const at = typeof content === 'string' ? content.indexOf(' (') : -1;
  if (number && at > 0) return ['number spread', [h('span', { class: 'whole' }, content.slice(0, at)), ' ', h('span', { class: 'whole' }, content.slice(at + 1))]];
  return [number ? 'number' : null, !number && typeof content === 'string' && content.length > 16 ? breakable(content) : content];
}

export function tableRow(columns, row) {
  return h('tr', row.class ? { class: row.class } : null, columns.map((c) => {
    const [kind, content] = broken(c.cell(row), c.number);
    return c.head ? h('th', { scope: 'row' }, content) : h('td', { class: kind }, content);
  }));
}

const waiting = new Map();
const sight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) show(target);
}, { rootMargin: '300px' });

function show(element) {
  sight.unobserve(element);
  const draw = waiting.get(element);
  waiting.delete(element);
  draw?.();
}

/** Draws when the element comes near the window, or is printed. */
export function whenSeen(element, draw) {
  waiting.set(element, draw);
  sight.observe(element);
}

const sized = new ResizeObserver((entries) => entries.forEach(({ target }) => target.draw()));

/** Draws when the element first has a size, which it has not before it comes near the window, has another, or is printed. */
export function whenSized(element, draw) {
  element.draw = draw;
  element.classList.add('sized');
  sized.observe(element);
}
addEventListener('beforeprint', () => document.querySelectorAll('.sized').forEach((element) => element.draw()));
addEventListener('beforeprint', () => [...waiting.keys()].forEach((element) => element.isConnected && show(element)));

/** A choice with its label. Options: [value, text]. */
export function select(label, options, value, onChange) {
  const id = fresh('choice');
  return h('span', { class: 'choice' },
    h('label', { for: id }, label),
    h('select', { id, onchange: (event) => onChange(event.target.value) },
      options.map(([key, text]) => h('option', { value: key, selected: String(key) === String(value) }, text))));
}
