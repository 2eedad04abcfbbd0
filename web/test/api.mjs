// Tests of the package, in Node and in a browser. `wgmax` is the package, `gpu` what options opens a
// GPU. Each test throws if something is wrong.

export const tests = {};

function equal(found, expected, what = '') {
    const text = (value) => JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : Object.is(v, -0) ? '-0' : Number.isNaN(v) ? 'NaN' : v === Infinity ? 'inf' : v === -Infinity ? '-inf' : ArrayBuffer.isView(v) ? Array.from(v) : v));
    if (text(found) !== text(expected)) throw new Error(`${what} ${text(found)}, not ${text(expected)}`);
}

async function fails(code, f) {
    try {
        await f();
    } catch (error) {
        equal([error.name, error.code], ['WgmaxError', code], error.message);
        return error;
    }
    throw new Error(`no error ${code}`);
}

/** The same on a GPU and on the CPU. */
async function both(wgmax, options, test) {
    for (const device of [await wgmax.open('gpu', options), await wgmax.open('cpu')]) {
        await test(device);
        device.free();
    }
}

const VALUES = {
    f32: [1.5, -0, NaN, -Infinity], f64: [1.5, -0, 5e-324, 1e300], f16: [1.5, -0, 65504, -2],
    bf16: [1.5, -0, 256, -2], i8: [1, -128, 127, 0], u8: [1, 0, 255, 7], i16: [1, -32768, 32767, 0],
    u16: [1, 0, 65535, 7], i32: [1, -(2 ** 31), 2 ** 31 - 1, 0], u32: [1, 0, 2 ** 32 - 1, 7],
    i64: [1n, -(2n ** 63n), 2n ** 63n - 1n, 0n], u64: [1n, 0n, 2n ** 64n - 1n, 7n], bool: [1, 0, 1, 0],
};

tests['every type goes there and back'] = (wgmax, options) => both(wgmax, options, async (device) => {
    equal([...wgmax.elementTypes].sort(), Object.keys(VALUES).sort());
    for (const [type, values] of Object.entries(VALUES)) {
        const tensor = await device.tensor(type, [2, 2], values);
        equal([tensor.type, tensor.shape, tensor.size], [type, [2, 2], 4]);
        const numbers = await tensor.numbers();
        equal(numbers, values.map(Number), type);
        const data = await tensor.data();
        const again = await device.tensor(type, [2, 2], data);
        equal((await again.data()).buffer.byteLength, data.byteLength);
        // The maximum of each row, by the bits.
        const rows = await (await device.reduceMax(tensor, { axes: [1] })).numbers();
        const max = (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? NaN : Object.is(a, -0) && b === 0 ? b : a > b ? a : b);
        equal(rows, [max(Number(values[0]), Number(values[1])), max(Number(values[2]), Number(values[3]))], type);
    }
    if (globalThis.Float16Array) equal((await (await device.tensor('f16', [1], [1])).data()).constructor.name, 'Float16Array');
});

tests['reduceMax has its attributes'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('f32', [2, 3], [1, 5, NaN, -1, -Infinity, -0]);
    equal(await (await device.reduceMax(x)).numbers(), [NaN]);
    const rows = await device.reduceMax(x, { axes: [-1], nan: 'ignore', keepDims: true });
    equal([rows.shape, await rows.numbers()], [[2, 1], [5, -0]]);
    equal((await device.reduceMax(x, { axes: [] })).shape, [2, 3]);
    const nothing = await device.tensor('f32', [0, 2], []);
    equal(await (await device.reduceMax(nothing, { axes: [0] })).numbers(), [-Infinity, -Infinity]);
    const lowest = await device.reduceMax(nothing, { axes: [0], emptySet: 'lowest' });
    equal(await lowest.numbers(), [-3.4028234663852886e38, -3.4028234663852886e38]);
    equal(await (await device.reduceMax(nothing, { axes: [1] })).numbers(), []);
    const scalar = await device.tensor('i64', [], 7n);
    equal([scalar.shape, await scalar.numbers()], [[], [7]]);
});

