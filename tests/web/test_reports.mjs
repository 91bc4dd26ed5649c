// Pages of the other commands in a real browser: every figure is that of the report.
//
//     node test_reports.mjs ARTEFACTS FOLDER [PART OF A NAME]
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawAll, open } from './browser.mjs';
import { browser, cells, file, finish, json, root, same, test, text } from './harness.mjs';
import { readModel } from './page.mjs';

test('an audit says of how much it speaks', async () => {
  const { audit } = json('unruled');
  assert.ok(audit.findings.length === 0 && audit.cables_with_rule === 0 && audit.cables > 0);
  const { page, context } = await open(browser, file('unruled'));
  const card = await text(page, '#answer-audit');
  assert.ok(card.includes('No regular structure was found') && card.includes(`Rules speak of 0 of ${audit.cables} cables`), card);
  assert.ok(!(await text(page, 'main')).includes('Nothing departs') && !card.includes('are there'));
  assert.deepEqual((await cells(page, 'coverage')).map((r) => r.slice(1)), audit.coverage.map((b) => [`${b.cables}`, `${b.with_rule}`]));
  await context.close();
});

test('a choice of the design is no fault', async () => {
  const { findings } = json('choices').audit;
  const choices = findings.filter((x) => x.is_choice);
  assert.ok(choices.length > 0);
  const { page, context } = await open(browser, file('choices'));
  assert.deepEqual((await cells(page, 'by-design')).map((r) => [r[0], r[7]]), choices.map((x) => [x.finding, x.work]));
  assert.deepEqual((await cells(page, 'findings')).map((r) => r[0]), findings.filter((x) => !x.is_choice).map((x) => x.finding));
  const card = await text(page, '#answer-audit');
  assert.ok(card.includes(`${choices.length} choice${choices.length === 1 ? '' : 's'} of the design, no faults.`) && !card.includes('single-point'), card);
  await context.close();
});

test('an audit stands on the floor of its plan: racks to walk to, what is missing in red', async () => {
  const { data } = readModel(join(root, 'racks'));
  const { findings } = json('racks').audit;
  const missing = findings.filter((x) => ['missing-cable', 'missing-port', 'absent-switch', 'dead-port', 'unreachable'].includes(x.finding));
  assert.ok(findings.length > 5 && missing.length > 5 && findings.every((x) => /^hall-0\/row-\d+\/rack-\d+$/.test(x.rack)), 'every box has its rack');
  const led = new Map(); // findings that lead to a rack
  for (const x of findings) for (const rack of new Set([x.rack, x.other_rack].filter(Boolean))) led.set(rack, (led.get(rack) ?? 0) + 1);
  const { page, context, complaints } = await open(browser, file('racks'));
  const drawn = await page.evaluate(() => ({
    racks: [...document.querySelectorAll('svg.fs rect.b')].map((e) => [e.textContent.split('\n')[0], e.classList.contains('x')]),
    numbers: [...document.querySelectorAll('svg.fs text.g')].map((e) => Number(e.textContent)),
    rows: [...document.querySelectorAll('svg.fs text.r')].map((e) => e.textContent).filter((name) => name.startsWith('row ')),
    red: document.querySelectorAll('svg.fs path.f').length,
    text: document.querySelector('svg.fs').textContent,
  }));
  assert.deepEqual(new Set(drawn.racks.filter(([, red]) => red).map(([name]) => name)), new Set(missing.flatMap((x) => [x.rack, x.other_rack].filter(Boolean))));
  assert.ok(drawn.racks.length > 16, 'sixteen racks of servers, and those of switches');
  assert.deepEqual(drawn.rows.sort(), [...new Set(drawn.racks.map(([name]) => `row ${name.match(/row-(\d+)/)[1]}`))].sort(), 'every row has its name once');
  assert.deepEqual(drawn.numbers.sort((a, b) => a - b), [...led.values()].sort((a, b) => a - b));
  assert.equal(drawn.red, missing.filter((x) => x.other_rack && x.other_rack !== x.rack).length);
  assert.ok(drawn.text.includes(`${findings.length} findings, ${missing.reduce((sum, x) => sum + x.cables, 0)} cables missing`), drawn.text.slice(0, 400));
  assert.ok(drawn.text.includes(`${findings[0].rack}: `) && drawn.text.includes(findings[0].work));
  assert.equal(data.audit_picture, readFileSync(join(root, 'racks', 'audit.svg'), 'utf8'), 'the page shows another drawing than --export');
  assert.ok((await text(page, '#answer-work')).includes(findings[0].rack));
  const orders = await cells(page, 'findings');
  assert.deepEqual(orders.map((r) => r.at(-1)), findings.map((x) => [x.rack, x.other_rack].filter(Boolean).join(', ')));
  assert.deepEqual(complaints, []);
  await context.close();
  // Without racks: the boxes that findings name.
  const other = await open(browser, file('audit'));
  const boxes = await other.page.evaluate(() => [...document.querySelectorAll('svg.fs rect.b title')].map((e) => e.textContent.split('\n')[0]));
  assert.deepEqual(new Set(boxes), new Set(json('audit').audit.findings.flatMap((x) => [x.node, x.other_node].filter(Boolean))));
  assert.ok((await text(other.page, 'svg.fs')).includes('no rack is known'));
  await other.context.close();
});

