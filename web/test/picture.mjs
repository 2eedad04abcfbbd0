// Tests of pictures, which only a browser has.

export const tests = {};

function check(condition, what) {
    if (!condition) throw new Error(what);
}

/** A picture with a different value in every byte of a pixel. */
function sample(width, height) {
    const data = new Uint8ClampedArray(width * height * 4);
    for (let i = 0; i < width * height; i++) data.set([i * 7, i * 13 + 5, i * 29 + 11, 255], 4 * i);
    return new ImageData(data, width, height);
}

async function canvasOf(image) {
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d').putImageData(image, 0, 0);
    return canvas;
}

tests['pixels come in, and are drawn'] = async (wgmax) => {
    for (const [width, height] of [[64, 8], [37, 23]]) {
        const image = sample(width, height);
        for (const device of [await wgmax.open('gpu'), await wgmax.open('cpu')]) {
            const source = await canvasOf(image);
            const pixels = await device.pixels(source);
            check(`${pixels.shape}` === `${height},${width},4`, `shape ${pixels.shape}`);
            const found = await pixels.data();
            check(found.every((byte, i) => byte === image.data[i]), `${device.info.name}: other pixels`);
            const target = document.createElement('canvas');
            await device.draw(pixels, target);
            // Where all is software, a canvas of WebGPU is read by way of a file alone.
            const file = await new Promise((done) => target.toBlob(done));
            const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
            copy.drawImage(await createImageBitmap(file), 0, 0);
            const drawn = copy.getImageData(0, 0, width, height).data;
            check(drawn.every((byte, i) => byte === image.data[i]), `${device.info.name}: drawn otherwise`);
            // The memory of an earlier call is filled again.
            if (!device.isCpu) {
                const again = await device.pixels(await canvasOf(sample(width, height)), pixels);
                check(again.buffer === pixels.buffer, 'another buffer');
            }
        }
    }
};

tests['a pooled picture is the same on both'] = async (wgmax) => {
    const image = sample(50, 31);
    const results = [];
    for (const device of [await wgmax.open('gpu'), await wgmax.open('cpu')]) {
        const pixels = await device.pixels(await canvasOf(image));
        const batch = pixels.view({ shape: [1, ...pixels.shape], offset: 0, pitches: [pixels.pitches[0] * 31, ...pixels.pitches] });
        const { values } = await device.maxPool(batch, { kernel: [5, 3], padding: 'sameUpper', layout: 'nxc' });
        results.push(Array.from(await values.data()));
    }
    check(`${results[0]}` === `${results[1]}`, 'they differ');
};
