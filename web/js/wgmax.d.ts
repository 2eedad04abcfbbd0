// WebGPU's types, for pages without them. If they are there, this adds nothing.
declare global {
    interface GPU {}
    interface GPUDevice {}
    interface GPUBuffer {}
    // For `using`. Engines without it have no such method of tensors and devices either.
    interface SymbolConstructor {
        readonly dispose: unique symbol;
    }
}

/** The types of elements. */
export type ElementType =
    | 'f32' | 'f64' | 'f16' | 'bf16'
    | 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'bool';

/** `Float16Array`, if it has types. */
type Float16s = typeof globalThis extends { Float16Array: new (length: number) => infer A } ? A : never;

/** The typed array of an element type. For `bf16` it has the bits, and for `f16` if there is no `Float16Array`. */
export type ArrayOf<T extends ElementType> = T extends 'f32' ? Float32Array
    : T extends 'f64' ? Float64Array
    : T extends 'f16' ? Uint16Array | Float16s
    : T extends 'bf16' | 'u16' ? Uint16Array
    : T extends 'i8' ? Int8Array
    : T extends 'u8' | 'bool' ? Uint8Array
    : T extends 'i16' ? Int16Array
    : T extends 'i32' ? Int32Array
    : T extends 'u32' ? Uint32Array
    : T extends 'i64' ? BigInt64Array
    : BigUint64Array;

/** The names of the element types. */
export const elementTypes: readonly ElementType[];

/** Errors of segment ids: the first number of a `status` is the sum of these. */
export const segmentStatus: { readonly unsorted: 1; readonly negative: 2; readonly offsetTooLarge: 4 };

/** An error of wgmax. */
export class WgmaxError extends Error {
    /**
     * The variant of `wgmax::Error`, such as `DeviceLost` or `BadAttribute`; or `Freed` for use after `free`,
     * `BadShape`, `NotATensor`, `BadPicture`, `SegmentOutOfRange`, `Panic`.
     */
    readonly code: string;
}

export interface OpenOptions {
    /** Which GPU, if there are two. */
    powerPreference?: 'low-power' | 'high-performance';
    /** Requests the feature `timestamp-query`, for the page's own use. */
    timestamps?: boolean;
    /** A `GPU` instead of `navigator.gpu`, such as Dawn's in Node. */
    gpu?: GPU;
    /** The page's own device, whose limits apply. */
    device?: GPUDevice;
    /** Loads the WebAssembly that has the CPU and the random cases too, for `Verification`. */
    verify?: boolean;
    /**
     * Where the WebAssembly is, if not beside the package: the URL of the folder with `gpu_bg.wasm` and
     * `cpu_bg.wasm`, or each of them by name. Only the first call that loads a WebAssembly reads this.
     */
    wasm?: string | URL | Partial<Record<'gpu' | 'cpu' | 'verify', WasmSource>>;
}

/** A WebAssembly: its URL, a response, its bytes, or a compiled module. */
export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module;

/**
 * Opens a device: `auto` is a hardware GPU, else the CPU.
 * @throws WgmaxError `NoAdapter`, `AdapterRefused`, `NoWebAssembly`
 */
export function open(name?: 'auto' | 'gpu' | 'cpu', options?: OpenOptions): Promise<Device>;

export interface DeviceInfo {
    /** Vendor, architecture and description, as far as the browser reveals them. */
    name: string;
    backend: 'webgpu' | 'cpu';
    /** `software` is a GPU API on the CPU; `host` is the CPU. */
    kind: 'other' | 'software' | 'host' | string;
    tuning: string;
    /** Sizes are in bytes. */
    limits: {
        workgroupSize: number;
        maxWorkgroupsPerDimension: number;
        maxBindingSize: number;
        maxBufferSize: number;
        alignment: number;
        maxStorageBuffers: number;
    };
}

