// What the types allow and what they don't: compiled, not run.
import * as wgmax from '../pkg/wgmax.js';
import { Verification } from '../pkg/verify.js';
import { openWorker } from '../pkg/worker.js';

const device: wgmax.Device = await wgmax.open('auto', { powerPreference: 'low-power' });
const x = await device.tensor('f32', [1, 64, 224, 224], new Float32Array(64 * 224 * 224));
const { values, indices } = await device.maxPool(x, { kernel: [3, 3], strides: [2, 2], indices: true });
const floats: Float32Array = await values.data();
const positions: BigInt64Array | Int32Array = await indices!.data();
const bytes: Uint8Array = await (await device.reduceMax(await device.tensor('u8', [2], [1, 2]))).data();
const { status } = await device.segmentMax(x, [0, 1], { segments: 'unsorted', status: true });
const { values: least, indices: at } = await device.reduceMin(x, { axes: [1], indices: { last: true } });
const where: BigInt64Array | Int32Array = await (await device.argMax(x, { axes: [1], type: 'i32' })).data();
const counts: Uint32Array = await status!.data();
const { values: kept } = await device.segmentMax(x, [0, 9], { numSegments: 2n, outOfRange: 'drop' });
const freed: boolean = kept.isFreed;
const buffer: GPUBuffer | undefined = x.slice(1, 0, 2).buffer;
const verification = new Verification(device, { seed: 1 });
const outcome = await verification.next();
await device.maxPool(x, { kernel: 3, strides: 2, padding: 1 });
const nested: wgmax.Tensor<'u8'> = await device.tensor('u8', [[1, 2], [3, 4]]);
const codes: number = wgmax.segmentStatus.unsorted | wgmax.segmentStatus.negative | wgmax.segmentStatus.offsetTooLarge;
const lost: string = (await device.lost).reason;
await device.node({ dialect: 'onnx', operator: 'ReduceMax', version: 20 }, [x, await device.tensor('i64', [1])]);
await device.prepare('argMin', { axes: [1], type: 'i32' }, [x], [at]);
await device.prepare('maxPool', { kernel: [3, 3] }, [x], [values]);
await wgmax.open('gpu', { wasm: 'https://example.org/wgmax/' });
await wgmax.open('cpu', { wasm: { cpu: new Uint8Array(8) } });
const worker = await openWorker('cpu', { wasm: '/wgmax/' });
const inMemory: wgmax.HostTensor = { type: 'f32', shape: [2], data: [1, 2] };
const { values: most } = await worker.run('reduceMax', [inMemory], { axes: [0] }, { transfer: true });
const shape: number[] = (await worker.run('scatterMinBackward', [inMemory, inMemory, inMemory, inMemory])).updates.shape;
// Attributes that are not known where the types are checked.
const attributes: wgmax.ReduceMax = { axes: [0] };
const either = await device.reduceMax(x, attributes);
const top: wgmax.Tensor<'f32'> = either instanceof wgmax.Tensor ? either : either.values;
const wide: wgmax.HostTensor = { type: 'i64', shape: [1], data: [1n] };
for (const held of [device, x, worker, verification]) held[Symbol.dispose]();
// @ts-expect-error it may be a tensor, or values and indices
either.values;
// @ts-expect-error a pooling has a kernel
await worker.run('maxPool', [inMemory], { indices: true });
// @ts-expect-error a function of the device, but no operator
await worker.run('tensor', [inMemory]);
// @ts-expect-error an unknown attribute of a prepared operator
await device.prepare('maxPool', { kernel: [3], stride: [2] }, [x], [values]);
// @ts-expect-error a pooling has a kernel
await device.prepare('maxPool', {}, [x], [values]);
// @ts-expect-error no WebAssembly
await wgmax.open('cpu', { wasm: { full: 'cpu.wasm' } });
// @ts-expect-error an unknown attribute
await device.maxPool(x, { kernel: [3], stride: [2] });
// @ts-expect-error ids are in range, or dropped
await device.segmentMax(x, [0, 1], { outOfRange: 'ignore' });
// @ts-expect-error no element type
await device.tensor('f99', [1], [1]);
// @ts-expect-error no name of a device
await wgmax.open('vulkan');

export { at, buffer, bytes, codes, counts, floats, freed, least, lost, most, nested, outcome, positions, shape, top, where, wide };