tests['maxPool has its attributes, and its results feed the next'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('i32', [1, 1, 4, 4], Int32Array.from({ length: 16 }, (_, i) => (i * 7) % 16));
    const { values, indices } = await device.maxPool(x, { kernel: [2, 2], strides: [2, 2], indices: true });
    equal([values.shape, await values.numbers()], [[1, 1, 2, 2], [12, 14, 15, 13]]);
    equal([indices.type, await indices.numbers()], ['i64', [4, 2, 9, 11]]);
    equal(await (await device.reduceMax(values)).numbers(), [15]);
    const same = await device.maxPool(x, { kernel: [3, 3], padding: 'sameUpper', dilations: [1, 1], layout: 'ncx', rounding: 'ceil' });
    equal([same.values.shape, same.indices], [[1, 1, 4, 4], undefined]);
    const padded = await device.maxPool(x, { kernel: [2, 2], padding: [1, 1, 0, 0], indices: { type: 'i32', order: 'columnMajor' } });
    equal([padded.values.shape, padded.indices.type], [[1, 1, 4, 4], 'i32']);
    const last = await device.maxPool(x.permute([0, 2, 3, 1]), { kernel: [4, 4], layout: 'nxc' });
    equal(await last.values.numbers(), [15]);
});

tests['segmentMax takes ids of all kinds'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('f32', [4, 2], [1, 8, 2, 7, 3, 6, 4, 5]);
    const { values, indices } = await device.segmentMax(x, [0, 0, 2, 2], { indices: true });
    equal([values.shape, await values.numbers()], [[3, 2], [2, 8, 0, 0, 4, 6]]);
    equal(await indices.numbers(), [1, 0, -1, -1, 3, 2]);
    const ids = await device.tensor('u8', [4], [2, 0, 9, 2]);
    const any = await device.segmentMax(x, ids, { segments: 'unsorted', numSegments: 3, status: true, emptySegment: 'negativeInfinity' });
    equal(await any.values.numbers(), [2, 7, -Infinity, -Infinity, 4, 8]);
    equal(await any.status.numbers(), [0, 1]);
    const csr = await device.segmentMax(x, BigInt64Array.of(0n, 1n, 4n), { segments: 'offsets' });
    equal(await csr.values.numbers(), [1, 8, 4, 7]);
    const narrow = await device.segmentMax(x, Uint16Array.of(0, 0, 2, 2));
    equal(await narrow.values.numbers(), await values.numbers());
    await fails('WrongElementType', () => device.segmentMax(x, [0, 0.5, 2, 2]));
    await fails('SegmentTooLarge', () => device.segmentMax(x, [0, 0, 2, 2 ** 40]));
    await fails('UnsortedSegments', () => device.segmentMax(x, [1, 0, 2, 2]));
    await fails('NegativeSegment', () => device.segmentMax(x, [-1, 0, 2, 2]));
    await fails('SegmentCountUnknown', () => device.segmentMax(x, ids));
    await fails('SegmentIdsLength', () => device.segmentMax(x, [0, 0]));
});

tests['minima and positions'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('f32', [2, 3], [1, 5, 5, NaN, -1, -0]);
    equal(await (await device.reduceMin(x, { axes: [1] })).numbers(), [1, NaN]);
    equal(await (await device.reduceMin(x, { axes: [1], nan: 'ignore' })).numbers(), [1, -1]);
    const { values, indices } = await device.reduceMax(x, { axes: [1], indices: true });
    equal([await values.numbers(), indices.type, await indices.numbers()], [[5, NaN], 'i64', [1, 0]]);
    const last = await device.argMax(x, { axes: [-1], last: true, type: 'i32', keepDims: true });
    equal([last.shape, last.type, await last.numbers()], [[2, 1], 'i32', [2, 0]]);
    equal(await (await device.argMin(x, { axes: [1], nan: 'ignore' })).numbers(), [0, 1]);
    const plane = x.reshape([1, 1, 2, 3]);
    const pooled = await device.minPool(plane, { kernel: [2, 2], nan: 'ignore', indices: true });
    equal([await pooled.values.numbers(), await pooled.indices.numbers()], [[-1, -1], [4, 4]]);
    const segments = await device.segmentMin(x, [0, 0], { nan: 'ignore' });
    equal(await segments.values.numbers(), [1, -1, -0]);
    await fails('BadAttribute', () => device.reduceMax(x, { extremum: 'least' }));
    await fails('BadAttribute', () => device.reduceMax(x, { indices: 1 }));
    await fails('UnknownAttribute', () => device.reduceMax(x, { indices: { first: true } }));
});