/** The effect of a NaN: it is the maximum, or it is skipped. */
export type Nan = 'propagate' | 'ignore';
/** `maximum` by default. */
export type Extremum = 'maximum' | 'minimum';
/** The maximum of an empty set: minus infinity, or the lowest finite value. They differ only for floats. */
export type EmptySet = 'negativeInfinity' | 'lowest';
/**
 * Whether the positions of the maxima are a second result.
 *
 * With positions, 0 and -0 are equal, and a maximum is the element at its position: for [-0, 0] it is -0.
 * Without them it is 0, because 0 is above -0. So this may change the sign of a maximum or minimum that
 * is zero, and nothing else.
 */
type Indices<T> = boolean | T;
type Integers = readonly number[] | readonly bigint[] | Int32Array | BigInt64Array;

export interface ReduceMax {
    /** The axes; a negative one counts from the back. All of them by default, and none if the list is empty. */
    axes?: Integers;
    /** Whether reduced axes are kept, with size 1. `false` by default. */
    keepDims?: boolean;
    extremum?: Extremum;
    /** `propagate` by default. */
    nan?: Nan;
    /** `negativeInfinity` by default. */
    emptySet?: EmptySet;
    /** A number that joins each set as one more element; not with `indices`, nor for a gradient. */
    initial?: number | bigint | boolean;
    /**
     * Whether to return the positions of the maxima within the reduced axes: `i64`, of equal elements the
     * first. The sign of a zero may change: see {@link Indices}.
     */
    indices?: Indices<{ type?: 'i32' | 'i64'; last?: boolean }>;
}

/** The position of a maximum. */
export interface ArgMax extends Omit<ReduceMax, 'indices' | 'initial'> {
    /** `i64` by default. */
    type?: 'i32' | 'i64';
    /** Selects the last of equal elements instead of the first. */
    last?: boolean;
}

/** Windows of one size. */
interface Windows {
    /** The size of the windows along each spatial axis. Here and below, one number stands for all axes. */
    kernel: number | bigint | Integers;
    /** 1 by default. */
    strides?: number | bigint | Integers;
    /** 1 by default. */
    dilations?: number | bigint | Integers;
    /** Positions before each spatial axis and then after each; none by default. */
    padding?: 'valid' | 'sameUpper' | 'sameLower' | number | bigint | Integers;
    /** How a partial last window is handled. `floor` by default. */
    rounding?: 'floor' | 'ceil' | 'ceilTorch';
    outputSizes?: undefined;
}

/** AdaptiveMaxPool: windows that split an axis evenly. */
interface AdaptiveWindows {
    /** The number of windows along each spatial axis. */
    outputSizes: number | bigint | Integers;
    kernel?: undefined;
}

export type MaxPool = (Windows | AdaptiveWindows) & {
    /** [batch, channels, spatial...] by default, or channels last. */
    layout?: 'ncx' | 'nxc';
    extremum?: Extremum;
    nan?: Nan;
    emptyWindow?: EmptySet;
    /** A number that joins each window as one more element; not with `indices`, nor for a gradient. */
    initial?: number | bigint | boolean;
    /**
     * Whether to return the positions of the maxima: `i64`, in row-major order of the whole tensor, of equal
     * elements the first. The sign of a zero may change: see {@link Indices}.
     */
    indices?: Indices<{ type?: 'i32' | 'i64'; order?: 'rowMajor' | 'columnMajor'; axis?: number }>;
};

export interface SegmentMax {
    /** Ascending ids, ids in any order, or the offsets of CSR. `sorted` by default. */
    segments?: 'sorted' | 'unsorted' | 'offsets';
    /** Needed for ids on the device; otherwise the largest id plus 1. */
    numSegments?: number | bigint;
    /**
     * How an id that is not below `numSegments` is handled: it is an error, `SegmentOutOfRange`, the default,
     * or with `drop` its row belongs to no segment. A negative id is an error if ids are sorted; in any order
     * its row belongs to no segment.
     */
    outOfRange?: 'error' | 'drop';
    /** `zero` by default. */
    emptySegment?: 'zero' | EmptySet;
    /** A number that joins each segment as one more element; not with `indices`, nor for a gradient. */
    initial?: number | bigint | boolean;
    extremum?: Extremum;
    nan?: Nan;
    /**
     * Whether to return the rows of the maxima: `i64` or this type, of equal elements the first. The sign of a
     * zero may change: see {@link Indices}.
     */
    indices?: Indices<{ type?: 'i32' | 'i64' }>;
    /**
     * Whether to return two `u32`: the errors of the ids (the sum of {@link segmentStatus}: they do not ascend,
     * one is negative, an offset is too large), and how many rows belong to no segment. Then ids on the device
     * are not checked, and nothing waits for them.
     */
    status?: boolean;
}

