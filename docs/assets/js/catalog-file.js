/**
 * Fetching the catalogue.
 */
import { parseCatalog } from './catalog.js';
import { read } from './files.js';

/** @type {Map<string, Promise<import('./catalog.js').PrimitiveEntry[]>>} */
const catalogs = new Map();

/**
 * The catalogue, read once per page; a failure is not remembered.
 * @param {URL} url
 */
export function loadCatalog(url) {
  let promise = catalogs.get(url.href);
  if (!promise) {
    promise = read(url, new AbortController().signal).then((text) => {
      let data;
      try {
        data = JSON.parse(text);
      } catch {
        data = null;
      }
      return parseCatalog(data);
    });
    catalogs.set(url.href, promise);
    promise.catch(() => catalogs.delete(url.href));
  }
  return promise;
}
