// Builds the pages in dist/ that the program embeds: each with its script and its style, allowed by their hashes and nothing else. `--check` builds into memory and compares with what is committed.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [here(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2021'],
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

// What is not ours in the bundle, as its licence asks for.
const licence = (await readFile(join(dirname(createRequire(import.meta.url).resolve('uplot/package.json')), 'LICENSE'), 'utf8')).trim();

const style = await bundle('src/style.css');
const worker = await bundle('src/core_worker.js');
const template = await readFile(here('src/report.html'), 'utf8');
const core = `<script type="text/plain" id="core">@FABRISCOPE_CORE@</script>\n<script type="text/plain" id="worker">${worker}</script>\n`;

async function pageOf(entry, more, scripts, ...policies) {
  const script = `/*! uPlot:\n${licence}\n*/\n${await bundle(entry)}`;
  if (/<\/(script|style)|@FABRISCOPE_/i.test(script + style + worker)) {
    throw new Error('the bundle would end its own element, or holds the mark of a place');
  }
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}${scripts}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    ...policies,
  ].join('; ');
  const parts = { POLICY: policy, STYLE: style, SCRIPT: script, EXPLORE: more };
  return template.replace(/@(POLICY|STYLE|SCRIPT|EXPLORE)@/g, (_, name) => parts[name]);
}

// The page with the core in it also runs a worker, and in it what is compiled.
const pages = {
  'report.html': await pageOf('src/report.js', '', ''),
  'explore.html': await pageOf('src/explored.js', core, " 'wasm-unsafe-eval'", 'worker-src blob:'),
};
for (const [name, page] of Object.entries(pages)) {
  const target = here(`dist/${name}`);
  if (!process.argv.includes('--check')) {
    await writeFile(target, page);
    console.log(`dist/${name}: ${Buffer.byteLength(page)} bytes`);
  } else if ((await readFile(target, 'utf8')) !== page) {
    console.error(`dist/${name} is not what src/ builds: run npm run build and commit it`);
    process.exitCode = 1;
  } else {
    console.log(`dist/${name} is what src/ builds`);
  }
}
