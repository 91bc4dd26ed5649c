// What the tests of pages share: their folders, figures as they are shown beside those of a report, and the run of the tests.
//
//     node TEST.mjs ARTEFACTS FOLDER [PART OF A NAME]        the pages are those of tests/cli/test_html_page.sh
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch, toFabric } from './browser.mjs';
import { readJson } from './page.mjs';

export const [artefacts, root, only = ''] = process.argv.slice(2);
export const file = (name) => join(root, name, 'report.html');
export const json = (name) => readJson(join(root, name));

export const browser = await launch();
if (!browser) {
  console.log('chromium or playwright-core is not installed: skipped (scripts/setup --tests)');
  process.exit(77);
}
mkdirSync(artefacts, { recursive: true });

/** Of names the share that this commit tries (tests/cli/common.sh): by a hash of each and the seed. */
const { FABRISCOPE_TEST_SHARE: share = 1, FABRISCOPE_TEST_SEED: seed = 0 } = process.env;
export const drawn = (names) => names.filter((name) => parseInt(createHash('sha256').update(`${seed} ${name}`).digest('hex').slice(0, 8), 16) % share === 0);

const tests = [];
export const test = (name, run) => tests.push({ name, run });

/** A figure as it is shown ("8.169 s", "$200.0M", "59.7 %"): its value, and half a unit of its last place. */
function shown(text) {
  const found = /(-?[\d,]*\.?\d+)\s?(P|T|G|M|k|m|µ|n|B)?(%)?/.exec(text.replace('$', ''));
  assert.ok(found, `'${text}' has no figure`);
  const prefix = { P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, m: 1e-3, 'µ': 1e-6, n: 1e-9, B: text.startsWith('$') ? 1e9 : 1 }[found[2]] ?? 1;
  const scale = prefix * (found[3] ? 0.01 : 1);
  const digits = found[1].replaceAll(',', '');
  return { value: Number(digits) * scale, room: 0.5 * 10 ** -(digits.split('.')[1]?.length ?? 0) * scale };
}
export function same(text, value, what) {
  const { value: seen, room } = shown(text);
  const near = Math.abs(seen - value) <= Math.min(room, 0.1 * Math.abs(value)) * (1 + 1e-9);
  assert.ok(near, `${what}: '${text}' is shown, the report has ${value}`);
}

export const cells = (page, id) => page.evaluate((table) => [...document.querySelectorAll(`#${table} tbody tr`)].map((row) => [...row.cells].map((cell) => cell.textContent)), id);
export const pixels = async (page) => {
  await toFabric(page);
  return page.evaluate(() => document.querySelector('canvas.fabric').toDataURL());
};
export const text = (page, selector) => page.locator(selector).first().textContent();

/** Runs them all, and ends the program. */
export async function finish() {
  let failed = 0;
  for (const { name, run } of tests.filter((t) => t.name.includes(only))) {
    const start = Date.now();
    try {
      await run();
      console.log(`ok   ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}\n     ${String(error.stack).split('\n').slice(0, 8).join('\n     ')}`);
    }
  }
  await browser.close();
  console.log(`${tests.length} tests, seed ${seed}, ${failed} failures; pictures in ${artefacts}`);
  process.exit(failed === 0 ? 0 : 1);
}
