import { $, element, say, withoutGpu } from './page.js';

/** The operators of the grid, until the worker lists them. */
const OPERATORS = ['ReduceMax', 'MaxPool', 'SegmentMax'];
const TYPES = ['f32', 'f64', 'f16', 'bf16', 'i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'bool'];

let worker;
let cells;
let certificate;
/** The outcome of the certificate's cases, in words. */
let found;

function drawGrid(operators = OPERATORS, types = TYPES) {
    cells = new Map();
    $('grid').style.setProperty('--operators', operators.length);
    $('grid').style.setProperty('--types', types.length);
    const head = (text, kind) => element('div', { className: `head ${kind}`, textContent: text });
    const grid = [head('', 'column'), ...types.map((type) => head(type, 'column'))];
    for (const operator of operators) {
        grid.push(head(operator, 'row'));
        for (const type of types) {
            const cell = element('div', { className: 'cell', title: `${operator}, ${type}` }, element('span'));
            cells.set(`${operator} ${type}`, { cell, cases: 0, wrong: 0 });
            grid.push(cell);
        }
    }
    $('grid').replaceChildren(...grid);
}

function count({ operator, type, verdict }, cases) {
    const entry = cells.get(`${operator} ${type}`);
    entry.cases += 1;
    if (verdict !== 'same') entry.wrong += 1;
    entry.cell.classList.add(entry.wrong ? 'wrong' : 'some');
    entry.cell.style.setProperty('--share', Math.min(1, entry.cases / Math.max(1, cases / cells.size)));
    entry.cell.firstChild.textContent = entry.wrong ? `${entry.wrong} of ${entry.cases}` : entry.cases;
}

function bytes(n) {
    if (!n) return '-';
    return n >= 2 ** 30 ? `${+(n / 2 ** 30).toFixed(2)} GiB` : `${+(n / 2 ** 20).toFixed(1)} MiB`;
}

function showFacts(info) {
    const kinds = { software: 'a GPU API on the CPU', other: 'as the browser tells, a GPU' };
    const facts = {
        Adapter: info.name,
        Kind: kinds[info.kind] ?? info.kind,
        Browser: (navigator.userAgentData?.brands?.map((b) => `${b.brand} ${b.version}`).filter((b) => !/not/i.test(b)).join(', ')) || navigator.userAgent,
        'Largest binding': bytes(info.limits.maxBindingSize),
        'Largest buffer': bytes(info.limits.maxBufferSize),
        Workgroup: info.limits.workgroupSize ? `${info.limits.workgroupSize} invocations` : '-',
    };
    $('facts').replaceChildren(...Object.entries(facts).map(([name, value]) =>
        element('div', {}, element('dt', { textContent: name }), element('dd', { textContent: value }))));
}

function showFinding({ case: number, operator, type, smallest, again, oracle, launch }) {
    const lines = [smallest.what];
    for (const input of smallest.inputs) lines.push(`${input.type}: ${input.values ? input.values.join(', ') : 'too many elements to show'}`);
    for (const { result, comparison } of smallest.results) {
        for (const m of comparison?.first ?? []) {
            lines.push(`${result}[${m.coordinates}]: the GPU has ${m.actual} (${m.actual_bits}), the CPU ${m.expected} (${m.expected_bits})`);
        }
    }
    if (!again) lines.push('It was right when it was run again.');
    if (oracle) lines.push({ expected: 'The definition agrees with the CPU.', actual: 'The definition agrees with the GPU!', neither: 'The definition agrees with neither.' }[oracle]);
    const parts = [element('h2', { textContent: `Case ${number}: ${operator} of ${type} differs` }), element('pre', { textContent: lines.join('\n') })];
    if (launch) {
        const summary = element('summary', { textContent: `Launch ${launch.number} of ${launch.of} is the first that differs: the shader ${launch.shader}` });
        parts.push(element('details', {}, summary, element('pre', { textContent: launch.source })));
    }
    $('findings').append(...parts);
}

function running(yes) {
    $('start').disabled = yes;
    $('stop').disabled = !yes;
}

function start() {
    const [seed, cases] = [Number($('seed').value), Number($('cases').value)];
    if (!(Number.isSafeInteger(seed) && seed >= 0 && Number.isInteger(cases) && cases > 0)) return say('Cases and seed are whole numbers.', 'warn');
    if (!navigator.gpu) {
        return say(withoutGpu, 'warn');
    }
    worker?.terminate();
    worker = new Worker('verify-worker.js', { type: 'module' });
    certificate = undefined;
    $('save').disabled = $('share').disabled = true;
    $('findings').replaceChildren();
    drawGrid();
    running(true);
    say('Opening the GPU …');
    let wrong = 0;
    let shown = 0;
    worker.onerror = (event) => end(`The worker failed: ${event.message ?? 'it did not load'}`, 'bad');
    worker.onmessage = ({ data }) => {
        if (data.opened) {
            showFacts(data.opened.info);
            drawGrid(data.opened.operators, data.opened.types);
        }
        if (data.error) {
            const none = data.error.code === 'NoAdapter';
            return end(none ? withoutGpu : data.error.message, none ? 'warn' : 'bad');
        }
        if (data.outcome) {
            count(data.outcome, cases);
            wrong += data.outcome.verdict !== 'same';
            if (data.finding) showFinding(data.finding);
            $('progress').value = data.cases / cases;
            if (performance.now() - shown > 100) {
                shown = performance.now();
                const left = Math.ceil((data.seconds / data.cases) * (cases - data.cases));
                say(`${data.cases} of ${cases} cases, about ${left > 90 ? `${Math.ceil(left / 60)} minutes` : `${left} s`} left: ${wrong ? `${wrong} wrong` : 'all equal so far'}`, wrong ? 'bad' : '');
            }
        }
        if (data.done) {
            certificate = data.done;
            const { cases: done, cut_off: cut, seconds } = certificate;
            found = data.givenUp ? 'the GPU was lost' : wrong ? `${wrong} wrong` : 'all equal';
            $('save').disabled = false;
            $('share').disabled = !done;
            const what = `${done} cases of seed ${seed} in ${seconds.toFixed(1)} s`;
            if (data.givenUp?.code === 'DeviceLost') end(`The browser lost the GPU at case ${data.givenUp.case}. Start opens it again.`, 'bad');
            else if (wrong) end(`${what}: ${wrong} are wrong.`, 'bad');
            else if (!done) end('Stopped before the first case: nothing was compared.');
            else if (cut) end(`${what}, then stopped: all equal so far.`);
            else end(`${what}: all equal, bit for bit.`, 'good');
        }
    };
    worker.postMessage({ seed, cases });
}

function end(text, kind) {
    say(text, kind);
    running(false);
    document.body.dataset.state = 'done';
}

$('start').onclick = () => {
    document.body.dataset.state = 'running';
    start();
};
$('stop').onclick = () => worker.postMessage({ stop: true });
$('save').onclick = () => {
    const blob = new Blob([`${JSON.stringify(certificate, null, 2)}\n`], { type: 'application/json' });
    const link = element('a', { href: URL.createObjectURL(blob), download: 'wgmax-certificate.json' });
    link.click();
    URL.revokeObjectURL(link.href);
};

/** A link to the same cases, with their outcome here. */
function link() {
    const { seed, cases, devices } = certificate;
    return `${location.origin}${location.pathname}?${new URLSearchParams({ seed, cases, adapter: devices[0].name, verdict: found })}`;
}

$('share').onclick = async () => {
    await navigator.clipboard.writeText(link());
    $('share').textContent = 'Copied';
    setTimeout(() => ($('share').textContent = 'Copy a link'), 2000);
};

drawGrid();
showFacts({ name: navigator.gpu ? 'not opened yet' : 'no WebGPU', kind: '-', limits: { maxBindingSize: 0, maxBufferSize: 0, workgroupSize: 0 } });
// For tests: the state of the page, and a way to lose the device.
window.wgmaxVerify = { certificate: () => certificate, link, destroy: () => worker.postMessage({ destroy: true }) };
const query = new URLSearchParams(location.search);
for (const key of ['seed', 'cases']) if (query.has(key)) $(key).value = query.get(key);
if (query.has('verdict')) {
    $('shared').hidden = false;
    $('shared').textContent = `${query.get('cases')} cases of seed ${query.get('seed')} on ${query.get('adapter')}: ${query.get('verdict')}. Start runs the same ones here.`;
}
if (query.has('start')) $('start').click();
