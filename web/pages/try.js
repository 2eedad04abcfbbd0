import { $, say } from './page.js';
import { open } from './pkg/wgmax.js';

const MAX_SIDE = 640;
const source = $('source');
const context = source.getContext('2d', { willReadFrequently: true });
const sliders = ['width', 'height', 'dilation', 'stride'];

let gpu;
let cpu;
/** The memory that pictures of this size are read into. */
let memory;
/** The size and the attributes that the GPU has shaders for. */
let compiled;
/** The number of pictures so far. */
let pictures = 0;
let isDirty = false;
let isBusy = false;
let stream;

/** A night over a town: small lights, which windows make large. */
function drawSample() {
    const [width, height] = [640, 480];
    Object.assign(source, { width, height });
    const sky = context.createLinearGradient(0, 0, 0, height);
    for (const [at, color] of [[0, '#0b1030'], [0.55, '#37306b'], [0.72, '#a8506a'], [0.8, '#1a1830']]) sky.addColorStop(at, color);
    context.fillStyle = sky;
    context.fillRect(0, 0, width, height);
    let seed = 7;
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let i = 0; i < 220; i++) {
        context.fillStyle = `rgba(255, 255, 255, ${0.3 + 0.7 * random()})`;
        context.fillRect(random() * width, random() * height * 0.6, 1.5, 1.5);
    }
    for (let x = 0; x < width; x += 26 + random() * 30) {
        const [w, top] = [22 + random() * 30, height * (0.62 + random() * 0.22)];
        context.fillStyle = '#12111f';
        context.fillRect(x, top, w, height - top);
        for (let y = top + 8; y < height - 6; y += 11) {
            for (let at = x + 4; at < x + w - 5; at += 9) {
                if (random() > 0.45) continue;
                context.fillStyle = `hsl(${30 + random() * 30} 95% ${55 + random() * 30}%)`;
                context.fillRect(at, y, 4, 5);
            }
        }
    }
    context.fillStyle = '#fff7dc';
    context.beginPath();
    context.arc(520, 90, 26, 0, 7);
    context.fill();
    pictures += 1;
    changed();
}

/** Draws a picture on the source, scaled down to at most `MAX_SIDE`. */
function drawPicture(picture, width, height) {
    const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
    const [w, h] = [width, height].map((size) => Math.max(1, Math.round(size * scale)));
    if (source.width !== w || source.height !== h) Object.assign(source, { width: w, height: h });
    context.clearRect(0, 0, w, h);
    context.drawImage(picture, 0, 0, w, h);
    pictures += 1;
    changed();
}

/** The operator and its attributes, as they are chosen now. */
function chosen() {
    const [width, height, dilation, stride] = sliders.map((id) => Number($(id).value));
    return {
        operator: $('extremum').value,
        attributes: { kernel: [height, width], dilations: [dilation, dilation], strides: [stride, stride], padding: 'sameUpper', layout: 'nxc' },
        window: `${width} x ${height}`,
    };
}

/** The pooled picture of a device, and the milliseconds of the pooling alone. */
async function pool(device, pixels, { operator, attributes }) {
    const input = pixels.broadcast(0, 1);
    // The first run, which compiles, is not timed.
    const key = JSON.stringify([pixels.shape, operator, attributes]);
    if (!device.isCpu && key !== compiled) {
        const { values } = await device[operator](input, attributes);
        await device.wait();
        values.destroy();
        compiled = key;
    }
    const start = performance.now();
    const { values } = await device[operator](input, attributes);
    await device.wait();
    const time = performance.now() - start;
    input.free();
    return { picture: values.reshape(values.shape.slice(1)), time, free: () => values.destroy() };
}

