// The WebAssembly, loaded when it is first needed. There are three: `gpu` is small and has no CPU, `cpu` has no
// GPU, and `verify` has both, and the random cases.

import { WgmaxError, panicked } from './error.js';
import { platform } from './platform.js';

/**
 * The modules, and the WebAssembly of each. Bundlers find the files by these literal paths, so each path
 * must be complete and stand in its `import` or `new URL`.
 */
const FILES = {
    gpu: [() => import('./wasm/gpu.js'), () => new URL('./wasm/gpu_bg.wasm', import.meta.url)],
    cpu: [() => import('./wasm/cpu.js'), () => new URL('./wasm/cpu_bg.wasm', import.meta.url)],
    verify: [() => import('./wasm/verify.js'), () => new URL('./wasm/verify_bg.wasm', import.meta.url)],
};

const loaded = {};

/** The exports of a WebAssembly. `wasm` says where the page has it, if it is not beside the package. */
export function load(name, wasm) {
    return (loaded[name] ??= start(name, wasm).catch((error) => {
        delete loaded[name];
        throw error;
    }));
}

async function start(name, wasm) {
    const [code, file] = FILES[name];
    const module = await code();
    try {
        const given = isPlace(wasm) ? new URL(`${name}_bg.wasm`, new URL(folder(wasm), globalThis.location?.href)) : wasm?.[name];
        await module.default({ module_or_path: await platform.read(given ?? file()) });
    } catch (error) {
        throw new WgmaxError('NoWebAssembly', `the WebAssembly ${name}_bg.wasm could not be loaded (open(..., { wasm }) says where it is): ${error.message}`, { cause: error });
    }
    module.onPanic(panicked);
    return module;
}

function isPlace(wasm) {
    return typeof wasm === 'string' || wasm instanceof URL;
}

function folder(place) {
    return String(place).replace(/\/?$/, '/');
}