tests['views copy nothing'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('u8', [3, 4], Uint8Array.from({ length: 12 }, (_, i) => i));
    equal(await x.slice(1, 1, 3).numbers(), [1, 2, 5, 6, 9, 10]);
    equal(await x.slice(0, 2).numbers(), [8, 9, 10, 11]);
    equal(await x.stepBy(1, -2).numbers(), [3, 1, 7, 5, 11, 9]);
    equal(await x.permute([1, 0]).numbers(), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
    equal(await x.reshape([2, 6]).slice(0, 0, 1).numbers(), [0, 1, 2, 3, 4, 5]);
    equal(await x.slice(0, 1, 2).broadcast(0, 2).numbers(), [4, 5, 6, 7, 4, 5, 6, 7]);
    equal(await x.view({ shape: [2], offset: 3, pitches: [5] }).numbers(), [3, 8]);
    const crop = x.slice(1, 1, 3);
    equal([crop.offset, crop.pitches], [1, [4, 1]]);
    equal(await (await device.reduceMax(crop, { axes: [1] })).numbers(), [2, 6, 10]);
    await fails('BadView', () => x.slice(1, 3, 9));
    await fails('BadView', () => x.view({ shape: [2], offset: 11, pitches: [5] }));
    await fails('BadView', () => crop.reshape([6]));
});

tests['errors have codes'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('f32', [1, 1, 4], [1, 2, 3, 4]);
    await fails('WrongByteLength', () => device.tensor('f32', [3], [1, 2]));
    await fails('BadShape', () => device.tensor('f32', [-1], []));
    await fails('BadShape', () => device.tensor('f32', [1.5], []));
    await fails('ShapeOverflow', () => device.tensor('f32', [4e9, 4e9], []));
    await fails('WrongElementType', () => device.tensor('f32', [1], new Int32Array(1)));
    await fails('UnknownElementType', () => device.tensor('f99', [1], [1]));
    await fails('InvalidBool', () => device.tensor('bool', [1], [2]));
    await fails('BadAttribute', () => device.maxPool(x, {}));
    await fails('BadAttribute', () => device.maxPool(x, { kernel: ['3'] }));
    await fails('BadAttribute', () => device.maxPool(x, { kernel: [1.5] }));
    await fails('BadAttribute', () => device.maxPool(x, { kernel: [2], layout: 'nchw' }));
    await fails('UnknownAttribute', () => device.maxPool(x, { kernel: [2], stride: [2] }));
    await fails('WindowTooLarge', () => device.maxPool(x, { kernel: [9] }));
    await fails('AttributeLength', () => device.maxPool(x, { kernel: [2, 2] }));
    await fails('AxisOutOfRange', () => device.reduceMax(x, { axes: [3] }));
    await fails('NotATensor', () => device.reduceMax([1, 2, 3]));
    await fails('NoAdapter', () => wgmax.open('vulkan'));
    const node = { dialect: 'onnx', operator: 'MaxPool', version: 22, attributes: { kernel_shape: [2] } };
    equal(await (await device.node(node, [x]))[0].numbers(), [2, 3, 4]);
    await fails('UnknownOpset', () => device.node({ ...node, version: 9999 }, [x]));
});

tests['tensors stay with their device'] = async (wgmax, options) => {
    const [gpu, cpu] = [await wgmax.open('gpu', options), await wgmax.open('cpu')];
    const [a, b] = [await gpu.tensor('u8', [1], [1]), await cpu.tensor('u8', [1], [1])];
    await fails('WrongDevice', () => cpu.reduceMax(a));
    await fails('WrongDevice', () => gpu.reduceMax(b));
    const [other, same] = [await wgmax.open('gpu', options), await wgmax.open('cpu')];
    await fails('WrongDevice', () => other.reduceMax(a));
    // The CPU is one.
    equal(await (await same.reduceMax(b)).numbers(), [1]);
    equal([cpu.isCpu, cpu.gpu, b.buffer, gpu.isCpu], [true, undefined, undefined, false]);
    equal([gpu.info.backend, cpu.info.backend, gpu.info.name.length > 0], ['webgpu', 'cpu', true]);
    equal(a.buffer.constructor.name, 'GPUBuffer');
    equal(gpu.gpu.constructor.name, 'GPUDevice');
    await fails('CannotRecord', () => cpu.prepare('reduceMax', {}, [b], [b]));
};

tests['prepared operators run on tensors that are there'] = async (wgmax, options) => {
    const device = await wgmax.open('gpu', options);
    const x = await device.tensor('f32', [2, 3], [1, 5, 3, -1, 9, 2]);
    const y = await device.zeros('f32', [2]);
    const rows = await device.prepare('reduceMax', { axes: [1] }, [x], [y]);
    rows.submit([x], [y], 3);
    equal(await y.numbers(), [5, 9]);
    // The queue of the page works on the same buffers.
    device.gpu.queue.writeBuffer(x.buffer, 0, Float32Array.of(7));
    rows.submit([x], [y]);
    await device.wait();
    equal(await y.numbers(), [7, 9]);
    await fails('BufferTooSmall', async () => {
        const small = await device.zeros('f32', [1]);
        rows.submit([x.slice(0, 0, 1)], [small]);
        const wide = await device.zeros('f32', [0]);
        rows.submit([wide], [y]);
    });
    rows.free();
};

