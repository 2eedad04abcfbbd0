// Tests of the package, in Node and in a browser. `wgmax` is the package, and `options` open a GPU. Each
// test throws if something is wrong.

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
    const joined = async (initial, extremum) => (await device.reduceMax(x, { axes: [1], nan: 'ignore', initial, extremum })).numbers();
    equal([await joined(2.5), await joined(-0), await joined(-2n, 'minimum')], [[5, 2.5], [5, -0], [-2, -Infinity]]);
    equal(await (await device.reduceMax(nothing, { axes: [0], initial: true })).numbers(), [1, 1]);
    await fails('InitialOutOfRange', () => device.reduceMax(scalar, { initial: 0.5 }));
    await fails('BadAttribute', () => device.reduceMax(x, { initial: '0' }));
    await fails('InitialWithIndices', () => device.reduceMax(x, { initial: 0, indices: true }));
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

tests['scatterMax has its attributes'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const data = await device.tensor('f32', [4], [1, 2, -0, NaN]);
    const indices = await device.tensor('i32', [5], [0, -3, 0, 2, 2]);
    const updates = await device.tensor('f32', [5], [5, 1, 7, 0, -1]);
    const found = await device.scatterMax(data, indices, updates);
    equal([await found.values.numbers(), found.indices, found.status], [[7, 2, 0, NaN], undefined, undefined]);
    const alone = await device.scatterMin(data, indices, updates, { includeData: false, indices: { type: 'i32' }, status: true });
    equal(await alone.values.numbers(), [5, 1, -1, NaN]);
    equal([alone.indices.type, await alone.indices.numbers(), await alone.status.numbers()], ['i32', [0, 1, 4, -1], [0, 0]]);
    const far = await device.tensor('i32', [5], [0, -5, 4, 2, 2]);
    await fails('IndexOutOfRange', () => device.scatterMax(data, far, updates));
    await fails('IndexOutOfRange', () => device.scatterMax(data, far, updates, { outOfRange: undefined }));
    equal(await (await device.scatterMax(data, far, updates, { outOfRange: 'drop' })).values.numbers(), [5, 2, 0, NaN]);
    const square = await device.tensor('u8', [2, 2], [1, 2, 3, 4]);
    const rows = await device.scatterMax(square, await device.tensor('i64', [1, 1], [1]), await device.tensor('u8', [1, 2], [9, 0]), { vectors: true });
    equal(await rows.values.numbers(), [1, 2, 9, 4]);
    const columns = await device.scatterMax(square, await device.tensor('i64', [1, 1], [1]), await device.tensor('u8', [1, 1], [9]), { axis: 1 });
    equal(await columns.values.numbers(), [1, 9, 3, 4]);
    await fails('BadAttribute', () => device.scatterMax(data, indices, updates, { axis: 0, vectors: true }));
    await fails('BadAttribute', () => device.scatterMax(data, indices, updates, { outOfRange: 'clamp' }));
    await fails('AxisOutOfRange', () => device.scatterMax(data, indices, updates, { axis: 1 }));
    await fails('WrongElementType', () => device.scatterMax(data, updates, updates));
    await fails('WrongInput', () => device.scatterMax(data, indices, indices));
});

tests['windows share an axis out'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('u8', [1, 1, 5], [5, 1, 2, 4, 3]);
    const { values, indices } = await device.maxPool(x, { outputSizes: 2, indices: true });
    equal([await values.numbers(), await indices.numbers()], [[5, 4], [0, 3]]);
    const error = await fails('BadAttribute', () => device.maxPool(x, { outputSizes: 2, kernel: 2 }));
    if (error.message.includes('output_sizes')) throw new Error(error.message);
    await fails('BadAttribute', () => device.maxPool(x, {}));
});

tests['WebNN has its own names'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const { webnn } = device;
    const x = await device.tensor('f32', [1, 1, 2, 3], [1, 5, 2, 4, 3, 6]);
    const rows = await webnn.reduceMax(x, { axes: [3], keepDimensions: true });
    equal([rows.shape, await rows.numbers()], [[1, 1, 2, 1], [5, 6]]);
    equal(await (await webnn.reduceMin(x)).numbers(), [1]);
    const at = await webnn.argMax(x, 3, { outputDataType: 'int64', keepDimensions: undefined, label: 'at' });
    equal([at.type, at.shape, await at.numbers()], ['i64', [1, 1, 2], [1, 2]]);
    equal(await (await webnn.argMin(x, 2)).numbers(), [0, 1, 0]);
    const pooled = await webnn.maxPool2d(x, { windowDimensions: [2, 2], padding: [1, 0, 0, 0], strides: [1, 1] });
    equal([pooled.shape, await pooled.numbers()], [[1, 1, 2, 2], [5, 5, 5, 6]]);
    await fails('AxisOutOfRange', () => webnn.reduceMax(x, { axes: [4] }));
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
    // A BigInt of more than 64 bits is no id, not another id; 2^63 is one of `u64`, beside which there are no negative ones.
    for (const wrong of [2n ** 64n, -(2n ** 63n) - 1n]) await fails('WrongElementType', () => device.segmentMax(x, [0, 0, wrong, 2]));
    await fails('WrongElementType', () => device.segmentMax(x, [-1, 0, 2n ** 63n, 2], { segments: 'unsorted', numSegments: 3 }));
    await fails('SegmentOutOfRange', () => device.segmentMax(x, [0, 0, 2, 2n ** 63n], { numSegments: 3 }));
    const large = await device.segmentMax(x, [0, 0, 2, 2n ** 64n - 1n], { numSegments: 3, outOfRange: 'drop' });
    equal(await large.values.numbers(), [2, 8, 0, 0, 3, 6]);
    await fails('SegmentTooLarge', () => device.segmentMax(x, [0, 0, 2, 2 ** 40]));
    await fails('UnsortedSegments', () => device.segmentMax(x, [1, 0, 2, 2]));
    await fails('NegativeSegment', () => device.segmentMax(x, [-1, 0, 2, 2]));
    await fails('SegmentCountUnknown', () => device.segmentMax(x, ids));
    await fails('SegmentIdsLength', () => device.segmentMax(x, [0, 0]));
});

