// wgmax for JavaScript: the maximum along axes, of windows, of segments and of updates, on the GPU through
// WebGPU or on the CPU, bit for bit the same. The types are in `wgmax.d.ts`.

import { gpuFor, withGpu } from './gpu.js';
import { halfBits, halfNumbers } from './half.js';
import { Held } from './held.js';
import { load } from './load.js';
import { bytesOf, gathered, writeTo } from './memory.js';
import { draw, readPixels } from './picture.js';

export { WgmaxError } from './error.js';
import { WgmaxError, allocated, checked } from './error.js';

/** The typed array of each element type. `bf16` has none: its bits are a `Uint16Array`. */
const ARRAYS = {
    f32: Float32Array,
    f64: Float64Array,
    f16: globalThis.Float16Array ?? Uint16Array,
    bf16: Uint16Array,
    i8: Int8Array,
    u8: Uint8Array,
    i16: Int16Array,
    u16: Uint16Array,
    i32: Int32Array,
    u32: Uint32Array,
    i64: BigInt64Array,
    u64: BigUint64Array,
    bool: Uint8Array,
};

/** The names of the element types. */
export const elementTypes = Object.freeze(Object.keys(ARRAYS));

/** What is wrong with segment ids: the first number of a `status` is the sum of these. */
export const segmentStatus = Object.freeze({ unsorted: 1, negative: 2, offsetTooLarge: 4 });

/** Other arrays that an element type's elements may be given as. */
const ALSO = { u8: 'Uint8ClampedArray', f16: 'Uint16Array' };

/**
 * Opens a device: `'auto'` (a hardware GPU, else the CPU), `'gpu'` or `'cpu'`.
 * @param {'auto' | 'gpu' | 'cpu'} [name]
 */
export async function open(name = 'auto', options = {}) {
    switch (name) {
        case 'cpu':
            return new Device(await load('cpu', options.wasm), (module) => module.Device.cpu());
        case 'gpu':
            return openGpu(options);
        case 'auto':
            try {
                const device = await openGpu(options);
                if (device.info.kind !== 'software') return device;
                device.free();
            } catch (error) {
                if (!(error instanceof WgmaxError)) throw error;
            }
            return open('cpu', options);
        default:
            throw new WgmaxError('NoAdapter', `no device ${JSON.stringify(name)}; there are auto, gpu and cpu`);
    }
}

async function openGpu({ gpu, device, powerPreference = '', timestamps = false, verify = false, wasm }) {
    const found = await gpuFor(gpu, device);
    const module = await load(verify ? 'verify' : 'gpu', wasm);
    const opened = withGpu(found, () => module.Device.open(powerPreference, timestamps, device !== undefined));
    const raw = await checked(opened);
    return new Device(module, () => raw);
}

/** The class of an element type's typed arrays. */
function arrayOf(type) {
    if (elementTypes.includes(type)) return ARRAYS[type];
    throw new WgmaxError('UnknownElementType', `${JSON.stringify(type)} is not an element type; there are ${elementTypes.join(', ')}`);
}

/** The kind of an object, such as `Map` or `Uint8Array`. Each frame of a page has classes of its own. */
function kindOf(object) {
    return Object.prototype.toString.call(object).slice(8, -1);
}

/** The elements of a value, as the typed array of an element type. */
function elements(type, value) {
    const Own = arrayOf(type);
    const kind = kindOf(value);
    if (ArrayBuffer.isView(value)) {
        if ([Own.name, ALSO[type]].includes(kind)) return value;
        throw new WgmaxError('WrongElementType', `elements of ${type} are a ${Own.name}, not a ${kind}`);
    }
    const isOne = isNumber(value);
    if (!isOne && !isIterable(value)) throw new WgmaxError('WrongElementType', `elements of ${type} are a ${Own.name}, a list or a number, not ${shown(value)}`);
    const list = isOne ? [value] : Array.from(value);
    refuse(type, list, (element) => !isNumber(element));
    if (type === 'bf16' || (type === 'f16' && Own === Uint16Array)) return halfBits(type, list);
    if (type[0] === 'f') return Own.from(list, Number);
    const made = Own.from(list, Own === BigInt64Array || Own === BigUint64Array ? bigInt : Number);
    // An integer array converts any number without an error.
    refuse(type, list, (element, i) => made[i] != element);
    return made;
}

