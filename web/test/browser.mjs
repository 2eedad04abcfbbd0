// The package and the pages in headless Chromium, on SwiftShader. Every call of a page has a limit
// of time: a tab that hangs fails.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { WEBGPU, browse, errorsOf, finish, step } from './chromium.mjs';
import { caseFolders } from './folders.mjs';
import { EXPECTED } from './golden.mjs';
import { serve, serveFolder } from './serve.mjs';

const CASES = Number(process.env.WGMAX_CASES ?? 2000);
const server = await serve(0);
const at = `http://localhost:${server.address().port}`;
/** What `scripts/web site` made. */
const sitePath = process.env.WGMAX_SITE ?? fileURLToPath(new URL('../../target/site', import.meta.url));
const pictures = process.env.WGMAX_SCREENSHOTS;
if (pictures) await mkdir(pictures, { recursive: true });

/** Waits until a page's text matches. */
async function says(page, id, pattern, seconds) {
    const handle = await page.waitForFunction(
        (id, source) => new RegExp(source).test(document.getElementById(id).textContent) && document.getElementById(id).textContent,
        { timeout: seconds * 1000, polling: 200 }, id, pattern.source,
    );
    return handle.jsonValue();
}

async function picture(page, name) {
    if (!pictures) return;
    for (const [kind, width, height] of [['desktop', 1280, 800], ['phone', 390, 844]]) {
        await page.setViewport({ width, height, deviceScaleFactor: kind === 'phone' ? 2 : 1 });
        await new Promise((done) => setTimeout(done, 800));
        await page.screenshot({ path: join(pictures, `${name}-${kind}.png`), fullPage: true });
    }
    await page.setViewport({ width: 1280, height: 800 });
}

const axe = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

/** What axe-core finds wrong with a page: sizes, colours, names and keys. Nor may it be wider than its screen. */
async function violationsOf(page, name, width, scheme) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.addScriptTag({ path: axe });
    const [violations, wide] = await page.evaluate(async () => [
        (await window.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
        document.documentElement.scrollWidth - innerWidth,
    ]);
    if (wide > 0) violations.push(`${wide} pixels too wide`);
    return violations.map((each) => `${name} at ${width}, ${scheme}: ${each}`);
}

const cases = fileURLToPath(new URL('../../tests/cases/', import.meta.url));
const folders = await caseFolders(cases);

await browse(WEBGPU, async (page) => {
    const check = errorsOf(page);
    await page.goto(`${at}/test/blank.html`);
    for (const [file, seconds] of [['api', 120], ['random', 300], ['picture', 60], ['worker', 60]]) {
        const names = await page.evaluate(async (file) => Object.keys((await import(`/test/${file}.mjs`)).tests), file);
        for (const name of names) {
            await step(name, seconds, () => page.evaluate(async (file, name) => {
                const wgmax = await import('/pkg/wgmax.js');
                const { Verification } = await import('/pkg/verify.js');
                const { tests } = await import(`/test/${file}.mjs`);
                await tests[name](wgmax, {}, Verification);
            }, file, name));
        }
    }
    await step('golden cases', 600, async () => {
        // A quarter in a short run.
        const some = folders.filter((_, i) => CASES >= 100 || i % 4 === 0);
        const { ok, refused, wrong } = await page.evaluate(async (folders) => {
            const { open } = await import('/pkg/wgmax.js');
            const { goldenAll } = await import('/test/golden.mjs');
            const read = async (path) => {
                const response = await fetch(`/cases/${path}`);
                if (!response.ok) throw new Error(`${path}: ${response.status}`);
                return new Uint8Array(await response.arrayBuffer());
            };
            return goldenAll(await open('gpu'), folders, read);
        }, some);
        const all = folders.length === EXPECTED.ok + EXPECTED.refused && ok + refused === some.length;
        const asExpected = some.length < folders.length || ok === EXPECTED.ok;
        if (wrong.length || !all || !asExpected) throw new Error(`${ok} equal, ${refused} refused, wrong: ${wrong.join('\n')}`);
        return `${ok} equal, ${refused} refused`;
    });
    await step('no errors on the pages', 5, async () => check());
});

await browse(WEBGPU, async (page) => {
    await step('a panic', 60, async () => {
        await page.goto(`${at}/test/blank.html`);
        const error = await page.evaluate(async () => {
            const { open } = await import('/pkg/wgmax.js');
            const { checked } = await import('/pkg/error.js');
            const { parts } = await open('gpu', { verify: true });
            return checked(parts.module.panicLater()).catch(({ code, message }) => ({ code, message }));
        });
        if (error?.code !== 'Panic' || !error.message.includes('a test asked for it')) throw new Error(JSON.stringify(error));
    });
});

