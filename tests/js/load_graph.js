// What graphology reads in graph files: one JSON object per file on stdout, {nodes: {id: attributes}, edges: {id: [source,
// target, attributes]}}.
//
//     node load_graph.js FILE.graphml|FILE.gexf...
'use strict';
const fs = require('fs');
const Graph = require('graphology');
const readers = {graphml: require('graphology-graphml'), gexf: require('graphology-gexf')};

for (const path of process.argv.slice(2)) {
  const reader = readers[path.split('.').pop()];
  const graph = reader.parse(Graph, fs.readFileSync(path, 'utf8'));
  const out = {nodes: {}, edges: {}};
  graph.forEachNode((node, attributes) => { out.nodes[node] = attributes; });
  graph.forEachEdge((edge, attributes, source, target) => { out.edges[edge] = [source, target, attributes]; });
  process.stdout.write(JSON.stringify(out) + '\n');
}
