/**
 * Fetching schedules. What goes wrong becomes one Chinese sentence.
 */
import { ScheduleError, parseSchedule } from './schedule.js';

/**
 * @param {URL} url @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
export async function read(url, signal) {
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