async function update() {
    // Both devices get the values that are read here: the page may change meanwhile.
    const choice = chosen();
    const number = pictures;
    const { width, height } = source;
    const image = context.getImageData(0, 0, width, height);
    const onCpu = await cpu.pixels(image);
    const expected = await pool(cpu, onCpu, choice);
    const right = await expected.picture.data();
    const [rows, columns] = expected.picture.shape;
    let differing = 0;
    const shown = new Uint8ClampedArray(right);
    let found;
    if (gpu) {
        if (memory && `${memory.shape}` !== `${[height, width, 4]}`) memory = memory.destroy();
        memory = await gpu.pixels(image, memory);
        found = await pool(gpu, memory, choice);
        const bytes = await found.picture.data();
        for (let i = 0; i < right.length; i += 4) {
            if ([0, 1, 2, 3].every((c) => bytes[i + c] === right[i + c])) continue;
            differing += 1;
            shown.set([255, 0, 0, 255], i);
        }
    }
    // Without a GPU the CPU's picture takes its place.
    $('gpu').closest('figure').hidden = !found;
    // The next run shows the picture that arrived meanwhile.
    if (number === pictures) {
        $('source-size').textContent = `${width} x ${height}`;
        if (found) {
            await gpu.draw(found.picture, $('gpu'));
            $('gpu-time').textContent = `${found.time.toFixed(1)} ms`;
        }
        Object.assign($('cpu'), { width: columns, height: rows });
        $('cpu').getContext('2d').putImageData(new ImageData(shown, columns, rows), 0, 0);
        $('cpu-time').textContent = `${expected.time.toFixed(1)} ms`;
        $('save').disabled = false;
        const what = `Windows of ${choice.window} on ${columns} x ${rows} pixels`;
        if (!found) say(`${what}, on the CPU alone: this browser gives pages no GPU.`, 'warn');
        else if (differing) say(`${what}: GPU and CPU differ in ${differing} pixels, which are red.`, 'bad');
        else say(`${what}: GPU and CPU are the same, bit for bit.`, 'good');
    }
    for (const each of [expected.picture, expected, onCpu, found?.picture, found]) each?.free();
}

/** Draws again, once for all that has changed since. */
async function changed() {
    isDirty = true;
    if (isBusy || !cpu) return;
    isBusy = true;
    try {
        while (isDirty) {
            isDirty = false;
            await update();
            await new Promise(requestAnimationFrame);
        }
    } catch (error) {
        say(error.code === 'DeviceLost' ? 'The browser lost the GPU: the CPU alone goes on.' : error.message, 'bad');
        if (error.code === 'DeviceLost') {
            gpu = memory = undefined;
            isDirty = true;
        }
    } finally {
        isBusy = false;
    }
    if (isDirty) changed();
}

const query = new URLSearchParams(location.search);

/** The page's URL has what is chosen, so that it can be shared and loaded again. */
function remember() {
    for (const id of [...sliders, 'extremum']) query.set(id, $(id).value);
    history.replaceState(null, '', `?${query}`);
}

for (const id of sliders) {
    const show = () => ($(`${id}-out`).value = $(id).value);
    $(id).addEventListener('input', () => {
        show();
        changed();
    });
    // Not while it is dragged: browsers limit how often a URL may change.
    $(id).addEventListener('change', remember);
    if (query.has(id)) $(id).value = query.get(id);
    show();
}

const extrema = [...$('extremum').options].map(({ value }) => value);
if (extrema.includes(query.get('extremum'))) $('extremum').value = query.get('extremum');
$('extremum').onchange = () => {
    remember();
    changed();
};

$('save').onclick = () => (gpu ? $('gpu') : $('cpu')).toBlob((blob) => {
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: 'wgmax.png' });
    link.click();
    URL.revokeObjectURL(link.href);
});

function stopCamera() {
    stream?.getTracks().forEach((track) => track.stop());
    stream = undefined;
    $('camera').textContent = 'Camera';
}

$('camera').onclick = async () => {
    if (stream) return stopCamera();
    const video = $('video');
    try {
        stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment', width: 640 } });
    } catch (error) {
        return say(`No camera: ${error.message}`, 'warn');
    }
    $('camera').textContent = 'Stop the camera';
    video.srcObject = stream;
    await video.play();
    while (stream) {
        if (video.videoWidth && !isBusy) drawPicture(video, video.videoWidth, video.videoHeight);
        await new Promise(requestAnimationFrame);
    }
};
$('sample').onclick = () => {
    stopCamera();
    drawSample();
};
$('file').onchange = async ({ target }) => {
    if (!target.files[0]) return;
    stopCamera();
    try {
        const picture = await createImageBitmap(target.files[0]);
        drawPicture(picture, picture.width, picture.height);
    } catch {
        say('This file is no picture that the browser reads.', 'warn');
    }
};

say('Opening the GPU …');
try {
    gpu = await open('gpu');
    $('gpu-name').textContent = `GPU: ${gpu.info.name}`;
} catch (error) {
    if (error.name !== 'WgmaxError') throw error;
}
cpu = await open('cpu');
drawSample();