// Each page has a browser of its own, so that a failure does not affect the next page.
await browse(WEBGPU, async (page) => {
    const check = errorsOf(page);
    await step('the page Verify', 60 + 6 * CASES, async () => {
        await page.goto(`${at}/verify.html?seed=20&cases=${CASES}&start`);
        const text = await says(page, 'verdict', /bit for bit|wrong|failed|lost|no GPU|nothing to verify/, 50 + 6 * CASES);
        const certificate = await page.evaluate(() => window.wgmaxVerify.certificate());
        if (!certificate?.good || certificate.cases !== CASES || certificate.devices[0].mismatches !== 0) throw new Error(`${text} ${JSON.stringify(certificate)?.slice(0, 2000)}`);
        if (pictures) await writeFile(join(pictures, 'certificate.json'), JSON.stringify(certificate, null, 2));
        await picture(page, 'verify');
        check();
        return text;
    });
    await step('a stop', 120, async () => {
        await page.goto(`${at}/verify.html?seed=20&cases=100000&start`);
        await says(page, 'verdict', /cases, /, 60);
        await page.click('#stop');
        const text = await says(page, 'verdict', /stopped/, 60);
        const [good, kind] = await page.evaluate(() => [window.wgmaxVerify.certificate().good, document.getElementById('verdict').className.trim()]);
        if (good !== null || kind !== 'verdict') throw new Error(`good: ${good}, ${kind}`);
        return text;
    });
    await step('a destroyed device', 180, async () => {
        await page.goto(`${at}/verify.html?seed=20&cases=100000&start`);
        await says(page, 'verdict', /cases, /, 60);
        await page.evaluate(() => window.wgmaxVerify.destroy());
        const text = await says(page, 'verdict', /lost the GPU/, 60);
        const link = await page.evaluate(() => window.wgmaxVerify.link());
        if (!link.endsWith('&verdict=the+GPU+was+lost')) throw new Error(link);
        // It starts again.
        await page.evaluate(() => (document.getElementById('cases').value = 5));
        await page.click('#start');
        await says(page, 'verdict', /5 cases of seed 20.*bit for bit/, 60);
        return text;
    });
});

await browse(WEBGPU, async (page) => {
    const check = errorsOf(page);
    const tryIt = async () => {
        await page.goto(`${at}/try.html`);
        return says(page, 'verdict', /bit for bit|differ|no /, 120);
    };
    await step('the page Try it', 180, async () => {
        const text = await tryIt();
        if (!/the same, bit for bit/.test(text)) throw new Error(text);
        await page.evaluate(() => {
            const slider = document.getElementById('width');
            slider.value = 31;
            slider.dispatchEvent(new Event('input'));
        });
        await says(page, 'verdict', /31 x 9.*the same, bit for bit/, 60);
        await picture(page, 'try');
        check();
        return text;
    });
    // Every verdict is about one choice, even while the page changes.
    await step('a slider is dragged', 180, async () => {
        await tryIt();
        const verdicts = await page.evaluate(async () => {
            const found = [];
            const verdict = document.getElementById('verdict');
            const observer = new MutationObserver(() => found.push(verdict.textContent));
            observer.observe(verdict, { childList: true });
            for (let i = 0; i < 60; i++) {
                const slider = document.getElementById(['width', 'height', 'stride'][i % 3]);
                slider.value = i % 3 === 2 ? 1 + (i % 4) : 3 + i / 3;
                slider.dispatchEvent(new Event('input'));
                if (i % 20 === 10) document.getElementById('sample').click();
                await new Promise((done) => setTimeout(done, 100));
            }
            observer.disconnect();
            return found;
        });
        check();
        const wrong = verdicts.filter((text) => !text.includes('the same, bit for bit'));
        if (wrong.length || !verdicts.length) throw new Error(`${wrong.length} of ${verdicts.length} verdicts: ${wrong[0]}`);
        return `${verdicts.length} verdicts`;
    });
    // Pictures of one size: the second is transparent where the first is not.
    await step('transparent pictures', 180, async () => {
        await tryIt();
        const seen = await page.evaluate(async () => {
            const found = [];
            const verdict = document.getElementById('verdict');
            const input = document.getElementById('file');
            for (const half of [0, 1]) {
                const image = new ImageData(61, 47);
                image.data.forEach((_, i) => {
                    const isSet = (i >> 2) % 61 < 30 === (half === 0);
                    image.data[i] = isSet ? (i % 4 === 3 ? i >> 3 : i * 7) & 255 : 0;
                });
                const canvas = new OffscreenCanvas(61, 47);
                canvas.getContext('2d').putImageData(image, 0, 0);
                const files = new DataTransfer();
                files.items.add(new File([await canvas.convertToBlob()], `${half}.png`, { type: 'image/png' }));
                verdict.textContent = '';
                input.files = files.files;
                input.dispatchEvent(new Event('change'));
                const size = document.getElementById('source-size');
                for (let i = 0; i < 300 && !(size.textContent === '61 x 47' && verdict.textContent); i++) await new Promise((done) => setTimeout(done, 100));
                const { data } = document.getElementById('source').getContext('2d').getImageData(0, 0, 61, 47);
                const alpha = [0, 0];
                data.forEach((byte, i) => i % 4 === 3 && (alpha[(i >> 2) % 61 < 30 ? 0 : 1] += byte));
                found.push([verdict.textContent, alpha.map((sum) => sum > 0)]);
            }
            return found;
        });
        check();
        for (const [half, [text, sides]] of seen.entries()) {
            if (!text.includes('the same, bit for bit')) throw new Error(text);
            if (sides[half] !== true || sides[1 - half] !== false) throw new Error(`picture ${half}: ${sides}`);
        }
        await picture(page, 'try-transparent');
        return seen[1][0];
    });
    await step('the page Speed', 600, async () => {
        await page.goto(`${at}/speed.html`);
        await page.select('#size', process.env.WGMAX_SPEED_SIZE ?? '16');
        await page.click('#start');
        const text = await says(page, 'verdict', /Done|failed|no /, 560);
        if (!/Done/.test(text)) throw new Error(text);
        console.log(await page.evaluate(() => window.wgmaxSpeed.markdown()));
        await picture(page, 'speed');
        const violations = [...await violationsOf(page, 'speed with results', 1280, 'light'), ...await violationsOf(page, 'speed with results', 1280, 'dark')];
        if (violations.length) throw new Error(violations.join('\n'));
        return text;
    });
});