/** Links above 1 and of all, by boundary, as a figure of heat tells them. */
const heats = (page) => page.evaluate(() => [...document.querySelectorAll('.pair-heat figure')].map((figure) => Object.fromEntries([...figure.querySelectorAll('.heat-row p')].map((e) => {
  const [, boundary, hot, all] = /^(.*): ([\d,]+) of ([\d,]+) link/.exec(e.textContent);
  return [boundary, [hot, all].map((n) => Number(n.replaceAll(',', '')))];
}))));
const hotLinks = (loads) => {
  const out = {};
  for (const { boundary, histogram } of loads) {
    out[boundary] ??= [0, 0];
    out[boundary][0] += histogram.slice(4).reduce((a, b) => a + b);
    out[boundary][1] += histogram.reduce((a, b) => a + b);
  }
  return out;
};

test('two designs, and two states, show how full their links are, as runs of each do', async () => {
  const alone = json('alone');
  const { page, context, complaints } = await open(browser, file('compare'));
  await page.getByLabel('beside', { exact: true }).selectOption('2');
  for (const phase of alone.phases.filter((p) => p.fabric_flows > 0 && (p.engines[0].number ?? 1) === 1)) { // of the first engine's plan
    await page.getByLabel('links in phase', { exact: true }).selectOption(phase.name);
    assert.deepEqual((await heats(page))[1], hotLinks(phase.engines[0].link_loads), phase.name);
  }
  assert.ok(alone.phases.some((p) => p.engines[0].collided_links > 0));
  assert.deepEqual(complaints, []);
  await context.close();
  const { diff } = json('diff');
  const states = await open(browser, file('diff'));
  for (const phase of diff.engines[0].phases.filter((p) => p.new_links + p.gone_links > 0)) {
    await states.page.getByLabel('Links in phase', { exact: true }).selectOption({ label: phase.name });
    const [before, after] = (await heats(states.page)).map((of) => of['leaf-spine'][0]);
    assert.equal(after - before, phase.new_links - phase.gone_links, phase.name);
  }
  await states.context.close();
});

test('two states: the answer, the cause and what changed stand on the first screen', async () => {
  const { diff } = json('diff');
  assert.ok(diff.is_verified && diff.changes.length > 0 && diff.engines[0].new_links > 0);
  const { page, context } = await open(browser, file('diff'));
  const card = await text(page, '#answer-diff');
  assert.ok(card.includes(`${diff.verdict}.`) && card.includes(`Cause, verified: ${diff.cause}.`), card);
  for (const c of diff.changes) assert.ok((await text(page, '#answer-changes')).includes(`${c.kind} ${c.what}: was ${c.before}, is ${c.after}`));
  assert.ok((await text(page, '#answer-links')).startsWith(`What does that do?${diff.engines[0].new_links} links`));
  for (const id of ['answer-diff', 'answer-changes', 'answer-links']) {
    const box = await page.locator(`#${id}`).boundingBox();
    assert.ok(box.y + box.height <= 900, `${id} ends at ${box.y + box.height}`);
  }
  const rows = await page.evaluate(() => [...document.querySelectorAll('#diff table')[0].tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent)));
  assert.deepEqual(rows.map((r) => r[0]), [...diff.engines[0].phases.map((p) => p.name), 'iteration']);
  for (const [i, p] of diff.engines[0].phases.entries()) same(rows[i][2], p.after_s, p.name);
  await context.close();
});

