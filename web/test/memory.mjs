// The memory of the WebAssembly, 4 GiB, is used up: an error, after which everything works. In a process of
// its own: in one that has run much code before, the V8 of Node 20 aborts here.
import * as wgmax from '../pkg/node.js';

const cpu = await wgmax.open('cpu');
const held = [];
const fills = async () => {
    for (const size of [2 ** 29, 2 ** 20]) {
        for (;;) {
            try {
                held.push(await cpu.zeros('u8', [size]));
            } catch (error) {
                if (error.code !== 'OutOfMemory') return error;
                break;
            }
        }
    }
    const none = await cpu.reduceMax(held[0], { axes: [] }).catch((error) => error);
    if (none.code !== 'OutOfMemory') return none;
    held.splice(1).forEach((tensor) => tensor.free());
    return (await (await cpu.reduceMax(held[0])).numbers())[0] === 0 ? undefined : new Error('no zeros');
};
const full = await fills().catch((error) => error);
console.log(full ? `FAILED  memory used up: ${full.stack}` : 'ok      memory used up');
process.exit(full ? 1 : 0);
