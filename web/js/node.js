// wgmax for Node: files are read, and a GPU is Dawn's.

import { readFile } from 'node:fs/promises';

import { platform } from './platform.js';

let dawn;

platform.read = (from) => {
    const isFile = from instanceof URL ? from.protocol === 'file:' : typeof from === 'string' && from.startsWith('file:');
    return isFile ? readFile(new URL(from)) : from;
};

/** Dawn, from the npm package `webgpu`, if it is installed. */
platform.gpu = async () => {
    let webgpu;
    try {
        webgpu = await import('webgpu');
    } catch {
        return undefined;
    }
    // The classes by which errors are distinguished. Existing ones are kept.
    for (const [name, value] of Object.entries(webgpu.globals)) globalThis[name] ??= value;
    return (dawn ??= webgpu.create([]));
};

export * from './wgmax.js';
