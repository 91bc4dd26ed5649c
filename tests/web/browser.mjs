// A headless Chromium that is offline, and notes everything that a page complains about or asks for.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** The browser, or null where it or playwright-core is not installed. */
export async function launch() {
  let chromium = null;
  try {
    ({ chromium } = createRequire(new URL('../../reports/web/package.json', import.meta.url))('playwright-core'));
  } catch {
    return null;
  }
  return CHROMIUM ? chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] }) : null;
}

let idle = null; // a context that was closed: a process of its own for every page would take half of the time

/** A page with `complaints`, and how many milliseconds passed until it was ready. */
export async function open(browser, file, { viewport = { width: 1280, height: 900 }, colorScheme = 'light' } = {}) {
  const context = idle ?? await browser.newContext({ offline: true });
  const page = context.pages()[0] ?? await context.newPage();
  idle = null;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme });
  const complaints = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => request.url() !== `file://${file}` && complaints.push(`asks for ${request.url()}`));
  await page.goto(`file://${file}`);
  const ready = await page.evaluate(() => performance.getEntriesByName('fabriscope-ready')[0].startTime);
  return { page, context: { newPage: () => context.newPage(), close: () => putBack(context, page) }, complaints, ready };
}

/** Empty, for whoever opens the next file. */
async function putBack(context, page) {
  page.removeAllListeners();
  if (idle || context.pages().length > 1) return context.close();
  await page.goto('about:blank');
  await page.mouse.move(0, 0);
  idle = context;
}

/** Scrolls to the fabric, which is drawn when it comes into the window. */
export async function toFabric(page) {
  await page.locator('canvas.fabric').first().scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector('canvas.fabric').style.height);
}

/** Moves over the canvas until its tip says what is looked for; the place in the window, or null. */
export async function find(page, pattern) {
  await toFabric(page);
  return page.evaluate((source) => {
    const looked = new RegExp(source);
    const canvas = document.querySelector('canvas.fabric');
    const tip = canvas.parentElement.querySelector('.tip');
    const box = canvas.getBoundingClientRect();
    for (let y = box.top + 12; y < box.bottom; y += 11) {
      for (let x = box.left + 60; x < box.right; x += 13) {
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y, bubbles: true }));
        if (!tip.hidden && looked.test(tip.textContent)) return { x, y, tip: tip.textContent };
      }
    }
    return null;
  }, pattern.source);
}

/** Everything drawn when it comes into sight is drawn, and laid out from then on. */
export const drawAll = (page) => page.evaluate(async () => {
  for (const part of document.querySelectorAll('.part')) part.style.contentVisibility = 'visible';
  for (let y = 0; y < document.documentElement.scrollHeight; y += 700) {
    scrollTo({ top: y, behavior: 'instant' });
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
  scrollTo({ top: 0, behavior: 'instant' });
});
