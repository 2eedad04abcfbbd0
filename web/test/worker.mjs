// A device in a worker gives what the device on the page gives. In a browser: Node has no `Worker` like it.

import { openWorker } from '../pkg/worker.js';

export const tests = {};

function equal(found, expected, what = '') {
    const text = (value) => JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : Object.is(v, -0) ? '-0' : Number.isNaN(v) ? 'NaN' : ArrayBuffer.isView(v) ? [v.constructor.name, ...v] : v));
    if (text(found) !== text(expected)) throw new Error(`${what} ${text(found)}, not ${text(expected)}`);
}

async function fails(code, promise) {
    const error = await promise.then(() => undefined, (error) => error);
    equal([error?.name, error?.code], ['WgmaxError', code], error?.message);
}

const host = (type, shape, data) => ({ type, shape, data });
const X = host('f32', [1, 1, 2, 4], new Float32Array([1, -0, NaN, 3, 7, 5, 5, 2]));
const ROWS = host('f16', [3, 2], [1, 2, 3, 4, 5, 6]);

/** Operators with their inputs and attributes, and the same call of a device on the page. */
const CALLS = [
    ['reduceMax', [X], { axes: [3], nan: 'ignore' }],
    ['reduceMin', [X], undefined],
    ['reduceMax', [X], { axes: [2], indices: true }],
    ['argMax', [X], { axes: [-1], type: 'i32' }],
    ['maxPool', [X], { kernel: 2, indices: true }],
    ['minPool', [X], { kernel: [1, 2] }],
    ['segmentMax', [ROWS, [0, 0, 1]], { indices: true }],
    ['segmentMin', [ROWS, new BigInt64Array([0n, 2n, 2n])], { numSegments: 4, status: true }],
    ['segmentMax', [ROWS, host('i32', [3], [0, 1, 1])], { numSegments: 2 }],
    ['scatterMax', [ROWS, host('i64', [1, 2], [2n, -3n]), host('f16', [1, 2], [9, 9])], { indices: true }],
    ['reduceMaxBackward', [ROWS, host('f16', [2], [1, 2])], { axes: [0] }],
    ['maxPoolBackward', [X, host('f32', [1, 1, 1, 2], [1, 2])], { kernel: 2, strides: 2 }],
    ['segmentMaxBackward', [ROWS, [0, 0, 1], host('f16', [2, 2], [1, 2, 3, 4])], undefined],
    ['segmentMaxBackward', [host('i64', [1, 2], [2, 0]), undefined, host('f16', [1, 2], [1, 2])], { shape: [3, 2] }],
    ['scatterMinBackward', [ROWS, host('i32', [1, 2], [0, 1]), host('f16', [1, 2], [0, 9]), ROWS], undefined],
    ['maxUnpool', [host('f32', [2], [4, 5]), host('i64', [2], [3, 1])], { shape: [4] }],
    ['node', [X, host('i64', [1], [3])], { dialect: 'onnx', operator: 'ReduceMax', version: 20 }],
];

async function onPage(device, operator, inputs, attributes) {
    const asTensor = async (input, at) => (input?.type && !(operator === 'node' && at) ? device.tensor(input.type, input.shape, input.data) : input);
    const given = await Promise.all(inputs.map(asTensor));
    const found = await {
        node: () => device.node(attributes, given),
        maxUnpool: () => device.maxUnpool(...given, attributes.shape),
    }[operator]?.() ?? await device[operator](...given, attributes);
    const named = Array.isArray(found) ? { outputs: found } : found.data instanceof Function ? { values: found } : found;
    const read = async (tensor) => (Array.isArray(tensor) ? Promise.all(tensor.map(read)) : tensor && { type: tensor.type, shape: tensor.shape, data: await tensor.data() });
    return Object.fromEntries(await Promise.all(Object.entries(named).map(async ([name, tensor]) => [name, await read(tensor)])));
}

tests['a worker computes what the page does'] = async (wgmax) => {
    for (const name of ['cpu', 'gpu']) {
        const [device, worker] = [await wgmax.open(name), await openWorker(name)];
        // All at the same time.
        const found = await Promise.all(CALLS.map((call) => worker.run(...call)));
        for (const [i, call] of CALLS.entries()) equal(found[i], await onPage(device, ...call), `${name} ${call[0]}`);
        device.free();
        worker.free();
    }
};

tests['the page goes on while a worker computes'] = async () => {
    const worker = await openWorker();
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const x = host('f32', [1, 16, 512, 512], new Float32Array(16 << 18));
    await worker.run('maxPool', [x], { kernel: 31, strides: 1, padding: 15, indices: true });
    clearInterval(timer);
    if (turns < 2) throw new Error(`the page had ${turns} turns`);
    worker.free();
};

tests['a worker copies elements, or moves them'] = async () => {
    const worker = await openWorker('cpu');
    const x = host('i16', [3], new Int16Array([1, 3, 2]));
    equal((await worker.run('reduceMax', [x])).values.data, new Int16Array([3]));
    // A part of a larger array, and memory that a page shares.
    const part = new Int16Array([9, 1, 3, 9]).subarray(1, 3);
    equal((await worker.run('reduceMax', [host('i16', [2], part)])).values.data, new Int16Array([3]));
    const shared = new Uint8Array(new SharedArrayBuffer(2));
    shared.set([4, 7]);
    equal((await worker.run('reduceMax', [host('u8', [2], shared)], {}, { transfer: true })).values.data, new Uint8Array([7]));
    const [a, ids] = [host('u8', [4], new Uint8Array([1, 3, 2, 9])), new Int32Array([0, 1, 1, 1])];
    equal((await worker.run('segmentMax', [a, ids], {}, { transfer: true })).values.data, new Uint8Array([1, 9]));
    equal([x.data.length, a.data.length, ids.length], [3, 0, 0]);
    worker.free();
};

tests['errors of a worker'] = async () => {
    const worker = await openWorker('cpu');
    await fails('UnknownOperator', worker.run('open', [X]));
    await fails('UnknownOperator', worker.run('constructor', [X]));
    await fails('UnknownElementType', worker.run('reduceMax', [host('f99', [1], [1])]));
    await fails('SegmentOutOfRange', worker.run('segmentMax', [ROWS, [0, 0, 5]], { numSegments: 2 }));
    await worker.run('reduceMax', [X], { axes: [() => 0] }).then(() => { throw new Error('a function was sent'); }, ({ name }) => equal(name, 'DataCloneError'));
    // None of these harms the next one.
    equal((await worker.run('reduceMax', [ROWS], { axes: [0] })).values.shape, [2]);
    const later = worker.run('reduceMax', [X]);
    worker.free();
    worker.free();
    await fails('Freed', later);
    await fails('Freed', worker.run('reduceMax', [X]));
    await fails('NoWorker', openWorker('cpu', { worker: new Worker('/nothing.js', { type: 'module' }) }));
    // Paths are relative to the page.
    for (const wasm of ['../pkg/wasm', new URL('/pkg/wasm/', location), { cpu: '../pkg/wasm/cpu_bg.wasm' }]) (await openWorker('cpu', { wasm })).free();
    await fails('NoWebAssembly', openWorker('cpu', { wasm: `${location.origin}/nothing/` }));
    await fails('NoAdapter', openWorker('vulkan'));
};
