// A project for each bundler is built as its users build it, and opened in headless Chromium: the page
// computes on the GPU and on the CPU. With names as arguments only these.
import { spawnSync } from 'node:child_process';
import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build as esbuild } from 'esbuild';
import { build as vite, createServer } from 'vite';
import webpack from 'webpack';

import { WEBGPU, browse, errorsOf, finish, step } from './chromium.mjs';
import { serveFolder } from './serve.mjs';
import { within } from './within.mjs';

const projects = fileURLToPath(new URL('bundlers/', import.meta.url));
const DEVICES = '["webgpu",5,9],["cpu",5,9]';
/** What a page says, by the bundler: these two find the worker too. */
const expected = (name) => (['vite', 'webpack'].includes(name) ? `[${DEVICES},["worker",5,9]]` : `[${DEVICES}]`);

/** A page that loads what was built as `main.js`. */
const page = (dist) => writeFile(join(dist, 'index.html'), '<!doctype html>\n<link rel="icon" href="data:,">\n<body><script type="module" src="main.js"></script></body>\n');

/** What builds a project in a folder. */
const BUNDLERS = {
    vite: (root) => vite({ root, logLevel: 'error' }),
    async webpack(context) {
        const { default: config } = await import(join(context, 'webpack.config.js'));
        const stats = await new Promise((done, fail) => webpack({ context, ...config, output: { ...config.output, path: join(context, 'dist') } }, (error, stats) => (error ? fail(error) : done(stats))));
        if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
        await page(join(context, 'dist'));
    },
    async rollup(cwd) {
        const command = fileURLToPath(new URL('../node_modules/rollup/dist/bin/rollup', import.meta.url));
        const { status, stderr } = spawnSync(process.execPath, [command, '--config', '--silent'], { cwd, encoding: 'utf8' });
        if (status !== 0) throw new Error(stderr);
        await page(join(cwd, 'dist'));
    },
    async esbuild(absWorkingDir) {
        await esbuild({ absWorkingDir, entryPoints: ['main.js'], bundle: true, format: 'esm', outdir: 'dist', loader: { '.wasm': 'file' }, logLevel: 'silent' });
        await page(join(absWorkingDir, 'dist'));
    },
};

/** Opens a page, and compares what it says. */
async function opens(url, expected) {
    await browse(WEBGPU, async (tab) => {
        const check = errorsOf(tab);
        await tab.goto(url);
        await tab.waitForFunction(() => document.body?.textContent.trim().startsWith('[['), { timeout: 60_000 }).catch(() => {});
        check();
        const text = await tab.evaluate(() => document.body.textContent.trim());
        if (text !== expected) throw new Error(`the page says ${text}`);
    });
}

/** Fails if a bundle asks for a module of Node. */
async function isForBrowsers(dist) {
    for (const file of await readdir(dist, { recursive: true })) {
        if (!/\.m?js$/.test(file)) continue;
        if (/["'`]node:|import\(["'`]webgpu/.test(await readFile(join(dist, file), 'utf8'))) throw new Error(`${file} asks for a module of Node`);
    }
}

// As npm installs it: a link would be taken for a part of the project.
const installed = join(projects, 'node_modules/wgmax');
await rm(installed, { recursive: true, force: true });
await cp(fileURLToPath(new URL('../pkg', import.meta.url)), installed, { recursive: true });

const chosen = process.argv.slice(2);
for (const [name, build] of Object.entries(BUNDLERS)) {
    if (chosen.length && !chosen.includes(name)) continue;
    const folder = join(projects, name);
    const dist = join(folder, 'dist');
    await step(`a project of ${name}`, 180, async () => {
        await rm(dist, { recursive: true, force: true });
        await build(folder);
        await isForBrowsers(dist);
        const server = await serveFolder(dist);
        await opens(`http://localhost:${server.address().port}/`, expected(name)).finally(() => server.close());
    });
    if (name !== 'vite') continue;
    await step('a project of vite as it is developed', 180, async () => {
        const server = await createServer({ root: folder, logLevel: 'error', server: { port: 0 }, optimizeDeps: { force: true } });
        await server.listen();
        await opens(server.resolvedUrls.local[0], expected(name)).finally(() => within(20, 'closing', server.close()));
    });
}
finish();