await browse(WEBGPU, async (page) => {
    const check = errorsOf(page);
    await step('a check of five seconds', 120, async () => {
        // The site's folder, as any static host serves it.
        const site = await serveFolder(sitePath);
        await page.goto(`http://localhost:${site.address().port}/`);
        await page.click('#start');
        const text = await says(page, 'verdict', /bit for bit|wrong|lost|no GPU/, 60);
        await picture(page, 'index');
        site.close();
        check();
        if (!/all equal/.test(text)) throw new Error(text);
        return text;
    });
    // Each page before it has results, and with them.
    await step('the pages are accessible', 240, async () => {
        const found = [];
        const judge = async (...what) => found.push(...await violationsOf(page, ...what));
        for (const [width, height] of [[360, 740], [768, 1024], [1600, 1000]]) {
            for (const scheme of ['light', 'dark']) {
                await page.setViewport({ width, height });
                for (const name of ['index', 'verify', 'try', 'speed']) {
                    await page.goto(`${at}/${name}.html`);
                    await judge(name, width, scheme);
                }
                await page.goto(`${at}/verify.html?seed=7&cases=2&start`);
                await says(page, 'verdict', /bit for bit/, 60);
                await judge('verify with results', width, scheme);
                // The page looks as if a case were wrong.
                await page.evaluate(() => {
                    document.querySelector('.cell.some').classList.add('wrong');
                    document.getElementById('verdict').className = 'verdict bad';
                });
                await judge('verify with a wrong case', width, scheme);
                await page.goto(`${at}/try.html`);
                await says(page, 'verdict', /bit for bit/, 60);
                await judge('try with results', width, scheme);
            }
        }
        if (found.length) throw new Error(found.join('\n'));
    });
    await step('settings are in the URL', 120, async () => {
        await page.goto(`${at}/try.html?width=3&extremum=minPool&stride=2`);
        await says(page, 'verdict', /Windows of 3 x 9.*the same, bit for bit/, 60);
        await page.focus('#dilation');
        await page.keyboard.press('ArrowRight');
        const seen = await page.evaluate(() => location.search);
        if (seen !== '?width=3&extremum=minPool&stride=2&height=9&dilation=2') throw new Error(seen);
        await page.goto(`${at}/verify.html?seed=7&cases=3&adapter=A&verdict=all+equal&start`);
        await says(page, 'verdict', /3 cases of seed 7.*bit for bit/, 60);
        const [shared, link] = await page.evaluate(() => [document.getElementById('shared').textContent, window.wgmaxVerify.link()]);
        if (!shared.includes('on A: all equal') || !/seed=7&cases=3&adapter=.+&verdict=all\+equal$/.test(link)) throw new Error(`${shared} ${link}`);
        check();
    });
});

// Without WebGPU or without an adapter, the pages say so and use the CPU.
for (const [name, flags, script] of [
    ['a tab without WebGPU', [], () => Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined })],
    ['a tab without an adapter', ['--disable-gpu', '--disable-software-rasterizer'], () => {}],
]) {
    await browse(flags, async (page) => {
        await page.evaluateOnNewDocument(script);
        await step(name, 180, async () => {
            await page.goto(`${at}/verify.html?start`);
            const text = await says(page, 'verdict', /gives pages no GPU/, 60);
            await page.goto(`${at}/test/blank.html`);
            const found = await page.evaluate(async () => {
                const wgmax = await import('/pkg/wgmax.js');
                const code = await wgmax.open('gpu').catch((error) => error.code);
                const device = await wgmax.open('auto');
                const x = await device.tensor('f32', [3], [1, NaN, 2]);
                return [code, device.info.backend, await (await device.reduceMax(x, { nan: 'ignore' })).numbers()];
            });
            if (JSON.stringify(found) !== '["NoAdapter","cpu",[2]]') throw new Error(JSON.stringify(found));
            await page.goto(`${at}/try.html`);
            await says(page, 'verdict', /CPU alone/, 60);
            return text;
        });
    });
}

server.close();
finish();
