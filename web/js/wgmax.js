// wgmax for JavaScript: the maximum along axes, of windows and of segments, on the GPU through
// WebGPU or on the CPU, bit for bit the same. The types are in `wgmax.d.ts`.

import { gpuFor, withGpu } from './gpu.js';
import { load } from './load.js';
import { draw, readPixels } from './picture.js';

export { WgmaxError } from './error.js';
import { WgmaxError, checked } from './error.js';

/** The typed array of each element type. Of `bf16` there is none: its bits are a `Uint16Array`. */
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

/** Other arrays that an element type's elements may be given as. */
const ALSO = { u8: [Uint8ClampedArray], f16: [Uint16Array] };

/**
 * Opens a device: `'auto'` (a hardware GPU, else the CPU), `'gpu'` or `'cpu'`.
 * @param {'auto' | 'gpu' | 'cpu'} [name]
 */
export async function open(name = 'auto', options = {}) {
    switch (name) {
        case 'cpu':
            return new Device(await load('full'), (module) => module.Device.cpu());
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
            return open('cpu');
        default:
            throw new WgmaxError('NoAdapter', `no device ${JSON.stringify(name)}; there are auto, gpu and cpu`);
    }
}

async function openGpu({ gpu, device, powerPreference = '', timestamps = false, cpu = false }) {
    const found = await gpuFor(gpu, device);
    const module = await load(cpu ? 'full' : 'gpu');
    const opened = withGpu(found, () => module.Device.open(powerPreference, timestamps, device !== undefined));
    const raw = await checked(opened);
    return new Device(module, () => raw);
}

/** The elements of a value, as the typed array of an element type. */
function elements(module, type, value) {
    const Own = ARRAYS[type];
    if (!Own) throw new WgmaxError('UnknownElementType', `${JSON.stringify(type)} is not an element type; there are ${elementTypes.join(', ')}`);
    if (ArrayBuffer.isView(value)) {
        if (value instanceof Own || ALSO[type]?.some((other) => value instanceof other)) return value;
        throw new WgmaxError('WrongElementType', `elements of ${type} are a ${Own.name}, not a ${value.constructor.name}`);
    }
    const list = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? [value] : Array.from(value);
    if (type === 'bf16' || (type === 'f16' && Own === Uint16Array)) return module.halfBits(type, Float64Array.from(list));
    if (Own === BigInt64Array || Own === BigUint64Array) return Own.from(list, BigInt);
    return Own.from(list, Number);
}

/** The attributes of an operator of minima. */
function minimum(attributes) {
    return { ...attributes, extremum: 'minimum' };
}

/** Sizes that are whole numbers. */
function sizes(shape) {
    const list = Array.from(shape);
    for (const size of list) {
        if (!Number.isInteger(size) || size < 0 || size > 0xffffffff) {
            throw new WgmaxError('BadShape', `${size} is no size of an axis, in the shape [${list}]`);
        }
    }
    return Uint32Array.from(list);
}

function host(module, type, shape, value) {
    const array = elements(module, type, value);
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return checked(() => new module.HostTensor(type, sizes(shape), bytes));
}

/** A GPU, or the CPU. */
export class Device {
    #module;
    #raw;
    #gpu;

    /** @private Devices are made by `open`. */
    constructor(module, make) {
        this.#module = module;
        this.#raw = checked(() => make(module));
        this.#gpu = this.#raw.gpu;
    }

    /** What the device is: its name, backend, kind, and limits. */
    get info() {
        return this.#raw.info;
    }

    /** The `GPUDevice`, for work of the page's own; `undefined` for the CPU. */
    get gpu() {
        return this.#gpu;
    }

    get isCpu() {
        return this.#gpu === undefined;
    }