export interface ScatterMax {
    /** The axis along which each index is a place: indices and updates have one shape. 0 by default. */
    axis?: number | bigint;
    /**
     * Whether the last axis of the indices has vectors instead: the places along the first axes of the data.
     * Updates have the shape of the indices without that axis, and then that of the rest of the data.
     */
    vectors?: boolean;
    /** Whether an element of the data takes part if it has updates. `true` by default. */
    includeData?: boolean;
    /** How an index that names no element is handled: an error, `IndexOutOfRange`, or its update is dropped. */
    outOfRange?: 'error' | 'drop';
    extremum?: Extremum;
    /** `propagate` by default. */
    nan?: Nan;
    /**
     * Whether to return which update each maximum is: `i64` or this type, the place along the axis or the number
     * of the vector, -1 if it is the element of the data. The sign of a zero may change: see {@link Indices}.
     */
    indices?: Indices<{ type?: 'i32' | 'i64' }>;
    /**
     * Whether to return two `u32`: 1 if an index names no element, and how many indices, or with `vectors` how many
     * vectors, name none. Then indices are not checked, and nothing waits for them.
     */
    status?: boolean;
}

/** WebNN's operators, with its names, arguments and options. They compute what the WebNN specification defines. */
export interface WebNN {
    reduceMax<T extends ElementType>(input: Tensor<T>, options?: { axes?: readonly number[]; keepDimensions?: boolean; label?: string }): Promise<Tensor<T>>;
    reduceMin<T extends ElementType>(input: Tensor<T>, options?: { axes?: readonly number[]; keepDimensions?: boolean; label?: string }): Promise<Tensor<T>>;
    argMax(input: Tensor, axis: number, options?: { keepDimensions?: boolean; outputDataType?: 'int32' | 'int64'; label?: string }): Promise<Tensor<'i32' | 'i64'>>;
    argMin(input: Tensor, axis: number, options?: { keepDimensions?: boolean; outputDataType?: 'int32' | 'int64'; label?: string }): Promise<Tensor<'i32' | 'i64'>>;
    maxPool2d<T extends ElementType>(input: Tensor<T>, options?: {
        windowDimensions?: readonly number[];
        /** Top, bottom, left and right. */
        padding?: readonly number[];
        strides?: readonly number[];
        dilations?: readonly number[];
        layout?: 'nchw' | 'nhwc';
        outputShapeRounding?: 'floor' | 'ceil';
        outputSizes?: readonly number[];
        label?: string;
    }): Promise<Tensor<T>>;
}

/** The attributes of an operator's gradient. With the `shape` of the data (of a scatter: of its indices) its first input is indices. */
export type Gradient<Attributes> = Attributes & { shape?: readonly number[] };

/** A node of a specification, which defines the names and the defaults of attributes. */
export interface Node {
    dialect: 'onnx' | 'onednn' | 'openvino' | 'webnn';
    operator: string;
    /** The opset, or OpenVINO's version of the operator. */
    version?: number;
    attributes?: Record<string, unknown>;
    /** The number of requested outputs, 1 by default. */
    outputs?: number;
}

/** A tensor in memory. */
export interface HostTensor {
    type: ElementType;
    shape: readonly number[];
    data: ArrayBufferView | readonly number[] | readonly bigint[];
}

type Scalar = number | bigint | boolean;
/** Elements: a typed array, a list, lists in a list, or a number. */
export type Elements = Scalar | ArrayBufferView | Iterable<Scalar> | readonly Elements[];