test('warnings stand on the first screen', async () => {
  const { warnings } = json('warned').meta;
  assert.ok(warnings.length > 0);
  for (const viewport of [{ width: 1280, height: 900 }, { width: 400, height: 900 }]) {
    const { page, context } = await open(browser, file('warned'), { viewport });
    assert.deepEqual(await page.locator('#warnings li').allTextContents(), warnings.map((w) => `Warning: ${w}.`));
    const box = await page.locator('#warnings').boundingBox();
    assert.ok(box.y + box.height <= 900, `ends at ${box.y + box.height}`);
    await context.close();
  }
});

/* --- the other commands ------------------------------------------------------------------------------------------- */

test('busbw: every size under every engine, as in the report', async () => {
  const { rows } = json('busbw').busbw;
  const { page, context, complaints } = await open(browser, file('busbw'));
  const engines = [...new Set(rows.map((r) => r.engine))];
  assert.equal(engines.length, 2);
  for (const [i, engine] of engines.entries()) {
    const shown = await cells(page, `busbw-table-${i}`);
    const wanted = rows.filter((r) => r.engine === engine);
    assert.equal(shown.length, wanted.length);
    for (const [k, row] of wanted.entries()) {
      assert.equal(shown[k][1], `${row.algorithm} ${row.protocol}`);
      assert.ok(Math.abs(Number(shown[k][4].replace(/,/g, '')) / (row.busbw_bps / 8e9) - 1) < 1e-3);
      assert.ok(Math.abs(Number(shown[k][5].replace(/,/g, '')) / (row.measured_busbw_bps / 8e9) - 1) < 1e-3);
    }
  }
  assert.deepEqual(complaints, []);
  await context.close();
});

const UNITS = { ns: 1e-9, us: 1e-6, 'µs': 1e-6, ms: 1e-3, s: 1 };
const secondsOf = (text) => Number(text.split(/\s/)[0].replace(/,/g, '')) * UNITS[text.split(/\s/)[1]];

test('serving and ranking: every figure of every engine, as in the report', async () => {
  const near = (shown, value) => assert.ok(Math.abs(secondsOf(shown) / value - 1) < 6e-3, `${shown} is not ${value} s`);
  const { serving } = json('serving');
  const { page, context, complaints } = await open(browser, file('serving'));
  const [alone, waits] = [await cells(page, 'serving-table'), await cells(page, 'waits-table')];
  assert.equal(alone.length, 2);
  for (const [i, row] of serving.entries()) {
    near(alone[i][1], row.first_token_s);
    near(alone[i][3], row.token_s);
    assert.ok(Math.abs(Number(alone[i][10].replace(/[$,]/g, '')) / row.usd_per_1e6_tokens - 1) < 1e-3);
    for (const [k, key] of ['first_token_p50_s', 'first_token_p99_s', 'token_p50_s', 'token_p99_s'].entries()) near(waits[i][3 + k], row[key]);
    assert.ok(row.first_token_p99_s > row.first_token_p50_s);
  }
  assert.equal(await page.locator('#serving .chart').count(), 2);
  assert.deepEqual(complaints, []);
  await context.close();
  const { ranking, phases } = json('ranking');
  const other = await open(browser, file('ranking'));
  for (const [i, row] of ranking.entries()) {
    const parts = await cells(other.page, `batch-${i}`);
    near(parts.at(-1)[1], row.batch_s);
    near(parts.find((r) => r[0] === 'exchange of vectors')[1], row.exchange_s);
  }
  assert.equal((await cells(other.page, 'exchange-table')).length, phases.filter((p) => p.name.startsWith('embedding')).length);
  assert.deepEqual(other.complaints, []);
  await other.context.close();
});

test('mix: a taper between pods that training does not see slows ranking, and the page says so first', async () => {
  const [whole, tapered] = json('mix').mix.designs.map((d) => d.engines[0]);
  const { page, context, complaints } = await open(browser, file('mix'));
  const rows = await cells(page, 'fungible-table');
  assert.deepEqual(rows.map((row) => row.at(-1)), ['yes', 'no: ranking']);
  assert.ok(whole.serves_all && !tapered.serves_all && tapered.training_slowdown_ratio < 1.01 && tapered.ranking_slowdown_ratio > 1.1);
  assert.equal(rows[1][3], `${tapered.ranking_slowdown_ratio.toFixed(3)} ×`);
  assert.deepEqual(complaints, []);
  await context.close();
});

test('observe: who is suspected stands first, with the evidence', async () => {
  const { suspects } = json('observe').observe;
  const { page, context, complaints } = await open(browser, file('observe'));
  assert.ok(suspects.length >= 3);
  assert.deepEqual((await cells(page, 'observe-table')).map((row) => row.slice(0, 3)), suspects.map((s) => [s.name, s.suspect, s.evidence]));
  assert.deepEqual(complaints, []);
  await context.close();
});

