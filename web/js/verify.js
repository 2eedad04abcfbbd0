// Random cases on a GPU against the CPU kernels: is this GPU right, bit for bit? And the certificate
// of it, in the form that `wgmax verify --replay` reads.

import { checked } from './error.js';
import { Held } from './held.js';

const VERSION = '0.1.0';

/** A device with this many failures gets no further cases. */
const MAX_FAILURES = 20;
/** The mismatches that are made small and shown; all are counted. */
const MAX_FINDINGS = 12;
/** The cases that differ whose numbers are kept, for each operator and type. */
const MAX_NUMBERS = 20;

/** The cases of a seed on a GPU that was opened with `cpu: true`. */
export class Verification extends Held {
    #device;
    #stopped = false;
    #started = performance.now();
    #elapsed = 0;

    constructor(device, { seed = 1 + Math.floor(Math.random() * 1e6) } = {}) {
        const { module, raw } = device.parts;
        if (!Number.isSafeInteger(seed) || seed < 0) throw new TypeError(`${seed} is no seed`);
        if (device.isCpu || !module.Sweep) throw new TypeError('open(\'gpu\', { cpu: true }) has what verifies');
        super(new module.Sweep(raw, seed));
        this.#device = device;
        this.seed = seed;
        this.cases = 0;
        this.cells = new Map();
        this.errors = new Map();
        this.findings = [];
        /** The last case, if the device got no more, and why. */
        this.givenUp = undefined;
        this.operators = module.Sweep.operators();
        this.types = module.elementTypes().map(([name]) => name);
    }

    get mismatches() {
        return this.#sum('mismatches');
    }

    get failures() {
        return this.#sum('errors');
    }

    get seconds() {
        return this.#elapsed / 1000;
    }

    /** The outcome of the next case, or `undefined` when there is no more. */
    async next() {
        if (this.#stopped || this.givenUp) return undefined;
        const { module } = this.#device.parts;
        const index = this.cases;
        const [operator, type] = module.Sweep.kind(index);
        const key = `${operator} ${type}`;
        const cell = this.cells.get(key) ?? { operator, type, cases: 0, mismatches: 0, errors: 0, first_mismatches: [] };
        this.cells.set(key, cell);
        // One of each operator and type is made small.
        const wanted = cell.mismatches === 0 && this.findings.length < MAX_FINDINGS;
        const outcome = await checked(this.raw.step(index, wanted));
        this.cases += 1;
        this.#elapsed = performance.now() - this.#started;
        cell.cases += 1;
        if (outcome.verdict === 'differs') {
            cell.mismatches += 1;
            if (cell.first_mismatches.length < MAX_NUMBERS) cell.first_mismatches.push(index);
            if (outcome.finding) this.findings.push({ case: index, operator, type, ...plain(outcome.finding, module) });
        } else if (outcome.verdict === 'failed') {
            cell.errors += 1;
            const { message, code } = outcome.error;
            if (!this.errors.has(message)) this.errors.set(message, index);
            if (code === 'DeviceLost' || this.failures >= MAX_FAILURES) this.givenUp = { case: index, code, message };
        }
        return { index, operator, type, verdict: outcome.verdict, error: outcome.error };
    }

    /** Ends it: also the search for a smaller case. */
    stop() {
        this.#stopped = true;
        this.raw.stop();
    }

    /** The report as an object: as the JSON report of `wgmax verify`. */
    certificate({ browser = globalThis.navigator?.userAgent ?? `Node ${process.version}`, cutOff = false } = {}) {
        const { info } = this.#device;
        const { limits } = info;
        const name = `${info.name} · ${info.backend}`;
        const good = this.cases > 0 && this.mismatches === 0 && this.failures === 0 && !cutOff;
        return {
            good,
            command: `the page "Verify" in ${browser}`,
            version: VERSION,
            system: browser,
            device: null,
            seed: this.seed,
            plan: null,
            case: null,
            operators: [],
            types: [],
            cases: this.cases,
            cut_off: cutOff,
            seconds: this.seconds,
            refused: [],
            devices: [{
                name,
                device: {
                    device: name,
                    name: info.name,
                    backend: info.backend,
                    driver: '',
                    kind: info.kind,
                    tuning: info.tuning,
                    limits: {
                        workgroup_size: limits.workgroupSize,
                        max_workgroups_per_dimension: limits.maxWorkgroupsPerDimension,
                        max_binding_size: limits.maxBindingSize,
                        max_buffer_size: limits.maxBufferSize,
                        alignment: limits.alignment,
                        max_storage_buffers: limits.maxStorageBuffers,
                    },
                },
                against: 'the CPU',
                cases: this.cases,
                mismatches: this.mismatches,
                errors: [...this.errors].map(([reason, first_case]) => ({ first_case, reason })),
                given_up: this.givenUp?.case ?? null,
                cells: [...this.cells.values()],
                kernels: this.raw.kernels().map(({ cases, ...kernel }) => ({ ...kernel, cases: Object.fromEntries(cases) })),
                findings: this.findings.map((finding) => ({
                    ...finding,
                    command: `wgmax verify --seed ${this.seed} --case ${finding.case}`,
                })),
            }],
            memory: { resident: [] },
        };
    }

    #sum(what) {
        let sum = 0;
        for (const cell of this.cells.values()) sum += cell[what];
        return sum;
    }
}

/** A finding without objects of the WebAssembly: small tensors as lists. */
function plain(finding, module) {
    const values = (tensor) => {
        const bytes = tensor.bytes();
        const { type } = tensor;
        tensor.free();
        return bytes.length <= 2048 ? text(type, bytes.buffer, module) : null;
    };
    const difference = ({ what, inputs, results }) => ({
        what,
        inputs: inputs.map(({ type, tensor }) => ({ type, values: values(tensor) })),
        results: results.map(({ result, type, comparison }) => ({
            result,
            type,
            comparison: comparison && {
                elements: comparison.total,
                differing: comparison.differing,
                first: comparison.first.map((m) => ({
                    coordinates: m.coordinates,
                    actual: m.a,
                    expected: m.b,
                    actual_bits: m.aBits,
                    expected_bits: m.bBits,
                    ulp: m.ulp,
                })),
            },
        })),
    });
    return { ...finding, found: difference(finding.found), smallest: difference(finding.smallest) };
}

const VIEWS = {
    f32: Float32Array, f64: Float64Array, i8: Int8Array, u8: Uint8Array, bool: Uint8Array,
    i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array,
    i64: BigInt64Array, u64: BigUint64Array,
};

/** Elements as texts. */
function text(type, buffer, module) {
    const list = VIEWS[type] ? new VIEWS[type](buffer) : module.halfNumbers(type, new Uint16Array(buffer));
    return Array.from(list, (value) => (Object.is(value, -0) ? '-0' : String(value)));
}
