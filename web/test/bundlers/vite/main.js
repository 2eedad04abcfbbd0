import { open } from 'wgmax';
import { openWorker } from 'wgmax/worker';

/** The maxima of two rows, and what computed them. */
async function maxima(name) {
    const device = await open(name);
    const x = await device.tensor('f32', [2, 3], [1, 5, 3, -1, 9, 2]);
    return [device.info.backend, ...await (await device.reduceMax(x, { axes: [1] })).numbers()];
}
const worker = await openWorker();
const { values } = await worker.run('reduceMax', [{ type: 'f32', shape: [2, 3], data: [1, 5, 3, -1, 9, 2] }], { axes: [1] });
document.body.textContent = JSON.stringify([await maxima('gpu'), await maxima('cpu'), ['worker', ...values.data]]);