test('commands of one question answer it first, with the figures of the report', async () => {
  const first = async (name, id) => {
    const { page, context } = await open(browser, file(name));
    assert.equal(await page.locator('#answers .card').first().getAttribute('id'), id, name);
    const told = await text(page, `#${id}`);
    const strong = await text(page, `#${id} strong`);
    await context.close();
    return { told, strong };
  };
  const { rows } = json('busbw').busbw;
  const busbw = await first('busbw', 'answer-busbw');
  const [engine] = rows.map((r) => r.engine);
  same(busbw.strong.replace('GB/s', ''), Math.max(...rows.filter((r) => r.engine === engine && r.bytes === Math.max(...rows.map((x) => x.bytes))).map((r) => r.busbw_bps)) / 8e9, 'bus bandwidth');
  const { suspects: [suspect] } = json('observe').observe;
  const observed = (await first('observe', 'answer-observe')).told;
  assert.ok(observed.includes(`${suspect.suspect}: ${suspect.name}`) && observed.includes(suspect.evidence));
  const { plans: [plan], is_proven: proven } = json('plan').plan;
  const planned = await first('plan', 'answer-plan');
  same(planned.strong, plan.time_s, 'plan');
  assert.ok(planned.told.includes(`tp=${plan.tp},cp=${plan.cp},pp=${plan.pp},dp=${plan.dp}`) && planned.told.includes('Proven') === proven, planned.told);
  const served = json('serving').serving[0];
  const serving = await first('serving', 'answer-serving');
  same(serving.strong, served.tokens_per_s, 'tokens');
  same(serving.told.match(/a token in (.*?s)T/)[1], served.token_s, 'a token');
  assert.equal(serving.told.match(/\$([\d.]+) per million tokens/)[1], String(Number(served.usd_per_1e6_tokens.toPrecision(4))));
  const explained = (await first('explain', 'answer-explain')).told;
  const crossed = readModel(join(root, 'explain')).data.report.explain.phases.reduce((a, b) => (b.utilisation_ratio > a.utilisation_ratio ? b : a));
  assert.ok(explained.includes(`${crossed.n_flows} flows of ${crossed.name} ask for ${crossed.utilisation_ratio.toFixed(2)} of what`), explained);
  const { validate } = json('validate');
  assert.ok((await first('validate', 'answer-validate')).strong === `${validate.met} of ${validate.met + validate.missed}`);
  const found = json('import').import;
  assert.ok((await first('import', 'answer-import')).told.includes(`${found.servers} servers of ${found.nics_per_server} NICs`));
  const listed = json('traffic').phases;
  same((await first('traffic', 'answer-traffic')).strong, listed.reduce((sum, p) => sum + p.bytes, 0), 'bytes');
  const [search] = json('place').sweep.searches;
  const placed = (await first('place', 'answer-place-0')).told;
  assert.ok(placed.includes(`servers ${search.best.servers}`));
  same(placed.split(search.best.servers)[1].match(/^(.*?s); as listed/)[1], search.best.time_s, 'best placement');
  const { points } = json('algorithms').sweep;
  const best = points.map((p) => p.algorithms.reduce((a, b) => (b.engines[0].time_s < a.engines[0].time_s ? b : a)));
  const chosen = (await first('algorithms', 'answer-algorithms')).told;
  points.forEach((p, i) => assert.ok(chosen.includes(`${p.values[0]}: ${best[i].name}`), chosen));
});

test('sweep: the points, and which are on the front', async () => {
  const { points } = json('sweep').sweep;
  const { page, context } = await open(browser, file('sweep'));
  const rows = await cells(page, 'sweep-table');
  const expected = points.flatMap((p) => p.engines.map((e) => [p, e]));
  assert.equal(rows.length, expected.length);
  for (const [i, [p, e]] of expected.entries()) {
    assert.equal(rows[i][0], p.values[0]);
    same(rows[i].find((c) => c.startsWith('$')), p.total_usd, 'cost');
    assert.equal(rows[i].at(-1), e.pareto ? 'yes' : '');
    assert.equal(rows[i].some((c) => c.startsWith(`${e.draws} (±`)), e.ci95_ratio > 0);
  }
  assert.ok(points.some((p) => p.engines[0].draws === 8 && p.engines[1].draws === undefined));
  assert.match(await page.locator('#answer-bound').textContent(), /means of 8 seeds|Under spray/);
  await drawAll(page);
  const plots = page.locator('.chart');
  assert.ok((await plots.count()) >= 3);
  for (let i = 0; i < await plots.count(); i++) { // each tells what is pointed at
    await plots.nth(i).scrollIntoViewIfNeeded();
    await plots.nth(i).hover();
    const tip = await plots.nth(i).locator('.tip').textContent();
    assert.match(tip, /^(.* = |.*, \$).*: .*\d/, tip);
    assert.equal(await plots.nth(i).locator('.u-axis').count(), 2);
  }
  await context.close();
});

