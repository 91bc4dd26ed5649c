// uPlot in the colours of the page, as wide as its place.
import uPlot from 'uplot';
import { h, whenSeen } from './dom.js';
import { onTheme, palette } from './colour.js';

const charts = new Set();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) target.fit?.(contentRect.width);
});
onTheme(() => charts.forEach((draw) => draw()));

/**
 * A chart in its figure. `options(colours)` gives those of uPlot without a size; data as uPlot has it.
 * The figure's text says in words what the chart shows: the numbers stand in a table beside it.
 */
export function chart({ title, label, height, options, data, key }) {
  const place = h('div', { class: 'chart', role: 'img', 'aria-label': label });
  let plot = null;
  const redraw = () => (place.isConnected ? draw() : charts.delete(redraw));
  const draw = () => {
    const width = plot?.width ?? (place.clientWidth || 480);
    plot?.destroy();
    plot = new uPlot({ width, height, ...options(palette()) }, data, place);
  };
  place.fit = (width) => {
    if (width > 0 && plot.width !== Math.floor(width)) plot.setSize({ width: Math.floor(width), height });
  };
  place.style.setProperty('min-height', `${height}px`);
  whenSeen(place, () => {
    charts.add(redraw);
    draw();
    observer.observe(place);
  });
  return h('figure', { class: 'figure' }, h('figcaption', null, title), key, place);
}

/** An axis in the colours of the page. */
export const axis = (colours, rest) => ({
  stroke: colours.faint,
  grid: { stroke: colours.line, width: 1 },
  ticks: { stroke: colours.line, width: 1, size: 4 },
  font: '12px system-ui, sans-serif',
  labelFont: '12px system-ui, sans-serif',
  labelSize: 18,
  ...rest,
});

export const bars = (size, align) => uPlot.paths.bars({ size: [size, 40], align });
export const steps = uPlot.paths.stepped({ align: 1 });
