// Runs the program's core, compiled to WebAssembly. One program answers all questions: it keeps the job of the last one open
// for others that differ in what is broken. After one that did not end by itself comes a fresh one.
import fabriscope from '../core/core.cjs';

const ANSWER = '/tmp/answer'; // standard output: a file takes blocks, a terminal characters
let compiled = null;
let program = null;
let asked = 0; // the question that is answered
const PROGRESS = /^fabriscope: (\d+ of \d+ \(.*)/;
const USAGE = /^fabriscope: [\d.]+ s wall/;

async function begin() {
  const said = [];
  const module = await fabriscope({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(compiled, imports).then(done);
      return {};
    },
    printErr(line) {
      const [, doing] = PROGRESS.exec(line) ?? [];
      if (doing) postMessage({ id: asked, doing });
      else if (!USAGE.test(line)) said.push(line);
    },
  });
  module.FS.close(module.FS.getStream(1));
  return { module, said, out: module.FS.open(ANSWER, 'w') };
}

async function ask({ id, words, files }) {
  const started = performance.now();
  asked = id;
  program ??= await begin();
  const { module, said, out } = program;
  const { FS } = module;
  for (const [name, text] of Object.entries(files)) FS.writeFile(name, text);
  FS.ftruncate(out.fd, 0);
  FS.llseek(out, 0, 0);
  said.length = 0;
  let code = 70;
  const stack = module.stackSave();
  try {
    code = module.callMain(words);
    module.stackRestore(stack);
  } catch (e) {
    program = null;
    said.push(String(e));
  }
  const answer = FS.readFile(ANSWER);
  postMessage({ id, code, answer, said: said.join('\n'), ms: performance.now() - started }, [answer.buffer]);
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
