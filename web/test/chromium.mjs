// Steps of tests in headless Chromium, on SwiftShader. Every step has a limit of time: a tab that hangs
// fails.
import puppeteer from 'puppeteer-core';

import { within } from './within.mjs';

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';

// Only the steps that one of some patterns names. They are separated by |, which none of them may have.
const only = (process.env.WGMAX_ONLY ?? '').split('|').map((pattern) => ({ pattern: new RegExp(pattern), steps: 0 }));

export async function step(name, seconds, work) {
    const naming = only.filter(({ pattern }) => pattern.test(name));
    if (!naming.length) return;
    naming.forEach((each) => each.steps++);
    const start = performance.now();
    try {
        const found = await within(seconds, name, work());
        console.log(`ok      ${name}${found ? `: ${found}` : ''} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
        step.failed = (step.failed ?? 0) + 1;
        console.log(`FAILED  ${name}: ${error.stack}`);
    }
}

/** Ends the process: with an error if a step failed, or if a pattern named none. */
export function finish() {
    const unused = only.filter(({ steps }) => !steps);
    unused.forEach(({ pattern }) => console.log(`FAILED  ${pattern} names no step`));
    process.exit(step.failed || unused.length ? 1 : 0);
}

// SwiftShader for WebGPU and for the page itself: only so are WebGPU's canvases shown.
export const WEBGPU = [
    '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--ignore-gpu-blocklist',
    '--enable-features=Vulkan', '--use-vulkan=swiftshader', '--use-angle=swiftshader', '--disable-vulkan-surface',
];

/** A browser with a page; `f` gets it, and all of it ends afterwards. */
export async function browse(flags, f) {
    const browser = await puppeteer.launch({
        executablePath: chromium,
        headless: true,
        protocolTimeout: 0,
        args: ['--no-sandbox', '--disable-dev-shm-usage', ...flags],
    });
    try {
        await f(await browser.newPage(), browser);
    } finally {
        await within(30, 'closing', browser.close()).catch(() => browser.process()?.kill('SIGKILL'));
    }
}

/** Errors of a page, which fail the step that it is in. */
export function errorsOf(page) {
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.stack ?? String(error)));
    page.on('console', (message) => ['error', 'warn'].includes(message.type()) && errors.push(message.text()));
    return () => {
        if (errors.length) throw new Error(errors.splice(0).join('\n'));
    };
}
