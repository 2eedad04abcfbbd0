// Objects that hold an object of a WebAssembly until they are freed.

import { WgmaxError } from './error.js';

export class Held {
    #raw;

    constructor(raw) {
        this.#raw = raw;
    }

    /** @private The object of the WebAssembly, for the package's modules. */
    get raw() {
        if (this.isFreed) throw new WgmaxError('Freed', `this ${this.constructor.name} was freed`);
        return this.#raw;
    }

    get isFreed() {
        return this.#raw === undefined;
    }

    /** @private Holds another object from now on. */
    hold(raw) {
        this.free();
        this.#raw = raw;
    }

    /** Frees the object. Work that has begun continues. */
    free() {
        const raw = this.#raw;
        this.#raw = undefined;
        raw?.free();
    }
}

// `using x = ...`, if the language has it.
if (Symbol.dispose) {
    Held.prototype[Symbol.dispose] = function () {
        this.free();
    };
}