test('algorithms: seconds of each, and how far from the fastest', async () => {
  const { points } = json('algorithms').sweep;
  const { page, context } = await open(browser, file('algorithms'));
  for (const e of [0, 1]) {
    const rows = await cells(page, `algorithms-table-${e}`);
    assert.equal(rows.length, points.length);
    for (const [i, point] of points.entries()) {
      const times = point.algorithms.map((a) => a.engines[e].time_s);
      assert.equal(rows[i][0], point.values[0]);
      assert.equal(rows[i].length, 1 + times.length);
      assert.ok(rows[i][1 + times.indexOf(Math.min(...times))].endsWith('(1 ×)'));
    }
  }
  await drawAll(page);
  assert.ok((await page.locator('.uplot').count()) >= 2);
  await context.close();
});

test('compare: what every design costs to buy and run', async () => {
  const { points, verdicts } = json('compare').sweep;
  const { page, context, complaints } = await open(browser, file('compare'));
  const rows = await cells(page, 'ownership-table');
  const owned = points.filter((p) => p.ownership?.years !== undefined);
  assert.ok(verdicts.length > 0 && owned.length > 0);
  assert.equal(rows.length, owned.length);
  for (const [i, p] of owned.entries()) {
    assert.equal(rows[i][0], p.values[0]);
    ['gpu_usd', 'server_usd', 'rack_usd', 'network_usd', 'energy_usd', 'total_usd'].forEach((key, k) => same(rows[i][k + 1], p.ownership[key], key));
  }
  // Any two of them side by side.
  await page.getByLabel('This', { exact: true }).selectOption('2');
  const pair = new Map((await cells(page, 'pair-table')).map(([name, ...rest]) => [name, rest]));
  for (const [k, i] of [2, 1].entries()) {
    same(pair.get('network')[k], points[i].total_usd, 'network');
    same(pair.get('power')[k], points[i].power_w, 'power');
    same(pair.get('time')[k], points[i].engines[0].compared_s, 'time');
  }
  same(pair.get('network')[2], Math.abs(points[1].total_usd / points[2].total_usd - 1), 'change');
  assert.deepEqual(complaints, []);
  await context.close();
});

test('study: the distribution, the ranking, and what it is in the picture', async () => {
  const { data } = readModel(join(root, 'study'));
  const { study } = data.report;
  const { page, context } = await open(browser, file('study'));
  same((await text(page, '#answer-bound strong')).replace('×', ''), study.slowdown_ratio.mean, 'slowdown');
  const label = await page.locator('#study .chart').getAttribute('aria-label');
  study.policy[0].bins.forEach((n) => n > 0 && assert.ok(label.includes(`${n} `), label));
  assert.ok(label.includes(`${study.policy[0].stopped} stops`), label);
  const ranking = await cells(page, 'critical-table');
  assert.equal(ranking.length, study.critical.length);
  for (const [i, c] of study.critical.entries()) {
    assert.equal(ranking[i][0], c.name);
    same(ranking[i][4], c.impact_ratio, c.name);
  }
  await page.getByRole('link', { name: `Show ${study.critical[0].name} in the picture` }).click();
  assert.match(await text(page, '#fabric-detail h3'), /\S/);
  assert.equal(await page.getByLabel('Colour', { exact: true }).inputValue(), 'criticality');
  const counts = (await page.locator('.legend li .faint').allTextContents()).map(Number);
  assert.equal(counts.reduce((a, b) => a + b), 16); // links of eight cables
  await context.close();
});

test('histories: what is left of the work, in tokens as well', async () => {
  const { data } = readModel(join(root, 'histories'));
  const { study } = data.report;
  const { page, context } = await open(browser, file('histories'));
  const shrink = study.policy.find((v) => v.policy === 'shrink');
  assert.equal(study.shown_policy, 'shrink');
  const card = await text(page, '#answer-bound');
  assert.ok(card.includes(`${Math.round(shrink.tokens_per_s).toLocaleString('en-US')} tokens a second`), card);
  assert.match(card, /they do all of the batch/);
  const rows = await cells(page, 'study-table');
  study.policy.forEach((v, i) => assert.ok(rows[i].includes(Math.round(v.tokens_per_s).toLocaleString('en-US')), rows[i].join()));
  await context.close();
});