    /** A copy of elements on the device. */
    async tensor(type, shape, array) {
        const made = host(this.#module, type, shape, array);
        try {
            return this.#tensor(await checked(this.#raw.upload(made)));
        } finally {
            made.free();
        }
    }

    /** A tensor of zeros. */
    zeros(type, shape) {
        const length = sizes(shape).reduce((product, size) => product * size, 1);
        return this.tensor(type, shape, new (ARRAYS[type] ?? Uint8Array)(length));
    }

    /** The maximum along axes: all of them, unless `axes` are given. With `indices` also where it is. */
    async reduceMax(input, attributes) {
        const operator = checked(() => this.#module.Operator.reduceMax(attributes));
        const [values, indices] = await this.#run(operator, [input]);
        return indices ? { values, indices } : values;
    }

    reduceMin(input, attributes) {
        return this.reduceMax(input, minimum(attributes));
    }

    /** Where the maximum along axes is, and not the maximum itself. */
    argMax(input, { type = 'i64', last = false, ...attributes } = {}) {
        return this.reduceMax(input, { ...attributes, indices: { type, last }, values: false });
    }

    argMin(input, attributes) {
        return this.argMax(input, minimum(attributes));
    }

    /** The maximum of windows, and where it is if `indices` are wanted. */
    async maxPool(input, attributes) {
        const operator = checked(() => this.#module.Operator.maxPool(attributes));
        const [values, indices] = await this.#run(operator, [input]);
        return { values, indices };
    }

    minPool(input, attributes) {
        return this.maxPool(input, minimum(attributes));
    }

    /**
     * The maximum of rows that belong together. `ids` are a tensor of the device, which is not
     * checked and needs `numSegments`; or an array of integers, which is.
     */
    async segmentMax(input, ids, attributes = {}) {
        const operator = checked(() => this.#module.Operator.segmentMax(attributes));
        const results = await this.#runWithIds(operator, input, ids);
        const values = results.shift();
        const status = attributes.status ? results.pop() : undefined;
        return { values, indices: results.shift(), status };
    }

    segmentMin(input, ids, attributes) {
        return this.segmentMax(input, ids, minimum(attributes));
    }

    /**
     * A node of ONNX, oneDNN Graph or OpenVINO. The first input is a tensor; the others, such as
     * axes or ids, are `{type, shape, data}`, or `undefined` where they are absent.
     */
    async node(node, [data, ...others]) {
        const hosts = others.map((other) => other && host(this.#module, other.type, other.shape, other.data));
        const uploaded = [];
        try {
            const parts = hosts.map((other) => other && { type: other.type, shape: other.shape, bytes: other.bytes() });
            const operator = checked(() => this.#module.Operator.node(node, this.#below(data), parts));
            for (const other of hosts.slice(0, operator.inputCount - 1)) {
                uploaded.push(this.#tensor(await checked(this.#raw.upload(other))));
            }
            return await this.#run(operator, [data, ...uploaded]);
        } finally {
            [...hosts, ...uploaded].forEach((other) => other?.free());
        }
    }

    /**
     * An operator that is compiled once and run any number of times, on tensors that lie as these.
     * Only a GPU prepares.
     */
    async prepare(operator, attributes, inputs, results) {
        const made = checked(() => this.#module.Operator[operator](attributes));
        const lists = [inputs, results].map((tensors) => this.#list(tensors));
        try {
            const raw = await checked(this.#module.Prepared.prepare(this.#raw, made, ...lists));
            return new Prepared(raw, (tensors) => this.#list(tensors));
        } finally {
            lists.forEach((list) => list.free());
            made.free();
        }
    }

    /** Waits for all submitted work. */
    async wait() {
        await checked(this.#raw.wait());
    }

    /**
     * The pixels of a picture, a canvas or a video, as a tensor `u8` [rows, columns, 4]. On a GPU
     * its rows may be apart, and `into` is a tensor of an earlier call that is filled again.
     */
    pixels(source, into) {
        return readPixels(this, source, into);
    }

    /** Draws a tensor `u8` [rows, columns, 1, 3 or 4] on a canvas. */
    draw(tensor, canvas) {
        return draw(this, tensor, canvas);
    }

    /** @private What `load` gave, and the device below: for the parts of the package. */
    get parts() {
        return { module: this.#module, raw: this.#raw };
    }

    /** Lets go of the device. Its tensors keep what they need of it. */
    free() {
        this.#raw.free();
    }

    #tensor(raw) {
        return new Tensor(raw, this.#module);
    }

    /** What is below a tensor of this device. */
    #below(tensor) {
        if (!(tensor instanceof Tensor)) throw new WgmaxError('NotATensor', 'operators take tensors, which `device.tensor` makes');
        // Tensors of the other WebAssembly are not known here.
        if (tensor.module !== this.#module) throw new WgmaxError('WrongDevice', `the tensor is not on ${this.info.name}`);
        return tensor.raw;
    }

    #list(tensors) {
        const list = new this.#module.Tensors();
        for (const tensor of tensors) list.add(this.#below(tensor));
        return list;
    }

    /** Runs an operator, which is not used again. */
    async #run(operator, tensors) {
        let list;
        try {
            list = this.#list(tensors);
            return (await checked(this.#raw.run(operator, list))).map((raw) => this.#tensor(raw));
        } finally {
            list?.free();
            operator.free();
        }
    }

    async #runWithIds(operator, input, ids) {
        if (ids instanceof Tensor) return this.#run(operator, [input, ids]);
        let made;
        let uploaded;
        try {
            const [type, list] = ArrayBuffer.isView(ids) ? [typeOf(ids), ids] : listOfIds(ids);
            made = host(this.#module, type, [list.length], list);
            const counted = checked(() => operator.checked(this.#below(input), made));
            uploaded = this.#tensor(await checked(this.#raw.upload(made)));
            return await this.#run(counted, [input, uploaded]);
        } finally {
            [made, uploaded, operator].forEach((each) => each?.free());
        }
    }
}

/** Ids in a plain list: `i32`, or `i64` where one needs it. */
function listOfIds(ids) {
    const list = Array.from(ids);
    const wrong = list.find((id) => typeof id !== 'bigint' && !Number.isSafeInteger(id));
    if (list.includes(undefined) || wrong !== undefined) throw new WgmaxError('WrongElementType', `${wrong} is no id`);
    return list.every((id) => BigInt(id) === BigInt.asIntN(32, BigInt(id)))
        ? ['i32', Int32Array.from(list, Number)]
        : ['i64', BigInt64Array.from(list, BigInt)];
}

/** The element type of a typed array. Of 16 bits without a sign it is that of numbers. */
function typeOf(array) {
    if (array instanceof Uint16Array) return 'u16';
    const type = elementTypes.find((type) => array instanceof ARRAYS[type]);
    if (!type) throw new WgmaxError('WrongElementType', `a ${array.constructor.name} is of no element type`);
    return type;
}

/** A tensor on a device, or a view of one. */
export class Tensor {
    /** @private Tensors are made by a device. What is below has a name for the rest of the package. */
    constructor(raw, module) {
        this.raw = raw;
        this.module = module;
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

    /** Where the first element is, in elements of the memory. */
    get offset() {
        return this.raw.offset;
    }

    /** The elements from one of each axis to the next. */
    get pitches() {
        return Array.from(this.raw.pitches);
    }

    /** The `GPUBuffer` below; `undefined` on the CPU. */
    get buffer() {
        return this.raw.buffer;
    }

    /** The elements, as the typed array of the type. */
    async data() {
        const bytes = await checked(this.raw.bytes());
        return new ARRAYS[this.type](bytes.buffer);
    }

    /** The elements as numbers, also where the type's array holds bits. */
    async numbers() {
        const data = await this.data();
        if (data instanceof Uint16Array && this.type !== 'u16') return Array.from(this.module.halfNumbers(this.type, data));
        return Array.from(data, Number);
    }

    /** The part of an axis from `start` up to, but not including, `end`. */
    slice(axis, start, end = this.shape[axis]) {
        return this.#viewed((raw) => raw.slice(axis, start, end));
    }

    /** Every `step`-th element of an axis, from the last one on if it is negative. */
    stepBy(axis, step) {
        return this.#viewed((raw) => raw.stepBy(axis, step));
    }

    /** The axes in another order. */
    permute(axes) {
        return this.#viewed((raw) => raw.permute(sizes(axes)));
    }

    /** An axis of size 1, repeated. */
    broadcast(axis, size) {
        return this.#viewed((raw) => raw.broadcast(axis, size));
    }

    /** The same elements in another shape. */
    reshape(shape) {
        return this.#viewed((raw) => raw.reshape(sizes(shape)));
    }

    /** Elements of the same type that lie elsewhere in this memory. */
    view({ shape, offset = 0, pitches }) {
        return this.#viewed((raw) => raw.view(sizes(shape), offset, Int32Array.from(pitches)));
    }

    /** Frees the memory now, which other views of it share. */
    destroy() {
        this.raw.destroy();
        this.free();
    }

    /** Lets go of the tensor. Its memory is freed when nothing holds it. */
    free() {
        this.raw.free();
    }

    #viewed(view) {
        return new Tensor(checked(() => view(this.raw)), this.module);
    }
}

/** An operator that is planned and compiled. */
export class Prepared {
    #raw;
    #list;

    /** @private Made by `Device.prepare`. */
    constructor(raw, list) {
        this.#raw = raw;
        this.#list = list;
    }

    /** Submits so many runs one after the other, and waits for none. */
    submit(inputs, results, times = 1) {
        const lists = [inputs, results].map(this.#list);
        try {
            checked(() => this.#raw.submit(...lists, times));
        } finally {
            lists.forEach((list) => list.free());
        }
    }

    free() {
        this.#raw.free();
    }
}

// `using x = ...`, where there is such a thing.
if (Symbol.dispose) {
    for (const Class of [Device, Tensor, Prepared]) {
        Class.prototype[Symbol.dispose] = Class.prototype.free;
    }
}
