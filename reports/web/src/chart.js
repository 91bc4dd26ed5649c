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
 * A chart in its figure. `options(colours)` gives those of uPlot without a size; data as uPlot has it. Its tip tells the
 * figures at the place that is pointed at: `tell` has `x(index)` and `y(value)`, series have labels.
 * The figure's text says in words what the chart shows: the numbers stand in a table beside it.
 */
export function chart({ title, label, height, options, data, key, tell }) {
  const place = h('div', { class: 'chart', role: 'img', 'aria-label': label });
  const tip = h('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
  let plot = null;
  const redraw = () => (place.isConnected ? draw() : charts.delete(redraw));
  const draw = () => {
    const width = plot?.width ?? (place.clientWidth || 480);
    plot?.destroy();
    plot = new uPlot({ width, height, legend: { show: false }, cursor: { show: false }, ...options(palette()) }, data, place);
    place.append(tip);
  };
  place.fit = (width) => {
    if (width > 0 && plot.width !== Math.floor(width)) plot.setSize({ width: Math.floor(width), height });
  };
  place.addEventListener('pointermove', (event) => {
    const over = plot?.over.getBoundingClientRect();
    const [x, y] = over ? [event.clientX - over.left, event.clientY - over.top] : [-1, -1];
    tip.hidden = x < 0 || y < 0 || x > over.width || y > over.height;
    if (tip.hidden) return;
    const at = plot.posToIdx(x);
    const seen = plot.series.map((s, i) => [s.label, i > 0 ? data[i][at] : null]).filter(([name, value]) => value !== null && value !== undefined && !name?.endsWith(', front'));
    tip.textContent = `${tell.x(at)}: ${seen.map(([name, value]) => `${seen.length > 1 && name ? `${name} ` : ''}${tell.y(value)}`).join('; ')}`;
    tip.style.left = `${Math.min(x + 60, Math.max(0, place.clientWidth - 240))}px`;
    tip.style.top = `${Math.max(0, y - 30)}px`;
  });
  place.addEventListener('pointerleave', () => { tip.hidden = true; });
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