/** A GPU, or the CPU. */
export class Device {
    private constructor();
    readonly info: DeviceInfo;
    readonly gpu: GPUDevice | undefined;
    readonly isCpu: boolean;
    /** Settled when the device is lost; on the CPU never. */
    readonly lost: Promise<{ readonly reason: string; readonly message: string }>;
    /**
     * A copy of elements on the device. A typed array is copied directly to a GPU.
     * @throws WgmaxError `OutOfMemory`, `OverLimit`, `WrongByteLength`, `WrongElementType`, `BadShape`, ...
     */
    tensor<T extends ElementType>(type: T, shape: readonly number[], array: Elements): Promise<Tensor<T>>;
    /** The same in the shape of the lists. */
    tensor<T extends ElementType>(type: T, array: Elements): Promise<Tensor<T>>;
    zeros<T extends ElementType>(type: T, shape: readonly number[]): Promise<Tensor<T>>;
    reduceMax<T extends ElementType>(input: Tensor<T>, attributes?: ReduceMax & { indices?: false }): Promise<Tensor<T>>;
    reduceMax<T extends ElementType>(input: Tensor<T>, attributes: ReduceMax & { indices: true | object }): Promise<{ values: Tensor<T>; indices: Tensor<'i32' | 'i64'> }>;
    reduceMax<T extends ElementType>(input: Tensor<T>, attributes: ReduceMax): Promise<Tensor<T> | { values: Tensor<T>; indices: Tensor<'i32' | 'i64'> }>;
    reduceMin<T extends ElementType>(input: Tensor<T>, attributes?: ReduceMax & { indices?: false }): Promise<Tensor<T>>;
    reduceMin<T extends ElementType>(input: Tensor<T>, attributes: ReduceMax & { indices: true | object }): Promise<{ values: Tensor<T>; indices: Tensor<'i32' | 'i64'> }>;
    reduceMin<T extends ElementType>(input: Tensor<T>, attributes: ReduceMax): Promise<Tensor<T> | { values: Tensor<T>; indices: Tensor<'i32' | 'i64'> }>;
    argMax(input: Tensor, attributes?: ArgMax): Promise<Tensor<'i32' | 'i64'>>;
    argMin(input: Tensor, attributes?: ArgMax): Promise<Tensor<'i32' | 'i64'>>;
    maxPool<T extends ElementType>(input: Tensor<T>, attributes: MaxPool): Promise<{ values: Tensor<T>; indices?: Tensor<'i32' | 'i64'> }>;
    minPool<T extends ElementType>(input: Tensor<T>, attributes: MaxPool): Promise<{ values: Tensor<T>; indices?: Tensor<'i32' | 'i64'> }>;
    segmentMin<T extends ElementType>(input: Tensor<T>, ids: Tensor | ArrayBufferView | Iterable<number | bigint>, attributes?: SegmentMax): Promise<{ values: Tensor<T>; indices?: Tensor<'i32' | 'i64'>; status?: Tensor<'u32'> }>;
    /**
     * Ids in an array are counted, and checked before anything runs. Ids in a tensor are checked on its device,
     * and the promise waits for that; with `status` they are not checked.
     */
    segmentMax<T extends ElementType>(input: Tensor<T>, ids: Tensor | ArrayBufferView | Iterable<number | bigint>, attributes?: SegmentMax): Promise<{ values: Tensor<T>; indices?: Tensor<'i32' | 'i64'>; status?: Tensor<'u32'> }>;
    /**
     * For each element of the data, the maximum of itself and of the updates that go to it. The indices, of an
     * integer type, say where each update goes; a negative index counts from the back. Indices are
     * checked on the device, and the promise waits for that.
     */
    scatterMax<T extends ElementType>(data: Tensor<T>, indices: Tensor, updates: Tensor<T>, attributes?: ScatterMax): Promise<{ values: Tensor<T>; indices?: Tensor<'i32' | 'i64'>; status?: Tensor<'u32'> }>;
    scatterMin<T extends ElementType>(data: Tensor<T>, indices: Tensor, updates: Tensor<T>, attributes?: ScatterMax): Promise<{ values: Tensor<T>; indices?: Tensor<'i32' | 'i64'>; status?: Tensor<'u32'> }>;
    readonly webnn: WebNN;
    /**
     * The gradient of the data, from the data and the gradient of the maxima, both of `f32`, `f64`, `f16` or
     * `bf16`; or, with the `shape` of the data, from the indices that the operator returned.
     */
    reduceMaxBackward<T extends ElementType>(input: Tensor, gradient: Tensor<T>, attributes?: Gradient<ReduceMax>): Promise<Tensor<T>>;
    reduceMinBackward<T extends ElementType>(input: Tensor, gradient: Tensor<T>, attributes?: Gradient<ReduceMax>): Promise<Tensor<T>>;
    maxPoolBackward<T extends ElementType>(input: Tensor, gradient: Tensor<T>, attributes: Gradient<MaxPool>): Promise<Tensor<T>>;
    minPoolBackward<T extends ElementType>(input: Tensor, gradient: Tensor<T>, attributes: Gradient<MaxPool>): Promise<Tensor<T>>;
    /** Ids in an array are checked, ids in a tensor are not. `undefined` if the input is indices. */
    segmentMaxBackward<T extends ElementType>(input: Tensor, ids: Tensor | ArrayBufferView | Iterable<number | bigint> | undefined, gradient: Tensor<T>, attributes?: Gradient<SegmentMax>): Promise<Tensor<T>>;
    segmentMinBackward<T extends ElementType>(input: Tensor, ids: Tensor | ArrayBufferView | Iterable<number | bigint> | undefined, gradient: Tensor<T>, attributes?: Gradient<SegmentMax>): Promise<Tensor<T>>;
    /**
     * The gradients of the data and of the updates. Indices in a tensor are not checked: an update whose index
     * names no element gets 0. With `shape`, that of the indices, `data` is the indices that `scatterMax`
     * returned, and `indices` and `updates` are `undefined`.
     */
    scatterMaxBackward<T extends ElementType>(data: Tensor, indices: Tensor | undefined, updates: Tensor | undefined, gradient: Tensor<T>, attributes?: Omit<Gradient<ScatterMax>, 'outOfRange' | 'status'>): Promise<{ data: Tensor<T>; updates: Tensor<T> }>;
    scatterMinBackward<T extends ElementType>(data: Tensor, indices: Tensor | undefined, updates: Tensor | undefined, gradient: Tensor<T>, attributes?: Omit<Gradient<ScatterMax>, 'outOfRange' | 'status'>): Promise<{ data: Tensor<T>; updates: Tensor<T> }>;
    /** Stores each value at the element that its index names in a tensor of this shape, and zeros elsewhere. */
    maxUnpool<T extends ElementType>(values: Tensor<T>, indices: Tensor<'i32' | 'i64'>, shape: readonly number[], attributes?: { indicesWithin?: readonly number[] }): Promise<Tensor<T>>;
    /** A node of ONNX, oneDNN Graph, OpenVINO or WebNN: its results. */
    node(node: Node, inputs: readonly [Tensor, ...(Tensor | HostTensor | undefined)[]]): Promise<Tensor[]>;
    /**
     * Plans and compiles an operator for tensors like these. Segment ids are not checked. On the CPU a result is
     * a whole tensor, and views that were made of it before a run keep their elements.
     */
    prepare(operator: 'reduceMax' | 'reduceMin', attributes: ReduceMax | undefined, inputs: readonly [Tensor], results: readonly Tensor[]): Promise<Prepared>;
    prepare(operator: 'argMax' | 'argMin', attributes: ArgMax | undefined, inputs: readonly [Tensor], results: readonly Tensor[]): Promise<Prepared>;
    prepare(operator: 'maxPool' | 'minPool', attributes: MaxPool, inputs: readonly [Tensor], results: readonly Tensor[]): Promise<Prepared>;
    prepare(operator: 'segmentMax' | 'segmentMin', attributes: Omit<SegmentMax, 'outOfRange'>, inputs: readonly [data: Tensor, ids: Tensor], results: readonly Tensor[]): Promise<Prepared>;
    prepare(operator: 'scatterMax' | 'scatterMin', attributes: Omit<ScatterMax, 'outOfRange'> | undefined, inputs: readonly [data: Tensor, indices: Tensor, updates: Tensor], results: readonly Tensor[]): Promise<Prepared>;
    prepare(operator: 'reduceMaxBackward' | 'reduceMinBackward', attributes: Gradient<ReduceMax> | undefined, inputs: readonly [Tensor, Tensor], results: readonly [Tensor]): Promise<Prepared>;
    prepare(operator: 'maxPoolBackward' | 'minPoolBackward', attributes: Gradient<MaxPool>, inputs: readonly [Tensor, Tensor], results: readonly [Tensor]): Promise<Prepared>;
    prepare(operator: 'segmentMaxBackward' | 'segmentMinBackward', attributes: Omit<Gradient<SegmentMax>, 'outOfRange'>, inputs: readonly [Tensor, Tensor, Tensor] | readonly [Tensor, Tensor], results: readonly [Tensor]): Promise<Prepared>;
    prepare(operator: 'scatterMaxBackward' | 'scatterMinBackward', attributes: Omit<Gradient<ScatterMax>, 'outOfRange' | 'status'> | undefined, inputs: readonly [Tensor, Tensor, Tensor, Tensor] | readonly [Tensor, Tensor], results: readonly [data: Tensor, updates: Tensor]): Promise<Prepared>;
    prepare(operator: 'maxUnpool', attributes: { shape: readonly number[]; indicesWithin?: readonly number[] }, inputs: readonly [Tensor, Tensor], results: readonly [Tensor]): Promise<Prepared>;
    /** Waits for all submitted work. */
    wait(): Promise<void>;
    /**
     * The pixels of a picture as `u8` [rows, columns, 4]: the bytes of a 2-D canvas, the same on every device.
     * `into` is the tensor of an earlier call with a picture of this size; a GPU reuses it.
     */
    pixels(source: CanvasImageSource | ImageData, into?: Tensor): Promise<Tensor<'u8'>>;
    /** Draws `u8` [rows, columns, 1, 3 or 4]. */
    draw(tensor: Tensor<'u8'>, canvas: HTMLCanvasElement | OffscreenCanvas): Promise<void>;
    /** Releases the device. Its tensors stay usable, and work that has begun continues. */
    free(): void;
    [Symbol.dispose](): void;
    readonly isFreed: boolean;
}

