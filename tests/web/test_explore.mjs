// A page of `fabriscope explore` in a headless Chromium: five knobs and two breakages, and every figure beside what the
// command line says of the same words.
//
//     node test_explore.mjs PROGRAM FOLDER PICTURES
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { find, launch, open } from './browser.mjs';
import { Model } from '../../reports/web/src/model.js';
import { WARM } from '../../reports/web/src/warm.js';

const [program, folder, pictures] = process.argv.slice(2);
const browser = await launch();
if (!browser) {
  console.log('chromium or playwright-core is not installed: skipped (scripts/setup --tests)');
  process.exit(77);
}
mkdirSync(pictures, { recursive: true });
const run = (...words) => execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
const make = (name, ...words) => {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, run('explore', ...words, '--quiet'));
  return file;
};
/** Words of a command line, as the page shows them. */
const wordsOf = (command) => [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, plain]) => plain ?? quoted.replaceAll("'\\''", "'"));
/** What the two must agree in: all but what was tried beside the question, and how it was asked. */
const comparable = ({ verdict, meta, ...rest }) => ({ ...rest, digest: meta.design_digest, seed: meta.seed, bound: verdict.bound_by, collisions: verdict.collisions, cost_line: verdict.cost });

async function answered(page, n) {
  await page.waitForFunction((number) => {
    const { answers, code } = document.getElementById('explore-status').dataset;
    return Number(answers) >= number || (code !== undefined && code !== '0');
  }, n, { timeout: 120000 });
  const state = await page.evaluate(() => ({ ...document.getElementById('explore-status').dataset, text: document.getElementById('explore-status').textContent }));
  assert.equal(state.code, '0', state.text);
  return state;
}

/** The page's report beside the program's; gives it. */
async function agrees(page, what) {
  const command = await page.locator('#explore-command').textContent();
  const words = wordsOf(command);
  assert.equal(words[0], 'fabriscope');
  const { report, asked, ...here } = JSON.parse(await page.evaluate(() => document.getElementById('data').textContent));
  const there = JSON.parse(run(...words.slice(1), '--json', '--quiet'));
  assert.deepEqual(comparable(report), comparable(there), `${what}: ${command}`);
  // What an answer does not say again, of a job that was open, is still there.
  const { report: figures, asked: question, ...whole } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(run('explore', ...words.slice(2), '--quiet'))[1]);
  assert.deepEqual(here, whole, `${what}: ${command}`);
  assert.ok(asked.words.length > 0 && here.graph && here.loads && here.views && here.schedules);
  return report;
}
const unpacked = (page) => page.waitForFunction(() => !/unpacked/.test(document.getElementById('explore-status').textContent), null, { timeout: 120000 });

test('five knobs give the figures of the command line', async () => {
  const file = make('knobs', 'clos:gpus=256,radix=32,taper=2', '--job', 'model=llama3-8b,tp=8', '--engine', 'ecmp');
  assert.ok(statSync(file).size < 3e6, `${statSync(file).size} bytes are too many for a page`);
  const { page, context, complaints } = await open(browser, file);
  await unpacked(page);
  await agrees(page, 'as it came');
  const seen = new Set();
  const knobs = [['Taper', '1'], ['Radix', '64'], ['Routing', 'spray'], ['Placement', 'scattered'], ['Taper', '4']];
  for (const [i, [label, value]] of knobs.entries()) {
    await page.locator('#explore').getByLabel(label, { exact: true }).selectOption(value);
    await answered(page, i + 1);
    const report = await agrees(page, `${label} ${value}`);
    seen.add(JSON.stringify([report.cost.total_usd, report.iteration[0].time_s]));
    const shown = await page.locator('#explore-figures data').evaluateAll((all) => all.map((d) => Number(d.value)));
    assert.ok(shown.includes(report.iteration[0].time_s) && shown.includes(report.cost.total_usd), 'the panel shows other figures than the report');
  }
  assert.ok(seen.size >= 3, 'knobs change nothing');
  await page.locator('#explore-set').fill('fabric.nic=200Gb/s');
  await page.locator('#explore-set').press('Enter');
  await answered(page, 6);
  assert.equal((await agrees(page, 'a key by its name')).fabric.nic_bps, 2e11);
  await page.screenshot({ path: join(pictures, 'explore-light.png'), fullPage: true });
  // The question in the address: another page of the same file answers it.
  const address = page.url();
  const other = await context.newPage();
  await other.goto(address);
  await answered(other, 1);
  assert.equal((await agrees(other, 'by its address')).fabric.nic_bps, 2e11);
  assert.deepEqual(complaints.filter((c) => !c.startsWith('asks for blob:')), []); // its own worker
  await context.close();
});

