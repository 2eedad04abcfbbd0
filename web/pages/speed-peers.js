// Other libraries, from npm copies below peers/, each as `{name, prepare, maximum}`. `prepare` gives
// `{run, download, free}`: `run` waits until the results are computed and leaves them there, `download` also
// copies them to the page. A library that is not there is left out.

const ORT = './peers/onnxruntime-web/node_modules/onnxruntime-web/dist/';
const TFJS = './peers/tfjs/node_modules/@tensorflow/tfjs/dist/tf.min.js';
const TFJS_WEBGPU = './peers/tfjs-webgpu/node_modules/@tensorflow/tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js';

export async function libraries() {
    const found = [];
    for (const load of [onnxruntime, tfjs]) {
        try {
            const library = await load();
            if (library) found.push(library);
        } catch (error) {
            console.warn(error);
        }
    }
    return found;
}

async function isThere(url) {
    return (await fetch(url, { method: 'HEAD' }).catch(() => undefined))?.ok;
}

// Messages of ONNX: only what these models need.

const varint = (n) => {
    const bytes = [];
    for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) + 128);
    return [...bytes, n];
};
const number = (field, n) => [...varint(field * 8), ...varint(n)];
const bytes = (field, content) => [...varint(field * 8 + 2), ...varint(content.length), ...content];
const text = (field, string) => bytes(field, [...new TextEncoder().encode(string)]);
const ints = (name, list) => [...text(1, name), ...list.flatMap((n) => number(8, n)), ...number(20, 7)];
const int = (name, n) => [...text(1, name), ...number(3, n), ...number(20, 2)];

/** A model of one node, of opset 17, from `x` to `y`. */
function model(op, attributes, rank) {
    const dims = Array.from({ length: rank }, (_, i) => bytes(1, text(2, `d${i}`))).flat();
    const value = (name, shape) => [...text(1, name), ...bytes(2, bytes(1, [...number(1, 1), ...shape]))];
    const node = [...text(1, 'x'), ...text(2, 'y'), ...text(4, op), ...attributes.flatMap((a) => bytes(5, a))];
    const graph = [...bytes(1, node), ...text(2, 'g'), ...bytes(11, value('x', bytes(2, dims))), ...bytes(12, value('y', []))];
    return Uint8Array.from([...number(1, 8), ...bytes(7, graph), ...bytes(8, number(2, 17))]);
}

async function onnxruntime() {
    if (!(await isThere(`${ORT}ort.webgpu.min.mjs`))) return undefined;
    const ort = await import(`${ORT}ort.webgpu.min.mjs`);
    ort.env.wasm.wasmPaths = new URL(ORT, location.href).href;
    ort.env.logLevel = 'fatal';
    const hasGpu = Boolean(await navigator.gpu?.requestAdapter());
    const provider = hasGpu ? 'webgpu' : 'wasm';
    const session = (op, attributes, rank, output) =>
        ort.InferenceSession.create(model(op, attributes, rank), { executionProviders: [provider], preferredOutputLocation: output });
    return {
        name: `onnxruntime-web, ${provider}`,
        async prepare({ op, shape, axes, kernel, strides }, input) {
            const attributes = op === 'reduceMax'
                ? [ints('axes', axes), int('keepdims', 0)]
                : [ints('kernel_shape', kernel), ints('strides', strides)];
            const made = await session(op === 'reduceMax' ? 'ReduceMax' : 'MaxPool', attributes, shape.length, hasGpu ? 'gpu-buffer' : 'cpu');
            let x = new ort.Tensor('float32', input, shape);
            let buffer;
            let device;
            if (hasGpu) {
                device = await ort.env.webgpu.device;
                buffer = device.createBuffer({ size: input.byteLength, usage: 0x80 | 0x8 | 0x4 });
                device.queue.writeBuffer(buffer, 0, input);
                x = ort.Tensor.fromGpuBuffer(buffer, { dataType: 'float32', dims: shape });
            }
            const run = async () => {
                const { y } = await made.run({ x });
                await device?.queue.onSubmittedWorkDone();
                y.dispose();
            };
            const download = async () => {
                const { y } = await made.run({ x });
                await y.getData();
                y.dispose();
            };
            const free = async () => {
                buffer?.destroy();
                await made.release();
            };
            return { run, download, free };
        },
        async maximum(list) {
            const made = await session('ReduceMax', [int('keepdims', 0)], 1, 'cpu');
            const { y } = await made.run({ x: new ort.Tensor('float32', list, [list.length]) });
            return (await y.getData())[0];
        },
    };
}

async function tfjs() {
    if (!(await isThere(TFJS))) return undefined;
    const script = (src) => new Promise((resolve, reject) => document.head.append(Object.assign(document.createElement('script'), { src, onload: resolve, onerror: reject })));
    await script(TFJS);
    if ((await navigator.gpu?.requestAdapter()) && (await isThere(TFJS_WEBGPU))) {
        await script(TFJS_WEBGPU);
        await tf.setBackend('webgpu');
    }
    await tf.ready();
    const isWebGpu = tf.getBackend() === 'webgpu';
    // Waits for the result. Only WebGPU has a queue to wait for; the others wait in the copy to the page.
    const computed = async (y) => {
        if (!isWebGpu) return y.data();
        const backend = tf.backend();
        if (backend.commandEncoder) {
            backend.endComputePassEncoder();
            backend.submitQueue();
        }
        return backend.device.queue.onSubmittedWorkDone();
    };
    return {
        name: `tfjs, ${tf.getBackend()}`,
        async prepare({ op, shape, axes, kernel, strides }, input) {
            // Its poolings take channels last.
            const x = op === 'maxPool' ? tf.transpose(tf.tensor(input, shape), [0, 2, 3, 1]) : tf.tensor(input, shape);
            const until = (done) => async () => {
                const y = op === 'maxPool' ? tf.maxPool(x, kernel, strides, 'valid') : tf.max(x, axes);
                await done(y);
                y.dispose();
            };
            return { run: until(computed), download: until((y) => y.data()), free: () => x.dispose() };
        },
        async maximum(list) {
            return (await tf.max(tf.tensor1d(list)).data())[0];
        },
    };
}
