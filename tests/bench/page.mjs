// Measures pages in a headless Chromium that is offline, and the program in them. Called by scripts/bench:
//
//     node page.mjs PROGRAM FOLDER RUNS ROW...        prints "ROW VALUE" for each, the least of RUNS
//
// core: MB of the packed program. view-GPUS: seconds from opening a report's page until it can be used (its mark
// fabriscope-ready). pan-GPUS: milliseconds that the page works for one move of the pointer that drags the fabric, 1.69
// times as wide as its place, until a pixel of it can be read; 95 % of 120; longest-GPUS: the longest, which draws beyond
// the edges. ask-GPUS: seconds from breaking a part by its name until its answer is painted, once its job is open.
// answer-GPUS: processor seconds of that answer alone, by the same WebAssembly under node; open-GPUS: of what a page asks
// before it, and opens its job with; taper-GPUS, radix-GPUS, ...: of the answer to another value of this knob after it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { launch, open, toFabric } from '../web/browser.mjs';
import { WARM } from '../../reports/web/src/warm.js';

const [program, folder, runs, ...rows] = process.argv.slice(2);
const DESIGNS = { 1024: ['clos:gpus=1024,taper=2', '--job', 'model=llama3-8b,tp=8', '--engine', 'ecmp'], 24576: ['preset:llama3-24k-roce'] };
const KNOBS = {
  taper: ['--set', 'fabric.taper=3'], radix: ['--set', 'fabric.radix=256'], placement: ['--set', 'job.placement=scattered'], qp: ['--engine', 'ecmp,qp=4'],
  dmodk: ['--engine', 'dmodk'], spray: ['--engine', 'spray'], adaptive: ['--engine', 'adaptive'],
};
const isWork = (row) => row.split('-')[0] in { open: 0, answer: 0, ...KNOBS };
let browser; // launched after the rows of node: another process that works at the same time slows them by a third

function page(command, gpus) {
  const file = join(folder, `${command}-${gpus}.html`);
  const words = command === 'run' ? ['run', ...DESIGNS[gpus], '--format', 'html'] : ['explore', ...DESIGNS[gpus]];
  if (!existsSync(file)) writeFileSync(file, execFileSync(program, [...words, '--quiet'], { maxBuffer: 1 << 28 }));
  return file;
}

async function view(gpus) {
  const { context, ready } = await open(browser, page('run', gpus));
  await context.close();
  return ready / 1e3;
}

async function moves(gpus) {
  const { page: tab, context } = await open(browser, page('run', gpus));
  await toFabric(tab);
  const sorted = await tab.evaluate(() => {
    const canvas = document.querySelector('canvas.fabric');
    const box = canvas.getBoundingClientRect();
    const place = (i) => ({ clientX: box.left + box.width / 2 + i, clientY: box.top + box.height / 2, bubbles: true });
    const at = (kind, i) => canvas.dispatchEvent(new PointerEvent(kind, { ...place(i), pointerId: 1, buttons: 1 }));
    for (let i = 0; i < 2; i++) canvas.dispatchEvent(new WheelEvent('wheel', { ...place(0), deltaY: -1, ctrlKey: true, cancelable: true })); // at its first width nothing is dragged
    const before = canvas.toDataURL();
    const spent = [];
    at('pointerdown', 0);
    for (let i = 1; i <= 120; i++) {
      const start = performance.now();
      at('pointermove', i);
      canvas.getContext('2d').getImageData(0, 0, 1, 1);
      spent.push(performance.now() - start);
    }
    at('pointerup', 120);
    return canvas.toDataURL() === before ? null : spent.sort((a, b) => a - b);
  });
  await context.close();
  return sorted ?? []; // nothing moved: no figure
}
const pan = async (gpus) => (await moves(gpus))[113];
const longest = async (gpus) => (await moves(gpus))[119];

const works = {};
/** Processor seconds of opening a job in WebAssembly, of a breakage, and of the knobs that rows name; once for all rows. */
const workOnce = (gpus, run) => works[`${gpus} ${run}`] ??= work(gpus);
async function work(gpus) {
  Object.assign(globalThis, { self: globalThis, location: { href: '' }, importScripts: () => {} });
  const fabriscope = createRequire(import.meta.url)('../../reports/web/core/core.cjs');
  const core = new URL('../../reports/web/dist/core.b64', import.meta.url);
  const compiled = await WebAssembly.compile(gunzipSync(Buffer.from(readFileSync(core, 'utf8'), 'base64')));
  const module = await fabriscope({
    instantiateWasm: (imports, done) => { WebAssembly.instantiate(compiled, imports).then(done); return {}; },
    printErr: () => {},
  });
  module.FS.close(module.FS.getStream(1));
  module.FS.open('/tmp/answer', 'w'); // as the page's worker
  const spent = async (...questions) => {
    await new Promise((done) => setTimeout(done, 500)); // what was asked before is compiled better meanwhile, as while somebody reads
    const start = process.cpuUsage();
    const codes = questions.map((words) => module.callMain(words));
    const { user, system } = process.cpuUsage(start);
    return codes.every((code) => code === 0) ? (user + system) / 1e6 : NaN;
  };
  const words = (...more) => ['explore', ...DESIGNS[gpus], ...more, '--threads', '1', '--quiet'];
  const knobs = rows.map((row) => row.split('-')).filter(([knob, n]) => KNOBS[knob] && n === gpus);
  const out = { open: await spent(...WARM, words(), ['hold']), answer: await spent(words('--fail', 'spine-0')) };
  for (const [knob] of knobs) out[knob] = await spent(words(...KNOBS[knob]));
  return out;
}

async function ask(gpus) {
  const { page: tab, context } = await open(browser, page('explore', gpus));
  await tab.waitForFunction(() => document.getElementById('explore-status').dataset.open, null, { timeout: 300000 });
  const seconds = await tab.evaluate(async () => {
    const line = document.getElementById('explore-break');
    const status = document.getElementById('explore-status');
    const start = performance.now();
    line.value = 'spine-0';
    line.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    while (status.dataset.answers !== '1' && (status.dataset.code ?? '0') === '0') await new Promise((done) => setTimeout(done, 1));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); // a frame is painted between the two
    return status.dataset.code === '0' ? (performance.now() - start) / 1e3 : NaN;
  });
  await context.close();
  return seconds;
}

for (const row of [...rows.filter(isWork), ...rows.filter((row) => !isWork(row))]) {
  if (!isWork(row)) browser ??= await launch();
  if (!isWork(row) && !browser) process.exit(77);
  const [kind, gpus] = row.split('-');
  const values = [];
  for (let i = 0; i < Number(runs); i++) {
    if (kind === 'core') values.push(statSync(new URL('../../reports/web/dist/core.b64', import.meta.url)).size / 1e6);
    else if (isWork(row)) values.push((await workOnce(gpus, i))[kind]);
    else values.push(await { view, pan, longest, ask }[kind](gpus));
  }
  console.log(`${row} ${Math.min(...values)}`);
}
await browser?.close();
