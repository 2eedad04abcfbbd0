// The types of the package are as test/types.mts uses them, and with a new library test/using.mts: for each
// TypeScript, with WebGPU's types and without, and with the newest library and an older one. The package's own
// files are checked too. TypeScript 7 has WebGPU in its own library, which `@webgpu/types` contradicts: errors in
// that package are not ours.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('..', import.meta.url));
let failed = 0;
for (const [version, command] of [['5.9', 'typescript/bin/tsc'], ['7', 'typescript7/bin/tsc']]) {
    for (const types of ['@webgpu/types', '']) {
        for (const lib of ['es2022,dom', 'es2022,dom,esnext']) {
            const { stdout, stderr, status } = spawnSync(process.execPath, [
                `node_modules/${command}`, '--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022',
                '--module', 'nodenext', '--lib', lib, ...(types ? ['--types', types] : ['--typeRoots', 'pages']), 'test/types.mts',
                ...(lib.includes('esnext') ? ['test/using.mts'] : []),
            ], { cwd: web, encoding: 'utf8' });
            const foreign = /^node_modules\/(@webgpu\/types|typescript|@typescript)/;
            const lines = (stdout + stderr).split('\n').filter((line) => line && !foreign.test(line) && !line.startsWith(' '));
            const isGood = lines.length === 0 && (status === 0 || (version === '7' && types && stdout.includes('error TS')));
            lines.forEach((line) => console.log(line));
            console.log(`${isGood ? 'ok    ' : 'FAILED'}  TypeScript ${version}, library ${lib}, ${types ? `with ${types}` : 'without WebGPU'}`);
            failed += !isGood;
        }
    }
}
process.exit(failed ? 1 : 0);