tests['ids that are no segments are errors, unless they are dropped'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const none = await device.zeros('f32', [0, 3]);
    for (const type of ['u32', 'i32']) {
        const { values } = await device.segmentMax(none, await device.zeros(type, [0]), { segments: 'unsorted', numSegments: 0 });
        equal(values.shape, [0, 3], type);
    }
    const x = await device.tensor('i32', [4], [5, 6, 7, 8]);
    const run = async (ids, attributes) => {
        const { values, status, indices } = await device.segmentMax(x, ids, attributes);
        return [await values.numbers(), await status?.numbers(), await indices?.numbers()].filter((list) => list);
    };
    const upload = (ids, type = 'i32') => device.tensor(type, [ids.length], ids);
    for (const [segments, ids, dropped, code] of [
        ['sorted', [0, 1, 1, 1], null],
        ['sorted', [0, 1, 2, 9], [[5, 6], 2], 'SegmentOutOfRange'],
        ['sorted', [-1, 0, 0, 1], null, 'NegativeSegment'],
        ['sorted', [1, 0, 1, 1], null, 'UnsortedSegments'],
        ['unsorted', [1, 0, 1, 0], null],
        ['unsorted', [1, 0, 2, 2 ** 31 - 1], [[6, 5], 2], 'SegmentOutOfRange'],
        ['unsorted', [1, 0, -9, 2], [[6, 5], 2], 'SegmentOutOfRange'],
    ]) {
        const attributes = { segments, numSegments: 2 };
        for (const given of [ids, Int32Array.from(ids), BigInt64Array.from(ids, BigInt), await upload(ids), await upload(ids.map(BigInt), 'i64')]) {
            if (!code) {
                equal((await run(given, attributes)).length, 1, 'no status');
                continue;
            }
            await fails(code, () => run(given, attributes));
            if (!dropped) {
                await fails(code, () => run(given, { ...attributes, outOfRange: 'drop' }));
                continue;
            }
            equal(await run(given, { ...attributes, outOfRange: 'drop' }), [dropped[0]], `${segments} ${ids}`);
            const all = await run(given, { ...attributes, outOfRange: 'drop', status: true, indices: true });
            equal(all.slice(0, 2), [dropped[0], [0, dropped[1]]], `${segments} ${ids}`);
        }
        // With `status` the page checks the ids itself.
        if (dropped) equal(await run(await upload(ids), { ...attributes, status: true }), [dropped[0], [0, dropped[1]]]);
        if (code && !dropped) equal((await run(await upload(ids), { ...attributes, status: true }))[1][0] > 0, true);
    }
    // `numSegments` may be a BigInt, and ids may be unsigned.
    await fails('SegmentOutOfRange', () => run([0, 1, 2, 3], { numSegments: 3n }));
    await fails('SegmentOutOfRange', () => run(BigUint64Array.of(0n, 1n, 2n, 2n ** 64n - 1n), { numSegments: 3 }));
    await fails('SegmentOutOfRange', async () => run(await upload([0n, 1n, 2n, 2n ** 64n - 1n], 'u64'), { numSegments: 3 }));
    // Negative ids in any order are valid.
    equal(await run([0, -1, 0, 0], { segments: 'unsorted' }), [[8]]);
    equal(await run([0, -1, 0, 0], { segments: 'unsorted', numSegments: 1, status: true }), [[8], [0, 1]]);
    for (const type of ['i8', 'i64']) equal(await run(await upload([0, -1, 0, -1], type), { segments: 'unsorted', numSegments: 1 }), [[7]]);
    await fails('SegmentOutOfRange', async () => run(await upload([0n, 1n, 2n, 2n ** 64n - 1n], 'u64'), { segments: 'unsorted', numSegments: 3 }));
    await fails('SegmentCountUnknown', async () => run(await upload([0, 0, 0, 0]), { segments: 'unsorted' }));
    await fails('SegmentIdsLength', async () => run(await upload([]), { segments: 'unsorted', numSegments: 1 }));
    await fails('BadAttribute', () => run([0, 0, 0, 0], { outOfRange: 'ignore' }));
    // Rows outside of offsets are valid, but offsets that descend are not.
    for (const make of [(ids) => Int32Array.from(ids), upload]) {
        equal(await run(await make([1, 2, 3]), { segments: 'offsets' }), [[6, 7]]);
        equal(await run(await make([1, 2, 3]), { segments: 'offsets', status: true }), [[6, 7], [0, 2]]);
        await fails('UnsortedSegments', async () => run(await make([1, 3, 2]), { segments: 'offsets' }));
        await fails('OffsetTooLarge', async () => run(await make([1, 3, 5]), { segments: 'offsets' }));
    }
});

