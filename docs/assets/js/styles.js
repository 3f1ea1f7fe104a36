/**
 * Loading what is not needed for the first picture.
 */
import { html } from './dom.js';

/** @type {Promise<unknown> | null} */
let styled = null;

/**
 * The stylesheet of everything that a player shows when it is asked for more, once for a page; a
 * failure is not remembered.
 * @returns {Promise<unknown>}
 */
export function style() {
  styled ??= new Promise((resolve, reject) => {
    const link = html('link', {
      rel: 'stylesheet', href: new URL('../css/player-panels.css', import.meta.url).href,
    });
    link.addEventListener('load', resolve);
    link.addEventListener('error', () => {
      link.remove();
      styled = null;
      reject(new Error('player-panels.css'));
    });
    document.head.append(link);
  });
  return styled;
}
