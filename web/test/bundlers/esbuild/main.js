import { open } from 'wgmax';
import cpu from 'wgmax/wasm/cpu_bg.wasm';
import gpu from 'wgmax/wasm/gpu_bg.wasm';

/** The maxima of two rows, and what computed them. */
async function maxima(name) {
    const device = await open(name, { wasm: { gpu, cpu } });
    const x = await device.tensor('f32', [2, 3], [1, 5, 3, -1, 9, 2]);
    return [device.info.backend, ...await (await device.reduceMax(x, { axes: [1] })).numbers()];
}
document.body.textContent = JSON.stringify([await maxima('gpu'), await maxima('cpu')]);
