// Pictures in and out.

import { WgmaxError } from './error.js';
import { bytesOf, writeTo } from './memory.js';

/** The size of a picture, a canvas, a video or an `ImageData`. */
function sizeOf(source) {
    const width = source.videoWidth ?? source.displayWidth ?? source.naturalWidth ?? source.width;
    const height = source.videoHeight ?? source.displayHeight ?? source.naturalHeight ?? source.height;
    if (!(width > 0 && height > 0)) throw new WgmaxError('BadPicture', 'the picture has no pixels yet');
    return [width, height];
}

/** A 2-D canvas of a size. */
function canvas2d(width, height) {
    if (globalThis.OffscreenCanvas) return new OffscreenCanvas(width, height);
    return Object.assign(document.createElement('canvas'), { width, height });
}

/** The bytes of a picture. */
function bytesOfPicture(source, width, height) {
    const isImageData = ArrayBuffer.isView(source.data);
    // A canvas would change the colours of transparent pixels.
    if (isImageData && source.data.BYTES_PER_ELEMENT === 1 && (source.colorSpace ?? 'srgb') === 'srgb') return source.data;
    const context = canvas2d(width, height).getContext('2d', { willReadFrequently: true });
    if (isImageData) context.putImageData(source, 0, 0);
    else context.drawImage(source, 0, 0);
    return context.getImageData(0, 0, width, height).data;
}

export async function readPixels(device, source, into) {
    device.refuseLost();
    const [width, height] = sizeOf(source);
    const shape = [height, width, 4];
    // Not by a texture: a GPU and a canvas round the colours of transparent pixels differently.
    const bytes = bytesOfPicture(source, width, height);
    if (!into || device.isCpu) return device.tensor('u8', shape, bytes);
    if (into.type !== 'u8') throw new WgmaxError('BadPicture', `a picture is u8, not ${into.type}`);
    const tensor = into.reshape(shape);
    writeTo(device.gpu.queue, tensor.buffer, bytesOf(bytes));
    return tensor;
}

/** Does some work on a device, whose errors are thrown, and then something with its result. */
async function scoped(gpu, what, work, then) {
    gpu.pushErrorScope('validation');
    let error;
    let result;
    try {
        result = work();
    } finally {
        error = await gpu.popErrorScope();
    }
    try {
        if (error) throw new WgmaxError('Gpu', `${what} failed: ${error.message}`);
        then(result);
    } finally {
        result?.close();
    }
}

const SHADER = `
struct Placement { offset: i32, row: i32, column: i32, channel: i32, channels: i32 }
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<uniform> place: Placement;

@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn element(at: i32) -> f32 {
    return f32((words[at / 4] >> u32(at % 4 * 8)) & 255u) / 255.0;
}

@fragment fn pixel(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let first = place.offset + i32(at.y) * place.row + i32(at.x) * place.column;
    if place.channels == 1 { return vec4f(vec3f(element(first)), 1.0); }
    let rgb = vec3f(element(first), element(first + place.channel), element(first + 2 * place.channel));
    if place.channels == 3 { return vec4f(rgb, 1.0); }
    let alpha = element(first + 3 * place.channel);
    return vec4f(rgb * alpha, alpha);
}`;

/** The pipeline that draws, for each device and format. */
const pipelines = new WeakMap();

export async function draw(device, tensor, canvas) {
    device.refuseLost();
    const [height, width, channels = 1] = tensor.shape;
    if (tensor.type !== 'u8' || !(height > 0 && width > 0) || ![1, 3, 4].includes(channels) || tensor.shape.length > 3) {
        throw new WgmaxError('BadPicture', `a picture is u8 [rows, columns, 1, 3 or 4] with pixels, not ${tensor.type} [${tensor.shape}]`);
    }
    const data = device.isCpu ? await tensor.data() : undefined;
    // A GPU draws by a bitmap, which is shown even if the browser draws pages on the CPU.
    const kinds = (data ? ['2d', 'bitmaprenderer'] : ['bitmaprenderer', 'webgpu']).filter((kind) => kind !== 'bitmaprenderer' || globalThis.OffscreenCanvas);
    const kind = kinds.find((kind) => canvas.getContext(kind));
    if (!kind) throw new WgmaxError('BadPicture', `the canvas has a context of another kind than ${kinds.join(' and ')}`);
    const shown = kind === 'bitmaprenderer' ? canvas.getContext(kind) : undefined;
    const target = shown ? new OffscreenCanvas(width, height) : canvas;
    const fit = () => {
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    };
    // A new size clears a canvas: one that shows a bitmap keeps its picture until the next one is there.
    const show = (bitmap) => {
        fit();
        shown.transferFromImageBitmap(bitmap);
    };
    if (!shown) fit();
    const context = target.getContext(data ? '2d' : 'webgpu');
    if (data) {
        context.putImageData(imageOf(data, [height, width, channels]), 0, 0);
        if (shown) show(target.transferToImageBitmap());
        return;
    }
    const { gpu } = device;
    await scoped(gpu, 'drawing', () => {
        const format = navigator.gpu.getPreferredCanvasFormat();
        context.configure({ device: gpu, format, alphaMode: 'premultiplied' });
        if (!pipelines.has(gpu)) {
            const module = gpu.createShaderModule({ code: SHADER });
            pipelines.set(gpu, gpu.createRenderPipeline({
                layout: 'auto',
                vertex: { module },
                fragment: { module, targets: [{ format }] },
            }));
        }
        const pipeline = pipelines.get(gpu);
        const [row, column = 1, channel = 1] = tensor.pitches;
        const place = gpu.createBuffer({ size: 32, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
        gpu.queue.writeBuffer(place, 0, Int32Array.of(tensor.offset, row, column, channel, channels));
        const group = gpu.createBindGroup({
            layout: pipeline.getBindGroupLayout(0),
            entries: [{ binding: 0, resource: { buffer: tensor.buffer } }, { binding: 1, resource: { buffer: place } }],
        });
        const encoder = gpu.createCommandEncoder();
        const view = context.getCurrentTexture().createView();
        const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: 'clear', storeOp: 'store' }] });
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.draw(3);
        pass.end();
        gpu.queue.submit([encoder.finish()]);
        place.destroy();
        return shown && target.transferToImageBitmap();
    }, (bitmap) => {
        device.refuseLost();
        if (shown) show(bitmap);
    });
}

/** The picture of a tensor's elements. */
function imageOf(data, [height, width, channels]) {
    const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
    for (let i = 0; i < width * height; i++) {
        for (let c = 0; c < 4; c++) {
            if (c < 3 || channels === 4) pixels[4 * i + c] = data[channels * i + (channels === 1 ? 0 : c)];
        }
    }
    return new ImageData(pixels, width, height);
}
