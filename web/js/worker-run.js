// What runs in the worker of `worker.js`.

import { Tensor, WgmaxError, open, operatorNames } from './wgmax.js';

let device;

/** The operators whose arguments are not tensors and then attributes. */
const OTHERS = {
    node: (device, [first, ...others], node) => device.node(node, [first, ...others]),
    maxUnpool: (device, [values, indices], { shape, ...attributes } = {}) => device.maxUnpool(values, indices, shape, attributes),
};
const NAMES = [...operatorNames, 'node'];

/** The values of some promises, once all of them are settled. */
async function all(promises) {
    const settled = await Promise.allSettled(promises);
    const failed = settled.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
    return settled.map(({ value }) => value);
}

async function run(operator, inputs, attributes) {
    if (!NAMES.includes(operator)) throw new WgmaxError('UnknownOperator', `${JSON.stringify(operator)} is not an operator; there are ${NAMES.join(', ')}`);
    const made = [];
    const keep = (tensor) => (made.push(tensor), tensor);
    try {
        const given = await all(inputs.map(async (input, at) => {
            // Ids in an array are counted and checked; a node's other inputs may hold attributes.
            const isTensor = input && !ArrayBuffer.isView(input) && !Array.isArray(input) && !(operator === 'node' && at > 0);
            return isTensor ? keep(await device.tensor(input.type, input.shape, input.data)) : input;
        }));
        const found = OTHERS[operator] ? await OTHERS[operator](device, given, attributes) : await device[operator](...given, attributes);
        const results = found instanceof Tensor ? { values: found } : Array.isArray(found) ? { outputs: found } : found;
        const read = async (tensor) => {
            if (Array.isArray(tensor)) return all(tensor.map(read));
            if (!tensor) return tensor;
            const { type, shape } = keep(tensor);
            return { type, shape, data: await tensor.data() };
        };
        const entries = Object.entries(results).map(async ([name, tensor]) => [name, await read(tensor)]);
        return Object.fromEntries(await all(entries));
    } finally {
        made.forEach((tensor) => tensor.destroy());
    }
}

/** The memory of results, which the page gets without a copy. */
function buffers(results) {
    const all = Object.values(results ?? {}).flat().filter((tensor) => tensor).map(({ data }) => data.buffer);
    return [...new Set(all)].filter((buffer) => buffer instanceof ArrayBuffer);
}

self.onmessageerror = () => self.postMessage({ error: { code: 'OutOfMemory', message: 'the worker could not read a message' } });

self.onmessage = async ({ data: { number, open: opened, operator, inputs, attributes } }) => {
    try {
        if (opened) device = await open(...opened);
        const result = opened ? undefined : await run(operator, inputs, attributes);
        self.postMessage({ number, result }, buffers(result));
    } catch (error) {
        self.postMessage({ number, error: { code: error.code, message: error.message } });
    }
};
