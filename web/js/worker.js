// A device in a worker: the CPU computes there, and the page stays responsive.

import { WgmaxError } from './error.js';

/**
 * Opens a device in a worker. Elements are copied there and back. `worker` is the page's own worker of
 * `worker-run.js`, for bundlers that do not find it.
 */
export async function openWorker(name = 'cpu', { worker, wasm, ...options } = {}) {
    const device = new WorkerDevice(worker ?? start());
    try {
        await device.ask({ open: [name, { ...options, wasm: places(wasm) }] });
        return device;
    } catch (error) {
        device.free();
        throw error;
    }
}

function start() {
    try {
        return new Worker(new URL('./worker-run.js', import.meta.url), { type: 'module' });
    } catch (error) {
        throw new WgmaxError('NoWorker', `there is no worker (openWorker(..., { worker }) takes one): ${error.message}`, { cause: error });
    }
}

/** The address of a WebAssembly, as a worker can receive it: URLs are the page's, not relative to the worker's script. */
function places(wasm) {
    const place = (at) => (typeof at === 'string' || at instanceof URL ? new URL(at, globalThis.location?.href).href : at);
    const found = place(wasm);
    return found instanceof Object ? Object.fromEntries(Object.entries(found).map(([name, at]) => [name, place(at)])) : found;
}

/** A device in a worker. */
export class WorkerDevice {
    #worker;
    #waiting = new Map();
    #asked = 0;
    /** Why it ended, if it has. */
    #ended;

    /** @private Made by `openWorker`. */
    constructor(worker) {
        this.#worker = worker;
        worker.onmessage = ({ data: { number, result, error } }) => {
            // The worker could not read a message, and does not know which.
            if (number === undefined) return this.#end(new WgmaxError(error.code, error.message));
            const [resolve, reject] = this.#waiting.get(number) ?? [];
            this.#waiting.delete(number);
            if (error) reject?.(error.code ? new WgmaxError(error.code, error.message) : new Error(error.message));
            else resolve?.(result);
        };
        // The worker's script, or what it imports, is not there.
        worker.onerror = (event) => {
            event.preventDefault?.();
            this.#end(new WgmaxError('NoWorker', `the worker failed: ${event.message ?? 'its script could not be loaded'}`));
        };
        worker.onmessageerror = () => this.#end(new WgmaxError('OutOfMemory', 'the page could not read an answer of the worker'));
    }

    /**
     * Runs an operator on tensors in memory, and returns its results as such. `transfer` moves the elements of the
     * inputs instead of copying them: then the page's arrays are empty.
     */
    async run(operator, inputs, attributes, { transfer = false } = {}) {
        const buffers = transfer ? inputs.map((input) => (input?.data ?? input)?.buffer).filter((buffer) => buffer instanceof ArrayBuffer) : [];
        return this.ask({ operator, inputs, attributes }, [...new Set(buffers)]);
    }

    /** @private The answer to a message. */
    ask(message, buffers = []) {
        if (this.isFreed) return Promise.reject(this.#ended);
        const number = this.#asked++;
        return new Promise((resolve, reject) => {
            this.#worker.postMessage({ number, ...message }, buffers);
            this.#waiting.set(number, [resolve, reject]);
        });
    }

    get isFreed() {
        return this.#ended !== undefined;
    }

    /** Ends the worker. Operators that run there end with the error `'Freed'`. */
    free() {
        this.#end(new WgmaxError('Freed', 'this WorkerDevice was freed'));
    }

    #end(error) {
        if (this.isFreed) return;
        this.#ended = error;
        this.#worker.terminate();
        this.#waiting.forEach(([, reject]) => reject(error));
        this.#waiting.clear();
    }
}

if (Symbol.dispose) WorkerDevice.prototype[Symbol.dispose] = WorkerDevice.prototype.free;
