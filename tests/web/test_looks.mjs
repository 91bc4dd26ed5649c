// Pages that the manual leads to (run, and a share of the others: harness.mjs), in a real browser: 400, 1024 and 1440 pixels wide,
// light and dark, by keyboard alone, and in print. A page is opened once. Screenshots of two looks go to ARTEFACTS.
//
//     node test_looks.mjs ARTEFACTS FOLDER [PART OF A NAME]
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawAll, open } from './browser.mjs';
import { artefacts, browser, drawn, file, finish, root, test } from './harness.mjs';
import { readData } from './page.mjs';

const MANUAL = new URL('../../src/doc/manual/', import.meta.url);
const NO_PAGE = ['list', 'schema', 'explain', 'help', 'version', 'top', 'explore']; // explore: test_explore.mjs, test_walk.mjs
const names = readdirSync(root, { withFileTypes: true }).filter((e) => e.isDirectory() && readdirSync(join(root, e.name)).includes('report.html')).map((e) => e.name);

test('every command of the manual that has a page is among them', () => {
  const commands = new Set(readdirSync(MANUAL).filter((name) => name.endsWith('.md')).flatMap((name) => [...readFileSync(new URL(name, MANUAL), 'utf8').matchAll(/`fabriscope ([a-z]+)|\$ fabriscope ([a-z]+)/g)].map(([, a, b]) => a ?? b)));
  const shown = new Set(names.map((name) => readData(join(root, name)).data.report.meta.command));
  assert.deepEqual([...commands].filter((c) => !shown.has(c) && !NO_PAGE.includes(c)), []);
});

for (const name of new Set(['run', ...drawn(names)])) {
  test(`${name}: nothing is clipped, unreadable or out of reach`, async () => {
    const { page, context, complaints } = await open(browser, file(name), { colorScheme: 'light', viewport: { width: 1440, height: 900 } });
    await drawAll(page);
    await checkStructure(page);
    await checkKeyboard(page, name);
    await page.evaluate(() => { document.activeElement.blur(); scrollTo({ top: 0, behavior: 'instant' }); });
    for (const width of [1440, 1024, 400]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        if (colorScheme === 'light') assert.deepEqual(await clipped(page), [], `${name} at ${width}`);
        if (width === 1440) await checkContrast(page, colorScheme);
        const [box] = await page.locator('#verdict dd, #answers .card').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON()));
        assert.ok(box?.bottom <= 900 && box.height > 16, `${name} at ${width}: the first answer ends at ${box?.bottom}`);
        const whole = (width === 1440 && colorScheme === 'light') || (width === 400 && colorScheme === 'dark');
        if (whole) await page.screenshot({ path: join(artefacts, `${name}-${colorScheme}-${width}.jpeg`), type: 'jpeg', quality: 70, fullPage: true });
      }
    }
    await checkPrint(page, name);
    assert.deepEqual(complaints, []);
    await context.close();
  });
}

/** What reaches beyond the window, or is cut within what does not scroll; at 1440 pixels no table needs to scroll. */
const clipped = (page) => page.evaluate(() => {
  const out = [];
  const say = (what, e) => out.push(`${what}: ${e.tagName} ${e.id || e.className?.baseVal || e.className || ''} ${(e.caption ?? e).textContent.trim().slice(0, 50)}`);
  if (document.documentElement.scrollWidth > innerWidth) out.push(`${document.documentElement.scrollWidth} wide at ${innerWidth}`);
  for (const e of document.querySelectorAll('body *')) {
    if (!e.checkVisibility() || e.closest('svg, .u-wrap, .scroll, .tip, .skip, .hidden, script')) continue;
    const { left, right } = e.getBoundingClientRect();
    if (left < -1 || right > innerWidth + 1) say('beyond the window', e);
    if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'hidden' && e.clientWidth > 0) say('cut', e);
  }
  if (innerWidth === 1440) for (const e of document.querySelectorAll('.scroll > table')) if (e.checkVisibility() && e.parentElement.scrollWidth > e.parentElement.clientWidth + 1) say('scrolls', e);
  return out;
});

/** The tabulator reaches everything that can be used. */
async function checkKeyboard(page, name) {
  const wanted = await page.evaluate(() => {
    const usable = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"], [onclick]')]
      .filter((e) => e.checkVisibility() && !e.disabled && !e.closest('.u-wrap') && e.tabIndex >= 0);
    usable.forEach((e, i) => { e.dataset.tried = i; });
    addEventListener('focusin', (event) => { delete event.target.dataset?.tried; });
    return usable.length;
  });
  assert.ok(wanted >= 2, `${name} has ${wanted} things to use`);
  const left = () => page.evaluate(() => [...document.querySelectorAll('[data-tried]')].map((e) => e.outerHTML.slice(0, 100)));
  for (let i = 0; i < wanted + 20; i++) await page.keyboard.press('Tab');
  assert.deepEqual(await left(), [], `${name}: not reached`);
}

/** Nothing is cut at the edge of A4, and pages have their pictures. */
async function checkPrint(page, name) {
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: 'print' });
  const cut = await page.evaluate(() => [...document.querySelectorAll('table, svg.fs, canvas')].filter((e) => e.checkVisibility() && !e.closest('.u-wrap') && e.getBoundingClientRect().right > 719)
    .map((e) => `${(e.caption ?? e).textContent.slice(0, 40)}: ${Math.round(e.getBoundingClientRect().right)}`));
  assert.deepEqual(cut, [], `${name} in print`);
  if (name === 'run') {
    const pdf = await page.pdf({ path: join(artefacts, 'run.pdf'), format: 'A4' });
    const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    assert.ok(pages >= 3 && pages <= 14, `${pages} pages`);
  }
}

async function checkStructure(page) {
  const problems = await page.evaluate(() => {
    const out = [];
    const say = (what, element) => out.push(`${what}: ${element?.outerHTML.slice(0, 120)}`);
    if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length !== 1) out.push('not one main and one h1');
    for (const table of document.querySelectorAll('table')) {
      if (!table.caption?.textContent) say('no caption', table);
      for (const th of table.querySelectorAll('th')) if (!['row', 'col'].includes(th.scope)) say('no scope', th);
    }
    for (const field of document.querySelectorAll('select, input')) if (!field.labels?.length) say('no label', field);
    for (const canvas of document.querySelectorAll('canvas:not(.u-wrap canvas)')) if (!canvas.getAttribute('aria-label')) say('no words', canvas);
    for (const link of document.querySelectorAll('a[href^="#"]')) if (!document.getElementById(link.getAttribute('href').slice(1))) say('leads nowhere', link);
    const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
    for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) out.push(`id ${id} twice`);
    let level = 0;
    for (const heading of document.querySelectorAll('h1, h2, h3')) {
      const next = Number(heading.tagName[1]);
      if (next > level + 1) say('heading skips a level', heading);
      level = next;
    }
    return out;
  });
  assert.deepEqual(problems, []);
}

/** Text of every element that has some against what is behind it: 4.5 : 1 at least. */
async function checkContrast(page, scheme) {
  const bad = await page.evaluate(() => {
    const rgb = (colour) => colour.match(/[\d.]+/g).map(Number);
    const light = (c) => rgb(c).slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (element) => {
      for (let e = element; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor;
        if (rgb(colour)[3] !== 0) return colour;
      }
      return 'rgb(255, 255, 255)';
    };
    const out = new Set();
    for (const element of document.querySelectorAll('body *')) {
      if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(element.tagName)) continue;
      const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) out.add(`${element.tagName} .${element.className} ${ratio.toFixed(2)}`);
    }
    return [...out];
  });
  assert.deepEqual(bad, [], `contrast in ${scheme}`);
}

await finish();
