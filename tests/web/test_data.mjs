// What the page is told equals what the other reports of the same run say: every cable and its load, every bin of every
// histogram, the traffic between blocks of servers.
//
//     node test_data.mjs FOLDER...        folders made by --out
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { binOf, engineAt, isCollided } from '../../reports/web/src/model.js';
import { Scene } from '../../reports/web/src/scene.js';
import { KINDS } from '../../reports/web/src/schedule.js';

import { readGraphml, readJson, readModel } from './page.mjs';

const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 6e-6 * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${a} and ${b}`);

function checkCables(folder, model) {
  const cables = new Map(readGraphml(folder).filter((c) => c.e_kind === 'access' || c.e_kind === 'fabric').map((c) => [c.id, c]));
  let n = 0;
  for (const [boundary, b] of model.graph.boundaries.entries()) {
    for (let i = 0; i < b.n; i++, n++) {
      const cable = cables.get(b.cable[i]);
      assert.ok(cable, `cable ${b.cable[i]}`);
      assert.equal(model.linkName(boundary, i, false), `${cable.source.n_label}:${cable.src_port_name ?? cable.src_port} > ${cable.target.n_label}:${cable.dst_port_name ?? cable.dst_port}`);
      assert.equal(b.tier, Number(cable.e_tier));
      assert.equal(model.graph.classes[b.kind[i]].capacity_bps, Number(cable.capacity_bps));
      assert.equal(model.graph.pod[b.upper[i]], Number(cable.target.n_pod ?? -1));
      if (cable.load_fwd === undefined) continue;
      const sums = [0, 1].map((d) => model.phases.reduce((sum, phase, p) => sum + (phase.engines[0].absent ? 0 : model.bytes(p, 0)[boundary][d][i]), 0));
      near(sums[0], Number(cable.load_fwd), `bytes up cable ${cable.id}`);
      near(sums[1], Number(cable.load_rev), `bytes down cable ${cable.id}`);
    }
  }
  assert.equal(n, cables.size);
}

function checkLoads(model) {
  for (const [p, phase] of model.phases.entries()) {
    for (const [e, engine] of phase.engines.entries()) {
      if (engine.absent) continue;
      const ratios = model.ratios(p, e, 0);
      assert.ok(ratios, `draw 0 of phase ${p}, engine ${e}`);
      for (const [i, load] of engine.link_loads.entries()) {
        const values = ratios[i >> 1][i & 1];
        const bins = new Array(8).fill(0);
        for (const value of values) bins[binOf(value)]++;
        assert.deepEqual(bins, load.histogram, `${phase.name} ${load.boundary} ${load.direction}`);
        assert.equal(values.filter(isCollided).length, load.collided_links);
        near(Math.max(...values), load.max_utilisation_ratio, 'largest utilisation');
        near(model.tapers(p)[i >> 1][i & 1].reduce((m, v) => Math.max(m, v), 0), load.max_taper_factor, 'largest under spraying');
      }
      for (const hot of engine.hot_links) {
        const { boundary, index, down } = model.findLink(hot.link_id);
        assert.equal(model.linkName(boundary, index, down), hot.link);
        near(ratios[boundary][down ? 1 : 0][index], hot.factor, hot.link);
        near(model.tapers(p)[boundary][down ? 1 : 0][index], hot.taper_factor, hot.link);
      }
      checkDraws(model, p, e, engine);
    }
  }
}

/** Of several seeds the page has the largest factors whose spread the report tells. */
function checkDraws(model, p, e, engine) {
  if (engine.seeds === 1) return;
  const worst = model.drawsOf(p, e).map(({ draw }) => Math.max(0, ...model.ratios(p, e, draw).slice(1).flatMap((b) => b.map((values) => values.reduce((m, v) => Math.max(m, v), 0)))));
  assert.equal(worst.length, engine.seeds);
  near(Math.max(...worst), engine.max_collision_factor.max, 'largest factor of all seeds');
  near(Math.min(...worst), engine.max_collision_factor.min, 'least of the largest factors');
  near(worst.reduce((a, b) => a + b, 0) / worst.length, engine.max_collision_factor.mean, 'mean of the largest factors');
}

/** Of every phase the bytes of flows.csv, added up by blocks. */
function checkBlocks(folder, model) {
  const { gpus_per_server: perServer } = model.graph;
  const [header, ...lines] = readFileSync(join(folder, 'flows.csv'), 'utf8').trim().split('\n');
  const column = Object.fromEntries(header.split(',').map((name, i) => [name, i]));
  for (const [p, phase] of model.phases.entries()) {
    const { blocks, servers, bytes } = model.blocks[p];
    if (phase.engines[0].absent) continue; // flows are read of the first engine
    assert.ok(blocks <= 64 && blocks === Math.ceil(model.graph.servers / servers));
    const sums = new Map();
    for (const line of lines) {
      const cells = line.split(',');
      if (cells[column.phase] !== phase.name || !cells[column.engine].startsWith('1 ')) continue;
      const [a, b] = [cells[column.src_gpu], cells[column.dst_gpu]].map((gpu) => Math.floor(gpu / perServer / servers));
      sums.set(`${a} ${b}`, (sums.get(`${a} ${b}`) ?? 0) + Number(cells[column.bytes]));
    }
    if (sums.size === 0) continue; // too many flows to be listed
    assert.equal(bytes.length, 3 * sums.size);
    for (let i = 0; i < bytes.length; i += 3) near(bytes[i + 2], sums.get(`${bytes[i]} ${bytes[i + 1]}`), `bytes from block ${bytes[i]} to ${bytes[i + 1]}`);
  }
}

/** Whatever is open, every switch and NIC is in a box, and every cable between two boxes in a bundle of theirs. */
function checkScene(model, views) {
  const scene = new Scene(model, views);
  const total = model.graph.boundaries.reduce((sum, b) => sum + b.n, 0);
  let pictures = 0;
  for (const view of scene.choices) {
    const groups = scene.groups(view);
    const switches = groups.flatMap((group) => model.graph.tiers.flatMap((tier) => scene.switches(view, group, tier.tier)));
    assert.equal(new Set(switches).size, model.graph.nSwitches, `${view}: every switch is in one group`);
    for (const [open, openRest] of [[null, false], [null, true], ...groups.map((group) => [group, group < 0])]) {
      const now = scene.compose(view, open, openRest);
      assert.ok(now.switchBox.every((box) => box >= 0) && now.nicBox.every((box) => box >= 0), `${view} ${open}: a node has no box`);
      const seen = new Set();
      for (const { a, b, cables } of now.bundles) {
        for (let i = 0; i < cables.length; i += 2) {
          const boundary = model.graph.boundaries[cables[i]];
          const ends = [(cables[i] === 0 ? now.nicBox : now.switchBox)[boundary.lower[cables[i + 1]]], now.switchBox[boundary.upper[cables[i + 1]]]];
          assert.deepEqual(ends, [a, b]);
          seen.add(boundary.cable[cables[i + 1]]);
        }
      }
      const inside = model.graph.boundaries.reduce((sum, boundary, k) => sum + [...boundary.lower].filter((lower, i) => (k === 0 ? now.nicBox : now.switchBox)[lower] === now.switchBox[boundary.upper[i]]).length, 0);
      assert.equal(seen.size + inside, total);
      for (const box of now.boxes) assert.ok(box.x >= 0 && box.x <= 1 && box.room > 0, `${scene.boxName(view, box)} stands at ${box.x}`);
      if (openRest && view === 'tier') assert.equal(now.boxes.filter((box) => box.kind === 'switch').length, model.graph.nSwitches);
      pictures++;
    }
  }
  return pictures;
}

/** Of too many operations a bar has several: none lies upon another of its stage, and all are within the iteration. */
function checkMerged(schedule) {
  assert.ok(schedule.n < schedule.n_ops && schedule.n <= 32768, `${schedule.n} of ${schedule.n_ops}`);
  for (const { work } of schedule.tracks) {
    work.ops.forEach((op, i) => assert.ok(i === 0 || schedule.start[work.ops[i - 1]] + schedule.length[work.ops[i - 1]] <= schedule.start[op], `operation ${op}`));
    for (const op of work.ops) assert.ok(schedule.compute[op] + schedule.exchange[op] <= schedule.length[op] + schedule.per);
  }
  merged++;
}
let merged = 0;

/** Every stage's operations add up to the iteration, and those that the report lists are where it says. */
function checkSchedules(model, report) {
  let n = 0;
  for (const [engine, iteration] of (report.iteration ?? []).entries()) {
    const schedule = model.schedule(engine);
    const told = iteration.schedule;
    assert.ok(schedule, `no schedule of engine ${engine}`);
    const room = 2 * schedule.n * schedule.tick_s;
    const same = (a, b, what) => assert.ok(Math.abs(a - b) <= room, `${what}: ${a} and ${b}`);
    same(schedule.time_s, told.time_s, 'makespan');
    if (schedule.per > 1) checkMerged(schedule);
    else assert.equal(schedule.n, schedule.n_ops);
    for (let stage = 0; stage < schedule.stages; stage++) {
      const sums = schedule.sums(stage);
      same(Object.values(sums).reduce((a, b) => a + b), told.time_s, `sums of stage ${stage}`);
    }
    for (const stage of told.stages) {
      const sums = schedule.sums(stage.stage);
      same(sums.compute_s, stage.compute_s, 'computation');
      same(sums.exchange_s, stage.exchange_s, 'exchanges');
      same(sums.wait_s + sums.optimizer_s, stage.bubble_s + stage.send_s + stage.replica_s + stage.optimizer_s, 'waits');
      if (stage.stage === told.busiest_stage && iteration.seeds === undefined) {
        same(sums.compute_s, iteration.compute_s, 'computation of the iteration');
        same(sums.exchange_s, iteration.exposed_tp_s + iteration.exposed_cp_s + iteration.exposed_ep_s, 'exchanges of the iteration');
        same(sums.wait_s + sums.optimizer_s, iteration.bubble_s + iteration.exposed_pp_s + iteration.exposed_dp_s + iteration.optimizer_s, 'waits of the iteration');
      }
      for (const { kind, ...op } of schedule.per > 1 ? [] : stage.operations) {
        const now = schedule.at((op.start_s + op.end_s) / 2).ops.filter((i) => schedule.stage[i] === stage.stage && KINDS[schedule.kind[i]] === kind.replace('-', ' ') && schedule.chunk[i] === op.chunk && schedule.microbatch[i] === op.microbatch);
        assert.ok(op.end_s - op.start_s < 4 * schedule.tick_s || now.length >= 1, `${kind} of stage ${stage.stage} at ${op.start_s}`);
        n++;
      }
    }
    const seen = new Set();
    for (let i = 0; i < schedule.n; i++) for (const p of schedule.phasesOf(i)) seen.add(report.phases[p].name);
    for (const phase of report.phases.filter((p) => /^(tp|cp|ep|pp|dp|edp)/.test(p.name) && engineAt(p, engine)?.time_s > 0)) assert.ok(seen.has(phase.name), `${phase.name} is in no operation among ${[...seen]}`);
  }
  return n;
}

/** The slowest flow's way leads from its sender to its receiver, over the bottleneck, with those that cross it. */
function checkWays(model, report) {
  let n = 0;
  for (const phase of model.phases) {
    for (const [e, { last_flow: last, hot_links: hot }] of phase.engines.entries()) {
      if (!last?.path) continue;
      const { path } = model.slowest(model.phases.indexOf(phase), e);
      const ends = path.map((link) => model.linkName(link.boundary, link.index, link.down).split(' > ').map((end) => end.slice(0, end.lastIndexOf(':'))));
      for (let i = 1; i < ends.length; i++) assert.equal(ends[i - 1][1], ends[i][0], `${phase.name}: ${ends}`);
      if (path.length > 0 && !model.graph.names) {
        const { gpus_per_server: gpus, nics_per_server: nics } = model.graph;
        const serverOf = (name) => Math.floor(Number(name.split('-')[1]) / nics);
        assert.deepEqual([serverOf(ends[0][0]), serverOf(ends.at(-1)[1])], [last.src_gpu, last.dst_gpu].map((gpu) => Math.floor(gpu / gpus)));
      }
      if (last.bottleneck_id !== undefined) {
        assert.ok(last.path.includes(last.bottleneck_id));
        assert.ok(last.flows.length === Math.min(16, last.bottleneck_flows));
        assert.ok(last.bottleneck_flows > 16 || last.flows.some((flow) => flow.flow === last.flow));
      }
      const same = hot.find((link) => link.link_id === last.bottleneck_id);
      if (!same) continue;
      assert.equal(last.bottleneck, same.link);
      assert.equal(last.bottleneck_flows, same.n_flows);
      assert.deepEqual(last.flows, same.flows);
      n++;
    }
  }
  return n;
}

/** How full links are: a figure has all of its boundaries, or is counted among those that are left out. */
function checkHeat({ heat, heat_left_out: left, report }) {
  const figures = new Map();
  for (const [point, phase, engine, boundary] of heat) {
    const key = `${point} ${phase} ${engine}`;
    figures.set(key, [...(figures.get(key) ?? []), boundary]);
  }
  for (const [key, boundaries] of figures) assert.deepEqual(boundaries, figures.get(`0 ${key.slice(key.indexOf(' ') + 1)}`), key);
  if (left > 0) assert.equal(figures.size + left, report.sweep.points.reduce((sum, p) => sum + p.phases.reduce((n, phase) => n + phase.engines.length, 0), 0));
  cut += left > 0 ? 1 : 0;
}
let cut = 0;

let ways = 0;
for (const folder of process.argv.slice(2)) {
  const { data, model } = readModel(folder);
  let pictures = 0;
  assert.deepEqual(data.report, readJson(folder));
  if (model.graph) {
    checkCables(folder, model);
    pictures = checkScene(model, data.views);
  }
  if (model.loads) {
    checkLoads(model);
    checkBlocks(folder, model);
  }
  if (data.heat) checkHeat(data);
  const operations = checkSchedules(model, data.report);
  ways += model.graph ? checkWays(model, data.report) : 0;
  console.log(`${folder}: ${operations} operations, ${model.graph ? `${model.graph.boundaries.reduce((n, b) => n + b.n, 0)} cables` : 'no graph'}, ${model.loads?.draws.length ?? 0} draws, ${pictures} pictures`);
}
assert.ok(merged > 0, 'no schedule has more operations than a page takes');
assert.ok(cut > 0, 'no sweep has more links of boundaries than a page takes');
assert.ok(ways > 0, 'no slowest flow is held by a link that the report lists');
