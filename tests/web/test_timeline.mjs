// The time machine of an iteration in a headless Chromium. Screenshots go to ARTEFACTS.
//
//     node test_timeline.mjs ARTEFACTS FOLDER        with the folders run, moments in FOLDER
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { launch, open } from './browser.mjs';
import { readModel } from './page.mjs';

const [artefacts, root] = process.argv.slice(2);
const browser = await launch();
if (!browser) {
  console.log('chromium or playwright-core is not installed: skipped (scripts/setup --tests)');
  process.exit(77);
}
mkdirSync(artefacts, { recursive: true });
const { model, data } = readModel(join(root, 'run'));
const schedule = model.schedule(0);
const file = join(root, 'run', 'report.html');
const canvas = (page) => page.locator('canvas.timeline');
const words = (page) => canvas(page).getAttribute('aria-valuetext');
const now = async (page) => Number(await canvas(page).getAttribute('aria-valuenow'));
const legend = async (page) => (await page.locator('.legend li .faint').allTextContents()).map((t) => Number(t.replaceAll(',', '')));

/** Where a moment of a stage is in the window, where the whole iteration is shown. */
async function spot(page, seconds, stage, part = 0.3) {
  await canvas(page).scrollIntoViewIfNeeded();
  const box = await canvas(page).boundingBox();
  const row = Math.max(3, Math.min(30, 340 / schedule.stages));
  return [box.x + 62 + ((box.width - 70) * seconds) / schedule.time_s, box.y + 22 + (stage + part) * row];
}

