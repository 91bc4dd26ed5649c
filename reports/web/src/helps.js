// What helps where links are too full: on a page that answers knobs a button for each, with what it changes in seconds
// and dollars; else what the run has tried by itself.
import { h, replace } from './dom.js';
import * as f from './format.js';

const CHANGES = [
  ['Adaptive routing instead', { engine: 'adaptive' }],
  ['No taper instead', { sets: { 'fabric.taper': '1' } }],
  ['Servers packed instead', { sets: { 'job.placement': 'packed' } }],
];

/** Seconds of an iteration, or of all phases one after the other, under the best engine; with what is broken where
 *  something is. */
export function secondsOf(report) {
  const best = report.verdict?.best_engine ?? 0;
  const broken = report.failures?.engines[best]?.policies.filter((p) => p.possible && p.time_s !== undefined).map((p) => p.time_s) ?? [];
  if (broken.length > 0) return Math.min(...broken);
  const iteration = report.iteration?.[best];
  return iteration ? f.mean(iteration.time_s) : (report.phases ?? []).reduce((sum, phase) => sum + (f.mean(phase.engines?.[best]?.time_s) ?? NaN), 0);
}

const signed = (value, format) => (Math.abs(value) < 1e-12 || !Number.isFinite(value) ? 'no change' : `${value > 0 ? '+' : '−'}${format(Math.abs(value))}`);

function offer(state, report, [text, change]) {
  const said = h('span', { class: 'outcome', 'aria-live': 'polite' });
  const ask = async () => {
    said.textContent = ' asked …';
    const answer = await state.asks.tryOut(change);
    if (!answer.report) {
      said.textContent = ` cannot be: ${answer.said}`;
      return;
    }
    const seconds = secondsOf(answer.report) - secondsOf(report);
    const dollars = (answer.report.cost?.total_usd ?? NaN) - (report.cost?.total_usd ?? NaN);
    if (Math.abs(seconds) < 1e-12 && Math.abs(dollars) < 1e-12) {
      said.textContent = ' changes nothing';
      return;
    }
    replace(said, ' ', h('span', { class: seconds < 0 ? 'better' : seconds > 0 ? 'worse' : null }, h('data', { value: seconds }, signed(seconds, f.seconds))),
      ', ', h('span', { class: dollars < 0 ? 'better' : dollars > 0 ? 'worse' : null }, h('data', { value: dollars }, signed(dollars, f.money))), ' ',
      h('button', { type: 'button', class: 'link', onclick: () => state.asks.take(change) }, 'take it'));
  };
  return h('li', null, h('button', { type: 'button', onclick: ask }, text), said);
}

/** Under `engine` in `phase`. */
export function helps(model, state, phase, engine) {
  const { report } = model;
  if (state.asks) return h('div', { class: 'helps' }, h('p', null, 'What would help? Against now, per iteration and for the network:'), h('ul', { class: 'plain' }, CHANGES.map((change) => offer(state, report, change))));
  const here = f.mean(model.phases[phase]?.engines[engine]?.time_s);
  const tried = (model.phases[phase]?.engines ?? []).filter((other, e) => e !== engine && f.mean(other.time_s) < here * 0.9995);
  const better = (report.verdict?.alternatives ?? []).filter((a) => a.possible && a.time_s < report.verdict.compared_s * 0.9995);
  const lines = [...tried.map((e) => `${e.options ?? e.engine}: this phase in ${f.seconds(f.mean(e.time_s))} instead of ${f.seconds(here)}`),
    ...better.map((a) => `${a.engine}: all in ${f.seconds(a.time_s)} instead of ${f.seconds(report.verdict.compared_s)}`),
    ...(report.advice?.best ? [`${report.advice.best.change}: ${f.percent(report.advice.best.gain_ratio)} faster`] : [])];
  return h('div', { class: 'helps' }, lines.length > 0 ? [h('p', null, 'What helps, of what was tried:'), h('ul', { class: 'plain' }, lines.map((line) => h('li', null, line)))]
    : h('p', null, report.verdict?.to_do ? `What helps: ${report.verdict.to_do}.` : 'No other routing was tried.'));
}
