// The source of WebGPU: the browser, the platform, or the page.

import { platform } from './platform.js';

/** The `GPU` to ask for adapters; `undefined` where there is none. */
export async function gpuFor(gpu, device) {
    if (device) return standIn(device);
    if (gpu) return gpu;
    if (globalThis.navigator?.gpu) return navigator.gpu;
    return platform.gpu();
}

/**
 * A `GPU` whose one adapter gives the page's own device: wgpu opens devices and takes none. The
 * device keeps its limits and features.
 */
function standIn(device) {
    const adapter = {
        features: device.features,
        limits: device.limits,
        info: device.adapterInfo ?? {},
        requestDevice: async () => device,
    };
    const languages = globalThis.navigator?.gpu?.wgslLanguageFeatures ?? new Set();
    return { requestAdapter: async () => adapter, wgslLanguageFeatures: languages };
}

/**
 * Calls `f` while `navigator.gpu` is this one. wgpu reads it as `f` is called, in a window or a
 * worker only.
 */
export function withGpu(gpu, f) {
    if (gpu !== undefined && gpu === globalThis.navigator?.gpu && isBrowser()) return f();
    const undo = [];
    const replace = (object, key, value) => {
        const before = Object.getOwnPropertyDescriptor(object, key);
        Object.defineProperty(object, key, { value, configurable: true, writable: true });
        undo.push(() => (before ? Object.defineProperty(object, key, before) : delete object[key]));
    };
    try {
        if (!isBrowser()) replace(globalThis, 'Window', class Window {});
        if (globalThis.navigator) replace(globalThis.navigator, 'gpu', gpu);
        else replace(globalThis, 'navigator', { gpu });
        return f();
    } finally {
        undo.reverse().forEach((restore) => restore());
    }
}

function isBrowser() {
    return globalThis.Window !== undefined || globalThis.WorkerGlobalScope !== undefined;
}