test('a click puts the cursor there, lights what is under way, and selects the slowest flow', async () => {
  const { page, context, complaints } = await open(browser, file, { viewport: { width: 1440, height: 900 } });
  assert.equal(await canvas(page).getAttribute('aria-valuenow'), null);
  const before = await legend(page);
  const reduce = data.report.phases.findIndex((p) => p.name === 'dp-rs');
  const op = [...Array(schedule.n).keys()].filter((i) => schedule.phasesOf(i).includes(reduce) && schedule.stage[i] === 0).at(-1);
  const middle = (schedule.start[op] + schedule.length[op] / 2) * schedule.tick_s;
  await page.mouse.click(...(await spot(page, middle, 0, 0.95)));
  assert.ok(Math.abs((await now(page)) - middle) < schedule.time_s / 500);
  assert.match(await words(page), /under way: dp-rs\.$/);
  const { last_flow: last } = data.report.phases[reduce].engines[0];
  const told = await page.locator('#fabric-detail').textContent();
  assert.match(told, /The slowest flow of dp-rs/);
  assert.ok(told.includes(`GPU ${last.src_gpu} → ${last.dst_gpu}`) && told.includes(`${last.bottleneck} holds it`) && told.includes(`${last.bottleneck_flows - 1} other flows`), told);
  assert.equal(await page.locator('#fabric-detail tr.best').count(), 1);
  await page.screenshot({ path: join(artefacts, 'timeline-click.png'), fullPage: true });
  // Links are those of the phases under way: here of one.
  const counts = new Array(9).fill(0);
  for (const load of data.report.phases[reduce].engines[0].link_loads) load.histogram.forEach((n, i) => (counts[i + 1] += n));
  const seen = await legend(page);
  assert.deepEqual([seen[0] + seen[1], ...seen.slice(2)], [counts[0] + counts[1], ...counts.slice(2)]);
  await page.getByRole('button', { name: 'No moment' }).click();
  assert.equal(await canvas(page).getAttribute('aria-valuenow'), null);
  assert.deepEqual(await legend(page), before);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('of too many operations a bar has several, the page says so, and the sums stay', async () => {
  const merged = readModel(join(root, 'merged'));
  const { iteration } = merged.data.report;
  for (const [engine, { per, n, n_ops: all }] of [merged.model.schedule(0), merged.model.schedule(1)].entries()) {
    assert.ok(per > 1 && n < all && all > 16384);
    const { page, context, complaints } = await open(browser, join(root, 'merged', 'report.html'));
    await page.getByLabel('Engine', { exact: true }).selectOption(String(engine));
    assert.ok((await page.locator('#timeline .note').first().textContent()).startsWith(`${all.toLocaleString('en-US')} operations are too many to be drawn one by one: of ${per} `));
    await page.locator('#timeline summary').click();
    const sums = await page.locator('#timeline-sums data').evaluateAll((list) => list.map((d) => Number(d.value)));
    const whole = sums.pop();
    assert.ok(Math.abs(whole / iteration[engine].time_s - 1) < 1e-6 && Math.abs(sums.reduce((a, b) => a + b) / whole - 1) < 1e-9, `${sums} and ${whole}`);
    assert.ok(Math.abs(sums[0] / iteration[engine].compute_s - 1) < 1e-4, `${sums[0]} s of computation, ${iteration[engine].compute_s} in the report`);
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test('where nothing travels no link is lit', async () => {
  const { page, context } = await open(browser, file);
  let idle = 0;
  while (idle < schedule.time_s && schedule.at(idle).phases.some((p) => data.report.phases[p].fabric_flows > 0)) idle += schedule.time_s / 997;
  assert.ok(idle < schedule.time_s);
  await page.mouse.click(...(await spot(page, idle, 0, 0.3)));
  await page.evaluate(() => document.querySelector('canvas.timeline').focus());
  assert.equal((await legend(page)).slice(1).reduce((a, b) => a + b), 0, await words(page));
  await context.close();
});

test('the keyboard moves, zooms, plays, and picks; the address has the moment', async () => {
  const { page, context, complaints } = await open(browser, file);
  await canvas(page).focus();
  await page.keyboard.press('End');
  assert.ok(Math.abs((await now(page)) - schedule.time_s) < 1e-6);
  await page.keyboard.press('Home');
  assert.equal(await now(page), 0);
  await page.keyboard.press('ArrowRight');
  assert.ok(Math.abs((await now(page)) - schedule.time_s / 200) < 1e-6);
  const { busiest_stage: stage } = data.report.iteration[0].schedule;
  await page.keyboard.press('Shift+ArrowRight');
  assert.ok(Math.abs((await now(page)) - schedule.edge(stage, schedule.time_s / 200, true)) < 1e-6);
  const at = await now(page);
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowRight');
  assert.ok(Math.abs((await now(page)) - at - schedule.time_s / 1.6 / 200) < 1e-6, 'a step is a part of what is shown');
  await page.keyboard.press('-');
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('#timeline-sums caption').textContent(), new RegExp(`stage ${stage + 1} `));
  await page.keyboard.press('Enter');
  assert.match(await page.locator('#fabric-detail h3').textContent(), /^The slowest flow of /);
  const paused = await now(page);
  await page.keyboard.press(' ');
  await page.waitForFunction((t) => Number(document.querySelector('canvas.timeline').getAttribute('aria-valuenow')) > t + 0.01, paused);
  await page.keyboard.press(' ');
  const stopped = await now(page);
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('"time":'));
  await page.waitForTimeout(400);
  assert.equal(await now(page), stopped, 'goes on');
  const other = await context.newPage();
  await other.goto(page.url());
  await other.waitForFunction(() => document.documentElement.dataset.ready);
  assert.ok(Math.abs((await now(other)) - stopped) < 1e-6);
  assert.deepEqual(await legend(other), await legend(page));
  await page.keyboard.press('Escape');
  assert.equal(await canvas(page).getAttribute('aria-valuenow'), null);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('the sums of every stage are the iteration', async () => {
  const { page, context } = await open(browser, file);
  await page.locator('#timeline details > summary').click();
  const shown = () => page.locator('#timeline-sums data').evaluateAll((all) => all.map((d) => Number(d.value)));
  for (const { stage, ...told } of data.report.iteration[0].schedule.stages) {
    await page.mouse.click(...(await spot(page, schedule.time_s / 2, stage)));
    const [compute, exchange, wait, optimizer, whole] = await shown();
    const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-3 * told.compute_s, `stage ${stage}: ${a} and ${b}`);
    near(compute, told.compute_s);
    near(exchange, told.exchange_s);
    near(wait + optimizer, told.bubble_s + told.send_s + told.replica_s + told.optimizer_s);
    near(compute + exchange + wait + optimizer, data.report.iteration[0].time_s);
    near(whole, data.report.iteration[0].time_s);
  }
  await context.close();
});

test('a cursor that is dragged keeps up: 24,576 GPUs', async () => {
  const { page, context } = await open(browser, file, { viewport: { width: 1440, height: 900 } });
  const frames = await page.evaluate(async () => {
    const line = document.querySelector('canvas.timeline');
    line.focus();
    const times = [];
    for (let i = 0; i < 60; i++) {
      const start = performance.now();
      line.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
      times.push(performance.now() - start);
      await new Promise((done) => requestAnimationFrame(done));
    }
    return times.sort((a, b) => a - b);
  });
  console.log(`  a step of the cursor: ${frames[30].toFixed(1)} ms in the middle, ${frames[57].toFixed(1)} ms of 95 %`);
  assert.ok(frames[30] < 50, `${frames[30]} ms`);
  await context.close();
});

test('several engines: each has its schedule; light, dark, narrow', async () => {
  const moments = readModel(join(root, 'moments'));
  for (const [colorScheme, width] of [['light', 1024], ['dark', 1440], ['light', 400]]) {
    const { page, context, complaints } = await open(browser, join(root, 'moments', 'report.html'), { colorScheme, viewport: { width, height: 900 } });
    await canvas(page).focus();
    for (const engine of [0, 1]) {
      await page.getByLabel('Engine', { exact: true }).selectOption(String(engine));
      assert.ok(Math.abs(Number(await canvas(page).getAttribute('aria-valuemax')) - moments.model.schedule(engine).time_s) < 1e-9);
    }
    await page.locator('#timeline').screenshot({ path: join(artefacts, `timeline-${colorScheme}-${width}.png`) });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test.after(() => browser.close());