tests['with positions a maximum is the element that is there'] = (wgmax, options) => both(wgmax, options, async (device) => {
    // As wgmax.d.ts defines `indices`.
    const x = await device.tensor('f32', [1, 1, 2], [-0, 0]);
    equal(await (await device.reduceMax(x)).numbers(), [0]);
    equal(await (await device.reduceMax(x, { indices: true })).values.numbers(), [-0]);
    for (const indices of [false, true]) {
        const zero = indices ? -0 : 0;
        equal(await (await device.maxPool(x, { kernel: [2], indices })).values.numbers(), [zero]);
        equal(await (await device.segmentMax(x.reshape([2]), [0, 0], { indices })).values.numbers(), [zero]);
        const min = await device.minPool(x.stepBy(2, -1), { kernel: [2], indices });
        equal(await min.values.numbers(), [indices ? 0 : -0]);
    }
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

tests['numbers come in by one way, which checks them'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('u8', [2, 3], [0, 1, 2, 3, 4, 5]);
    // Negative axes count from the back, and a BigInt is a number.
    equal(await x.slice(-1, 1).numbers(), [1, 2, 4, 5]);
    equal(await x.slice(-2, 1n, 2n).numbers(), [3, 4, 5]);
    equal(await x.stepBy(-1, -2).numbers(), [2, 0, 5, 3]);
    equal(await x.permute([-1, -2]).numbers(), [0, 3, 1, 4, 2, 5]);
    equal([x.broadcast(-1, 2).shape, x.broadcast(-3, 2).shape, x.broadcast(2, 1n).shape], [[2, 3, 2], [2, 2, 3], [2, 3, 1]]);
    equal(await x.view({ shape: [2n], offset: 1n, pitches: [3n] }).numbers(), [1, 4]);
    equal((await device.zeros('u8', [2n, 0])).shape, [2, 0]);
    equal((await device.zeros('f32', new Uint32Array([1, 2]))).shape, [1, 2]);
    const one = (await fails('AxisOutOfRange', () => x.slice(-3, 0))).message;
    equal(one.includes('axis -3') && one.includes('-2 to 1'), true, one);
    for (const axis of [2, -3, 2 ** 32, -(2 ** 32), 2 ** 53 - 1, 2n ** 62n]) {
        await fails('AxisOutOfRange', () => x.slice(axis, 0));
        await fails('AxisOutOfRange', () => x.stepBy(axis, 1));
        await fails('AxisOutOfRange', () => x.permute([0, axis]));
        if (axis !== 2 && axis !== -3) await fails('AxisOutOfRange', () => x.broadcast(axis, 1));
    }
    const none = [NaN, 1.5, Infinity, 2 ** 53, 2n ** 63n, '1', null, {}, [1], true, Symbol('s')];
    for (const wrong of none) {
        const { message } = await fails('BadAttribute', () => x.slice(wrong, 0));
        equal(message.includes(typeof wrong === 'number' || typeof wrong === 'bigint' ? String(wrong) : ''), true, message);
        for (const use of [() => x.stepBy(wrong, 1), () => x.permute([0, wrong]), () => x.permute(wrong === null ? wrong : [wrong, 0]), () => x.broadcast(wrong, 1)]) await fails('BadAttribute', use);
    }
    for (const wrong of [...none, -1, 2 ** 32]) {
        for (const use of [() => x.slice(0, wrong), () => x.slice(0, 0, wrong), () => x.broadcast(0, wrong), () => x.view({ shape: [1], offset: wrong, pitches: [1] })]) await fails('BadAttribute', use);
        for (const use of [() => device.zeros('u8', [wrong]), () => device.tensor('u8', [wrong], []), ...(wrong === -1 ? [] : [() => x.reshape([wrong, 1])]), () => x.view({ shape: [wrong], pitches: [1] })]) await fails('BadShape', use);
    }
    for (const wrong of [...none, 2 ** 31, -(2 ** 31) - 1]) {
        for (const use of [() => x.stepBy(0, wrong), () => x.view({ shape: [1], pitches: [wrong] })]) await fails('BadAttribute', use);
    }
    for (const wrong of [undefined, null, 3, '23', {}, 1n]) await fails('BadShape', () => device.zeros('u8', wrong));
    const y = await device.zeros('u8', [2]);
    const rows = await device.prepare('reduceMax', { axes: [1] }, [x], [y]);
    for (const wrong of [...none, -1, 2 ** 32]) await fails('BadAttribute', () => rows.submit([x], [y], wrong));
    rows.submit([x], [y], 2n);
    equal(await y.numbers(), [2, 5]);
    // Elements in a list are not changed by their type.
    for (const [type, wrong] of [['u8', 256], ['u8', -1], ['i8', 1.5], ['i32', NaN], ['i32', 2 ** 31], ['u64', -1n], ['u64', -1], ['i64', 2n ** 63n], ['i64', 0.5], ['u16', null], ['i64', undefined], ['u32', {}]]) {
        await fails('WrongElementType', () => device.tensor(type, [2], [1, wrong]));
    }
    // Typed arrays in a list are elements of the type, as one alone is.
    const halves = [Uint16Array.of(0x3c00, 0xc000), Uint16Array.of(0x7bff, 0x8000)];
    for (const [type, found] of [['f16', [1, -2, 65504, -0]], ['bf16', [0.0078125, -2, 2.6584e36, -0]]]) {
        const made = await device.tensor(type, halves);
        const flat = await device.tensor(type, [2, 2], Uint16Array.of(...halves[0], ...halves[1]));
        equal([made.shape, await made.numbers()], [[2, 2], await flat.numbers()]);
        equal((await made.numbers()).slice(0, 2), found.slice(0, 2));
    }
    equal(await (await device.tensor('f32', [[Float32Array.of(1.5, 2)], [[3, 4]]])).numbers(), [1.5, 2, 3, 4]);
    equal(await (await device.tensor('u8', [Uint8ClampedArray.of(300), Uint8Array.of(7)])).numbers(), [255, 7]);
    for (const [type, wrong] of [['f32', Float64Array.of(1)], ['i8', Uint8Array.of(1)], ['u8', new DataView(new ArrayBuffer(1))]]) {
        for (const given of [wrong, [wrong], [[wrong]]]) await fails('WrongElementType', () => device.tensor(type, given));
    }
    const promise = Promise.resolve([1]);
    for (const wrong of [undefined, null, '1', Symbol('s'), promise, y, new ArrayBuffer(4), { length: 1, 0: 1 }]) {
        await fails('WrongElementType', () => device.tensor('f32', [], wrong));
        await fails('WrongElementType', () => device.tensor('f32', wrong));
        await fails('WrongElementType', () => device.tensor('f32', [wrong]));
        if (!(wrong instanceof wgmax.Tensor)) await fails('WrongElementType', () => device.segmentMax(x, wrong));
    }
    // Halves are the nearest ones, by all bits of a number, and the even one of two.
    for (const [type, digit, least] of [['f16', 2 ** -10, 2 ** -24], ['bf16', 2 ** -7, 2 ** -133]]) {
        const near = (unit, from) => [from + unit / 2 - unit * 2 ** -30, from + unit / 2, from + unit / 2 + unit * 2 ** -30, from + unit * 1.5];
        const found = await (await device.tensor(type, [...near(digit, 1), ...near(least, 0)])).numbers();
        equal(found, [1, 1, 1 + digit, 1 + 2 * digit, 0, 0, least, 2 * least], type);
    }
    equal(await (await device.tensor('f16', [65519.99, 65520, -1e300, NaN, -(2 ** -26)])).numbers(), [65504, Infinity, -Infinity, NaN, -0]);
    const every = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const bits = await (await device.tensor('bf16', every)).numbers();
    const back = await (await device.tensor('bf16', bits)).data();
    equal(back.findIndex((element, i) => element !== i && !Number.isNaN(bits[i])), -1, 'bf16 there and back');
    equal(await (await device.tensor('i64', [3], [1, 2n, true])).numbers(), [1, 2, 1]);
    equal(await (await device.tensor('bool', [2], [true, false])).numbers(), [1, 0]);
});

tests['exhausted memory is an error, and nothing else'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('u8', [1], [1]);
    for (const shape of [[2 ** 31], [2 ** 31 - 1, 2], [2 ** 32 - 1], [2 ** 16, 2 ** 32 - 1]]) {
        await fails('OutOfMemory', () => device.zeros('u8', shape));
        await fails('OutOfMemory', () => device.tensor('u8', shape, new Uint8Array(1)));
    }
    await fails('OutOfMemory', () => device.zeros('f64', [2 ** 28]));
    await fails('ShapeOverflow', () => device.zeros('f64', [2 ** 32 - 1, 2 ** 32 - 1]));
    equal(await (await device.reduceMax(x)).numbers(), [1]);
});