function isNumber(value) {
    return ['number', 'bigint', 'boolean'].includes(typeof value);
}

/** Whether a value has elements one after the other. A string has none. */
function isIterable(value) {
    return typeof value === 'object' && typeof value?.[Symbol.iterator] === 'function';
}

/** A value in a message: a promise, too, which has no text of its own. */
function shown(value) {
    return typeof value === 'object' && value ? `a ${kindOf(value)}` : String(value);
}

/** Refuses a list of which an element is wrong. */
function refuse(type, list, isWrong) {
    const wrong = list.findIndex(isWrong);
    if (wrong >= 0) throw new WgmaxError('WrongElementType', `${String(list[wrong])} at position ${wrong} is no element of ${type}`);
}

function isList(value) {
    return Array.isArray(value) || ArrayBuffer.isView(value);
}

/** The shape of some lists, one in the other, and their elements of a type. A number has no axes. */
function flattened(type, given) {
    if (isNumber(given)) return [[], given];
    if (ArrayBuffer.isView(given)) return [[given.length], given];
    if (!isIterable(given)) return [undefined, given];
    let list = Array.from(given);
    const shape = [list.length];
    while (list.some(isList)) {
        const size = list[0]?.length;
        if (!list.every((each) => isList(each) && each.length === size)) {
            throw new WgmaxError('BadShape', `lists along axis ${shape.length} differ in length`);
        }
        shape.push(size);
        if (list.some(ArrayBuffer.isView)) return [shape, joined(arrayOf(type), list.map((each) => elements(type, each)))];
        list = list.flatMap((each) => Array.from(each));
    }
    return [shape, list];
}

/** Typed arrays of one length, one after the other. */
function joined(Own, arrays) {
    const parts = arrays.map(bytesOf);
    const all = new Uint8Array(parts.length * parts[0].length);
    parts.forEach((part, i) => all.set(part, i * part.length));
    return new Own(all.buffer);
}

/** An integer as a `BigInt`; 0 for other values. */
function bigInt(value) {
    return ['bigint', 'boolean'].includes(typeof value) || Number.isInteger(value) ? BigInt(value) : 0n;
}

/** An object with copies of its lists and arrays. */
function copied(object) {
    return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, isList(value) && value.slice ? value.slice() : value]));
}

/** Attributes. Refuses what has none, such as a number or a `Map`. */
function plain(attributes) {
    if (attributes == null) return {};
    const kind = kindOf(attributes);
    if (['Object', 'Module'].includes(kind)) return attributes;
    throw new WgmaxError('BadAttribute', `attributes must be a plain object, but are of the kind ${kind}`);
}

/** Attributes with those that an operator sets itself, which have no other value. */
function withOwn(attributes, own) {
    const given = plain(attributes);
    const twice = Object.keys(own).find((name) => given[name] != null && given[name] !== own[name]);
    if (twice) throw new WgmaxError('UnknownAttribute', `the operator has no attribute ${twice}, or only one value of it`);
    return { ...given, ...own };
}

/** The attributes of an operator of minima. */
function minimum(attributes) {
    return withOwn(attributes, { extremum: 'minimum' });
}

/** The attributes of a ReduceMax that finds positions alone. */
function positions(attributes) {
    const { type = 'i64', last = false, ...others } = plain(attributes);
    return withOwn(others, { indices: { type, last }, values: false });
}

/** The attributes of a pooling: one number stands for all spatial axes. */
function spread(attributes, rank) {
    const axes = Math.max(rank - 2, 0);
    const all = (name, count) => {
        const value = attributes?.[name];
        return ['number', 'bigint'].includes(typeof value) ? { [name]: new Array(count).fill(value) } : {};
    };
    return { ...plain(attributes), ...all('kernel', axes), ...all('strides', axes), ...all('dilations', axes), ...all('padding', 2 * axes), ...all('outputSizes', axes) };
}

/** Attributes with a valid `outOfRange`, which is `'error'` by default. */
function outOfRangeOf(attributes) {
    const { outOfRange = 'error', ...others } = plain(attributes);
    if (['error', 'drop'].includes(outOfRange)) return { outOfRange, ...others };
    throw new WgmaxError('BadAttribute', `attribute outOfRange must be "error" or "drop", but is ${String(outOfRange)}`);
}