test('cost: designs side by side', async () => {
  const { designs } = json('cost');
  const { page, context } = await open(browser, file('cost'));
  const rows = new Map((await cells(page, 'designs')).map(([name, ...rest]) => [name, rest]));
  for (const [i, d] of designs.entries()) {
    same(rows.get('total')[i], d.cost.total_usd, 'total');
    same(rows.get('power')[i], d.cost.power_w, 'power');
    assert.equal(rows.get('GPUs')[i], d.fabric.gpus.toLocaleString('en-US'));
    same(rows.get('of full, for any traffic')[i], d.fabric.bisection_ratio, 'bisection');
    if (i > 0) same(rows.get('less than the first')[i], d.reduction_ratio, 'reduction');
  }
  await context.close();
});

test('growth, one link, failures, an audit, and phases without routes', async () => {
  const look = async (name, id) => {
    const { page, context } = await open(browser, file(name));
    const found = { rows: id && await cells(page, id), all: await page.locator('main').textContent() };
    await context.close();
    return found;
  };
  const { growth } = json('growth');
  const steps = (await look('growth', 'growth-table')).rows;
  assert.equal(steps.length, growth.length);
  for (const [i, step] of growth.entries()) {
    same(steps[i][4], step.bought_usd, 'bought');
    same(steps[i][5], step.total_usd, 'stands');
    same(steps[i][6], step.cables_moved, 'moved');
  }
  const explain = readModel(join(root, 'explain')).data.report.explain;
  const told = (await look('explain')).all;
  for (const phase of explain.phases.filter((p) => p.n_flows > 0)) {
    assert.ok(told.includes(`${phase.utilisation_ratio.toFixed(2)} of its capacity`), told.slice(0, 400));
    for (const flow of phase.flows) assert.ok(told.includes(flow.paths[0].decisions[0].reason));
  }
  const { failures } = json('failures');
  const lost = (await look('failures')).all;
  for (const policy of failures.engines[0].policies) assert.ok(lost.includes(policy.policy), policy.policy);
  for (const part of failures.failed) assert.ok(lost.includes(part.name));
  const { findings } = json('audit').audit;
  const order = (await look('audit', 'findings')).rows;
  const sure = (x) => (x.confidence < 1 ? `${Math.floor(100 * x.confidence)} % sure` : 'sure');
  assert.deepEqual(order.map((r) => [r[0], r[1], r[7]]), findings.map((x) => [x.finding, sure(x), x.work]));
  const installed = (await look('audit')).all;
  assert.ok(installed.includes(`What is wrong?${findings.length} findings`), installed.slice(0, 400));
  assert.ok(installed.includes(`What first?${findings[0].finding}`));
  assert.ok(installed.includes(`Rules speak of ${json('audit').audit.cables_with_rule} of ${json('audit').audit.cables} cables`));
  assert.ok(lost.includes(failures.engines[0].policies.find((p) => p.policy === 'none').disconnected_flows > 0 ? 'The job stops' : 'The job goes on'));
  const { phases, memory } = json('traffic');
  const listed = await look('traffic', 'phases-table');
  assert.deepEqual(listed.rows.map((r) => r[0]), phases.map((p) => p.name));
  for (const [i, p] of phases.entries()) same(listed.rows[i][4], p.bytes, 'bytes');
  assert.ok(memory.total_bytes > 0 && listed.all.includes('capacity bytes'));
});

test('no part of a report is missing from its page', async () => {
  for (const name of ['run', 'jobs', 'route', 'sweep', 'cost', 'study', 'growth', 'explain', 'failures', 'audit', 'traffic']) {
    const { data } = readModel(join(root, name));
    const { page, context } = await open(browser, file(name));
    const ids = await page.evaluate(() => [...document.querySelectorAll('section[id], #verdict')].map((e) => e.id));
    const elsewhere = { fabric: 1, traffic: 1, meta: 'about', designs: 'cost', iteration: 'time', optimize: 'optimum' };
    for (const key of Object.keys(data.report)) {
      const id = elsewhere[key] ?? key;
      assert.ok(id === 1 || ids.includes(id), `${name}: nothing shows ${key} among ${ids}`);
    }
    await context.close();
  }
});

await finish();
