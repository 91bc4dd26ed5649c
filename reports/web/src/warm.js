// What the core is asked before anybody asks it: a small job under the engines with most code, and a breakage of it. A browser
// compiles a function when it is first called, and again, better, when it is called often; the first knob need not wait for it.
const JOB = ['explore', 'clos:gpus=512,taper=2', '--job', 'model=llama3-8b,tp=8,placement=scattered', '--engine', 'ecmp,qp=4', '--engine', 'adaptive', '--threads', '1', '--quiet'];

export const WARM = [JOB, ['hold'], [...JOB, '--fail', 'spine-0']];