/** For each operator: the WebAssembly's operator that computes it, and how its attributes are converted. */
const PREPARED = {
    reduceMax: ['reduceMax', plain],
    reduceMin: ['reduceMax', minimum],
    argMax: ['reduceMax', positions],
    argMin: ['reduceMax', (attributes) => minimum(positions(attributes))],
    maxPool: ['maxPool', spread],
    minPool: ['maxPool', (attributes, rank) => minimum(spread(attributes, rank))],
    segmentMax: ['segmentMax', plain],
    segmentMin: ['segmentMax', minimum],
    scatterMax: ['scatterMax', plain],
    scatterMin: ['scatterMax', minimum],
    reduceMaxBackward: ['reduceMaxBackward', plain],
    reduceMinBackward: ['reduceMaxBackward', minimum],
    maxPoolBackward: ['maxPoolBackward', spread],
    minPoolBackward: ['maxPoolBackward', (attributes, rank) => minimum(spread(attributes, rank))],
    segmentMaxBackward: ['segmentMaxBackward', plain],
    segmentMinBackward: ['segmentMaxBackward', minimum],
    scatterMaxBackward: ['scatterMaxBackward', plain],
    scatterMinBackward: ['scatterMaxBackward', minimum],
    maxUnpool: ['maxUnpool', plain],
};

/** @private The names of the operators, for the package's modules. */
export const operatorNames = Object.keys(PREPARED);

/** Elements in memory: their type, shape and bytes. */
function host(type, shape, value) {
    const bytes = bytesOf(elements(type, value));
    const wrong = type === 'bool' ? bytes.findIndex((byte) => byte > 1) : -1;
    if (wrong >= 0) throw new WgmaxError('InvalidBool', `bool element ${wrong} holds the byte ${bytes[wrong]}; only 0 and 1 are bools`);
    return { type, shape, bytes };
}

/** Why a `GPUDevice` was lost, if it was. */
const losses = new WeakMap();

/** Notes the loss of a `GPUDevice`. It must not keep a `Device`, which may be dropped before. */
function watch(gpu) {
    if (losses.has(gpu)) return;
    losses.set(gpu, undefined);
    gpu.lost.then((info) => losses.set(gpu, info));
}

/** A GPU, or the CPU. */
export class Device extends Held {
    #module;
    #gpu;

