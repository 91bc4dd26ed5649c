// Colours of links: below 1 blue, above it orange, which readers of every kind of colour vision tell apart; both get
// stronger away from 1. Load in bytes has one hue.

const LIGHT = {
  ratio: ['#c3d7ea', '#94bbdc', '#5595c8', '#1f5f9e', '#f2a33a', '#dd7211', '#b34700', '#6e2100'],
  load: ['#d9d3ea', '#bfb3dd', '#a391cf', '#8a71c1', '#7453b2', '#5f379f', '#491f86', '#32096a'],
  idle: '#d4d7dc',
  ink: '#1c2430',
  faint: '#5a6472',
  line: '#c9ced6',
  paper: '#ffffff',
  box: '#f3f5f8',
  focus: '#0b5cad',
};
const DARK = {
  ratio: ['#27425e', '#2f618f', '#3f87c4', '#83bdec', '#a85f12', '#d98324', '#ffab4a', '#ffdfa8'],
  load: ['#352b52', '#48397a', '#5c49a0', '#735dc4', '#8f7ade', '#ab9aee', '#c8bcf7', '#e7e0ff'],
  idle: '#3a4350',
  ink: '#e8ecf2',
  faint: '#a5afbd',
  line: '#3d4653',
  paper: '#14181f',
  box: '#1d232c',
  focus: '#7ab8f5',
};

const query = matchMedia('(prefers-color-scheme: dark)');
const print = matchMedia('print');

export const palette = () => (query.matches && !print.matches ? DARK : LIGHT);

/** A colour of the style sheet. */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

/** Calls when the page turns dark or light, and for printing. */
export function onTheme(redraw) {
  query.addEventListener('change', redraw);
  print.addEventListener('change', redraw);
}
