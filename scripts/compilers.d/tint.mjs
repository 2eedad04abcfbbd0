// Compiles WGSL as Chromium does: by Dawn for Node, the npm package `webgpu`.
//
//     node tint.mjs FOLDER FILE...      FOLDER has node_modules/webgpu
//
// One line a file: the file, `accepted` or `refused`, and Tint's messages, after tabs.
//
// The device is Dawn's null device, which has no driver, with WebGPU's default limits. Tint reads the
// text, checks it (uniformity, limits and layout included) and gives its messages. No driver compiles
// the shader, which would take up to minutes and gigabytes on software.

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, ...files] = process.argv.slice(2);
const module = path.resolve(folder, 'node_modules/webgpu/index.js');
const { create } = await import(pathToFileURL(module));
// Kept here for good: promises of an instance that was collected are never settled.
globalThis.gpu = create(['backend=null']);
const adapter = await gpu.requestAdapter();
if (!adapter) throw new Error('Dawn has no null device');
const device = await adapter.requestDevice();

for (const file of files) {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code: fs.readFileSync(file, 'utf8') });
  const { messages } = await module.getCompilationInfo();
  const lines = messages.map((m) => `${m.lineNum}:${m.linePos}: ${m.type}: ${m.message}`);
  try {
    const compute = { module, entryPoint: 'main' };
    await device.createComputePipelineAsync({ layout: 'auto', compute });
  } catch (error) {
    lines.push(error.message);
  }
  const error = await device.popErrorScope();
  if (error) lines.push(error.message);
  const answer = lines.length ? 'refused' : 'accepted';
  const words = lines.map((line) => line.replace(/\s+/g, ' '));
  fs.writeSync(1, [file, answer, ...words].join('\t') + '\n');
}
// Dawn's threads would keep the process alive.
process.exit(0);
