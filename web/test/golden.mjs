// The golden cases with a `case.json`, through the package. `read` gives a file's bytes.

/** A tensor of an `.npy` file. */
function npy(bytes, type) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const wide = bytes[6] > 1;
    const start = wide ? 12 : 10;
    const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
    const header = new TextDecoder().decode(bytes.subarray(start, start + length));
    const shape = /'shape': *\(([^)]*)\)/.exec(header)[1].split(',').map((n) => n.trim()).filter(Boolean).map(Number);
    if (/'fortran_order': *True/.test(header)) throw new Error('Fortran order');
    return { type, shape, bytes: bytes.slice(start + length) };
}

/** How many cases have each outcome. Without these numbers, missing cases would pass unnoticed. */
export const EXPECTED = { ok: 957, refused: 156 };

const ARRAYS = {
    f32: Float32Array, f64: Float64Array, f16: Uint16Array, bf16: Uint16Array, i8: Int8Array, u8: Uint8Array,
    i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array, i64: BigInt64Array, u64: BigUint64Array,
    bool: Uint8Array,
};
const NAMES = { ReduceMax: ['data', 'axes'], ReduceMin: ['data', 'axes'], SegmentMax: ['data', 'segment_ids', 'num_segments'] };

/** Runs a case. Returns `'ok'`, `'refused'`, or what is wrong. */
export async function golden(device, folder, read) {
    const text = new TextDecoder().decode(await read(`${folder}/case.json`));
    // An integer that a number does not hold is a BigInt.
    const test = JSON.parse(text.replace(/([:[,\s])(-?\d{16,})(?=[\],}\s])/g, '$1"big$2"'), (_, value) =>
        typeof value === 'string' && /^big-?\d+$/.test(value) ? BigInt(value.slice(3)) : value);
    const tensor = async (entry) => npy(await read(`${folder}/${entry.file}`), entry.dtype);
    const inputs = [];
    for (const [position, entry] of test.inputs.entries()) {
        const named = NAMES[test.op]?.indexOf(entry.name) ?? -1;
        const { type, shape, bytes } = await tensor(entry);
        inputs[named >= 0 ? named : position] = { type, shape, data: new ARRAYS[type](bytes.buffer) };
    }
    const expected = test.expect === 'ok' ? (test.contested && test.recommended) || test.outputs : [];
    const node = {
        dialect: test.dialect,
        operator: test.op,
        version: ['graph', '1'].includes(test.version) ? undefined : test.version,
        attributes: test.attrs,
        outputs: Math.max(1, expected.length),
    };
    let found;
    try {
        const data = inputs[0] && (await device.tensor(inputs[0].type, inputs[0].shape, inputs[0].data));
        found = await device.node(node, [data, ...Array.from(inputs).slice(1)]);
    } catch (error) {
        if (test.expect === 'error' && error.name === 'WgmaxError') return 'refused';
        return `${test.id}: ${error.code} ${error.stack}`;
    }
    if (test.expect === 'error') return `${test.id}: is not refused`;
    const { HostTensor } = device.parts.module;
    for (const [i, entry] of expected.entries()) {
        const { type, shape, bytes } = await tensor(entry);
        const array = await found[i].data();
        const mine = new HostTensor(found[i].type, Uint32Array.from(found[i].shape), new Uint8Array(array.buffer));
        const theirs = new HostTensor(type, Uint32Array.from(shape), bytes);
        const compared = mine.compare(theirs, true);
        if (!compared.equal) return `${test.id}: ${compared.text}`;
    }
    return 'ok';
}

/** Runs all cases and tells how many there are of each outcome, and what is wrong. */
export async function goldenAll(device, folders, read) {
    const outcome = { ok: 0, refused: 0, wrong: [] };
    for (const folder of folders) {
        const result = await golden(device, folder, read).catch((error) => `${folder}: ${error.stack}`);
        if (result === 'ok' || result === 'refused') outcome[result] += 1;
        else outcome.wrong.push(result);
    }
    return outcome;
}
