// Tests of pictures, which only a browser has.

export const tests = {};

function check(condition, what) {
    if (!condition) throw new Error(what);
}

/** A picture with a different value in every byte of a pixel. */
function sample(width, height) {
    const data = new Uint8ClampedArray(width * height * 4);
    for (let i = 0; i < width * height; i++) data.set([i * 7, i * 13 + 5, i * 29 + 11, 255].map((byte) => byte & 255), 4 * i);
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
            // With software rendering, a WebGPU canvas can be read only as a file.
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

/** Pixels of every colour and every opacity. */
function transparent(width, height, lead) {
    const image = sample(width, height);
    image.data.forEach((_, i) => i % 4 === 3 && (image.data[i] = ((i >> 2) * 5 + lead) & 255));
    return image;
}

tests['transparent pictures have the same bytes on every device'] = async (wgmax) => {
    const [gpu, cpu] = [await wgmax.open('gpu'), await wgmax.open('cpu')];
    let memory;
    for (const lead of [0, 100]) {
        const image = transparent(61, 47, lead);
        const canvas = await canvasOf(image);
        const element = new Image();
        element.src = URL.createObjectURL(await canvas.convertToBlob());
        await element.decode();
        for (const source of [image, canvas, element, await createImageBitmap(element)]) {
            const bytes = await (await cpu.pixels(source)).data();
            // The memory of the picture before.
            memory = await gpu.pixels(source, memory);
            for (const pixels of [memory, await gpu.pixels(source)]) {
                const found = await pixels.data();
                const differing = found.filter((byte, i) => byte !== bytes[i]).length;
                check(found.length === bytes.length && differing === 0, `${source.constructor.name}: ${differing} bytes differ`);
            }
            if (source === image) check(bytes.every((byte, i) => byte === image.data[i]), 'not the bytes of the ImageData');
        }
    }
    for (const wrong of [await gpu.zeros('f32', [47, 61, 4]), await gpu.zeros('u8', [47, 60, 4])]) {
        const error = await gpu.pixels(transparent(61, 47, 0), wrong).catch((error) => error);
        check(['BadPicture', 'BadView'].includes(error.code), `another memory: ${error}`);
    }
};

tests['a transparent picture is drawn alike'] = async (wgmax) => {
    const drawn = [];
    for (const device of [await wgmax.open('gpu'), await wgmax.open('cpu')]) {
        const target = document.createElement('canvas');
        // What was drawn before does not show through.
        for (const alpha of [255, 128, 0]) {
            const data = new Uint8Array(8 * 8 * 4).map((_, i) => (i % 4 === 3 ? alpha : 200));
            await device.draw(await device.tensor('u8', [8, 8, 4], data), target);
            const file = await new Promise((done) => target.toBlob(done));
            const copy = new OffscreenCanvas(8, 8).getContext('2d', { willReadFrequently: true });
            copy.drawImage(await createImageBitmap(file), 0, 0);
            drawn.push(Array.from(copy.getImageData(3, 3, 1, 1).data));
        }
    }
    for (const [i, expected] of [[200, 200, 200, 255], [200, 200, 200, 128], [0, 0, 0, 0]].entries()) {
        for (const found of [drawn[i], drawn[i + 3]]) {
            check(found.every((byte, c) => Math.abs(byte - expected[c]) <= 2), `${JSON.stringify(drawn)}`);
        }
    }
};

tests['what cannot be drawn is an error, and the canvas is kept'] = async (wgmax) => {
    const fails = async (code, work) => {
        const error = await work().then(() => ({ code: 'none' }), (error) => error);
        check(error.code === code, `${error.code}, not ${code}: ${error.message}`);
    };
    const [gpu, cpu] = [await wgmax.open('gpu'), await wgmax.open('cpu')];
    const painted = () => Object.assign(document.createElement('canvas'), { width: 3, height: 2 });
    const rgb = { gpu: await gpu.tensor('u8', [1, 1, 3], [10, 20, 30]), cpu: await cpu.tensor('u8', [1, 1, 3], [10, 20, 30]) };
    for (const device of [gpu, cpu]) {
        for (const shape of [[], [5], [0], [0, 4], [4, 0], [1, 1, 2], [1, 1, 1, 1]]) {
            const canvas = painted();
            await fails('BadPicture', async () => device.draw(await device.zeros('u8', shape), canvas));
            check(canvas.width === 3 && canvas.height === 2, 'the size of the canvas');
        }
        await fails('WrongDevice', () => device.draw(device === gpu ? rgb.cpu : rgb.gpu, painted()));
    }
    await fails('WrongDevice', () => gpu.pixels(sample(1, 1), rgb.cpu));
    const other = await wgmax.open('gpu');
    const theirs = await other.tensor('u8', [1, 1, 4], [1, 2, 3, 4]);
    const own = painted();
    await fails('WrongDevice', () => gpu.draw(theirs, own));
    check(own.width === 3, 'the canvas beside a tensor of another GPU');
    await fails('WrongDevice', () => gpu.pixels(sample(1, 1), theirs));
    // Contexts that the page or another device made.
    const flat = painted();
    flat.getContext('2d');
    await fails('BadPicture', () => gpu.draw(rgb.gpu, flat));
    check(flat.width === 3, 'the size of a 2-D canvas');
    await cpu.draw(rgb.cpu, flat);
    const shared = painted();
    await gpu.draw(rgb.gpu, shared);
    await cpu.draw(rgb.cpu, shared);
    check(shared.width === 1, 'drawn by the CPU after the GPU');
    // A wide colour space has other bytes than those of a 2-D canvas.
    const wide = new ImageData(new Uint8ClampedArray([200, 100, 50, 255]), 1, 1, { colorSpace: 'display-p3' });
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas.putImageData(wide, 0, 0);
    const expected = canvas.getImageData(0, 0, 1, 1).data;
    check(expected[0] !== 200, 'the browser converts colours');
    for (const device of [gpu, cpu]) {
        const found = await (await device.pixels(wide)).data();
        check(`${Array.from(found)}` === `${Array.from(expected)}`, `${found}, not ${expected}`);
    }
    // A lost device.
    const kept = painted();
    await gpu.draw(rgb.gpu, kept);
    const pixels = await gpu.pixels(sample(1, 1));
    gpu.gpu.destroy();
    await gpu.lost;
    const canvas2 = painted();
    await fails('DeviceLost', () => gpu.draw(rgb.gpu, canvas2));
    check(canvas2.width === 3, 'the canvas of a lost device');
    await fails('DeviceLost', () => gpu.pixels(sample(1, 1), pixels));
};

tests['arrays of another frame are arrays'] = async (wgmax) => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    const { Float32Array: Foreign, Array: Lists, Int32Array: Ids } = frame.contentWindow;
    for (const device of [await wgmax.open('gpu'), await wgmax.open('cpu')]) {
        const x = await device.tensor('f32', [3], Foreign.of(1, 3, 2));
        const y = await device.tensor('f32', Lists.of(Lists.of(1), Lists.of(4)));
        check(`${await x.numbers()};${await y.numbers()};${y.shape}` === '1,3,2;1,4;2,1', 'elements');
        for (const ids of [Ids.of(0, 1, 1), Lists.of(0, 1, 1)]) {
            const { values } = await device.segmentMax(x, ids);
            check(`${await values.numbers()}` === '1,3', 'ids');
        }
    }
    frame.remove();
};