tests['bytes go to a GPU and back without the memory of the WebAssembly'] = async (wgmax, options) => {
    const device = await wgmax.open('gpu', options);
    const memory = (await device.parts.module.default()).memory;
    const size = 48 << 20;
    const before = memory.buffer.byteLength;
    const bytes = new Uint8Array(size + 3).map((_, i) => (i * 31) >> 3);
    const x = await device.tensor('u8', [bytes.length], bytes);
    equal((await x.data()).every((byte, i) => byte === bytes[i]), true, 'the bytes');
    const view = await x.stepBy(0, -2).data();
    equal(view.every((byte, i) => byte === bytes[size + 2 - 2 * i]), true, 'a view');
    const zeros = await device.zeros('f32', [size / 4]);
    equal((await zeros.data()).every((value) => Object.is(value, 0)), true, 'zeros');
    equal(memory.buffer.byteLength - before < size / 4, true, `${memory.buffer.byteLength} bytes, not ${before}`);
    [x, zeros].forEach((tensor) => tensor.destroy());
};

tests['a tensor has the elements of its call'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const array = Float32Array.of(1, 2, 3);
    const shape = [3];
    const made = device.tensor('f32', shape, array);
    array.fill(9);
    shape[0] = 1;
    equal(await (await made).numbers(), [1, 2, 3]);
    const ids = Int32Array.of(0, 1, 1);
    const segments = device.segmentMax(await made, ids);
    ids.fill(-1);
    equal(await (await segments).values.numbers(), [1, 3]);
});

tests['errors have codes'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('f32', [1, 1, 4], [1, 2, 3, 4]);
    await fails('WrongByteLength', () => device.tensor('f32', [3], [1, 2]));
    await fails('BadShape', () => device.tensor('f32', [-1], []));
    await fails('BadShape', () => device.tensor('f32', [1.5], []));
    await fails('ShapeOverflow', () => device.tensor('f32', [4e9, 4e9], []));
    await fails('WrongElementType', () => device.tensor('f32', [1], new Int32Array(1)));
    for (const type of ['f99', 'constructor', undefined, 5]) {
        await fails('UnknownElementType', () => device.tensor(type, [1], [1]));
        await fails('UnknownElementType', () => device.zeros(type, [1]));
    }
    await fails('UnknownOperator', () => device.prepare('sum', {}, [x], [x]));
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
    // All CPU devices are the same.
    equal(await (await same.reduceMax(b)).numbers(), [1]);
    equal([cpu.isCpu, cpu.gpu, b.buffer, gpu.isCpu], [true, undefined, undefined, false]);
    equal([gpu.info.backend, cpu.info.backend, gpu.info.name.length > 0], ['webgpu', 'cpu', true]);
    equal(a.buffer.constructor.name, 'GPUBuffer');
    equal(gpu.gpu.constructor.name, 'GPUDevice');
    const rows = await cpu.prepare('reduceMax', {}, [b], [await cpu.zeros(b.type, [])]);
    await fails('WrongDevice', () => rows.submit([a], [b]));
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
    // It refuses tensors with other layouts, also where their buffers are large enough.
    const [wide, part] = [await device.zeros('f32', [4, 3]), await device.zeros('f32', [4])];
    await fails('WrongInput', () => rows.submit([wide], [y]));
    await fails('WrongInput', async () => rows.submit([await device.zeros('i32', [2, 3])], [y]));
    await fails('WrongView', () => rows.submit([wide.slice(0, 2, 4)], [y]));
    await fails('WrongView', async () => rows.submit([(await device.zeros('f32', [3, 2])).permute([1, 0])], [y]));
    await fails('InputCount', () => rows.submit([x, x], [y]));
    await fails('WrongResult', () => rows.submit([x], [part]));
    await fails('WrongResult', async () => rows.submit([x], [await device.zeros('i32', [2])]));
    await fails('BadView', () => rows.submit([x], [part.slice(0, 2, 4)]));
    await fails('ResultCount', () => rows.submit([x], []));
    rows.free();
    // Views of the layouts that it was prepared for.
    const ids = await device.tensor('f32', [4, 3], [9, 9, 9, 9, 9, 9, 1, 2, 3, 6, 5, 4]);
    const lower = await device.prepare('reduceMax', { axes: [1] }, [ids.slice(0, 2, 4)], [part.slice(0, 2, 4)]);
    lower.submit([ids.slice(0, 2, 4)], [part.slice(0, 2, 4)]);
    equal(await part.numbers(), [0, 0, 3, 6]);
    lower.free();
    // A part of the same memory: it works if the browser can bind both.
    const all = await device.tensor('f32', [192], Array.from({ length: 192 }, (_, i) => i));
    for (const [offset, works] of [[128, true], [32, false]]) {
        const from = all.view({ shape: [2, 32], offset, pitches: [32, 1] });
        const to = all.view({ shape: [2], offset: 0, pitches: [1] });
        const own = await device.prepare('reduceMax', { axes: [1] }, [from], [to]);
        if (works) own.submit([from], [to]);
        else await fails('BufferOverlap', () => own.submit([from], [to]));
        equal(await to.numbers(), [159, 191]);
        own.free();
    }
};

