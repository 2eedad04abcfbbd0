/** An error of wgmax. Its `code` says what is wrong: the names are those of `wgmax::Error` in Rust. */
export class WgmaxError extends Error {
    constructor(code, message, options) {
        super(message, options);
        this.name = 'WgmaxError';
        this.code = code;
    }
}

/** Functions that reject the promises that wait for a WebAssembly. */
const waiting = new Set();

/** The panic after which nothing works, if there was one. */
let failure;

/** Rejects the waiting promises: after a panic the WebAssembly never settles them. */
export function panicked(message) {
    failure = new WgmaxError('Panic', `wgmax failed, and this page must be loaded again: ${message}`);
    waiting.forEach((reject) => reject(failure));
}

/**
 * Calls a function of the WebAssembly, or follows a promise of it, with errors as `WgmaxError`. Returns the
 * function's result, or a promise.
 */
export function checked(what) {
    if (typeof what !== 'function') {
        if (failure) return Promise.reject(failure);
        let reject;
        const panic = new Promise((_, rejected) => waiting.add((reject = rejected)));
        return Promise.race([what.catch(raise), panic]).finally(() => waiting.delete(reject));
    }
    try {
        return what();
    } catch (error) {
        return raise(error);
    }
}

function raise(error) {
    if (error instanceof WgmaxError) throw error;
    if (error?.name === 'WgmaxError') throw new WgmaxError(error.code, error.message, { cause: error });
    // A trap: the WebAssembly cannot continue after it.
    if (error instanceof WebAssembly.RuntimeError) {
        throw new WgmaxError('Panic', `wgmax failed, and this page must be loaded again: ${error.message}`, { cause: error });
    }
    throw error;
}

/** The result of a function that allocates memory of the page. */
export function allocated(make) {
    try {
        return make();
    } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new WgmaxError('OutOfMemory', `the page has no memory for the elements: ${error.message}`, { cause: error });
    }
}
