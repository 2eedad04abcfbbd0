// The types of the package are as test/types.mts uses them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('..', import.meta.url));
const { status } = spawnSync(process.execPath, [
    'node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext',
    '--lib', 'es2022,dom,esnext', '--types', '@webgpu/types', 'test/types.mts',
], { cwd: web, stdio: 'inherit' });
process.exit(status ?? 1);
