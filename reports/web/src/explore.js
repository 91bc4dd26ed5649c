// The knobs of an explored page: what they ask goes to the program's core in a worker, and the page is drawn anew from
// what it answers. The question stands in the address, so that a finding can be sent.
import { engineAt } from './model.js';
import { readAddress, writeAddress } from './address.js';
import { completed } from './complete.js';
import { h, replace, select } from './dom.js';
import { against } from './versus.js';
import { WARM } from './warm.js';
import * as f from './format.js';

const UNTOUCHED = 'as it is';
const ENGINES = ['ecmp', 'ecmp,qp=4', 'ecmp,qp=16', 'adaptive', 'spray', 'dmodk'];
/** [label, key, values]: keys of the design with a knob of their own; every other is set by its name. */
const KNOBS = [
  ['Taper', 'fabric.taper', ['1', '1.5', '2', '3', '4', '7']],
  ['Radix', 'fabric.radix', ['32', '64', '128', '256']],
  ['Placement', 'job.placement', ['order', 'random', 'packed', 'scattered']],
];

/** What is asked: the same words as on a command line. */
const EMPTY = { design: '', options: [], sets: {}, engine: '', broken: [] };

/** Words of the command line as a question: `--set` by key, engines and failures apart, the rest as it stands. */
function questionOf(words) {
  const q = structuredClone(EMPTY);
  for (let i = 0; i < words.length; i++) {
    if (words[i] === '--quiet') continue;
    const [, name, value] = /^(--[\w-]+)(?:=(.*))?$/s.exec(words[i]) ?? [];
    if (!name) {
      q.design = words[i];
      continue;
    }
    const text = value ?? words[++i];
    const [, key, given] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === '--set' && key) q.sets[key] = given;
    else if (name === '--threads') continue;
    else if (name === '--engine' && q.engine === '') q.engine = text;
    else if (name === '--fail') q.broken.push(text);
    else q.options.push(name, text);
  }
  return q;
}

