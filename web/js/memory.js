// Copies elements between typed arrays of the page and the memory of tensors.

/** The bytes of a typed array. */
export function bytesOf(array) {
    return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Copies bytes to a `GPUBuffer`, padded with zeros to a whole word: a queue writes whole words only. */
export function writeTo(queue, buffer, given) {
    // A queue takes no resizable memory, and Dawn's in Node no shared memory.
    const isPlain = given.buffer instanceof ArrayBuffer && !given.buffer.resizable;
    const bytes = isPlain ? given : given.slice();
    const rest = bytes.length % 4;
    const whole = bytes.length - rest;
    queue.writeBuffer(buffer, 0, bytes, 0, whole);
    if (rest) {
        const last = new Uint8Array(4);
        last.set(bytes.subarray(whole));
        queue.writeBuffer(buffer, whole, last);
    }
}

/** A contiguous copy of the elements of a view. `memory` is a typed array. */
export function gathered(memory, offset, shape, pitches) {
    const size = shape.reduce((product, size) => product * size, 1);
    // Contiguous elements are copied at once: those of the last axes. The loops are over the first axes.
    let [axes, run] = [shape.length, 1];
    while (axes > 0 && (shape[axes - 1] === 1 || pitches[axes - 1] === run)) run *= shape[--axes];
    if (run === size) return memory.slice(offset, offset + size);
    const all = new memory.constructor(size);
    const at = new Array(axes).fill(0);
    let from = offset;
    for (let to = 0; to < size; to += run) {
        if (run === 1) all[to] = memory[from];
        else all.set(memory.subarray(from, from + run), to);
        for (let axis = axes - 1; axis >= 0; axis--) {
            from += pitches[axis];
            at[axis] += 1;
            if (at[axis] < shape[axis]) break;
            from -= pitches[axis] * shape[axis];
            at[axis] = 0;
        }
    }
    return all;
}
