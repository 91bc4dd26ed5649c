// Builds dist/report.html, which the program embeds: one page with its script and its style, allowed by their hashes and
// nothing else. `--check` builds into memory and compares with what is committed.
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

const script = `/*! uPlot:\n${licence}\n*/\n${await bundle('src/main.js')}`;
const style = await bundle('src/style.css');
if (/<\/(script|style)/i.test(script + style)) {
  throw new Error('the bundle would end its own element');
}
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const template = await readFile(here('src/report.html'), 'utf8');
const page = template.replace(/@(POLICY|STYLE|SCRIPT)@/g, (_, name) => parts[name]);

const target = here('dist/report.html');
if (process.argv.includes('--check')) {
  if ((await readFile(target, 'utf8')) !== page) {
    console.error('dist/report.html is not what src/ builds: run npm run build and commit it');
    process.exit(1);
  }
  console.log('dist/report.html is what src/ builds');
} else {
  await writeFile(target, page);
  console.log(`dist/report.html: ${Buffer.byteLength(page)} bytes`);
}
