// Random cases on a GPU against the CPU kernels: is this GPU right, bit for bit?

import { checked } from './error.js';
import { Held } from './held.js';

/** The cases of a seed on a GPU that was opened with `verify: true`. */
export class Verification extends Held {
    #stopped = false;
    #started = performance.now();

    constructor(device, { seed = 1 + Math.floor(Math.random() * 1e6) } = {}) {
        const { module, raw } = device.parts;
        if (!Number.isSafeInteger(seed) || seed < 0) throw new TypeError(`${seed} is no seed`);
        if (device.isCpu || !module.Sweep) throw new TypeError('open(\'gpu\', { verify: true }) has what verifies');
        super(new module.Sweep(raw, seed));
        this.seed = seed;
        this.cases = 0;
        this.mismatches = 0;
        this.failures = 0;
        this.seconds = 0;
        this.findings = [];
        /** The last case, if the device got no more, and why. */
        this.givenUp = undefined;
        this.operators = module.Sweep.operators();
        this.types = module.elementTypes().map(([name]) => name);
    }

    /** The outcome of the next case, or `undefined` when there is no more. */
    async next() {
        if (this.#stopped || this.givenUp) return undefined;
        const index = this.cases;
        const { finding, isLast, ...outcome } = await checked(this.raw.step(index));
        this.cases += 1;
        this.seconds = (performance.now() - this.#started) / 1000;
        if (outcome.verdict === 'differs') this.mismatches += 1;
        if (outcome.verdict === 'failed') this.failures += 1;
        if (finding) this.findings.push(JSON.parse(finding));
        if (isLast) this.givenUp = { case: index, code: outcome.error.code, message: outcome.error.message };
        return { index, ...outcome };
    }

    /** Ends the verification, and a search for a smaller case. */
    stop() {
        this.#stopped = true;
        this.raw.stop();
    }

    /** The report as an object, as `wgmax verify --replay` reads it. */
    certificate({ browser = globalThis.navigator?.userAgent ?? `Node ${process.version}`, cutOff = false } = {}) {
        return JSON.parse(this.raw.certificate(browser, cutOff, this.seconds));
    }
}
