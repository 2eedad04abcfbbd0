import type { ArgMax, ArrayOf, ElementType, Gradient, HostTensor, MaxPool, Node, OpenOptions, ReduceMax, ScatterMax, SegmentMax } from './wgmax.js';

/** A result in memory. */
export interface WorkerResult<T extends ElementType = ElementType> {
    type: T;
    shape: number[];
    data: ArrayOf<T>;
}

export interface WorkerResults {
    /** The maxima; the only result of other operators, also of `argMax`. */
    values: WorkerResult;
    indices?: WorkerResult<'i32' | 'i64'>;
    status?: WorkerResult<'u32'>;
}

type Input = HostTensor;
type Ids = HostTensor | ArrayBufferView | readonly number[];

/** What `openWorker` takes. */
export interface WorkerOptions extends Pick<OpenOptions, 'powerPreference'> {
    /** As of `open`, but no response. */
    wasm?: string | URL | Partial<Record<'gpu' | 'cpu', string | URL | BufferSource | WebAssembly.Module>>;
    /** A worker of `wgmax/worker-run`, for bundlers that do not find that file. */
    worker?: Worker;
}

/**
 * Opens a device in a worker, by default the CPU. A page that computes there stays responsive. Only browsers have such
 * workers.
 * @throws WgmaxError `NoWorker`, and as `open`
 */
export function openWorker(name?: 'auto' | 'gpu' | 'cpu', options?: WorkerOptions): Promise<WorkerDevice>;

/** A device in a worker: tensors in memory go there and results come back. Calls may overlap. */
export class WorkerDevice {
    private constructor();
    /**
     * Runs an operator, as the method of `Device` with this name. With `transfer` the elements are moved to the worker
     * instead of copied: the page's arrays are empty afterwards.
     * @throws WgmaxError as that method, and `Freed`
     */
    run(operator: 'reduceMax' | 'reduceMin', inputs: readonly [Input], attributes?: ReduceMax, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'argMax' | 'argMin', inputs: readonly [Input], attributes?: ArgMax, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'maxPool' | 'minPool', inputs: readonly [Input], attributes: MaxPool, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'segmentMax' | 'segmentMin', inputs: readonly [data: Input, ids: Ids], attributes?: SegmentMax, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'scatterMax' | 'scatterMin', inputs: readonly [data: Input, indices: Input, updates: Input], attributes?: ScatterMax, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'reduceMaxBackward' | 'reduceMinBackward', inputs: readonly [Input, Input], attributes?: Gradient<ReduceMax>, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'maxPoolBackward' | 'minPoolBackward', inputs: readonly [Input, Input], attributes: Gradient<MaxPool>, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'segmentMaxBackward' | 'segmentMinBackward', inputs: readonly [Input, Ids | undefined, Input], attributes?: Gradient<SegmentMax>, options?: { transfer?: boolean }): Promise<WorkerResults>;
    run(operator: 'scatterMaxBackward' | 'scatterMinBackward', inputs: readonly [Input, Input | undefined, Input | undefined, Input], attributes?: Omit<Gradient<ScatterMax>, 'outOfRange' | 'status'>, options?: { transfer?: boolean }): Promise<{ data: WorkerResult; updates: WorkerResult }>;
    run(operator: 'maxUnpool', inputs: readonly [Input, Input], attributes: { shape: readonly number[]; indicesWithin?: readonly number[] }, options?: { transfer?: boolean }): Promise<WorkerResults>;
    /** A node of a specification, which stands in place of the attributes. */
    run(operator: 'node', inputs: readonly (Input | undefined)[], node: Node, options?: { transfer?: boolean }): Promise<{ outputs: WorkerResult[] }>;
    /** Ends the worker. Operators that run there end with the error `Freed`. */
    free(): void;
    [Symbol.dispose](): void;
    readonly isFreed: boolean;
}