tests['prepared operators of the CPU give results in tensors that are there'] = async (wgmax) => {
    const device = await wgmax.open('cpu');
    const x = await device.tensor('f32', [2, 3], [1, 5, 3, -1, 9, 2]);
    const y = await device.zeros('f32', [2]);
    const rows = await device.prepare('reduceMax', { axes: [1] }, [x], [y]);
    const before = y.slice(0, 1);
    rows.submit([x], [y], 0);
    equal(await y.numbers(), [0, 0]);
    rows.submit([x], [y], 3);
    equal([await y.numbers(), await before.numbers(), await y.slice(0, 1).numbers()], [[5, 9], [0], [9]]);
    // A prepared operator refuses inputs with another view, and takes the same view of other memory.
    const wide = await device.tensor('f32', [2, 4], [0, 1, 2, 3, 8, 7, 6, 5]);
    await fails('WrongView', () => rows.submit([wide.slice(1, 0, 3)], [y]));
    const narrow = await device.prepare('reduceMax', { axes: [1] }, [wide.slice(1, 1)], [y]);
    narrow.submit([wide.slice(1, 1)], [y]);
    equal(await y.numbers(), [3, 7]);
    await fails('WrongResult', async () => rows.submit([x], [await device.zeros('f32', [3])]));
    for (const part of [[0, 2], [2, 4]]) await fails('BadView', async () => rows.submit([x], [(await device.zeros('f32', [4])).slice(0, ...part)]));
    await fails('ResultCount', () => rows.submit([x], []));
    await fails('WrongResult', async () => device.prepare('reduceMax', { axes: [1] }, [x], [await device.zeros('f32', [3])]));
    for (const part of [[0, 2], [1, 3]]) await fails('BadView', async () => device.prepare('reduceMax', { axes: [1] }, [x], [(await device.zeros('f32', [3])).slice(0, ...part)]));
    // Values and positions.
    const [best, at] = [await device.zeros('f32', [2]), await device.zeros('i64', [2])];
    const both = await device.prepare('reduceMax', { axes: [1], indices: true }, [x], [best, at]);
    both.submit([x], [best, at]);
    equal([await best.numbers(), await at.numbers()], [[5, 9], [1, 1]]);
    // A result has memory of its own, as on a GPU.
    const [data, updates, places] = [await device.zeros('f32', [2]), await device.zeros('f32', [2]), await device.tensor('i32', [2], [1, 0])];
    const [first, second] = [await device.zeros('f32', [2]), await device.zeros('f32', [2])];
    const backward = await device.prepare('scatterMaxBackward', {}, [data, places, updates, best], [first, second]);
    backward.submit([data, places, updates, best], [first, second]);
    equal([await first.numbers(), await second.numbers()], [[5, 9], [0, 0]]);
    const twice = await fails('BufferOverlap', () => backward.submit([data, places, updates, best], [first, first]));
    equal(twice.message.includes('result 1') && twice.message.includes('result 0'), true, twice.message);
    await fails('BufferOverlap', () => backward.submit([data, places, updates, best], [first, updates]));
    equal(await first.numbers(), [5, 9], 'kept');
    backward.free();
    y.free();
    await fails('Freed', () => rows.submit([x], [y]));
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

tests['what is freed is gone'] = async (wgmax, options, Verification) => {
    const device = await wgmax.open('gpu', { ...options, verify: true });
    for (const on of [device, await wgmax.open('cpu')]) {
        const x = await on.tensor('u8', [4], [1, 2, 3, 4]);
        const view = x.slice(0, 1, 3);
        // Work that has begun continues.
        const begun = [x.data(), x.numbers(), on.segmentMax(x, [0, 0, 1, 1]).then(({ values }) => values.numbers()), on.reduceMax(x).then((y) => y.numbers())];
        x.free();
        equal((await Promise.all(begun)).map((list) => Array.from(list)), [[1, 2, 3, 4], [1, 2, 3, 4], [2, 4], [4]]);
        equal(await view.numbers(), [2, 3], 'a view keeps the memory');
        x.free();
        x.destroy();
        equal([x.isFreed, view.isFreed], [true, false]);
        for (const get of ['type', 'shape', 'size', 'offset', 'pitches', 'buffer']) await fails('Freed', () => x[get]);
        const uses = [
            () => x.data(), () => x.numbers(), () => x.slice(0, 0, 1), () => x.stepBy(0, 1), () => x.permute([0]), () => x.broadcast(0, 1),
            () => x.reshape([4]), () => x.view({ shape: [1], pitches: [1] }), () => on.reduceMax(x), () => on.maxPool(x, { kernel: [1] }),
            () => on.segmentMax(x, [0, 0, 0, 0]), () => on.segmentMax(view, x, { numSegments: 1 }), () => on.segmentMax(view, x, { numSegments: 1, segments: 'unsorted' }), () => on.prepare('reduceMax', {}, [x], []),
            () => on.node({ dialect: 'onnx', operator: 'ReduceMax', version: 20 }, [x]), () => on.pixels({ width: 1, height: 1, data: new Uint8ClampedArray(4) }, on.isCpu ? view : x).then(() => on.isCpu && x.type),
        ];
        for (const use of uses) await fails('Freed', use);
        if (Symbol.dispose) {
            const y = await on.tensor('u8', [1], [1]);
            y[Symbol.dispose]();
            await fails('Freed', () => y.data());
            y.free();
            y[Symbol.dispose]();
        }
        view.destroy();
        view.destroy();
        await fails('Freed', () => view.data());
    }
    // Also devices, prepared operators and verifications. Work that a device has begun continues.
    const [x, y] = [await device.tensor('u8', [2], [1, 2]), await device.zeros('u8', [])];
    const prepared = await device.prepare('reduceMax', {}, [x], [y]);
    const verification = new Verification(device, { seed: 1 });
    for (const held of [prepared, verification]) for (let i = 0; i < 2; i++) held.free();
    await fails('Freed', () => prepared.submit([x], [y]));
    await fails('Freed', () => verification.next());
    const other = await wgmax.open('gpu', { ...options, verify: true });
    const z = await other.tensor('u8', [2], [1, 2]);
    const begun = [other.segmentMax(z, [0, 1]), other.tensor('u8', [1], [1]), other.node({ dialect: 'onnx', operator: 'ReduceMax', version: 20 }, [z, { type: 'i64', shape: [1], data: [0] }]), other.wait()];
    const places = await other.tensor('i64', [1], [0]);
    begun.push(other.node({ dialect: 'onnx', operator: 'ReduceMax', version: 20 }, [z, places]));
    const [data, gradient] = [await other.tensor('f32', [2], [1, 2]), await other.tensor('f32', [1], [3])];
    begun.push(other.segmentMaxBackward(data, [0, 0], gradient).then(async (found) => equal(await found.numbers(), [0, 3])));
    for (const held of [other, other, places, data, gradient]) held.free();
    await Promise.all(begun);
    for (const use of [() => other.info, () => other.tensor('u8', [1], [1]), () => other.zeros('u8', [1]), () => other.reduceMax(z), () => other.wait(), () => other.parts]) await fails('Freed', use);
    equal(await z.numbers(), [1, 2], 'a tensor keeps the device');
    // Many at once, freed while they are on their way.
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => device.tensor('i32', [2], [i, 1])));
    const found = await Promise.all(all.map((tensor) => device.reduceMax(tensor).then((r) => r.numbers())));
    equal(found.flat(), Array.from({ length: 20 }, (_, i) => Math.max(i, 1)));
    all.forEach((tensor) => tensor.destroy());
};