test('what takes long says how far it is', async () => {
  const { page, context } = await open(browser, make('long', 'clos:gpus=2048,taper=2', '--job', 'model=llama3-8b,tp=8', '--seeds', '100'));
  await unpacked(page);
  await page.evaluate(() => {
    const status = document.getElementById('explore-status');
    window.said = [];
    new MutationObserver(() => window.said.push(status.textContent)).observe(status, { childList: true });
  });
  await page.locator('#explore').getByLabel('Routing', { exact: true }).selectOption('adaptive');
  await answered(page, 1);
  const said = await page.evaluate(() => window.said);
  const { phases, meta } = await agrees(page, 'what took long');
  const all = phases.filter((p) => p.engines.length > 0).length * meta.seeds;
  const steps = said.map((text) => /^Counting: phases and engines, (\d+) of (\d+) \(/.exec(text)).filter(Boolean).map(([, n, of]) => [Number(n), Number(of)]);
  assert.ok(steps.length >= 1, said.join('\n'));
  assert.ok(steps.every(([n, of], i) => of === all && n <= of && (i === 0 || n > steps[i - 1][0])), said.join('\n'));
  assert.equal(said[0], 'Counting.');
  assert.match(said.at(-1), /^Answered in /);
  await context.close();
});

/** What broken parts change in a page is all that a page of the same words says otherwise, opened with the same choice. */
async function isAsAnew(page, what) {
  const words = wordsOf(await page.locator('#explore-command').textContent()).slice(2);
  const { chosen } = JSON.parse(decodeURIComponent(new URL(page.url()).hash.slice(1)));
  const anew = await page.context().newPage();
  await anew.goto(`file://${make('anew', ...words)}#${encodeURIComponent(JSON.stringify({ chosen }))}`);
  const told = (tab) => tab.evaluate(() => [...document.querySelectorAll('#page :is(header, footer, li, p, h2, h3, td, th, dd, option, summary, caption)')].map((e) => e.textContent));
  assert.deepEqual(await told(page), await told(anew), what);
  await anew.close();
}

test('what is broken, in the picture and by its name', async () => {
  const file = make('broken', 'rail-spine:gpus=64,radix=16,taper=2', '--job', 'model=llama3-8b,tp=8', '--engine', 'ecmp');
  const { page, context, complaints } = await open(browser, file, { colorScheme: 'dark' });
  await unpacked(page);
  const spot = await find(page, /^spine-\d+/);
  assert.ok(spot, 'no spine in the picture');
  await page.mouse.click(spot.x, spot.y);
  const canvas = await page.locator('canvas.fabric').elementHandle();
  await page.locator('#fabric-detail').getByRole('button', { name: /^Break spine/ }).click();
  await answered(page, 1);
  const report = await agrees(page, 'a spine broken');
  assert.match(report.failures.failed[0].name, /^spine-/);
  await isAsAnew(page, 'a spine broken');
  await page.locator('#explore-break').fill('nic-3*0.5');
  await page.locator('#explore-break').press('Enter');
  await answered(page, 2);
  assert.equal((await agrees(page, 'and a NIC slower')).failures.failed.length, 2);
  await isAsAnew(page, 'and a NIC slower');
  await page.screenshot({ path: join(pictures, 'explore-dark.png') });
  await page.setViewportSize({ width: 400, height: 900 });
  const beyond = await page.locator('#explore *:not(option)').evaluateAll((all) => all.filter((e) => e.getBoundingClientRect().right > 401).map((e) => e.outerHTML.slice(0, 80)));
  assert.deepEqual(beyond, [], 'a figure is beyond the window at 400');
  await page.screenshot({ path: join(pictures, 'explore-dark-400.png') });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole('button', { name: /^spine.*broken/ }).click();
  await answered(page, 3);
  assert.equal((await agrees(page, 'the spine repaired')).failures.failed.length, 1);
  await page.getByRole('button', { name: /^nic.*broken/ }).click();
  await answered(page, 4);
  assert.equal((await agrees(page, 'all repaired')).failures, undefined);
  await isAsAnew(page, 'all repaired');
  assert.ok(await canvas.evaluate((one) => one.isConnected), 'the picture was drawn anew, though broken parts change no load');
  assert.equal(await page.locator('#versus').count(), 0, 'a job stands beside itself');
  await page.locator('#explore-break').fill('leaf-99');
  await page.locator('#explore-break').press('Enter');
  await page.waitForFunction(() => document.getElementById('explore-status').dataset.code === '3', null, { timeout: 60000 });
  assert.match(await page.locator('#explore-status').textContent(), /leaf-99/);
  assert.deepEqual(complaints.filter((c) => !c.startsWith('asks for blob:')), []); // its own worker
  await context.close();
});

test('what helps a hot link, in seconds and dollars, is what the command line says', async () => {
  const words = ['clos:gpus=128,radix=16,taper=2', '--job', 'model=llama3-8b,tp=8', '--engine', 'ecmp'];
  const { page, context, complaints } = await open(browser, make('helps', ...words));
  await unpacked(page);
  await page.locator('#collisions-table').getByRole('link', { name: /^Show / }).first().click();
  const helps = page.locator('#fabric-detail .helps');
  const now = JSON.parse(run('run', ...words, '--json', '--quiet'));
  for (const [name, ...more] of [['Adaptive routing instead', '--engine', 'adaptive'], ['No taper instead', '--set', 'fabric.taper=1'], ['Servers packed instead', '--set', 'job.placement=packed']]) {
    const offered = more[0] === '--engine' ? [...words.slice(0, -2), ...more] : [...words, ...more];
    const then = JSON.parse(run('run', ...offered, '--json', '--quiet'));
    const row = helps.locator('li', { hasText: name });
    await row.getByRole('button', { name }).click();
    const differs = [then.iteration[0].time_s - now.iteration[0].time_s, then.cost.total_usd - now.cost.total_usd];
    if (differs.every((x) => x === 0)) {
      await row.getByText('changes nothing').waitFor({ timeout: 120000 });
      continue;
    }
    await row.getByRole('button', { name: 'take it' }).waitFor({ timeout: 120000 });
    const shown = await row.locator('data').evaluateAll((all) => all.map((d) => Number(d.value)));
    assert.deepEqual(shown, differs, name);
  }
  await page.screenshot({ path: join(pictures, 'explore-helps.png') });
  await helps.locator('li', { hasText: 'No taper' }).getByRole('button', { name: 'take it' }).click();
  await answered(page, 1);
  assert.match(await page.locator('#explore-command').textContent(), /fabric\.taper=1/);
  await agrees(page, 'what helps, taken');
  assert.deepEqual(complaints.filter((c) => !c.startsWith('asks for blob:')), []); // its own worker
  await context.close();
});

/** Seconds of an iteration, with what is broken where something is. */
const secondsOf = (report) => Math.min(...(report.failures?.engines[report.verdict.best_engine ?? 0].policies.filter((x) => x.possible).map((x) => x.time_s) ?? [report.iteration[report.verdict.best_engine ?? 0].time_s]));

for (const broken of [[], ['--fail', 'server-2']]) {
  test(`another spare${broken.length > 0 ? ' than the one that takes over' : ' for the sender'} changes what the command line says`, async () => {
    const whole = ['clos:gpus=64,radix=16,spares=2', '--job', 'model=gpt-1.7b,tp=2,memory-check=off', '--engine', 'ecmp'];
    const words = [...whole, ...broken];
    const { page, context } = await open(browser, make(`spare${broken.length}`, ...whole));
    await unpacked(page);
    await page.locator('#collisions-table').getByRole('link', { name: /^Show / }).first().click();
    for (const part of broken.slice(1)) { // the panel of the link that is selected tells of it
      await page.locator('#explore-break').fill(part);
      await page.locator('#explore-break').press('Enter');
      await answered(page, 1);
    }
    const row = page.locator('#fabric-detail .helps li', { hasText: 'Another spare instead' });
    await row.getByRole('button', { name: 'Another spare instead' }).click();
    await page.locator('#fabric').getByRole('combobox', { name: 'Direction' }).selectOption('up'); // draws the panel anew
    await row.getByText(/take it|changes nothing/).waitFor({ timeout: 120000 });
    const now = JSON.parse(run('run', ...words, '--json', '--quiet'));
    const taken = broken.length > 0 ? 8 : Math.floor(now.phases.flatMap((p) => p.engines[0].hot_links).reduce((a, b) => (b.factor > a.factor ? b : a)).flows[0].src_gpu / 8);
    const servers = Array.from({ length: 8 }, (_, i) => (broken.length > 0 && i === 2 ? 8 : i));
    const thens = [8, 9].filter((s) => s !== taken).map((s) => ({ s, report: JSON.parse(run('run', ...words, '--set', `job.servers=${servers.map((x) => (x === taken ? s : x)).join(',')}`, '--set', 'job.placement=order', '--json', '--quiet')) }));
    const best = thens.reduce((a, b) => (secondsOf(b.report) < secondsOf(a.report) ? b : a));
    const differs = [secondsOf(best.report) - secondsOf(now), best.report.cost.total_usd - now.cost.total_usd];
    if (differs.every((x) => x === 0)) assert.match(await row.textContent(), /changes nothing/);
    else {
      assert.deepEqual(await row.locator('data').evaluateAll((all) => all.map((d) => Number(d.value))), differs);
      assert.match(await row.textContent(), new RegExp(`server-${best.s} for server-${taken}`));
    }
    assert.ok(broken.length === 0 || differs[0] !== 0, 'every spare is as good');
    await context.close();
  });
}

/** Links between switches that collide, by name, of a block of data. */
function collided(data, phase) {
  const model = new Model(data);
  const out = new Set();
  for (const [boundary, directions] of model.ratios(phase, 0, 0).entries()) {
    if (boundary > 0) directions.forEach((values, down) => values.forEach((ratio, i) => ratio > 1 + 1e-9 && out.add(model.linkName(boundary, i, down === 1))));
  }
  return out;
}

test('two designs stand side by side: heat, seconds, bills, what is newly collided', async () => {
  const { page, context, complaints } = await open(browser, make('versus', 'clos:gpus=128,radix=16', '--job', 'model=llama3-8b,tp=8', '--engine', 'ecmp'), { viewport: { width: 1440, height: 900 } });
  await unpacked(page);
  const block = async () => JSON.parse(await page.evaluate(() => document.getElementById('data').textContent));
  const kept = await block();
  assert.equal(await page.locator('#versus').count(), 0, 'it stands beside itself');
  await page.locator('#explore').getByLabel('Taper', { exact: true }).selectOption('3');
  await answered(page, 1);
  const now = await block();
  const phase = Number(await page.getByLabel('Phase', { exact: true }).inputValue());
  const [a, b] = [collided(now, phase), collided(kept, phase)];
  const added = [...a].filter((link) => !b.has(link)).length;
  assert.ok(added > 0);
  assert.match(await page.locator('#versus-links').textContent(), new RegExp(`${added} links? newly collided, ${[...b].filter((link) => !a.has(link)).length} no longer; ${a.size - added} collide`));
  const rows = (id) => page.locator(`#${id} tbody tr`).evaluateAll((all) => all.map((r) => [r.cells[0].textContent, r.querySelector('data')?.value, r.cells[1].textContent]));
  const bill = await rows('versus-bill');
  assert.equal(Number(bill.at(-1)[1]), now.report.cost.total_usd);
  assert.ok(Math.abs(bill.slice(0, -1).reduce((sum, [, value]) => sum + Number(value), 0) / now.report.cost.total_usd - 1) < 1e-9, 'lines add up');
  const times = new Map((await rows('versus-phases')).map(([name, value]) => [name, Number(value)]));
  for (const p of now.report.phases) assert.equal(times.get(p.name), p.engines[0].time_s);
  assert.equal(times.get('iteration'), now.report.iteration[0].time_s);
  const heat = () => page.locator('#versus-heat canvas').evaluateAll((all) => all.map((c) => c.toDataURL()));
  await page.locator('#versus-heat').scrollIntoViewIfNeeded(); // what is not in the window is not drawn
  await page.waitForFunction(() => [...document.querySelectorAll('#versus-heat canvas')].every((canvas) => canvas.style.height));
  const before = await heat();
  assert.equal(new Set(before).size, 2, 'two pictures that differ');
  await page.locator('#versus').screenshot({ path: join(pictures, 'versus-light.png') });
  await page.getByLabel('Colour', { exact: true }).selectOption('taper');
  assert.notDeepEqual(await heat(), before, 'the pictures follow what is chosen');
  await page.getByRole('button', { name: 'Keep these to compare' }).click();
  assert.equal(await page.locator('#versus').count(), 0);
  assert.deepEqual(complaints.filter((c) => !c.startsWith('asks for blob:')), []); // its own worker
  await context.close();
});

test('what warms the core is what the program answers', () => {
  for (const [command, ...words] of WARM.filter(([first]) => first !== 'hold')) assert.match(run(command, ...words), /"phases"/);
});

test('what is not in the window is drawn when it is printed', async () => {
  const { page, context } = await open(browser, make('print', 'clos:gpus=64,radix=16', '--job', 'model=llama3-8b,tp=8', '--engine', 'ecmp', '--engine', 'spray'), { viewport: { width: 1280, height: 300 } });
  const drawn = () => page.locator('canvas').evaluateAll((all) => all.map((canvas) => canvas.style.height !== '' || canvas.closest('.u-wrap') !== null));
  assert.ok((await drawn()).includes(false), 'all is drawn, though not seen');
  await page.pdf();
  assert.ok(!(await drawn()).includes(false), 'a canvas is empty');
  await context.close();
});

test('an empty page completes what is written', async () => {
  const { page, context, complaints } = await open(browser, make('empty'));
  await page.waitForFunction(() => /Write a design/.test(document.getElementById('explore-status').textContent), null, { timeout: 120000 });
  const line = page.locator('#explore-design');
  await line.pressSequentially('rail-s');
  await page.getByRole('option').first().waitFor();
  await line.press('ArrowDown');
  await line.press('Tab');
  assert.equal(await line.inputValue(), 'rail-spine:');
  await line.pressSequentially('gpus=64,tap');
  await line.press('ArrowDown');
  await line.press('Enter');
  assert.equal(await line.inputValue(), 'rail-spine:gpus=64,taper=');
  await line.pressSequentially('2');
  await line.press('Enter');
  await answered(page, 1);
  assert.equal((await agrees(page, 'from an empty line')).fabric.gpus, 64);
  assert.deepEqual(complaints.filter((c) => !c.startsWith('asks for blob:')), []); // its own worker
  await context.close();
});

test('the file of a design goes with the page', async () => {
  const design = join(folder, 'mine.xml');
  writeFileSync(design, '<design name="mine"><fabric family="clos" gpus="64" radix="16"/><job model="llama3-8b" tp="8"/></design>');
  const { page, context } = await open(browser, make('file', design));
  await unpacked(page);
  await page.locator('#explore').getByLabel('Taper', { exact: true }).selectOption('2');
  await answered(page, 1);
  const here = JSON.parse(await page.evaluate(() => document.getElementById('data').textContent)).report;
  const there = JSON.parse(run('run', design, '--set', 'fabric.taper=2', '--json', '--quiet'));
  assert.deepEqual(comparable(here), comparable(there));
  await context.close();
});

test.after(() => browser.close());
