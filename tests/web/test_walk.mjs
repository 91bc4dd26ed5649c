// Someone who has never seen a page finds the hottest link, why it is hot, and what helps, in three clicks; and the fabric
// of 24,576 GPUs: found by name, zoomed into, panned, in full screen, in colours that everybody tells apart.
//
//     node test_walk.mjs PROGRAM ARTEFACTS FOLDER        with the folder run in FOLDER
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { launch, open } from './browser.mjs';
import { readModel } from './page.mjs';

const [program, artefacts, root] = process.argv.slice(2);
const browser = await launch();
if (!browser) {
  console.log('chromium or playwright-core is not installed: skipped (scripts/setup --tests)');
  process.exit(77);
}
mkdirSync(artefacts, { recursive: true });
const run = (...words) => execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
const { model, data } = readModel(join(root, 'run'));
const file = join(root, 'run', 'report.html');
const detail = (page) => page.locator('#fabric-detail').textContent();
const worst = data.report.phases.map((p) => p.engines[0]).reduce((a, b) => (b.max_collision_factor > a.max_collision_factor ? b : a));

/** Nothing is wider than the window, and no text of the fabric's part is cut. */
async function isWhole(page, width) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `${wide} wide at ${width}`);
  const cut = await page.evaluate(() => [...document.querySelectorAll('.detail button, .filters button, .filters .choice, .helps li, #timeline .key .item')]
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.textContent.slice(0, 40)));
  assert.deepEqual(cut, []);
}

const looks = [['light', 1440], ['dark', 1024], ['light', 400]]; // one of them, another for other commits (tests/cli/common.sh)
const { FABRISCOPE_TEST_SHARE: share = '1', FABRISCOPE_TEST_SEED: seed } = process.env;
for (const [scheme, width] of share === '1' ? looks : [looks[parseInt(seed, 16) % 3 || 0]]) {
  test(`three clicks: ${scheme}, ${width} wide`, async () => {
    const words = ['clos:gpus=512,radix=32,taper=2', '--job', 'model=llama3-8b,tp=8', '--engine', 'ecmp'];
    const page_ = join(root, 'walk.html');
    writeFileSync(page_, run('explore', ...words, '--quiet'));
    const { page, context, complaints } = await open(browser, page_, { colorScheme: scheme, viewport: { width, height: 900 } });
    await page.waitForFunction(() => !/unpacked/.test(document.getElementById('explore-status').textContent), null, { timeout: 120000 });
    const shot = (name) => page.screenshot({ path: join(artefacts, `walk-${name}-${scheme}-${width}.png`) });
    const before = JSON.parse(await page.evaluate(() => document.getElementById('data').textContent)).report;
    await shot('0-first');
    // 1: the hottest link, and why it is.
    await page.getByRole('link', { name: 'Show the worst one' }).click();
    await page.waitForTimeout(600); // the page scrolls there
    const hot = before.phases.map((p) => p.engines[0]).reduce((a, b) => (b.max_collision_factor > a.max_collision_factor ? b : a)).hot_links[0];
    const told = await detail(page);
    assert.ok(told.includes(`Cable ${hot.link_id >> 1}`) && told.includes(hot.factor.toFixed(2)), told);
    assert.match(told, /The (routing|design) is why/);
    assert.match(told, new RegExp(`${hot.n_flows} flows share`));
    await shot('1-link');
    await isWhole(page, width);
    // 2: what helps.
    await page.getByRole('button', { name: 'Adaptive routing instead' }).click();
    await page.getByRole('button', { name: 'take it' }).waitFor({ timeout: 120000 });
    const seconds = Number(await page.locator('.helps data').first().getAttribute('value'));
    assert.ok(seconds < 0, `${seconds} s`);
    await shot('2-helps');
    await isWhole(page, width);
    // 3: take it.
    await page.getByRole('button', { name: 'take it' }).click();
    await page.waitForFunction(() => document.getElementById('explore-status').dataset.answers === '1', null, { timeout: 120000 });
    const after = JSON.parse(await page.evaluate(() => document.getElementById('data').textContent)).report;
    assert.ok(Math.abs(after.iteration[0].time_s - before.iteration[0].time_s - seconds) < 1e-12);
    await page.locator('#versus').waitFor();
    await page.evaluate(() => document.getElementById('versus').scrollIntoView({ behavior: 'instant' }));
    await shot('3-taken');
    await isWhole(page, width);
    assert.deepEqual(complaints.filter((c) => !c.startsWith('asks for blob:')), []); // its own worker
    await context.close();
  });
}

test('24,576 GPUs: the fullest link in one click', async () => {
  const { page, context } = await open(browser, file, { viewport: { width: 1440, height: 900 } });
  await page.getByRole('button', { name: 'Fullest link' }).click();
  const told = await detail(page);
  assert.ok(told.includes(`Cable ${worst.hot_links[0].link_id >> 1}`), told);
  assert.match(told, /The routing is why/);
  await page.screenshot({ path: join(artefacts, 'fullest-24576.png') });
  await page.getByLabel('Colour', { exact: true }).selectOption('taper');
  await page.getByRole('button', { name: 'Fullest link' }).click();
  const most = Math.max(...model.tapers(data.report.phases.findIndex((p) => p.engines[0] === worst)).slice(1).flat().map((values) => values.reduce((m, v) => Math.max(m, v), 0)));
  assert.ok((await detail(page)).includes(most.toFixed(2)));
  await context.close();
});

