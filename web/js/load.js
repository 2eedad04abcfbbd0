// The WebAssembly, loaded when it is first needed. There are three: `gpu` is small and has no CPU;
// `full` has the CPU, and `verify` the random cases too.

import { panicked } from './error.js';

const loaded = {};

/** The exports of a WebAssembly. */
export function load(name) {
    return (loaded[name] ??= start(name).catch((error) => {
        delete loaded[name];
        throw error;
    }));
}

async function start(name) {
    const module = await import(`./wasm/${name}.js`);
    const url = new URL(`./wasm/${name}_bg.wasm`, import.meta.url);
    if (url.protocol === 'file:') {
        // Node does not fetch files.
        const { readFile } = await import('node:fs/promises');
        await module.default({ module_or_path: await readFile(url) });
    } else {
        await module.default({ module_or_path: url });
    }
    module.onPanic(panicked);
    return module;
}