tests['blocking forms say that they would block'] = async (wgmax, options) => {
    const device = await wgmax.open('gpu', { ...options, verify: true });
    const x = await device.tensor('u8', [2], [1, 2]);
    // Without a `navigator` the library finds no adapter by itself, and what has only the CPU never finds one.
    const named = options.gpu ? 'NoAdapter' : 'WouldBlock';
    equal(device.parts.raw.blocking(x.raw), ['WouldBlock', named, ...Array(4).fill('WouldBlock')]);
    const cpu = await wgmax.open('cpu');
    const y = await cpu.tensor('u8', [2], [1, 2]);
    equal(cpu.parts.raw.blocking(y.raw), ['WouldBlock', 'NoAdapter', '', '', '', '']);
};

tests['a mistake in a shader is found, and made small'] = async (wgmax, options, Verification) => {
    const good = await wgmax.open('gpu', { ...options, verify: true });
    const device = { isCpu: false, info: good.info, parts: { module: good.parts.module, raw: good.parts.raw.mistaken('max(', 'min(') } };
    const verification = new Verification(device, { seed: 1 });
    let differing = 0;
    while (verification.cases < 39 && differing === 0) differing += (await verification.next()).verdict === 'differs';
    equal(differing, 1, 'a case differs');
    const [finding] = verification.findings;
    equal([finding.again, finding.oracle, finding.launch.source.includes('min(')], [true, 'expected', true]);
    const certificate = verification.certificate();
    equal([certificate.good, certificate.devices[0].mismatches, certificate.requested], [false, 1, certificate.cases]);
    JSON.parse(JSON.stringify(certificate));
    verification.free();
};

tests['gradients, and values back at their places'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('f32', [[1, 3, 3], [2, 0, 1]]);
    const g = await device.tensor('f32', [0.5, 0.25]);
    equal(await (await device.reduceMaxBackward(x, g, { axes: [1] })).numbers(), [0, 0.5, 0, 0.25, 0, 0]);
    equal(await (await device.reduceMaxBackward(x, g, { axes: [1], indices: { last: true } })).numbers(), [0, 0, 0.5, 0.25, 0, 0]);
    equal(await (await device.reduceMinBackward(x, g, { axes: [1] })).numbers(), [0.5, 0, 0, 0, 0.25, 0]);
    const { indices } = await device.reduceMax(x, { axes: [1], indices: true });
    equal(await (await device.reduceMaxBackward(indices, g, { axes: [1], shape: [2, 3] })).numbers(), [0, 0.5, 0, 0.25, 0, 0]);
    const line = await device.tensor('f32', [[[1, 3, 2, 0]]]);
    const windows = await device.tensor('f32', [[[0.5, 0.25, 4]]]);
    equal(await (await device.maxPoolBackward(line, windows, { kernel: 2 })).numbers(), [0, 0.75, 4, 0]);
    equal(await (await device.minPoolBackward(line, windows, { kernel: 2 })).numbers(), [0.5, 0, 0.25, 4]);
    const pooled = await device.maxPool(line, { kernel: 2, indices: true });
    equal(await (await device.maxPoolBackward(pooled.indices, windows, { kernel: 2, shape: [1, 1, 4] })).numbers(), [0, 0.75, 4, 0]);
    equal(await (await device.maxUnpool(pooled.values, pooled.indices, [1, 1, 4])).numbers(), [0, 3, 2, 0]);
    const rows = await device.tensor('f32', [1, 2, 4, 3]);
    const sums = await device.tensor('f32', [0.5, 8, 0.25]);
    for (const ids of [[0, 0, 2, 2], await device.tensor('i32', [0, 0, 2, 2])]) {
        equal(await (await device.segmentMaxBackward(rows, ids, sums)).numbers(), [0, 0.5, 0.25, 0]);
        equal(await (await device.segmentMinBackward(rows, ids, sums)).numbers(), [0.5, 0, 0, 0.25]);
    }
    const which = await device.segmentMax(rows, [0, 0, 2, 2], { indices: true });
    equal(await (await device.segmentMaxBackward(which.indices, undefined, sums, { shape: [4] })).numbers(), [0, 0.5, 0.25, 0]);
    await fails('UnsortedSegments', () => device.segmentMaxBackward(rows, [1, 0, 2, 2], sums));
    await fails('SegmentOutOfRange', () => device.segmentMaxBackward(rows, [0, 0, 2, 3], sums));
    equal(await (await device.segmentMaxBackward(rows, [0, 0, 2, 3], sums, { outOfRange: 'drop' })).numbers(), [0, 0.5, 0.25, 0]);
    await fails('NotATensor', () => device.maxPoolBackward(line, [1], { kernel: 2 }));
    await fails('WrongElementType', async () => device.reduceMaxBackward(await device.tensor('i32', [1]), await device.tensor('i32', [], 1)));
    await fails('UnknownAttribute', () => device.maxPoolBackward(line, windows, { kernel: 2, stride: 1 }));
    await fails('BadAttribute', () => device.maxUnpool(pooled.values, pooled.indices));
    await fails('Freed', () => {
        const view = line.reshape([1, 1, 4]);
        view.free();
        return device.maxPoolBackward(view, windows, { kernel: 2 });
    });
});

