/**
 * The panel 「比较」 of the player: a race of the primitive on the stage at its N, with the present
 * algorithm in the first lane.
 *
 * @typedef {import('../host.js').Host} Host
 */
import { bySlug } from '../catalog.js';
import { html } from '../dom.js';
import { MOST, candidates } from '../race.js';
import { RaceView, stylesheet } from '../race-view.js';

/**
 * Who races when the panel opens: the algorithm on the stage, then others of the catalogue.
 * @param {Host} host
 */
function lineUpOf(host) {
  const { primitive, algorithm, ranks } = host.choice;
  const entry = host.catalog && bySlug(host.catalog.entries, primitive);
  const able = entry ? candidates(entry, ranks).filter(({ off }) => !off) : [];
  const others = able.map(({ slug }) => slug).filter((slug) => slug !== algorithm);
  return { primitive, ranks, algorithms: [algorithm, ...others].slice(0, MOST - 1) };
}

/**
 * @param {Host} host @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function open(host, signal) {
  if (!host.catalog) {
    return html('p', { class: 'cp-hint' }, '读不到算法目录，没有别的算法可以比。');
  }
  const { link, arrived } = stylesheet(signal);
  const box = html('div', { class: 'cp-compare' }, link);
  let shown = '';
  const key = () => {
    const { primitive, algorithm, ranks } = host.choice;
    return `${primitive}/${algorithm}/${ranks}`;
  };
  arrived.then(() => {
    if (signal.aborted || !host.catalog) return;
    shown = key();
    const view = new RaceView({ catalog: host.catalog, state: lineUpOf(host) }, signal);
    box.append(view.node);
    host.addEventListener('shown', () => {
      // A schedule that was broken on purpose is still the same choice.
      if (key() === shown) return;
      shown = key();
      view.show(lineUpOf(host));
    }, { signal });
  });
  return box;
}
