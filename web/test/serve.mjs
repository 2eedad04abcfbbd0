// Serves the pages: web/pages, and below them the package, the golden cases, what npm installed, and the
// answers of other libraries (docs/answers.html). Nothing else of the disk.
import { createServer } from 'node:http';
import { readFile, realpath } from 'node:fs/promises';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('..', import.meta.url));
const ROOTS = {
    pkg: join(web, 'pkg'),
    cases: resolve(web, '../tests/cases'),
    test: join(web, 'test'),
    peers: process.env.WGMAX_PEERS ?? join(web, 'peers'),
};
const TYPES = {
    '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css',
    '.wasm': 'application/wasm', '.json': 'application/json', '.png': 'image/png', '.svg': 'image/svg+xml',
};

/** The file of a URL's path; `undefined` if it leads out of its folder. */
async function fileOf(path) {
    const parts = decodeURIComponent(path).split('/').filter(Boolean);
    const pages = parts[0] === 'answers.html' ? resolve(web, '../docs') : join(web, 'pages');
    const root = ROOTS[parts[0]] ? ROOTS[parts.shift()] : pages;
    const file = join(root, ...(parts.length ? parts : ['index.html']));
    const real = await realpath(file);
    return real.startsWith((await realpath(root)) + sep) ? real : undefined;
}

/** A server of the pages on a port; 0 is any that is free. */
export function serve(port) {
    // With these a page may have threads, as onnxruntime-web uses them.
    const isolated = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
    return serverOf(port, fileOf, isolated);
}

/** A server of a folder, on any port. */
export function serveFolder(folder) {
    return serverOf(0, async (path) => join(folder, path === '/' ? 'index.html' : decodeURIComponent(path)));
}

async function serverOf(port, fileOf, headers = {}) {
    const server = createServer(async (request, response) => {
        try {
            const file = await fileOf(new URL(request.url, 'http://localhost').pathname);
            const content = await readFile(file);
            response.writeHead(200, {
                'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
                'cache-control': 'no-store',
                ...headers,
            });
            response.end(content);
        } catch {
            response.writeHead(404).end('not found');
        }
    });
    await new Promise((done) => server.listen(port, '127.0.0.1', done));
    return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const server = await serve(Number(process.argv[2] ?? 8080));
    console.log(`http://localhost:${server.address().port}`);
}
