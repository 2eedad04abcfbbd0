// The folders of golden cases that have a `case.json`.
import { readdir } from 'node:fs/promises';

export async function caseFolders(root) {
    const found = await readdir(root, { recursive: true });
    return found.filter((path) => path.endsWith('/case.json')).map((path) => path.slice(0, -'/case.json'.length)).sort();
}
