"""The command that a search prints to see its winner alone must have the winner's figures, to the digit."""
import json
import shlex
import subprocess
import sys

PROGRAM = sys.argv[1]
CLOS = 'clos:gpus=128,radix=32,taper=2'
JOB = ['--job', 'model=gpt-3.6b']
COMMANDS = [  # of each: what it is asked, and the engine of the command that it prints
    ['compare', CLOS, 'rail-only:gpus=128', *JOB],
    ['compare', CLOS, 'rail-spine:gpus=128,radix=32'],
    ['compare', CLOS, 'clos:gpus=128,radix=32', *JOB, '--engine', 'ecmp,qp=4', '--seeds', '3', '--prices', 'today-800g'],
    ['compare', 'rail-only:gpus=256,spares=2', 'rail-only:gpus=256', *JOB, '--engine', 'spray', '--scenarios', 'time:30d@20'],
    ['sweep', CLOS, '--vary', 'taper=2,4', *JOB],
    ['sweep', CLOS, '--vary', 'job.tp=2,4', '--job', 'model=gpt-3.6b,batch=256', '--vary', 'engine=ecmp|spray'],
    ['sweep', CLOS, '--vary', 'taper=1,2', '--traffic', 'pattern:shift,by=8'],
    ['mix', CLOS, 'rail-only:gpus=128', *JOB],
    ['plan', CLOS, *JOB],
    ['plan', CLOS, *JOB, '--engine', 'spray', '--seed', '3'],
    ['optimize', '--gpus', '128', *JOB],
    ['optimize', '--gpus', '128', *JOB, '--engine', 'ecmp', '--replays', '6', '--prices', 'today-400g'],
]
KEYS = ('time_s', 'usd_per_1e9_tokens', 'owned_usd_per_1e9_tokens', 'tokens_per_s')


def report(words):
    return json.loads(subprocess.run([PROGRAM, *words, '--json', '--quiet'], check=True, capture_output=True).stdout)


def answer(words):
    """The report and the text of one run."""
    text = subprocess.run([PROGRAM, *words, '--quiet', '--out', 'see', '--force'], check=True, capture_output=True, text=True).stdout
    with open('see/report.json', encoding='utf-8') as file:
        return json.load(file), text


def winner(r, command):
    """Of what the answer names: KEYS; None: not told."""
    if command in ('compare', 'sweep'):
        points = [p for p in r['sweep']['points'] if p.get('engines')]
        at = r['sweep']['verdicts'][0]['best'] - 1 if command == 'compare' else \
            min(range(len(points)), key=lambda i: (round(points[i]['engines'][0]['compared_s'], 12),
                                                   points[i]['engines'][0].get('usd_per_1e9_tokens', 0)))
        engine = points[at]['engines'][0]
    elif command == 'mix':
        best = next(d['engines'][0] for d in r['mix']['designs'] if d['engines'][0].get('best'))
        return None, None, best['training_usd_per_1e9_tokens'], best['training_tokens_per_s']
    elif command == 'plan':
        best = r['plan']['plans'][0]
        engine = {'time_s': best.get('mean_s', best['time_s'])}
    else:
        best = r['optimize']['winner']
        engine = {'time_s': best['iteration_s'], 'owned_usd_per_1e9_tokens': best['usd_per_1e9_tokens'],
                  'tokens_per_s': best['tokens_per_s']}
    return tuple(engine.get(key) for key in KEYS)


def alone(r):
    if 'iteration' not in r:
        return sum(p['engines'][0]['time_s']['mean'] for p in r['phases']), None, None, None
    return tuple(r['iteration'][0].get(key) for key in KEYS)


bad = 0
for words in COMMANDS:
    found, text = answer(words)
    see = found['meta']['see']
    want, got = winner(found, words[0]), alone(report(shlex.split(see)[1:]))
    same = all(a is None or b is not None and abs(a - b) <= 1e-9 * abs(a) for a, b in zip(want, got))
    if '--scenarios' in words:  # and a study of what is printed leaves what the comparison says
        best = found['sweep']['points'][found['sweep']['verdicts'][0]['best'] - 1]
        study = report(['study', *shlex.split(see)[2:], '--scenarios', words[-1], '--policy', best['policy']])
        left = best['engines'][0]['goodput_ratio']
        same = same and abs(study['study']['policy'][0]['goodput_ratio']['mean'] / left - 1) < 1e-9
    if not same:
        bad += 1
        print(f'{shlex.join(words)}: {want}\n  {see}: {got}')
    first = ' '.join(' '.join(text.replace('\\\n', '').split()).split()[:400])
    if ''.join(see.split()) not in ''.join(first.split()):
        bad += 1
        print(f'{shlex.join(words)}: the first screen does not print: {see}')
print(f'{len(COMMANDS) - bad} of {len(COMMANDS)} commands print one that has their figures')
sys.exit(bad > 0)
