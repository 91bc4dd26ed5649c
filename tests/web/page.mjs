// What the tests share: the block of data of a page, and its model as the page reads it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Model } from '../../reports/web/src/model.js';

export const readData = (folder) => {
  const page = readFileSync(join(folder, 'report.html'), 'utf8');
  const found = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page);
  if (!found) throw new Error(`${folder}/report.html has no data`);
  return { page, data: JSON.parse(found[1]) };
};

export const readModel = (folder) => {
  const { page, data } = readData(folder);
  return { page, data, model: new Model(data) };
};

export const readJson = (folder) => JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));

/** Cables of fabric.graphml: [{ id, source, target, src_port, ... }] with the labels of their ends. */
export function readGraphml(folder) {
  const text = readFileSync(join(folder, 'fabric.graphml'), 'utf8');
  const data = (body) => Object.fromEntries([...body.matchAll(/<data key="(\w+)">([^<]*)<\/data>/g)].map(([, key, value]) => [key, value]));
  const nodes = new Map([...text.matchAll(/<node id="(n\d+)">(.*?)<\/node>/g)].map(([, id, body]) => [id, data(body)]));
  return [...text.matchAll(/<edge id="c(\d+)" source="(n\d+)" target="(n\d+)">(.*?)<\/edge>/g)].map(([, id, source, target, body]) => ({
    id: Number(id), source: nodes.get(source), target: nodes.get(target), ...data(body),
  }));
}
