// Random views and operators against plain loops over plain lists.

/** How many cases there are on each device. A GPU compiles for almost every one. */
const CASES = Number(globalThis.process?.env.WGMAX_RANDOM ?? 600);
const GPU_CASES = Math.ceil(CASES / 10);

const VALUES = {
    f32: [0, -0, NaN, Infinity, -Infinity, 2 ** -149, -3.5, 2, 3.4028234663852886e38],
    f64: [0, -0, NaN, Infinity, -Infinity, 5e-324, -3.5, 2, 1e300],
    f16: [0, -0, NaN, Infinity, -Infinity, 2 ** -24, -3.5, 2, 65504],
    bf16: [0, -0, NaN, Infinity, -Infinity, 2 ** -133, -3.5, 2, 256],
    i8: [0, -1, 1, -128, 127, 7], u8: [0, 1, 7, 255, 128], i16: [0, -1, 1, -32768, 32767], u16: [0, 1, 7, 65535],
    i32: [0, -1, 1, -(2 ** 31), 2 ** 31 - 1], u32: [0, 1, 7, 2 ** 32 - 1, 2 ** 31],
    i64: [0n, -1n, 1n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 32n], u64: [0n, 1n, 7n, 2n ** 64n - 1n, 2n ** 32n], bool: [0, 1],
};
const TYPES = Object.keys(VALUES);

/** Numbers from 0 up to a limit, the same for each seed. */
function generator(seed) {
    let state = (seed * 2654435761) >>> 0;
    return (limit) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * limit);
    };
}

const product = (list) => list.reduce((a, b) => a * b, 1);
const text = (list) => `[${Array.from(list, (value) => (Object.is(value, -0) ? '-0' : String(value)))}]`;

/** The coordinates of a shape, in row-major order. */
function* coordinates(shape) {
    for (let number = 0; number < product(shape); number++) {
        let rest = number;
        const at = new Array(shape.length);
        for (let axis = shape.length - 1; axis >= 0; axis--) {
            at[axis] = rest % shape[axis];
            rest = Math.floor(rest / shape[axis]);
        }
        yield at;
    }
}

/** A tensor as a function of the coordinates: a second implementation of views. */
class Model {
    constructor(shape, get) {
        Object.assign(this, { shape, get });
    }

    list() {
        return Array.from(coordinates(this.shape), (at) => this.get(at));
    }

    slice(axis, start, end) {
        return new Model(this.shape.with(axis, end - start), (at) => this.get(at.with(axis, at[axis] + start)));
    }

    stepBy(axis, step) {
        const size = this.shape[axis];
        const place = (i) => (step > 0 ? i * step : size - 1 + i * step);
        return new Model(this.shape.with(axis, Math.ceil(size / Math.abs(step))), (at) => this.get(at.with(axis, place(at[axis]))));
    }

    permute(axes) {
        return new Model(axes.map((axis) => this.shape[axis]), (at) => this.get(axes.map((_, axis) => at[axes.indexOf(axis)])));
    }

    broadcast(axis, size) {
        return new Model(this.shape.toSpliced(axis, 0, size), (at) => this.get(at.toSpliced(axis, 1)));
    }

    reshape(shape) {
        const list = this.list();
        return new Model(shape, (at) => list[at.reduce((place, i, axis) => place * shape[axis] + i, 0)]);
    }
}

/** Some views of a tensor, one of the other: the tensor, the model and what was done. */
function viewed(random, tensor, model, calls) {
    for (let i = random(4); i > 0; i--) {
        const rank = model.shape.length;
        const axis = random(rank);
        // Some axes are counted from the back.
        const named = (axis, rank) => (random(3) ? axis : axis - rank);
        const call = (name, ...values) => {
            calls.push(`${name}(${JSON.stringify(values)})`);
            tensor = tensor[name](...values);
        };
        switch (random(5)) {
            case 0: {
                if (!rank) break;
                const start = random(model.shape[axis] + 1);
                const end = start + random(model.shape[axis] - start + 1);
                call('slice', named(axis, rank), start, end);
                model = model.slice(axis, start, end);
                break;
            }
            case 1: {
                if (!rank) break;
                const step = [-1, -2, -3, 1, 2, 5][random(6)];
                call('stepBy', named(axis, rank), step);
                model = model.stepBy(axis, step);
                break;
            }
            case 2: {
                const axes = model.shape.map((_, axis) => axis);
                for (let i = rank - 1; i > 0; i--) {
                    const j = random(i + 1);
                    [axes[i], axes[j]] = [axes[j], axes[i]];
                }
                call('permute', axes.map((axis) => named(axis, rank)));
                model = model.permute(axes);
                break;
            }
            case 3: {
                if (rank > 5) break;
                const [at, size] = [random(rank + 1), 1 + random(3)];
                call('broadcast', named(at, rank + 1), size);
                model = model.broadcast(at, size);
                break;
            }
            default: {
                // Only contiguous elements take this shape.
                const shape = [product(model.shape)];
                const isFree = random(2) === 1;
                if (tensor.offset || !calls.every((name) => name.startsWith('reshape'))) break;
                call('reshape', isFree ? [-1] : shape);
                model = model.reshape(shape);
            }
        }
    }
    return [tensor, model];
}