test('24,576 GPUs: ranks, servers, switches, ports and cables are found', async () => {
  const { page, context, complaints } = await open(browser, file, { viewport: { width: 1440, height: 900 } });
  const find = async (text) => {
    await page.getByLabel('Find').fill(text);
    await page.getByLabel('Find').press('Enter');
    return detail(page);
  };
  const b = model.graph.boundaries[1];
  const name = model.linkName(1, 777, false);
  assert.match(await find('leaf-200'), /^leaf-200/);
  assert.ok((await find(name)).startsWith(`Cable ${b.cable[777]}`));
  assert.ok((await find(name.split(' > ')[0])).startsWith(`Cable ${b.cable[777]}`), 'by its port');
  assert.ok((await find(`cable ${b.cable[777]}`)).startsWith(`Cable ${b.cable[777]}`));
  assert.match(await find('server 1000'), /^servers? (1000|\d+ to \d+)/);
  const gpu = model.ranks[2544];
  assert.ok((await find('rank 2544')).includes(`nic-${gpu}:`));
  const { flows: [flow] } = worst.hot_links[0];
  assert.equal(model.ranks[flow.src_rank], flow.src_gpu);
  await find('leaf-99999');
  assert.match(await page.locator('#fabric [role=status]').first().textContent(), /There is no leaf-99999/);
  await page.getByLabel('Find').fill('');
  await page.getByLabel('Find').pressSequentially('spi');
  await page.getByRole('option', { name: /^spine-/ }).first().waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

test('24,576 GPUs: the wheel goes from pods to switches to ports and back; panning keeps up with the screen', async () => {
  const { page, context, complaints } = await open(browser, file, { viewport: { width: 1440, height: 900 } });
  const canvas = page.locator('canvas.fabric');
  const words = () => canvas.getAttribute('aria-label');
  const whole = await words();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const wheel = (deltaY, n) => page.evaluate(([x, y, by, times]) => {
    for (let i = 0; i < times; i++) document.querySelector('canvas.fabric').dispatchEvent(new WheelEvent('wheel', { clientX: x, clientY: y, deltaY: by, ctrlKey: true, bubbles: true, cancelable: true }));
  }, [box.x + box.width / 2, box.y + 200, deltaY, n]);
  await wheel(-1, 3);
  assert.match(await words(), /leaf: 199/, 'a pod is open');
  await wheel(-1, 20);
  await page.locator('#fabric').screenshot({ path: join(artefacts, 'ports.png') });
  const measure = () => page.evaluate(async () => {
    const target = document.querySelector('canvas.fabric');
    const { left, top } = target.getBoundingClientRect();
    const point = (type, x) => target.dispatchEvent(new PointerEvent(type, { clientX: left + x, clientY: top + 120, bubbles: true }));
    point('pointerdown', 400);
    const work = [];
    for (let i = 0; i < 90; i++) {
      const start = performance.now();
      point('pointermove', 400 + 3 * (i < 45 ? i : 90 - i));
      work.push(performance.now() - start);
      await new Promise((done) => requestAnimationFrame(done));
    }
    point('pointerleave', 400);
    return work.sort((a, b) => a - b);
  });
  const told = [];
  for (const what of ['ports', 'every switch']) {
    if (what === 'every switch') {
      await page.getByRole('button', { name: 'Every switch' }).click();
      for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Wider' }).click();
    }
    const work = await measure();
    told.push(`${what} ${work[45].toFixed(1)} ms, 95 % ${work[85].toFixed(1)} ms`);
    assert.ok(work[45] < 16, `${what}: ${work[45]} ms of a frame`);
  }
  console.log(`  work of a frame: ${told.join('; ')}`);
  await page.getByRole('button', { name: 'Close all' }).click();
  await page.getByLabel('Merged by').selectOption('pod');
  await wheel(-1, 3);
  await wheel(1, 12);
  assert.equal(await words(), whole, 'the whole again');
  assert.deepEqual(complaints, []);
  await context.close();
});

test('overload stands out most in both themes, and for every kind of colour vision', async () => {
  // Machado, Oliveira, Fernandes 2009, severity 1; in linear RGB.
  const SEEN = {
    all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
  };
  const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const lab = ([r, g, b]) => {
    const t = (v) => (v > 216 / 24389 ? Math.cbrt(v) : (24389 / 27 * v + 16) / 116);
    const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, light([r, g, b]), (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883].map((v) => t(Math.max(0, v)));
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  for (const colorScheme of ['light', 'dark']) {
    const { page, context } = await open(browser, file, { colorScheme });
    const [paper, ...bins] = await page.evaluate(() => ['paper', ...Array.from({ length: 8 }, (_, i) => `bin-${i}`)].map((name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()));
    const contrast = (colour) => {
      const [a, b] = [light(linear(colour)), light(linear(paper))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    for (let i = 1; i < 8; i++) assert.ok(contrast(bins[i]) > contrast(bins[i - 1]), `${colorScheme}: bin ${i} is not more salient than the one below`);
    assert.ok(contrast(bins[4]) >= 3, `${colorScheme}: overload has a contrast of ${contrast(bins[4])}`);
    for (const [who, matrix] of Object.entries(SEEN)) {
      const seen = bins.map((colour) => lab(matrix.map((row) => row.reduce((sum, m, i) => sum + m * linear(colour)[i], 0))));
      for (const below of seen.slice(0, 4)) for (const above of seen.slice(4)) assert.ok(Math.hypot(...below.map((v, i) => v - above[i])) > 25, `${colorScheme}, ${who}: ${Math.hypot(...below.map((v, i) => v - above[i]))}`);
    }
    await context.close();
  }
});

test.after(() => browser.close());
