/**
 * Loading the style of what is not needed for the first picture.
 */
import { html } from './dom.js';
import { ScheduleError } from './schedule.js';

/** @type {Map<string, Promise<unknown>>} */
const styled = new Map();

/**
 * A stylesheet, once for a page; a failure is not remembered. It stands in the body: instant
 * navigation clears from the head what the next page has not.
 * @param {URL} url
 * @returns {Promise<unknown>}
 */
function load({ href, pathname: path }) {
  let promise = styled.get(href);
  if (!promise) {
    promise = new Promise((resolve, reject) => {
      const link = html('link', { rel: 'stylesheet', href });
      link.addEventListener('load', resolve);
      link.addEventListener('error', () => {
        link.remove();
        styled.delete(href);
        reject(new ScheduleError('format', { path }, 'unreachable'));
      });
      document.body.append(link);
    });
    styled.set(href, promise);
  }
  return promise;
}

/** Of the bar of choices. */
export const barStyle = () => load(new URL('../css/player-bar.css', import.meta.url));

/** Of everything that a player shows when it is asked for more. */
export const style = () => Promise.all([
  barStyle(), load(new URL('../css/player-panels.css', import.meta.url)),
]);