/** A tensor on a device, or a view of one. */
export class Tensor<T extends ElementType = ElementType> {
    private constructor();
    readonly type: T;
    readonly shape: number[];
    readonly size: number;
    /** The offset of the first element in the memory, in elements. */
    readonly offset: number;
    readonly pitches: number[];
    readonly buffer: GPUBuffer | undefined;
    /** The elements in row-major order. */
    data(): Promise<ArrayOf<T>>;
    /** The elements as numbers. */
    numbers(): Promise<number[]>;
    /** From `start` up to, but not including, `end`. A negative axis counts from the back, here and below. */
    slice(axis: number, start: number, end?: number): Tensor<T>;
    /** Every `step`-th element, from the last one on if it is negative. */
    stepBy(axis: number, step: number): Tensor<T>;
    permute(axes: readonly number[]): Tensor<T>;
    /** A new axis before `axis`, along which the elements are repeated. */
    broadcast(axis: number, size: number): Tensor<T>;
    /** One size may be -1: it is computed from the others. */
    reshape(shape: readonly number[]): Tensor<T>;
    view(at: { shape: readonly number[]; offset?: number; pitches: readonly number[] }): Tensor<T>;
    /** Frees the memory now, on a GPU also that of views of it. */
    destroy(): void;
    /** Releases the tensor: any later use but `free` is an error, `Freed`. Work that has begun continues. */
    free(): void;
    [Symbol.dispose](): void;
    readonly isFreed: boolean;
}

/** An operator that is planned and compiled. */
export class Prepared {
    private constructor();
    /**
     * Submits so many runs, one after the other, and waits for none. The CPU computes them before it returns. The
     * tensors have the types, shapes, offsets and pitches of those that it was prepared for.
     * @throws WgmaxError `WrongInput`, `WrongView`, `WrongResult`, `BadView`, `BufferOverlap`, ...
     */
    submit(inputs: readonly Tensor[], results: readonly Tensor[], times?: number): void;
    free(): void;
    [Symbol.dispose](): void;
    readonly isFreed: boolean;
}
