// Runs the program's core, compiled to WebAssembly: one fresh program per question, so that none knows of another.
import fabriscope from '../core/core.cjs';

let compiled = null;
const file = (files) => (module) => { for (const [name, text] of Object.entries(files)) module.FS.writeFile(name, text); };

async function ask({ id, words, files }) {
  const started = performance.now();
  const answer = [];
  const said = [];
  const program = await fabriscope({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(compiled, imports).then(done);
      return {};
    },
    print: (line) => answer.push(line),
    printErr: (line) => said.push(line),
  });
  file(files)(program);
  let code = 70;
  try {
    code = program.callMain(words);
  } catch (e) {
    code = e.status ?? code;
    if (e.status === undefined) said.push(String(e));
  }
  postMessage({ id, code, answer: answer.join('\n'), said: said.join('\n'), ms: performance.now() - started });
}

/** The first message is the packed program, the others are questions, answered one after the other. */
let last = null;
onmessage = ({ data }) => {
  if (data.packed) {
    const unpacked = new Response(new Blob([data.packed]).stream().pipeThrough(new DecompressionStream('gzip')));
    last = unpacked.arrayBuffer().then((bytes) => WebAssembly.compile(bytes)).then((module) => { compiled = module; postMessage({ ready: true }); });
  } else {
    last = last.then(() => ask(data));
  }
};
