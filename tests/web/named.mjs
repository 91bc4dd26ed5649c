// Whom a study calls critical: text, page and pictures name the same parts, and no others.
//
//     node named.mjs FOLDER TEXT       FOLDER: what `study show --top 1000 --out FOLDER` wrote; TEXT: what it printed
//
// Prints how many parts are named.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, readModel } from './page.mjs';

const [folder, printed] = process.argv.slice(2);
const { study } = readJson(folder);
const shown = study.policy.find((v) => v.engine === study.shown_engine && v.policy === study.shown_policy);
const single = shown.critical.every((c) => c.scenarios === 1);
const named = new Map(shown.critical.filter((c) => c.impact_ratio > 1e-9).map((c) => [c.name, c]));
const sorted = (names) => [...names].sort();
const count = (text) => Number(text.replaceAll(',', ''));
assert.ok([...named.values()].every((c) => c.clear) && named.size < 1000 && (single || named.size === shown.critical.length));

// Text: its tables, which count parts of equal impact, and its sentences.
const text = readFileSync(printed, 'utf8');
const rows = new Set();
let heading = '';
let more = 0;
for (const line of text.split('\n')) {
  heading = /^[A-Z]+ ?[A-Z]*(?=  )/.exec(line)?.[0] ?? heading;
  if (!['CRITICAL LINKS', 'CRITICAL PARTS'].includes(heading)) continue;
  const row = /^ {2}(\w+-\d+\S*(?: > \S+)?) +([\d.]+) %/.exec(line);
  if (row && Number(row[2]) > 0) rows.add(row[1]);
  more += count(/^ {2}and ([\d,]+) more/.exec(line)?.[1] ?? '0');
}
const told = text.replace(/\s+/g, ' ');
for (const name of rows) assert.ok(named.has(name), `the text lists ${name}`);
assert.ok(more > 0 || rows.size === named.size, `the text lists ${rows.size} parts, and ${named.size} are named`);
for (const [, name] of told.matchAll(/such as ([\w-]+(?::\d+ > [\w-]+:\d+)?)/g)) assert.ok(named.has(name), `a sentence names ${name}`);
if (!single) {
  assert.equal(rows.size + more, named.size, 'parts that the text counts');
  assert.equal(count(/([\d,]+) of [\d,]+ parts? stands? out/.exec(told)?.[1] ?? '0'), study.span_s > 0 ? 0 : named.size, 'parts that stand out');
}

// The page: the same ranking, the same parts by class, and the colours of its cables.
const { data, model } = readModel(folder);
assert.deepEqual(data.report.study, study);
const kinds = new Set(['link', 'port']);
const links = new Map([...named].filter(([, c]) => kinds.has(c.kind)));
const colours = model.criticality ? model.decode('criticality', model.criticality.ratio) : null; // none of links or nodes
assert.ok(colours || links.size === 0, 'the page has no colours for the links that are named');
const painted = new Map();
if (colours) model.graph.boundaries.forEach((b, i) => [0, 1].forEach((down) => colours[i][down].forEach((value, at) => {
  const name = [false, true].map((d) => model.linkName(i, at, d)).find((n) => links.has(n));
  if (value > 0) painted.set(name ?? model.linkName(i, at, down === 1), value);
})));
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 5e-6 * Math.max(a, b) + 1 / 4095, `${what}: ${a}, not ${b}`);
if (![...links.values()].some((c) => c.kind === 'port')) {
  assert.deepEqual(sorted(painted.keys()), sorted(links.keys()), 'cables that the page colours');
  for (const [name, value] of painted) near(value, links.get(name).impact_ratio, name);

  // The picture says between which boxes a cable is.
  const between = (names) => sorted(names.map((n) => sorted(n.replace(/:\d+/g, '').split(' > ')).join(' - ')));
  const svg = readFileSync(join(folder, 'fabric.svg'), 'utf8');
  const hot = [...svg.matchAll(/<path class="u([1-9])"[^>]*><title>([^<–]+) – ([^<:]+):[^<]*; criticality ([\d.e-]+)/g)];
  if (svg.includes('>nic-0 – ')) { // every NIC is drawn, and every cable a line
    assert.deepEqual(between(hot.map(([, , a, b]) => `${a} > ${b}`)), between([...links.keys()]), 'lines of the picture');
  }
  assert.equal(hot.length > 0, links.size > 0, 'a line that is coloured');
  const red = Math.max(0, ...hot.map((m) => Number(m[4])));
  const alike = hot.every((m) => Number(m[4]) > 0.8 * red); // within a fifth of each other none stands out
  for (const [, bin, a, b, value] of hot) assert.equal(bin, alike ? '2' : Number(value) > 0.8 * red ? '6' : bin === '6' ? 'less' : bin, `${a} - ${b} is of colour ${bin}`);
}
console.log(named.size);
