import { $, element, say } from './page.js';
import { open } from './pkg/wgmax.js';
import { libraries } from './speed-peers.js';

const RUNS = 7;

/** What is timed: until the results are computed, and until the page has a copy of them. */
const WAYS = ['run', 'download'];
const HEADS = { run: 'milliseconds', download: 'with a copy to the page' };

/** What is measured, with sizes as in the bench; the first axis is divided. */
const ITEMS = [
    { name: 'maximum of each row, 4096 x 4096', op: 'reduceMax', shape: [4096, 4096], axes: [1] },
    { name: 'maximum of each column, 4096 x 4096', op: 'reduceMax', shape: [4096, 4096], axes: [0] },
    { name: 'maximum of each plane, 64 x 128 x 56 x 56', op: 'reduceMax', shape: [64, 128, 56, 56], axes: [2, 3] },
    { name: 'windows of 2 x 2, stride 2, 16 x 64 x 112 x 112', op: 'maxPool', shape: [16, 64, 112, 112], kernel: [2, 2], strides: [2, 2] },
    { name: 'windows of 3 x 3, stride 2, 16 x 64 x 112 x 112', op: 'maxPool', shape: [16, 64, 112, 112], kernel: [3, 3], strides: [2, 2] },
    { name: 'windows of 13 x 13, stride 1, 16 x 32 x 52 x 52', op: 'maxPool', shape: [16, 32, 52, 52], kernel: [13, 13], strides: [1, 1] },
];

/** Lists that are easy to get wrong, and their maximum. */
const QUESTIONS = [
    ['1, NaN, 2', [1, NaN, 2], NaN],
    ['NaN, 1', [NaN, 1], NaN],
    ['-0, +0', [-0, 0], 0],
    ['+0, -0', [0, -0], 0],
    ['-0, -1', [-0, -1], -0],
    ['1e-45, -1', [1e-45, -1], Math.fround(1e-45)],
    ['-1e-45, -1', [-1e-45, -1], Math.fround(-1e-45)],
    ['-inf, -inf', [-Infinity, -Infinity], -Infinity],
    ['-3.4e38, -inf', [-3.4028234663852886e38, -Infinity], -3.4028234663852886e38],
    ['nothing', [], -Infinity],
];

let stopped = false;
let report = { times: [], answers: [], sizes: [], names: [] };

function table(id, heads, rows) {
    const row = (cells, tag) => element('tr', {}, ...cells.map((cell) => element(tag, cell instanceof Object ? cell : { textContent: cell })));
    $(id).replaceChildren(row(heads, 'th'), ...rows.map((cells) => row(cells, 'td')));
}

function value(number) {
    if (Object.is(number, -0)) return '-0';
    if (typeof number !== 'number') return String(number);
    return Number.isFinite(number) && number !== 0 && Math.abs(number) < 1e-4 ? number.toExponential(0) : String(Math.abs(number) > 1e30 && Number.isFinite(number) ? number.toExponential(1) : number);
}

/** Numbers without a pattern, the same each time. */
function data(length) {
    const array = new Float32Array(length);
    let state = 1;
    for (let i = 0; i < length; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        array[i] = state / 2 ** 31 - 1;
    }
    return array;
}

