/**
 * Fetching schedules and the catalogue. What goes wrong becomes one Chinese sentence.
 */
import { parseCatalog } from './catalog.js';
import { ScheduleError, parseSchedule } from './schedule.js';

/**
 * @param {URL} url @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
async function read(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ScheduleError('format', `读不到 ${url.pathname}：网络不通，或者页面是直接从磁盘打开的。`);
  }
  if (!response.ok) {
    throw new ScheduleError('format', `读不到 ${url.pathname}：服务器回答 ${response.status}。`);
  }
  return response.text();
}

/** @param {URL} url @param {AbortSignal} signal */
export const loadSchedule = async (url, signal) => parseSchedule(await read(url, signal));

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
