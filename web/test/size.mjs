// The WebAssemblies are no larger than they may be, in bytes: as they are, and compressed by gzip.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const MAX = { gpu: [1_085_000, 399_000], cpu: [1_850_000, 585_000], verify: [2_670_000, 885_000] };

let good = true;
for (const [name, max] of Object.entries(MAX)) {
    const bytes = readFileSync(new URL(`../pkg/wasm/${name}_bg.wasm`, import.meta.url));
    const sizes = [bytes.length, gzipSync(bytes, { level: 9 }).length];
    const fits = sizes.every((size, i) => size <= max[i]);
    console.log(`${name}: ${sizes[0]} bytes (at most ${max[0]}), compressed ${sizes[1]} (at most ${max[1]})`);
    good &&= fits;
}
process.exit(good ? 0 : 1);
