import type { Device } from './wgmax.js';

/** The outcome of a case. */
export interface Outcome {
    index: number;
    operator: string;
    type: string;
    verdict: 'same' | 'differs' | 'failed';
    error?: Error & { code: string };
}

/** Random cases on a GPU against the CPU kernels. The device was opened with `verify: true`. */
export class Verification {
    constructor(device: Device, options?: { seed?: number });
    readonly seed: number;
    readonly cases: number;
    readonly mismatches: number;
    readonly failures: number;
    readonly seconds: number;
    readonly operators: string[];
    readonly types: string[];
    readonly findings: object[];
    readonly givenUp: { case: number; code?: string; message: string } | undefined;
    /** Runs the next case; `undefined` after the last one. */
    next(): Promise<Outcome | undefined>;
    stop(): void;
    /** The report, as `wgmax verify --replay` reads it. */
    certificate(options?: { browser?: string; cutOff?: boolean }): object;
    free(): void;
    [Symbol.dispose](): void;
    readonly isFreed: boolean;
}