    /** @private Devices are made by `open`. */
    constructor(module, make) {
        const raw = checked(() => make(module));
        super(raw);
        this.#module = module;
        this.#gpu = raw.gpu;
        if (this.#gpu) watch(this.#gpu);
    }

    /** What the device is: its name, backend, kind, and limits. */
    get info() {
        return this.raw.info;
    }

    /** The `GPUDevice`, for work of the page's own; `undefined` for the CPU. */
    get gpu() {
        return this.#gpu;
    }

    get isCpu() {
        return this.#gpu === undefined;
    }

    /**
     * A promise that the device is lost: `{ reason, message }`, as WebGPU has it. That of the CPU is never
     * settled.
     */
    get lost() {
        return this.#gpu?.lost ?? new Promise(() => {});
    }

    /** A copy of elements on the device. Without a shape it is that of the lists. */
    async tensor(type, ...given) {
        const { raw } = this;
        arrayOf(type);
        const [own, array] = flattened(type, given.at(-1));
        const [shape] = given.length > 1 ? given : [own];
        // Nested lists must have the given shape.
        if (own?.length > 1 && String(own) !== String(shape)) throw new WgmaxError('BadShape', `the lists have the shape [${own}], not [${shape}]`);
        return this.#tensor(await this.#upload(raw, host(type, shape, array)));
    }

    /** A tensor of zeros. */
    async zeros(type, shape) {
        arrayOf(type);
        return this.#tensor(await this.#upload(this.raw, { type, shape }));
    }

    /** The maximum along axes: all of them, unless `axes` are given. With `indices` also its position. */
    async reduceMax(input, attributes) {
        const operator = checked(() => this.#module.Operator.make('reduceMax', plain(attributes)));
        const [values, indices] = await this.#run(operator, [input]);
        return indices ? { values, indices } : values;
    }

    async reduceMin(input, attributes) {
        return this.reduceMax(input, minimum(attributes));
    }

    /** The position of the maximum along axes, without the maximum. */
    async argMax(input, attributes) {
        return this.reduceMax(input, positions(attributes));
    }

    async argMin(input, attributes) {
        return this.argMax(input, minimum(attributes));
    }

    /** The maximum of windows. With `indices` also its position. */
    async maxPool(input, attributes) {
        this.#below(input);
        const operator = checked(() => this.#module.Operator.make('maxPool', spread(attributes, input.shape.length)));
        const [values, indices] = await this.#run(operator, [input]);
        return { values, indices };
    }

    async minPool(input, attributes) {
        return this.maxPool(input, minimum(attributes));
    }

    /**
     * The maximum of rows that belong together. `ids` are an array of integers, which is checked before
     * anything runs; or a tensor of the device, which needs `numSegments`, and which is checked on the
     * device, unless the page asks for the `status`.
     */
    async segmentMax(input, ids, attributes) {
        const { outOfRange, ...others } = outOfRangeOf(attributes);
        const { segments, numSegments, status: wanted } = others;
        // Rows outside of all offsets are not errors.
        const drops = outOfRange === 'drop' || segments === 'offsets';
        const make = (attributes) => checked(() => this.#module.Operator.make('segmentMax', attributes));
        if (!(ids instanceof Tensor)) {
            const [values, ...more] = await this.#runWithIds(make(others), input, ids, drops ? undefined : numSegments);
            return { values, status: wanted ? more.pop() : undefined, indices: more[0] };
        }
        // A status counts negative ids and too large ones together. In any order, negative ids are allowed.
        const isUnsorted = segments === 'unsorted';
        const asks = !wanted && !isUnsorted;
        const finds = !wanted && isUnsorted && !drops && ids.size > 0;
        const [results, largest] = await Promise.all([
            this.#run(make(asks ? { ...others, status: true } : others), [input, ids]),
            finds ? this.reduceMax(ids) : undefined,
        ]);
        const [values, ...more] = results;
        const status = asks || wanted ? more.pop() : undefined;
        try {
            if (asks) checkStatus(await status.data(), drops);
            if (largest) checkRange(await largest.data(), numSegments, () => 'an id');
        } catch (error) {
            results.forEach((result) => result.destroy());
            throw error;
        } finally {
            if (asks) status.destroy();
            largest?.destroy();
        }
        return { values, status: asks ? undefined : status, indices: more[0] };
    }

    async segmentMin(input, ids, attributes) {
        return this.segmentMax(input, ids, minimum(attributes));
    }

    /**
     * For each element of the data, the maximum of itself and of the updates that go to it. Indices are checked on
     * the device, unless the page asks for the `status`.
     */
    async scatterMax(data, indices, updates, attributes) {
        const { outOfRange, ...others } = outOfRangeOf(attributes);
        const asks = !others.status && outOfRange === 'error';
        const operator = checked(() => this.#module.Operator.make('scatterMax', asks ? { ...others, status: true } : others));
        const results = await this.#run(operator, [data, indices, updates]);
        const [values, ...more] = results;
        const status = asks || others.status ? more.pop() : undefined;
        try {
            const wrong = asks && (await status.data())[1];
            if (wrong) throw new WgmaxError('IndexOutOfRange', `${wrong} of the ${others.vectors ? 'vectors' : 'indices'} name no element of the data; outOfRange: 'drop' leaves their updates out`);
        } catch (error) {
            [values, ...more].forEach((result) => result.destroy());
            throw error;
        } finally {
            if (asks) status.destroy();
        }
        return { values, status: asks ? undefined : status, indices: more[0] };
    }

    async scatterMin(data, indices, updates, attributes) {
        return this.scatterMax(data, indices, updates, minimum(attributes));
    }

    /** WebNN's operators, with its names, arguments and options. Labels are ignored. */
    get webnn() {
        const call = async (operator, input, { label, ...options }) => {
            const attributes = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
            return (await this.node({ dialect: 'webnn', operator, attributes }, [input]))[0];
        };
        const whole = ['reduceMax', 'reduceMin', 'maxPool2d'].map((name) => [name, async (input, options) => call(name, input, plain(options))]);
        const along = ['argMax', 'argMin'].map((name) => [name, async (input, axis, options) => call(name, input, withOwn(options, { axis }))]);
        return Object.fromEntries([...whole, ...along]);
    }

    /**
     * The gradient of the data, from the data and the gradient of the maxima; or, with the `shape` of the
     * data, from the indices that the operator gave.
     */
    async reduceMaxBackward(input, gradient, attributes) {
        return this.#one('reduceMaxBackward', attributes, [input, gradient]);
    }

    async reduceMinBackward(input, gradient, attributes) {
        return this.#one('reduceMinBackward', attributes, [input, gradient]);
    }

    async maxPoolBackward(input, gradient, attributes) {
        return this.#one('maxPoolBackward', attributes, [input, gradient]);
    }

    async minPoolBackward(input, gradient, attributes) {
        return this.#one('minPoolBackward', attributes, [input, gradient]);
    }

    /**
     * The same for segments. Ids are as for `segmentMax`, but those of a tensor are not checked; `undefined` if
     * the input is indices.
     */
    async segmentMaxBackward(input, ids, gradient, given) {
        const { outOfRange, ...attributes } = outOfRangeOf(given);
        if (ids == null || ids instanceof Tensor) return this.#one('segmentMaxBackward', attributes, [input, ids, gradient].filter((tensor) => tensor != null));
        const [type, list] = ArrayBuffer.isView(ids) ? [typeOf(ids), ids] : listOfIds(ids);
        this.#below(input);
        this.#below(gradient);
        const drops = outOfRange === 'drop' || attributes.segments === 'offsets';
        const inMemory = host(type, [list.length], list);
        const segment = checked(() => this.#module.Operator.make('segmentMax', attributes));
        try {
            checked(() => segment.checked(this.#below(input), inMemory)).free();
            checkRange(list, drops ? undefined : gradient.shape[0], (position) => `ids at position ${position}`);
        } finally {
            segment.free();
        }
        // The page may free them while this waits.
        const kept = [this.#again(), ...[input, gradient].map(again)];
        const [own, ...tensors] = kept;
        let uploaded;
        try {
            uploaded = own.#tensor(await own.#upload(own.raw, inMemory));
            return await own.#one('segmentMaxBackward', attributes, [tensors[0], uploaded, tensors[1]]);
        } finally {
            [...kept, uploaded].forEach((each) => each?.free());
        }
    }

    async segmentMinBackward(input, ids, gradient, attributes) {
        return this.segmentMaxBackward(input, ids, gradient, minimum(attributes));
    }

    /**
     * The gradients of the data and of the updates. Indices are not checked: an update whose index names no
     * element gets 0. With `shape`, that of the indices, the data is the indices that `scatterMax` returned,
     * and indices and updates are `undefined`.
     */
    async scatterMaxBackward(data, indices, updates, gradient, attributes) {
        const operator = checked(() => this.#module.Operator.make('scatterMaxBackward', plain(attributes)));
        const inputs = [data, indices, updates, gradient].filter((tensor) => tensor != null);
        const [ofData, ofUpdates] = await this.#run(operator, inputs);
        return { data: ofData, updates: ofUpdates };
    }

    async scatterMinBackward(data, indices, updates, gradient, attributes) {
        return this.scatterMaxBackward(data, indices, updates, gradient, minimum(attributes));
    }

    /** Stores each value at the element that its index names in a tensor of this shape, and zeros elsewhere. */
    async maxUnpool(values, indices, shape, attributes) {
        return this.#one('maxUnpool', withOwn(attributes, { shape }), [values, indices]);
    }

    /**
     * A node of ONNX, oneDNN Graph, OpenVINO or WebNN. The first input is a tensor; the others, such as
     * axes or ids, are tensors, which are read, or `{type, shape, data}`, or `undefined` where they are absent.
     */
    async node(node, [data, ...others]) {
        this.#below(data);
        const named = plain(node);
        const own = { ...named, attributes: plain(named.attributes) };
        const isTensor = (other) => other instanceof Tensor;
        const given = others.map((other) => (isTensor(other) || !other ? other : host(other.type, other.shape, other.data)));
        if (!given.some(isTensor)) return this.#node(own, data, given);
        // The page may free the device and the first tensor, and change its lists and arrays, while this waits.
        const attributes = copied(own.attributes);
        const [device, view] = [this.#again(), again(data)];
        const read = async (tensor) => host(tensor.type, tensor.shape, await tensor.data());
        try {
            const hosts = await Promise.all(given.map((other) => (isTensor(other) ? read(other) : other && copied(other))));
            return await device.#node({ ...own, attributes }, view, hosts);
        } finally {
            [device, view].forEach((each) => each.free());
        }
    }

    async #node(node, data, hosts) {
        const operator = checked(() => this.#module.Operator.node(node, this.#below(data), hosts));
        return this.#run(operator, [data], hosts.slice(0, operator.inputCount - 1));
    }

    /**
     * An operator that is planned and compiled once and run any number of times, on tensors with the layouts
     * of these. On the CPU results are whole tensors, and views made of them before keep their elements.
     */
    async prepare(operator, attributes, inputs, results) {
        if (!Object.hasOwn(PREPARED, operator)) {
            throw new WgmaxError('UnknownOperator', `${JSON.stringify(operator)} is not an operator; there are ${Object.keys(PREPARED).join(', ')}`);
        }
        const [below, read] = PREPARED[operator];
        const lists = [inputs, results].map((tensors) => this.#list(tensors));
        const made = checked(() => this.#module.Operator.make(below, read(attributes, inputs[0]?.shape.length ?? 0)));
        try {
            const raw = await checked(this.#module.Prepared.prepare(this.raw, made, ...lists));
            return new Prepared(raw, (tensors) => this.#list(tensors));
        } finally {
            lists.forEach((list) => list.free());
            made.free();
        }
    }

    /** Waits for all submitted work. */
    async wait() {
        await checked(this.raw.wait());
    }

    /**
     * The pixels of a picture, a canvas or a video, as a tensor `u8` [rows, columns, 4]: the bytes that
     * a 2-D canvas gives, on every device the same. `into` is a tensor of a GPU that is filled again.
     */
    async pixels(source, into) {
        if (into) this.#below(into);
        return readPixels(this, source, into);
    }

    /** Draws a tensor `u8` [rows, columns, 1, 3 or 4] on a canvas. */
    async draw(tensor, canvas) {
        this.#below(tensor);
        return draw(this, tensor, canvas);
    }

    /** @private The result of `load`, and the WebAssembly's device, for the package's modules. */
    get parts() {
        return { module: this.#module, raw: this.raw };
    }

    /** @private Refuses a lost device, whose queue ignores work without an error. */
    refuseLost() {
        const loss = losses.get(this.#gpu);
        if (loss) throw new WgmaxError('DeviceLost', `${this.info.name} was lost: ${loss.message}`);
    }

    /** The same device, which is freed separately. */
    #again() {
        return new Device(this.#module, () => this.raw.share());
    }

    #tensor(raw) {
        return new Tensor(raw, this.#module, this.#gpu);
    }

    /** A tensor of the WebAssembly, of bytes or of zeros. On a GPU the bytes are copied directly to its buffer. */
    #upload(raw, { type, shape, bytes }) {
        const write = (buffer) => bytes && writeTo(this.#gpu.queue, buffer, bytes);
        return checked(raw.tensor(type, shape, bytes, write));
    }

    /** The WebAssembly's tensor of a tensor of this device. */
    #below(tensor) {
        if (!(tensor instanceof Tensor)) throw new WgmaxError('NotATensor', 'operators take tensors, which `device.tensor` makes');
        // This WebAssembly does not know the tensors of the other one, and a queue not the buffers of another GPU.
        if (tensor.module !== this.#module || tensor.gpu !== this.#gpu) throw new WgmaxError('WrongDevice', `the tensor is not on ${this.info.name}`);
        return tensor.raw;
    }

    #list(tensors) {
        const list = new this.#module.Tensors();
        for (const tensor of tensors) list.add(this.#below(tensor));
        return list;
    }

    /** The one result of an operator that `PREPARED` has. */
    async #one(name, attributes, tensors) {
        tensors.forEach((tensor) => this.#below(tensor));
        const [below, read] = PREPARED[name];
        const operator = checked(() => this.#module.Operator.make(below, read(attributes, tensors.at(-1).shape.length)));
        return (await this.#run(operator, tensors))[0];
    }

    /** Runs an operator on tensors, followed by the tensors in memory, and frees the operator. */
    async #run(operator, tensors, hosts = []) {
        let [list, device] = [];
        let uploaded = [];
        try {
            // The page may free its tensors and the device while this waits.
            list = this.#list(tensors);
            device = this.raw.share();
            uploaded = await Promise.all(hosts.map((host) => this.#upload(device, host)));
            uploaded.forEach((raw) => list.add(raw));
            return (await checked(device.run(operator, list)).catch(inWords)).map((raw) => this.#tensor(raw));
        } finally {
            uploaded.forEach((raw) => raw.destroy());
            [...uploaded, list, device, operator].forEach((each) => each?.free());
        }
    }

    /** Runs an operator on segments whose ids are in memory. Refuses ids that are not below `count`, if given. */
    async #runWithIds(operator, input, given, count) {
        try {
            const [type, list] = ArrayBuffer.isView(given) ? [typeOf(given), given] : listOfIds(given);
            const ids = host(type, [list.length], list);
            const counted = checked(() => operator.checked(this.#below(input), ids));
            checkRange(list, count, (position) => `ids at position ${position}`);
            return await this.#run(counted, [input], [ids]);
        } finally {
            operator.free();
        }
    }
}

/** The library's names of attributes, and the names in this API. */
const WORDS = { pads_begin: 'padding', pads_end: 'padding', num_segments: 'numSegments', segment_ids: 'ids', output_sizes: 'outputSizes' };

/** Throws an error in the words of this API. */
function inWords(error) {
    error.message = error.message.replace(/\b(pads_begin|pads_end|num_segments|segment_ids|output_sizes)\b/g, (word) => WORDS[word]);
    throw error;
}

const LEFT_OUT = 'outOfRange: \'drop\' leaves such rows out';

/** Refuses ids that are not below a count, if there is one. */
function checkRange(ids, count, name) {
    if (count == null) return;
    const wrong = ids.findIndex((id) => id >= count);
    if (wrong >= 0) throw new WgmaxError('SegmentOutOfRange', `${name(wrong)} is ${ids[wrong]}, but there are ${count} segments; ${LEFT_OUT}`);
}

/** Refuses ids that a device found wrong. */
function checkStatus([flags, dropped], drops) {
    const mistakes = [
        [flags & segmentStatus.unsorted, 'UnsortedSegments', 'ids and offsets must ascend'],
        [flags & segmentStatus.negative, 'NegativeSegment', 'ids and offsets must not be negative'],
        [flags & segmentStatus.offsetTooLarge, 'OffsetTooLarge', 'an offset is larger than the number of rows'],
        [!drops && dropped, 'SegmentOutOfRange', `the ids of ${dropped} rows are not below the number of segments; ${LEFT_OUT}`],
    ];
    const [, code, message] = mistakes.find(([is]) => is) ?? [];
    if (code) throw new WgmaxError(code, message);
}

/** Ids in a plain list: `i32`, or `i64` or `u64` where one needs it. */
function listOfIds(ids) {
    if (!isIterable(ids)) throw new WgmaxError('WrongElementType', `ids are an array, a list or a tensor, not ${shown(ids)}`);
    const list = Array.from(ids);
    const fits = (type) => (id) => BigInt(id) === BigInt[type[0] === 'i' ? 'asIntN' : 'asUintN'](type.slice(1), BigInt(id));
    const isId = (id) => Number.isSafeInteger(id) || (typeof id === 'bigint' && (fits('i64')(id) || fits('u64')(id)));
    const wrong = list.findIndex((id) => !isId(id));
    if (wrong >= 0) throw new WgmaxError('WrongElementType', `${String(list[wrong])} at position ${wrong} is no id`);
    const type = ['i32', 'i64', 'u64'].find((type) => list.every(fits(type)));
    if (!type) throw new WgmaxError('WrongElementType', 'no type has both negative ids and ids from 2^63 on');
    return [type, ARRAYS[type].from(list, type === 'i32' ? Number : BigInt)];
}

/** Another tensor of the same elements, which is freed separately. */
function again(tensor) {
    return tensor.permute(tensor.shape.map((_, axis) => axis));
}

/** The element type of a typed array. A `Uint16Array` is `u16`, not bits of `bf16` or `f16`. */
function typeOf(array) {
    const kind = kindOf(array);
    if (kind === 'Uint16Array') return 'u16';
    const type = elementTypes.find((type) => ARRAYS[type].name === kind);
    if (!type) throw new WgmaxError('WrongElementType', `a ${kind} is of no element type`);
    return type;
}

/** A tensor on a device, or a view of one. */
export class Tensor extends Held {
    /** @private Tensors are made by a device. */
    constructor(raw, module, gpu) {
        super(raw);
        this.module = module;
        this.gpu = gpu;
    }

    get type() {
        return this.raw.type;
    }

    get shape() {
        return Array.from(this.raw.shape);
    }

    get size() {
        return this.shape.reduce((product, size) => product * size, 1);
    }

    /** The offset of the first element in the memory, in elements. */
    get offset() {
        return this.raw.offset;
    }

    /** The distance from one element to the next along each axis, in elements. */
    get pitches() {
        return Array.from(this.raw.pitches);
    }

    /** The `GPUBuffer` below; `undefined` on the CPU. */
    get buffer() {
        return this.raw.buffer;
    }

    /** The elements, as the typed array of the type. */
    async data() {
        // The page may free the tensor while this waits.
        const { raw, shape, pitches } = this;
        const Own = ARRAYS[raw.type];
        let data = new Own(0);
        await checked(raw.read((bytes, offset) => {
            const elements = Math.floor(bytes.length / Own.BYTES_PER_ELEMENT);
            const memory = new Own(bytes.buffer, bytes.byteOffset, elements);
            data = allocated(() => gathered(memory, offset, shape, pitches));
        }));
        return data;
    }

    /** The elements as numbers, also where the type's array holds bits. */
    async numbers() {
        const { type } = this;
        const data = await this.data();
        const isBits = data instanceof Uint16Array && type !== 'u16';
        return isBits ? halfNumbers(type, data) : Array.from(data, Number);
    }

    /** The part of an axis from `start` up to, but not including, `end`. */
    slice(axis, start, end) {
        return this.#viewed((raw) => raw.slice(axis, start, end));
    }

    /** Every `step`-th element of an axis, from the last one on if it is negative. */
    stepBy(axis, step) {
        return this.#viewed((raw) => raw.stepBy(axis, step));
    }

    /** The axes in another order. */
    permute(axes) {
        return this.#viewed((raw) => raw.permute(axes));
    }

    /** A new axis before `axis`, along which the elements are repeated. */
    broadcast(axis, size) {
        return this.#viewed((raw) => raw.broadcast(axis, size));
    }

    /** The same elements in another shape. One size may be -1: it is computed from the others. */
    reshape(shape) {
        const sizes = Array.isArray(shape) ? [...shape] : shape;
        const free = Array.isArray(sizes) ? sizes.indexOf(-1) : -1;
        if (free >= 0) {
            const rest = this.size / sizes.toSpliced(free, 1).reduce((product, size) => product * Number(size), 1);
            if (Number.isInteger(rest)) sizes[free] = rest;
        }
        return this.#viewed((raw) => raw.reshape(sizes));
    }

    /** A view of the memory: elements of the same type at `offset` and by `pitches`. */
    view({ shape, offset = 0, pitches }) {
        return this.#viewed((raw) => raw.view(shape, offset, pitches));
    }

    /** Frees the memory now, on a GPU also that of views of it. */
    destroy() {
        if (this.isFreed) return;
        this.raw.destroy();
        this.free();
    }

    #viewed(view) {
        return new Tensor(checked(() => view(this.raw)), this.module, this.gpu);
    }
}

/** An operator that is planned and compiled. */
export class Prepared extends Held {
    #list;

    /** @private Made by `Device.prepare`. */
    constructor(raw, list) {
        super(raw);
        this.#list = list;
    }

    /** Submits so many runs one after the other, and waits for none. The CPU computes them now. */
    submit(inputs, results, times = 1) {
        const { raw } = this;
        const lists = [inputs, results].map(this.#list);
        try {
            const made = checked(() => raw.submit(...lists, times));
            made?.forEach((tensor, i) => results[i].hold(tensor));
        } finally {
            lists.forEach((list) => list.free());
        }
    }
}