async function median(run) {
    for (let i = 0; i < 2; i++) await run();
    const times = [];
    const begin = performance.now();
    while (times.length < RUNS && (times.length < 2 || performance.now() - begin < 4000)) {
        const start = performance.now();
        await run();
        times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[times.length >> 1];
}

function show() {
    const { names } = report;
    for (const what of WAYS) {
        table(what, ['item', ...names], report.times.map((row) => {
            const times = row[what];
            const [shortest, longest] = [Math.min, Math.max].map((of) => of(...times.filter(Number.isFinite)));
            // A bar as long as the time, beside the longest of the row.
            const cell = (time) => ({ textContent: time.toFixed(2), className: time === shortest ? 'bar best' : 'bar', style: `--share: ${time / longest}` });
            return [row.item, ...times.map((time) => (Number.isFinite(time) ? cell(time) : time ?? ''))];
        }));
    }
    table('answers', ['the maximum of', 'is', ...names], report.answers.map(({ question, right, answers }) =>
        [question, right, ...answers.map((answer) => (answer === right ? answer : { innerHTML: `<b style="color: var(--bad)">${answer} ✗</b>` }))]));
    table('sizes', ['library', 'KiB', 'compressed'], report.sizes.map(({ name, size, compressed }) =>
        [name, (size / 1024).toFixed(0), (compressed / 1024).toFixed(0)]));
}

async function measure() {
    const divisor = Number($('size').value);
    report = { times: [], answers: [], sizes: [], names: [] };
    say('Loading the libraries …');
    const found = [];
    try {
        found.push(ours('wgmax, GPU', await open('gpu', { timestamps: false })));
    } catch (error) {
        if (error.name !== 'WgmaxError') throw error;
    }
    found.push(ours('wgmax, CPU', await open('cpu')));
    found.push(...(await libraries()));
    report.names = found.map(({ name }) => name);
    show();
    for (const item of ITEMS) {
        const shape = [Math.max(1, item.shape[0] / divisor), ...item.shape.slice(1)];
        const sized = { ...item, shape };
        const input = data(shape.reduce((a, b) => a * b));
        const times = { run: [], download: [] };
        for (const library of found) {
            if (stopped) return say('Stopped.');
            say(`${item.name}: ${library.name} …`);
            $('progress').value = (report.times.length + times.run.length / found.length) / ITEMS.length;
            await new Promise((done) => setTimeout(done));
            const failed = (error) => {
                console.warn(library.name, item.name, error);
                return undefined;
            };
            const prepared = await library.prepare(sized, input).catch(failed);
            for (const what of WAYS) {
                times[what].push((prepared && (await median(prepared[what]).catch(failed))) ?? 'fails');
            }
            try {
                await prepared?.free();
            } catch (error) {
                failed(error);
            }
        }
        report.times.push({ item: `${item.name.replace(/[\d x]+$/, '')} ${shape.join(' x ')}`, ...times });
        show();
    }
    for (const [question, list, right] of QUESTIONS) {
        const answers = [];
        for (const library of found) {
            const answer = await library.maximum(Float32Array.from(list)).catch(() => 'fails');
            answers.push(value(answer));
        }
        report.answers.push({ question, right: value(right), answers });
        show();
    }
    for (const [name, pattern] of [['wgmax, GPU', /pkg\/wasm\/gpu/], ['wgmax, CPU', /pkg\/wasm\/cpu/], ['onnxruntime-web', /onnxruntime-web/], ['tfjs', /tensorflow/]]) {
        const urls = [...new Set(performance.getEntriesByType('resource').map((entry) => entry.name))].filter((url) => pattern.test(url));
        if (report.names.some((known) => known.startsWith(name))) report.sizes.push({ name, ...(await sizeOf(urls)) });
    }
    show();
    $('copy').disabled = false;
    $('progress').value = 1;
    say(`Done, with one ${divisor === 1 ? 'whole' : `${divisor}th`} of the bench's sizes.`, 'good');
}

async function sizeOf(urls) {
    let [size, compressed] = [0, 0];
    for (const url of urls) {
        const blob = await (await fetch(url)).blob();
        size += blob.size;
        compressed += (await new Response(blob.stream().pipeThrough(new CompressionStream('gzip'))).blob()).size;
    }
    return { size, compressed };
}

/** wgmax as one of the libraries. */
function ours(name, device) {
    return {
        name,
        async prepare({ op, shape, axes, kernel, strides }, input) {
            const attributes = op === 'reduceMax' ? { axes } : { kernel, strides };
            const x = await device.tensor('f32', shape, input);
            const compute = async () => {
                const result = await device[op](x, attributes);
                return result.values ?? result;
            };
            const y = await compute();
            const prepared = await device.prepare(op, attributes, [x], [y]);
            const run = async () => {
                prepared.submit([x], [y]);
                await device.wait();
            };
            const download = async () => {
                prepared.submit([x], [y]);
                await y.data();
            };
            return { run, download, free: () => [prepared.free(), x.destroy(), y.destroy()] };
        },
        async maximum(list) {
            const x = await device.tensor('f32', [list.length], list);
            return (await (await device.reduceMax(x)).numbers())[0];
        },
    };
}

function markdown() {
    const line = (cells) => `| ${cells.join(' | ')} |`;
    const make = (heads, rows) => [line(heads), line(heads.map((_, i) => (i ? '---:' : '---'))), ...rows.map(line)].join('\n');
    return [
        ...WAYS.map((what) => make([HEADS[what], ...report.names], report.times.map((row) =>
            [row.item, ...row[what].map((time) => (Number.isFinite(time) ? time.toFixed(2) : time))]))),
        make(['the maximum of', 'is', ...report.names], report.answers.map(({ question, right, answers }) => [question, right, ...answers.map((answer) => (answer === right ? answer : `**${answer}**`))])),
        make(['KiB', 'as it is', 'compressed'], report.sizes.map(({ name, size, compressed }) => [name, (size / 1024).toFixed(0), (compressed / 1024).toFixed(0)])),
    ].join('\n\n');
}

$('start').onclick = async () => {
    stopped = false;
    $('start').disabled = true;
    $('stop').disabled = false;
    try {
        await measure();
    } catch (error) {
        say(`It failed: ${error.message}`, 'bad');
    }
    $('start').disabled = false;
    $('stop').disabled = true;
};
$('stop').onclick = () => (stopped = true);
$('copy').onclick = () => navigator.clipboard.writeText(markdown());
window.wgmaxSpeed = { markdown };
show();
