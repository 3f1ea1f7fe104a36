/**
 * Finding a block on a picture by a point, and marking blocks on it.
 *
 * @typedef {import('./draw.js').Picture} Picture
 * @typedef {import('./draw.js').Place} Place
 * @typedef {import('./spacetime.js').SpaceTime} SpaceTime
 */
import { box } from './draw.js';
import { svg } from './dom.js';

/**
 * The block at a point of the stage, or null.
 * @param {Picture | SpaceTime} picture @param {number} x @param {number} y
 * @param {number} position  of the clock
 * @returns {Place | null}
 */
export function placeAt(picture, x, y, position) {
  if (!('scene' in picture)) return picture.placeAt(x, y, position);
  const { cw, ch, cards, density } = picture.scene;
  const near = density.gap / 2 + 1;
  for (const { rank, x: left, y: top, buffers } of cards) {
    for (const { name, cells } of buffers) {
      const block = cells.findIndex((cell) => x >= left + cell.x - near
        && x <= left + cell.x + cw + near && y >= top + cell.y - near
        && y <= top + cell.y + ch + near);
      if (block >= 0) return { rank, buffer: name, block };
    }
  }
  return null;
}

/**
 * Outline some blocks until called again for the same kind.
 * @param {Picture | SpaceTime} picture @param {Place[]} places @param {string} kind
 */
export function outline(picture, places, kind) {
  const known = picture.outlines.querySelector(`.cp-outline-${kind}`);
  const path = known ?? picture.outlines.appendChild(svg('path', {
    class: `cp-outline cp-outline-${kind}`,
  }));
  if (!('scene' in picture)) {
    path.setAttribute('d', picture.outlineOf(places));
    return;
  }
  const { cw, ch } = picture.scene;
  path.setAttribute('d', places.map((place) => {
    const { x, y } = picture.corner(place);
    return box(x - 2.5, y - 2.5, cw + 5, ch + 5, picture.radius + 1);
  }).join(''));
}