tests['a device of the page'] = async (wgmax, options) => {
    const gpu = options.gpu ?? navigator.gpu;
    const adapter = await gpu.requestAdapter();
    const own = await adapter.requestDevice();
    const device = await wgmax.open('gpu', { ...options, device: own });
    equal(device.gpu === own, true, 'the same GPUDevice');
    equal(device.info.limits.maxBindingSize, own.limits.maxStorageBufferBindingSize);
    const x = await device.tensor('f32', [4], [4, 3, 2, 1]);
    equal(await (await device.reduceMax(x)).numbers(), [4]);
    const staging = own.createBuffer({ size: 16, usage: 9 });
    const encoder = own.createCommandEncoder();
    encoder.copyBufferToBuffer(x.buffer, 0, staging, 0, 16);
    own.queue.submit([encoder.finish()]);
    await staging.mapAsync(1);
    equal(Array.from(new Float32Array(staging.getMappedRange())), [4, 3, 2, 1]);
    // The page destroys it.
    own.destroy();
    await own.lost;
    for (let i = 0; i < 2; i++) {
        await fails('DeviceLost', () => device.reduceMax(x));
        await fails('DeviceLost', () => device.tensor('u8', [1], [1]));
        await fails('DeviceLost', () => x.data());
        await fails('DeviceLost', () => device.wait());
    }
    // Another one works.
    const next = await wgmax.open('gpu', options);
    equal(await (await next.reduceMax(await next.tensor('u8', [2], [1, 2]))).numbers(), [2]);
};

tests['what is freed is gone'] = async (wgmax, options) => {
    const device = await wgmax.open('gpu', options);
    const x = await device.tensor('u8', [4], [1, 2, 3, 4]);
    const view = x.slice(0, 1, 3);
    x.free();
    equal(await view.numbers(), [2, 3], 'a view keeps the memory');
    let thrown = 0;
    await x.data().catch(() => (thrown += 1));
    equal(thrown, 1, 'use after free');
    if (Symbol.dispose) {
        const y = await device.tensor('u8', [1], [1]);
        y[Symbol.dispose]();
        await y.data().catch(() => (thrown += 1));
        equal(thrown, 2, 'use after dispose');
    }
    // Many at once, freed while they are on their way.
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => device.tensor('i32', [2], [i, 1])));
    const found = await Promise.all(all.map((tensor) => device.reduceMax(tensor).then((r) => r.numbers())));
    equal(found.flat(), Array.from({ length: 20 }, (_, i) => Math.max(i, 1)));
    all.forEach((tensor) => tensor.destroy());
};

tests['blocking forms say that they would block'] = async (wgmax, options) => {
    const device = await wgmax.open('gpu', { ...options, cpu: true });
    const x = await device.tensor('u8', [2], [1, 2]);
    // Without a `navigator` the library finds no adapter by itself.
    const named = options.gpu ? 'NoAdapter' : 'WouldBlock';
    equal(device.parts.raw.blocking(x.raw), ['WouldBlock', named, ...Array(10).fill('WouldBlock')]);
    const cpu = await wgmax.open('cpu');
    const y = await cpu.tensor('u8', [2], [1, 2]);
    const found = cpu.parts.raw.blocking(y.raw);
    equal(found, ['WouldBlock', named, 'WouldBlock', 'WouldBlock', '', '', '', '', 'CannotRecord', '', '', '']);
};

tests['a mistake in a shader is found, and made small'] = async (wgmax, options, Verification) => {
    const good = await wgmax.open('gpu', { ...options, cpu: true });
    const device = { isCpu: false, info: good.info, parts: { module: good.parts.module, raw: good.parts.raw.mistaken('max(', 'min(') } };
    const verification = new Verification(device, { seed: 1 });
    let differing = 0;
    while (verification.cases < 39 && differing === 0) differing += (await verification.next()).verdict === 'differs';
    equal(differing, 1, 'a case differs');
    const [finding] = verification.findings;
    equal([finding.again, finding.oracle, finding.launch.source.includes('min(')], [true, 'expected', true]);
    const certificate = verification.certificate();
    equal([certificate.good, certificate.devices[0].mismatches], [false, 1]);
    JSON.parse(JSON.stringify(certificate));
    verification.free();
};