/** The best of some elements, and its number; `undefined` without elements. */
function best(elements, { extremum, nan, indices, last }) {
    let found;
    elements.forEach((value, i) => {
        const order = () => {
            const [a, b] = extremum === 'minimum' ? [found.value, value] : [value, found.value];
            const nans = Number.isNaN(value) - Number.isNaN(found.value);
            if (nans) return nan === 'ignore' ? -nans : nans;
            // The sign of zeros counts only without positions.
            if (!indices && a === b && a === 0) return Object.is(b, -0) - Object.is(a, -0);
            return (a > b) - (a < b);
        };
        const compared = found ? order() : 1;
        if (compared > 0 || (compared === 0 && last)) found = { value, i };
    });
    return found;
}

/** Which of some elements of a list gets a gradient; `undefined` if none does, or if all are NaN and ignored. */
function winner(members, list, attributes) {
    const found = best(members.map((i) => list[i]), { ...attributes, indices: true });
    return found && members[found.i];
}

function reduced(random, model) {
    const axes = model.shape.map((_, axis) => axis).filter(() => random(2));
    const attributes = { axes: axes.map((axis) => (random(2) ? axis : axis - model.shape.length)), keepDims: random(2) === 1, ...common(random) };
    if (random(2)) attributes.indices = { type: 'i32', last: random(2) === 1 };
    const sets = new Map();
    const kept = (at) => at.map((i, axis) => (axes.includes(axis) ? 0 : i));
    const list = model.list();
    [...coordinates(model.shape)].forEach((at, i) => {
        const key = String(kept(at));
        sets.set(key, [...(sets.get(key) ?? []), list[i]]);
    });
    const whole = model.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
    const results = Array.from(coordinates(whole), (at) => best(sets.get(String(at)) ?? [], { ...attributes, ...attributes.indices }));
    const members = new Map();
    [...coordinates(model.shape)].forEach((at, i) => members.set(String(kept(at)), [...(members.get(String(kept(at))) ?? []), i]));
    const winners = Array.from(coordinates(whole), (at) => winner(members.get(String(at)) ?? [], list, { ...attributes, ...attributes.indices }));
    const backward = (device, x, g) => device.reduceMaxBackward(x, g, attributes);
    return { backward, winners, run: (device, x) => device.reduceMax(x, attributes), attributes, shape: attributes.keepDims ? whole : whole.filter((_, axis) => !axes.includes(axis)), results };
}

function common(random) {
    return { extremum: random(2) ? 'maximum' : 'minimum', nan: random(2) ? 'propagate' : 'ignore' };
}

function pooled(random, model) {
    const spatial = model.shape.slice(2);
    const draw = (limit) => spatial.map(() => 1 + random(limit));
    const attributes = { kernel: draw(3), strides: draw(3), dilations: draw(2), padding: [...spatial, ...spatial].map(() => random(2)), ...common(random) };
    if (random(2)) attributes.indices = { type: 'i32' };
    const { kernel, strides, dilations, padding } = attributes;
    const sizes = spatial.map((size, axis) => Math.floor((size + padding[axis] + padding[axis + spatial.length] - (kernel[axis] - 1) * dilations[axis] - 1) / strides[axis]) + 1);
    if (sizes.some((size) => size < 1) || product(model.shape) === 0) return undefined;
    const shape = [...model.shape.slice(0, 2), ...sizes];
    const results = Array.from(coordinates(shape), ([n, c, ...at]) => {
        const places = Array.from(coordinates(kernel), (k) => at.map((i, axis) => i * strides[axis] - padding[axis] + k[axis] * dilations[axis]))
            .filter((place) => place.every((i, axis) => i >= 0 && i < spatial[axis]));
        const found = best(places.map((place) => model.get([n, c, ...place])), attributes);
        const number = (place) => [n, c, ...place].reduce((all, i, axis) => all * model.shape[axis] + i, 0);
        return found && { value: found.value, i: number(places[found.i]) };
    });
    const list = model.list();
    const winners = Array.from(coordinates(shape), ([n, c, ...at]) => {
        const places = Array.from(coordinates(kernel), (k) => at.map((i, axis) => i * strides[axis] - padding[axis] + k[axis] * dilations[axis]))
            .filter((place) => place.every((i, axis) => i >= 0 && i < spatial[axis]));
        return winner(places.map((place) => [n, c, ...place].reduce((all, i, axis) => all * model.shape[axis] + i, 0)), list, attributes);
    });
    // One number stands for all axes.
    const given = { ...attributes };
    for (const name of ['kernel', 'strides', 'dilations', 'padding']) {
        if (given[name].every((size) => size === given[name][0]) && random(2)) given[name] = given[name][0];
    }
    const backward = (device, x, g) => device.maxPoolBackward(x, g, given);
    const run = (device, x) => {
        if (attributes.indices || !isLast) return device.maxPool(x, given);
        // The same with the channels last.
        const axes = [0, ...spatial.map((_, axis) => axis + 2), 1];
        return device.maxPool(x.permute(axes), { ...attributes, layout: 'nxc' }).then(({ values }) => ({ values: values.permute([0, axes.length - 1, ...spatial.map((_, axis) => axis + 1)]) }));
    };
    const isLast = random(2) === 1;
    return { backward, winners, run, attributes, shape, results };
}

