/**
 * The schedules that the tests read: the folder named by SCHEDULES, else the published one.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const FOLDER = process.env.SCHEDULES ? `${pathToFileURL(process.env.SCHEDULES)}/`
  : new URL('../../docs/assets/schedules/', import.meta.url);

export const read = (path) => readFileSync(new URL(path, FOLDER), 'utf8');

export const catalog = () => JSON.parse(read('catalog.json'));

/** Every published file: [primitive/algorithm, n, text]. */
export const published = () => catalog().primitives.flatMap((primitive) => (
  primitive.algorithms.flatMap((algorithm) => algorithm.ranks.map((n) => (
    [`${primitive.slug}/${algorithm.slug}`, n, read(algorithm.file.replace('{ranks}', n))])))));