tests['numbers, lists and tensors as they come'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const x = await device.tensor('u8', [[1, 2, 3], [4, 5, 6]]);
    equal([x.shape, await x.numbers()], [[2, 3], [1, 2, 3, 4, 5, 6]]);
    equal((await device.tensor('f32', [Float32Array.of(1, 2), [3, 4]])).shape, [2, 2]);
    equal((await device.tensor('f32', Float32Array.of(1, 2))).shape, [2]);
    equal((await device.tensor('f32', 7)).shape, []);
    equal((await device.tensor('f32', [[], []])).shape, [2, 0]);
    equal(await (await device.tensor('u8', [1, 2], [[1, 2]])).numbers(), [1, 2]);
    await fails('BadShape', () => device.tensor('u8', [2, 1], [[1, 2]]));
    for (const ragged of [[[1], [2, 3]], [[1], 2], [1, [2]], [[[1]], [2]]]) await fails('BadShape', () => device.tensor('u8', ragged));
    // Elements that are none, in every type.
    for (const type of wgmax.elementTypes) {
        for (const wrong of ['a', '7', null, undefined, {}, Symbol('s')]) await fails('WrongElementType', () => device.tensor(type, [1], [wrong]));
    }
    await fails('WrongElementType', () => device.tensor('u8', [300]));
    equal([x.reshape([-1]).shape, x.reshape([3, -1]).shape, x.reshape([-1, 1, 6]).shape], [[6], [3, 2], [1, 1, 6]]);
    for (const shape of [[-1, -1], [4, -1], [-1, 0], [-2]]) await fails('BadShape', () => x.reshape(shape));
    const plane = x.reshape([1, 1, 2, 3]);
    for (const kernel of [2, 2n, [2, 2]]) equal(await (await device.maxPool(plane, { kernel })).values.numbers(), [5, 6]);
    const spread = await device.maxPool(plane, { kernel: 2, strides: 2, padding: 1, dilations: 1 });
    equal([spread.values.shape, await spread.values.numbers()], [[1, 1, 2, 2], [1, 3, 4, 6]]);
    const { message } = await fails('AttributeLength', () => device.maxPool(plane, { kernel: 2, padding: [1, 1] }));
    equal([message.includes('padding'), message.includes('pads_')], [true, false], message);
    const padded = await fails('BadAttribute', () => device.maxPool(plane, { kernel: 2, padding: [-1, 0, 0, 0] }));
    equal([padded.message.includes('padding'), padded.message.includes('pads_')], [true, false], padded.message);
    // Any input of a node.
    const axes = await device.tensor('i64', [1]);
    const node = { dialect: 'onnx', operator: 'ReduceMax', version: 20, attributes: { keepdims: 0 } };
    equal(await (await device.node(node, [x, axes]))[0].numbers(), [3, 6]);
    const held = device.node(node, [x, axes]);
    x.free();
    equal(await (await held)[0].numbers(), [3, 6]);
    await fails('Freed', () => device.node(node, [x, axes]));
    // The page changes what it gave while a tensor is read.
    const y = await device.tensor('f32', [2, 2], [1, 8, 3, 4]);
    const [ids, count] = [Int32Array.of(0, 1), await device.tensor('i64', [], 2n)];
    const segments = { dialect: 'openvino', operator: 'SegmentMax', version: 16, attributes: { fill_mode: 'ZERO' } };
    const begun = device.node(segments, [y, { type: 'i32', shape: [2], data: ids }, count]);
    ids.fill(0);
    segments.attributes.fill_mode = 'LOWEST';
    equal(await (await begun)[0].numbers(), [1, 8, 3, 4]);
    // Attributes are an object, and those that an operator sets itself are not given.
    for (const wrong of [1, 'axes', [1], new Map([['axes', [1]]]), Int32Array.of(1)]) {
        const runs = {
            argMax: () => device.argMax(y, wrong), reduceMax: () => device.reduceMax(y, wrong), reduceMin: () => device.reduceMin(y, wrong),
            maxPool: () => device.maxPool(plane, wrong), segmentMax: () => device.segmentMax(y, [0, 1], wrong), scatterMax: () => device.scatterMax(y, y, y, wrong),
            segmentMaxBackward: () => device.segmentMaxBackward(y, [0, 1], y, wrong), maxPoolBackward: () => device.maxPoolBackward(plane, plane, wrong),
            scatterMaxBackward: () => device.scatterMaxBackward(y, y, y, y, wrong), prepare: () => device.prepare('reduceMax', wrong, [y], [y]),
            webnn: () => device.webnn.reduceMax(y, wrong), node: () => device.node({ ...node, attributes: wrong }, [y]),
        };
        for (const run of Object.values(runs)) await fails('BadAttribute', run);
        // Errors are those of a promise.
        for (const name of ['reduceMin', 'argMax', 'argMin']) equal(await device[name](y, wrong).catch(({ code }) => code), 'BadAttribute');
        equal(await device.webnn.reduceMax(y, wrong).catch(({ code }) => code), 'BadAttribute');
    }
    for (const own of [{ indices: { type: 'i32' } }, { values: true }]) await fails('UnknownAttribute', () => device.argMax(y, own));
    await fails('UnknownAttribute', () => device.reduceMin(y, { extremum: 'maximum' }));
    await fails('BadAttribute', () => device.segmentMaxBackward(y, [0, 1], y, { outOfRange: 'ignore' }));
    equal(wgmax.segmentStatus, { unsorted: 1, negative: 2, offsetTooLarge: 4 });
});

