/**
 * Fetching schedules. What goes wrong becomes a ScheduleError.
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
    throw new ScheduleError('format', { path: url.pathname }, 'unreachable');
  }
  if (!response.ok) {
    const { status } = response;
    throw new ScheduleError('format', { path: url.pathname, status }, 'status');
  }
  return response.text();
}

/** @param {URL} url @param {AbortSignal} signal */
export const loadSchedule = async (url, signal) => parseSchedule(await read(url, signal));