function segmented(random, model) {
    const rows = model.shape[0];
    const count = 1 + random(4);
    const segments = random(2) ? 'sorted' : 'unsorted';
    const ids = Array.from({ length: rows }, () => random(count + 1) - (segments === 'unsorted' && !random(4)));
    if (segments === 'sorted') ids.sort((a, b) => a - b);
    const type = ['i32', 'i64', 'i8'][random(3)];
    const attributes = { segments, numSegments: count, ...common(random) };
    if (random(2) || ids.some((id) => id >= count)) attributes.outOfRange = 'drop';
    if (random(2)) attributes.indices = { type: 'i32' };
    const shape = [count, ...model.shape.slice(1)];
    const results = Array.from(coordinates(shape), ([segment, ...at]) => {
        const own = ids.map((_, row) => row).filter((row) => ids[row] === segment);
        const found = best(own.map((row) => model.get([row, ...at])), attributes);
        return found && { value: found.value, i: own[found.i] };
    });
    const onDevice = random(2);
    const list = type === 'i64' ? ids.map(BigInt) : ids;
    const run = async (device, x) => device.segmentMax(x, onDevice ? await device.tensor(type, [rows], list) : ids, attributes);
    const elements = model.list();
    const row = product(model.shape.slice(1));
    const winners = Array.from(coordinates(shape), ([segment, ...at]) => {
        const offset = at.reduce((all, i, axis) => all * model.shape[axis + 1] + i, 0);
        return winner(ids.map((_, i) => i).filter((i) => ids[i] === segment).map((i) => i * row + offset), elements, attributes);
    });
    const backward = async (device, x, g) => device.segmentMaxBackward(x, onDevice ? await device.tensor(type, [rows], list) : ids, g, attributes);
    return { backward, winners, run, attributes: { ...attributes, ids }, shape, results };
}

function scattered(random, model, type) {
    const data = model.shape;
    const vectors = random(2) === 1;
    const axis = random(data.length);
    const length = random(data.length + 1);
    const drops = random(2) === 1;
    const rows = 1 + random(5);
    // The updates, and for each the places along some axes of the data.
    const indices = vectors ? [rows, length] : data.map((size, at) => (at === axis ? rows : 1 + random(size)));
    const shape = vectors ? [rows, ...data.slice(length)] : indices;
    const sizes = vectors ? data.slice(0, length) : [data[axis]];
    const given = Array.from({ length: product(indices) }, (_, i) => {
        const size = sizes[i % sizes.length];
        return random(2 * size + (drops ? 2 : 0)) - size - (drops && !random(9) ? 1 : 0);
    });
    const updates = Array.from({ length: product(shape) }, () => VALUES[type][random(VALUES[type].length)]);
    const attributes = { includeData: random(2) === 1, ...common(random), ...(vectors ? { vectors } : { axis: random(2) ? axis : axis - data.length }) };
    if (drops) attributes.outOfRange = 'drop';
    if (random(2)) attributes.indices = { type: 'i32' };
    const meets = new Map();
    [...coordinates(shape)].forEach((at, i) => {
        const own = vectors ? given.slice(at[0] * length, (at[0] + 1) * length) : [given[i]];
        const places = own.map((index, k) => (index < 0 ? index + sizes[k] : index));
        if (places.some((place, k) => place < 0 || place >= sizes[k])) return;
        const to = String(vectors ? [...places, ...at.slice(1)] : at.with(axis, places[0]));
        meets.set(to, [...(meets.get(to) ?? []), { value: updates[i], i: vectors ? at[0] : at[axis] }]);
    });
    const results = Array.from(coordinates(data), (at) => {
        const own = { value: model.get(at), i: -1 };
        const all = meets.get(String(at)) ?? [];
        const some = attributes.includeData || !all.length ? [own, ...all] : all;
        const found = best(some.map(({ value }) => value), attributes);
        return { value: found.value, i: some[found.i].i };
    });
    const width = ['i32', 'i64', 'i8'][random(3)];
    const run = async (device, x) => {
        const made = [await device.tensor(width, indices, width === 'i64' ? given.map(BigInt) : given), await device.tensor(type, shape, updates)];
        const found = await device.scatterMax(x, ...made, attributes);
        made.forEach((tensor) => tensor.destroy());
        return found;
    };
    return { run, attributes: { ...attributes, given, updates: text(updates) }, shape: data, results };
}