tests['a lost device is reported'] = async (wgmax, options) => {
    const device = await wgmax.open('gpu', options);
    let lost;
    device.lost.then((info) => (lost = info));
    await device.wait();
    equal(lost, undefined);
    device.gpu.destroy();
    equal((await device.lost).reason, 'destroyed');
    await fails('DeviceLost', () => device.pixels({ width: 1, height: 1, data: new Uint8ClampedArray(4) }));
    const cpu = await wgmax.open('cpu');
    equal(await Promise.race([cpu.lost, cpu.wait().then(() => 'not lost')]), 'not lost');
};

tests['a scatter has two gradients'] = (wgmax, options) => both(wgmax, options, async (device) => {
    const data = await device.tensor('f32', [4], [1, 2, -0, NaN]);
    const indices = await device.tensor('i32', [5], [0, -3, 0, 2, 2]);
    const updates = await device.tensor('f32', [5], [5, 1, 7, 0, -1]);
    const gradient = await device.tensor('f32', [4], [0.5, 8, 0.25, -3]);
    const numbers = async ({ data, updates }) => [await data.numbers(), await updates.numbers()];
    equal(await numbers(await device.scatterMaxBackward(data, indices, updates, gradient)), [[0, 8, 0.25, -3], [0, 0, 0.5, 0, 0]]);
    const attributes = { includeData: false, indices: { type: 'i32' } };
    const expected = [[0, 0, 0, -3], [0.5, 8, 0, 0, 0.25]];
    equal(await numbers(await device.scatterMinBackward(data, indices, updates, gradient, attributes)), expected);
    const { indices: winners } = await device.scatterMin(data, indices, updates, attributes);
    equal(await numbers(await device.scatterMinBackward(winners, undefined, undefined, gradient, { ...attributes, shape: [5] })), expected);
    const square = await device.tensor('f16', [2, 2], [1, 2, 3, 4]);
    const rows = [await device.tensor('i64', [1, 1], [1]), await device.tensor('f16', [1, 2], [9, 0])];
    equal(await numbers(await device.scatterMaxBackward(square, ...rows, square, { vectors: true })), [[1, 2, 0, 4], [3, 0]]);
    const far = await device.tensor('i32', [5], [0, -5, 4, 2, 2]);
    equal(await numbers(await device.scatterMaxBackward(data, far, updates, gradient)), [[0, 8, 0.25, -3], [0.5, 0, 0, 0, 0]]);
    await fails('WrongInput', () => device.scatterMaxBackward(data, indices, updates, updates));
    await fails('WrongElementType', () => device.scatterMaxBackward(indices, indices, indices, indices));
    await fails('BadAttribute', () => device.scatterMaxBackward(winners, undefined, undefined, gradient, { shape: [2, 5], indices: { type: 'i32' } }));
    if (device.isCpu) return;
    const [of, ofUpdates] = [await device.zeros('f32', [4]), await device.zeros('f32', [5])];
    const prepared = await device.prepare('scatterMaxBackward', {}, [data, indices, updates, gradient], [of, ofUpdates]);
    prepared.submit([data, indices, updates, gradient], [of, ofUpdates]);
    equal(await numbers({ data: of, updates: ofUpdates }), [[0, 8, 0.25, -3], [0, 0, 0.5, 0, 0]]);
    prepared.free();
});

tests['every operator is prepared'] = async (wgmax, options) => {
    await preparesAll(await wgmax.open('gpu', options));
    await preparesAll(await wgmax.open('cpu'));
};

async function preparesAll(device) {
    const x = await device.tensor('f32', [[[1, 3, 2, 0]]]);
    const g = await device.tensor('f32', [[[0.5, 0.25, 4]]]);
    const ids = await device.tensor('i32', [0]);
    const one = await device.tensor('f32', [[[1, 1, 1, 1]]]);
    const at = await device.tensor('i32', [[[1, 2, 3]]]);
    for (const [operator, attributes, inputs, type, shape, expected] of [
        ['reduceMax', {}, [x], 'f32', [], [3]], ['reduceMin', {}, [x], 'f32', [], [0]],
        ['argMax', { axes: [2], type: 'i32' }, [x], 'i32', [1, 1], [1]], ['argMin', { axes: [2] }, [x], 'i64', [1, 1], [3]],
        ['maxPool', { kernel: 2 }, [x], 'f32', [1, 1, 3], [3, 3, 2]], ['minPool', { kernel: [2] }, [x], 'f32', [1, 1, 3], [1, 2, 0]],
        ['segmentMax', { numSegments: 1 }, [x, ids], 'f32', [1, 1, 4], [1, 3, 2, 0]], ['segmentMin', { numSegments: 1 }, [x, ids], 'f32', [1, 1, 4], [1, 3, 2, 0]],
        ['scatterMax', { axis: 2 }, [x, at, g], 'f32', [1, 1, 4], [1, 3, 2, 4]], ['scatterMin', { axis: 2 }, [x, at, g], 'f32', [1, 1, 4], [1, 0.5, 0.25, 0]],
        ['reduceMaxBackward', { axes: [0] }, [x, one.reshape([1, 4])], 'f32', [1, 1, 4], [1, 1, 1, 1]],
        ['maxPoolBackward', { kernel: 2 }, [x, g], 'f32', [1, 1, 4], [0, 0.75, 4, 0]], ['minPoolBackward', { kernel: 2 }, [x, g], 'f32', [1, 1, 4], [0.5, 0, 0.25, 4]],
        ['segmentMaxBackward', {}, [x, ids, one], 'f32', [1, 1, 4], [1, 1, 1, 1]],
        ['maxUnpool', { shape: [1, 1, 4] }, [g, at], 'f32', [1, 1, 4], [0, 0.5, 0.25, 4]],
    ]) {
        const y = await device.zeros(type, shape);
        const prepared = await device.prepare(operator, attributes, inputs, [y]);
        prepared.submit(inputs, [y]);
        equal(await y.numbers(), expected, operator);
        prepared.free();
    }
    await fails('UnknownOperator', () => device.prepare('toString', {}, [x], [x]));
}
