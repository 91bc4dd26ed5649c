// A field of text that completes keys: a list below it, for the mouse and the keyboard.
import { fresh, h, replace } from './dom.js';

const AT_MOST = 8;

/** `offers(before)` gives { from, rows: [{ text, summary }] } for what stands before the cursor; `done` is told of Enter. */
export function completed(attributes, offers, done) {
  const id = fresh('offers');
  const list = h('ul', { id, class: 'offers', role: 'listbox', hidden: true });
  const input = h('input', { type: 'text', role: 'combobox', autocomplete: 'off', spellcheck: 'false', 'aria-expanded': 'false', 'aria-controls': id, ...attributes });
  let rows = [];
  let from = 0;
  let at = -1;
  const close = () => {
    rows = [];
    at = -1;
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const take = (row) => {
    const rest = input.value.slice(input.selectionStart);
    input.value = input.value.slice(0, from) + row.text + rest;
    input.setSelectionRange(from + row.text.length, from + row.text.length);
    input.focus();
    offer();
  };
  const mark = () => [...list.children].forEach((item, i) => {
    item.setAttribute('aria-selected', String(i === at));
    if (i === at) input.setAttribute('aria-activedescendant', item.id);
  });
  const offer = () => {
    const found = offers(input.value.slice(0, input.selectionStart));
    close();
    from = found.from;
    rows = found.rows.slice(0, AT_MOST);
    if (rows.length === 0) return;
    replace(list, rows.map((row, i) => h('li', { id: `${id}-${i}`, role: 'option', 'aria-selected': 'false', onmousedown: (e) => { e.preventDefault(); take(row); } }, h('b', null, row.text), ' ', row.summary)));
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  };
  input.addEventListener('input', offer);
  input.addEventListener('focus', offer);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (e) => {
    const open = rows.length > 0;
    if (open && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) {
      at = (at + (e.key === 'ArrowDown' ? 1 : -1) + rows.length) % rows.length;
      mark();
    } else if (open && (e.key === 'Tab' || e.key === 'Enter') && at >= 0) {
      take(rows[at]);
    } else if (open && e.key === 'Escape') {
      close();
    } else if (e.key === 'Enter') {
      close();
      done(input.value);
    } else {
      return;
    }
    e.preventDefault();
  });
  return h('span', { class: 'completed' }, input, list);
}
