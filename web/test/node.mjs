// The package in Node, on Dawn: its API, the golden cases, and 2,000 random cases.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import * as wgmax from '../pkg/node.js';
import { Verification } from '../pkg/verify.js';
import { tests as api } from './api.mjs';
import { tests as random } from './random.mjs';
import { EXPECTED, goldenAll } from './golden.mjs';
import { caseFolders } from './folders.mjs';
import { within } from './within.mjs';

const CASES = Number(process.env.WGMAX_CASES ?? 2000);
let failed = 0;

const tests = { ...api, ...random };
const { create, globals } = await import('webgpu');
Object.assign(globalThis, globals);
const options = { gpu: create([]) };

// Without options, as users call it: the installed package is found.
tests['the package finds webgpu by itself'] = async () => {
    const device = await wgmax.open('gpu');
    const x = await device.tensor('u8', [2], [1, 2]);
    const found = await (await device.reduceMax(x)).numbers();
    if (device.info.backend !== 'webgpu' || found[0] !== 2) throw new Error(`${device.info.backend} ${found}`);
    if (globalThis.navigator?.gpu !== undefined || globalThis.Window !== undefined) throw new Error('something is left behind');
};

for (const [name, test] of Object.entries(tests)) {
    try {
        await within(300, name, test(wgmax, options, Verification));
        console.log(`ok      ${name}`);
    } catch (error) {
        failed += 1;
        console.log(`FAILED  ${name}: ${error.stack}`);
    }
}

const device = await wgmax.open('gpu', { ...options, verify: true });
console.log(`on ${device.info.name} (${device.info.kind})`);
const cases = fileURLToPath(new URL('../../tests/cases/', import.meta.url));
const folders = await caseFolders(cases);
for (const on of [device, await wgmax.open('cpu')]) {
    const read = async (path) => new Uint8Array(await readFile(join(cases, path)));
    const { ok, refused, wrong } = await within(300, 'golden cases', goldenAll(on, folders, read));
    console.log(`golden cases on ${on.info.name}: ${ok} equal, ${refused} refused, ${wrong.length} wrong`);
    wrong.slice(0, 20).forEach((line) => console.log(`  ${line}`));
    failed += wrong.length + (ok !== EXPECTED.ok || refused !== EXPECTED.refused);
}

const verification = new Verification(device, { seed: 20 });
while (verification.cases < CASES) {
    // The gradient of a pooling with wide dilations takes minutes on a software driver.
    const outcome = await within(600, `case ${verification.cases}`, verification.next());
    if (!outcome) break;
    if (verification.cases % 250 === 0) console.log(`${verification.cases} cases in ${verification.seconds.toFixed(0)} s`);
    if (outcome.verdict !== 'same') console.log(`case ${outcome.index}: ${outcome.verdict} ${outcome.error ?? ''}`);
}
console.log(`${verification.cases} cases in ${verification.seconds.toFixed(0)} s: ${verification.mismatches} differ, ${verification.failures} failed`);
failed += verification.mismatches + verification.failures + (verification.cases !== CASES);
const memory = fileURLToPath(new URL('memory.mjs', import.meta.url));
failed += spawnSync(process.execPath, [memory], { stdio: 'inherit', timeout: 120_000 }).status !== 0;

// The last test, because nothing works after a panic. A trap in a task would end Node.
process.once('uncaughtException', () => {});
const { checked } = await import('../pkg/error.js');
const panic = await within(10, 'a panic', checked(device.parts.module.panicLater())).catch((error) => error);
failed += !(panic.code === 'Panic' && panic.message.includes('a test asked for it'));
console.log(`a panic: ${panic.message}`);
process.exit(failed ? 1 : 0);
