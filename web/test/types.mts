// What the types allow and what they don't: compiled, not run.
import * as wgmax from '../pkg/wgmax.js';
import { Verification } from '../pkg/verify.js';

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
// @ts-expect-error an attribute that there is not
await device.maxPool(x, { kernel: [3], stride: [2] });
// @ts-expect-error ids are in range, or dropped
await device.segmentMax(x, [0, 1], { outOfRange: 'ignore' });
// @ts-expect-error no element type
await device.tensor('f99', [1], [1]);
// @ts-expect-error no name of a device
await wgmax.open('vulkan');

export { at, buffer, bytes, counts, floats, freed, least, outcome, positions, where };
