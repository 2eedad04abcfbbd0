// What needs a library with `using`: compiled, not run.
import * as wgmax from '../pkg/wgmax.js';
import { openWorker } from '../pkg/worker.js';

using device = await wgmax.open('cpu');
using tensor = await device.tensor('f32', [2], [1, 2]);
using worker = await openWorker('cpu');
await worker.run('reduceMax', [{ type: 'f32', shape: [2], data: await tensor.data() }]);
