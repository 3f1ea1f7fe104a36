/**
 * The schedules that the tests read: the folder named by SCHEDULES, else the published one.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { fileOf, parametersOf, parseCatalog } from '../../docs/assets/js/catalog.js';

const FOLDER = process.env.SCHEDULES ? `${pathToFileURL(process.env.SCHEDULES)}/`
  : new URL('../../docs/assets/schedules/', import.meta.url);

/** @param {string} path */
export const read = (path) => readFileSync(new URL(path, FOLDER), 'utf8');

/**
 * The catalogue as it is in the file.
 * @returns {{primitives: {slug: string, algorithms: object[]}[]}}
 */
export const catalog = () => JSON.parse(read('catalog.json'));

/**
 * Every published file with the default parameters, up to N = 16: [primitive/algorithm, n, text].
 * @returns {[string, number, string][]}
 */
export const published = () => parseCatalog(catalog()).flatMap((primitive) => (
  primitive.algorithms.flatMap((algorithm) => algorithm.ranks.filter((n) => n <= 16).map((n) => (
    [`${primitive.slug}/${algorithm.slug}`, n,
      read(fileOf(algorithm, n, parametersOf(algorithm, n, {})))])))));