const wordsOf = (q) => [
  q.design,
  ...Object.entries(q.sets).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  ...(q.engine ? ['--engine', q.engine] : []),
  ...q.options,
  ...q.broken.flatMap((part) => ['--fail', part]),
];
const questionWords = (q) => ['explore', ...wordsOf(q), '--threads', '1']; // not quiet: it says how far it is
const quoted = (word) => (/^[\w.:=,/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Figures of a report that a knob is turned for: [name, value, format, whether less is better, what it stands beside
 *  where the other report has none of its name]. */
function figuresOf(report) {
  const best = report.verdict?.best_engine ?? 0;
  const it = report.iteration?.[best];
  const of = (phase) => f.mean(engineAt(phase, best)?.max_collision_factor ?? 0);
  const worst = Math.max(0, ...(report.phases ?? []).map(of));
  const sum = (report.phases ?? []).reduce((total, phase) => total + (f.mean(engineAt(phase, best)?.time_s) ?? NaN), 0);
  const whole = it ? 'iteration' : 'phases, one after the other';
  const time = (p) => (p.possible ? p.time_s : undefined);
  const dead = report.failures?.engines[best]?.policies ?? [];
  const times = [...new Set(dead.map(time))]; // policies that come to the same stand in one row; one row: nobody moves
  const names = (t) => (times.length > 1 ? `, ${dead.filter((p) => time(p) === t).map((p) => p.policy).join(', ')}` : '');
  return [
    [whole, it ? f.mean(it.time_s) : sum, f.seconds, true],
    ...times.map((t) => [`${whole} with what is broken${names(t)}`, t, f.seconds, true, whole]),
    it && ['tokens per second', f.mean(it.tokens_per_s), f.count, false],
    ['worst collision factor', worst, f.factor, true],
    report.cost && ['network', report.cost.total_usd, f.dollars, true],
    report.cost && ['power', report.cost.power_w, f.power, true],
    it?.usd_per_1e9_tokens !== undefined && ['GPUs per 1e9 tokens', f.mean(it.usd_per_1e9_tokens), f.money, true],
    report.fabric && ['switches', report.fabric.switches, f.count, true],
    report.fabric?.bisection_ratio !== undefined && ['bisection', report.fabric.bisection_ratio, (r) => f.percent(r), false],
  ].filter(Boolean);
}

function comparison(now, then) {
  const old = then ? figuresOf(then) : [];
  const rows = figuresOf(now).map(([name, value, format, less, instead]) => { // beside what was whole where nothing was broken
    const before = (old.find(([other]) => other === name) ?? old.find(([other]) => other === instead))?.[1];
    return { name, now: value, then: before, format, less };
  });
  return against({ id: 'explore-figures', caption: 'What it comes to', hide: true, names: then ? ['kept', 'now'] : ['now'], rows });
}

/**
 * The program in its worker: `ask(words, files)` gives { code, answer, said, ms }, the answer as what its JSON says. When
 * nobody asks it opens what broken parts need of the job that was asked for last; `onOpen` is told. `onDoing(text)`: how
 * far the newest question is, every second or two.
 */
function startCore(onReady, onOpen, onDoing) {
  const script = new Blob([document.getElementById('worker').textContent], { type: 'text/javascript' });
  const worker = new Worker(URL.createObjectURL(script));
  const packed = Uint8Array.from(atob(document.getElementById('core').textContent), (c) => c.charCodeAt(0));
  const waiting = new Map();
  const text = new TextDecoder();
  let n = 0;
  let asked = '';
  let last = null; // of the same job what broken parts do not change is said once
  const read = (bytes) => {
    const answer = JSON.parse(text.decode(bytes));
    if (!answer.asked) return answer;
    const { rest, ...told } = answer;
    last = rest ? { ...last, ...told } : told;
    return last;
  };
  worker.onmessage = ({ data }) => {
    if (data.doing) {
      if (data.id === n) onDoing(data.doing);
      return;
    }
    if (data.ready) onReady();
    waiting.get(data.id)?.({ ...data, answer: data.code === 0 && data.answer.length > 0 ? read(data.answer) : null });
    waiting.delete(data.id);
    setTimeout(() => waiting.size === 0 && asked === 'explore' && ask(['hold'], {}).then(onOpen));
  };
  worker.postMessage({ packed }, [packed.buffer]);
  function ask(words, files) {
    [asked] = words;
    return new Promise((done) => {
      waiting.set(++n, done);
      worker.postMessage({ id: n, words, files });
    });
  }
  return ask;
}

/**
 * The panel of knobs. `first`: the data that the page came with, or null; `show(data)` draws the page of an answer.
 * Gives what buttons beside what is selected can ask.
 */
export function explore(first, show) {
  const asked = first?.asked;
  const { words: sent } = readAddress();
  const files = asked?.files ?? {};
  let q = questionOf(sent ?? asked?.words ?? []);
  let now = sent ? null : first; // what the page shows, and what it stands beside
  let kept = now;
  let fields = [];
  let families = [];
  let newest = 0;
  const status = h('p', { id: 'explore-status', role: 'status' }, 'The program is being unpacked.');
  const figures = h('div');
  const knobs = h('div', { class: 'controls' });
  const command = h('code', { id: 'explore-command' });
  const keep = h('button', { type: 'button', onclick: () => { kept = now; present(); compare(); } }, 'Keep these to compare');

  const learn = async (what) => (await ask(['list', what, '--json'], {})).answer;
  const ask = startCore(async () => {
    if (q.design && !now) turn({});
    [fields, families] = [await learn('fields'), await learn('families')];
    if (newest === 0) status.textContent = q.design ? 'Turn a knob, or break something in the picture.' : 'Write a design: a family, a colon and keys, such as clos:gpus=1024,taper=2.';
    for (const words of WARM) if (newest === 0) await ask(words, {});
    if (newest === 0 && q.design) ask(questionWords(q), files); // opens the job that the page shows
  }, () => { status.dataset.open = String(newest); }, (text) => { if (newest > 0) status.textContent = `Counting: phases and engines, ${text}.`; });

  const present = () => show(now, kept === now ? null : kept);

  async function turn(change) {
    q = { ...q, ...change };
    const number = ++newest;
    const answer = ask(questionWords(q), files);
    draw();
    status.textContent = 'Counting.';
    const result = await answer;
    if (number !== newest) return;
    if (result.code !== 0) {
      status.textContent = result.said || `The program ended with code ${result.code}.`;
      status.dataset.code = String(result.code);
      return;
    }
    now = result.answer;
    kept ??= now;
    writeAddress({ words: wordsOf(q) });
    present();
    compare();
    document.getElementById('data').textContent = JSON.stringify(now).replaceAll('<', '\\u003c'); // what a saved page begins with
    status.textContent = `Answered in ${f.seconds(result.ms / 1e3)}, by this page alone.`;
    status.dataset.code = '0';
    status.dataset.ms = String(Math.round(result.ms));
    status.dataset.answers = String(number);
  }

  const part = (text, cut, prefix) => {
    const from = Math.max(...cut.map((c) => text.lastIndexOf(c))) + 1;
    const begun = text.slice(from);
    const keys = fields.map((row) => ({ ...row, path: row.path.replace('.tier.N.', '.') })); // taper: of all tiers, taper.1 of one
    return { from, rows: keys.filter((row) => row.path.startsWith(prefix + begun) && !begun.includes('='))
      .map((row) => ({ text: `${row.path.slice(prefix.length)}=`, summary: row.summary })) };
  };
  const offerDesign = (text) => (text.includes(':') ? part(text, [':', ','], 'fabric.')
    : { from: 0, rows: families.filter((row) => row.name.startsWith(text)).map((row) => ({ text: `${row.name}:`, summary: row.summary })) });

  const set = (key, value) => {
    const sets = { ...q.sets };
    if (value === UNTOUCHED) delete sets[key];
    else sets[key] = value;
    turn({ sets });
  };
  const setAny = (text) => {
    const [, key, value] = /^([\w.-]+)=(.*)$/.exec(text.trim()) ?? [];
    if (key) set(key, value === '' ? UNTOUCHED : value);
  };
  const values = (list, now) => [UNTOUCHED, ...new Set([...list, ...(now ? [now] : [])])].map((v) => [v, v]);

  function draw() {
    replace(knobs,
      KNOBS.map(([label, key, list]) => select(label, values(list, q.sets[key]), q.sets[key] ?? UNTOUCHED, (v) => set(key, v))),
      select('Routing', values(ENGINES, q.engine), q.engine || UNTOUCHED, (v) => turn({ engine: v === UNTOUCHED ? '' : v })),
      keep,
      Object.keys(q.sets).filter((key) => !KNOBS.some(([, known]) => known === key)).map((key) =>
        h('button', { type: 'button', class: 'chip-button', title: 'take it back', onclick: () => set(key, UNTOUCHED) }, `${key}=${q.sets[key]} ×`)),
      q.broken.map((name) => h('button', { type: 'button', class: 'chip-button', title: 'repair it', onclick: () => turn({ broken: q.broken.filter((b) => b !== name) }) }, `${name} broken ×`)));
    command.textContent = `fabriscope run ${wordsOf(q).map(quoted).join(' ')}`;
  }
  function compare() {
    keep.hidden = !now;
    replace(figures, now && comparison(now.report, kept === now ? null : kept.report));
  }
  draw();
  compare();
  const design = completed({ id: 'explore-design', 'aria-label': 'Design', placeholder: 'clos:gpus=1024,taper=2', value: q.design }, offerDesign, (text) => turn({ design: text.trim() }));
  const key = completed({ id: 'explore-set', 'aria-label': 'Any key', placeholder: 'any key: job.tp=8' }, (text) => part(text, [' '], ''), setAny);
  const broken = h('input', { id: 'explore-break', type: 'text', 'aria-label': 'Break a part', placeholder: 'break: server-2, leaf-0, nic-3*0.5', onkeydown: (e) => {
    if (e.key !== 'Enter' || !e.target.value.trim()) return;
    turn({ broken: [...q.broken, e.target.value.trim()] });
    e.target.value = '';
  } });
  const panel = h('section', { id: 'explore', 'aria-label': 'Knobs' }, design, knobs, h('div', { class: 'controls' }, key, broken), status, figures,
    h('p', { class: 'small' }, 'The same on a command line: ', command));
  document.body.insertBefore(panel, document.getElementById('page'));
  /** What a change makes of it, beside the page: { report } or { said }; `take` turns to it. */
  const withSets = (change) => (change.sets ? { ...change, sets: { ...q.sets, ...change.sets } } : change);
  const tryOut = async (change) => {
    const { code, answer, said } = await ask(questionWords({ ...q, ...withSets(change) }), files);
    return code === 0 ? { report: answer.report } : { said };
  };
  return { tryOut, take: (change) => turn(withSets(change)), breakPart: (name) => turn({ broken: [...q.broken.filter((b) => b.split('*')[0] !== name.split('*')[0]), name] }) };
}