/** The elements of a tensor, as a list of numbers or `BigInt`s. */
async function elements(tensor) {
    return ['i64', 'u64'].includes(tensor.type) ? Array.from(await tensor.data()) : tensor.numbers();
}

export async function runCase(device, seed) {
    const random = generator(seed);
    const type = TYPES[seed % TYPES.length];
    const shape = Array.from({ length: random(5) }, () => (random(12) ? 1 + random(5) : 0));
    const values = Array.from({ length: product(shape) }, () => VALUES[type][random(VALUES[type].length)]);
    const base = await device.tensor(type, shape, values);
    // The typed array of it, somewhere in a larger one.
    const array = await base.data();
    const lead = random(4);
    const Own = type === 'u8' && random(2) ? Uint8ClampedArray : array.constructor;
    const size = (array.length + lead + random(3)) * Own.BYTES_PER_ELEMENT;
    const Buffer = random(4) ? ArrayBuffer : globalThis.SharedArrayBuffer ?? ArrayBuffer;
    const larger = new Own(random(4) ? new Buffer(size) : new Buffer(size, { maxByteLength: size + 8 }));
    larger.set(array, lead);
    const part = larger.subarray(lead, lead + array.length);
    const again = await device.tensor(type, shape, part);
    const what = [`case ${seed}: ${type} [${shape}]`];
    const check = (found, expected, of) => {
        if (text(found) !== text(expected)) throw new Error(`${what.join(' ')}, ${of}: ${text(found)}, not ${text(expected)}`);
    };
    const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    check(bytes(await again.data()), bytes(array), 'there and back');
    const [x, model] = viewed(random, random(2) ? base : again, new Model(shape, (at) => values[at.reduce((place, i, axis) => place * shape[axis] + i, 0)]), what);
    check(x.shape, model.shape, 'the shape');
    check(await elements(x), model.list(), 'a view');
    const rank = model.shape.length;
    const makes = [reduced, ...(rank > 2 && rank < 6 ? [pooled, pooled] : []), ...(rank > 0 ? [segmented, scattered] : [])];
    const made = makes[random(makes.length)](random, model, type);
    if (made && product(model.shape) > 0) {
        what.push(JSON.stringify(made.attributes));
        const result = await made.run(device, x);
        const found = result.values ?? result;
        check(found.shape, made.shape, 'the shape of the result');
        const list = await elements(found);
        const known = (list) => list.filter((_, i) => made.results[i]);
        check(known(list), known(made.results).map(({ value }) => value), 'the maxima');
        if (result.indices) check(known(await result.indices.numbers()), known(made.results).map(({ i }) => i), 'the positions');
        for (const each of [found, result.indices]) each?.destroy();
        if (made.backward && ['f32', 'f64', 'f16', 'bf16'].includes(type)) {
            const flat = model.list();
            const numbers = Array.from({ length: product(made.shape) }, (_, k) => 1 + (k % 4));
            const g = await device.tensor(type, made.shape, numbers);
            const gradient = await made.backward(device, x, g);
            const expected = flat.map(() => 0);
            made.winners.forEach((at, k) => at !== undefined && (expected[at] += numbers[k]));
            check(gradient.shape, model.shape, 'the shape of the gradient');
            check(await gradient.numbers(), expected, 'the gradient');
            for (const each of [g, gradient]) each.destroy();
        }
    }
    for (const each of [x, base, again]) each.destroy();
}

/** Some cases on a GPU and more on the CPU. */
export const tests = {
    'random views and operators are as plain loops say': async (wgmax, options) => {
        for (const [device, cases] of [[await wgmax.open('cpu'), CASES], [await wgmax.open('gpu', options), GPU_CASES]]) {
            for (let seed = 0; seed < cases; seed++) await runCase(device, seed);
            device.free();
        }
    },
};
