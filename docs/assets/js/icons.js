/**
 * Icons as inline SVG, 24 x 24, drawn with a round pen in the colour of the text.
 */

const SHAPES = {
  first: 'M4 6v12M12 7v10l-6-5zM20 7v10l-6-5z',
  back: 'M17 6v12M13 6v12l-8-6z',
  forward: 'M7 6v12M11 6v12l8-6z',
  last: 'M20 6v12M12 7v10l6-5zM4 7v10l6-5z',
  play: 'M8 5v14l11-7z',
  pause: 'M7 6h2v12H7zM15 6h2v12h-2z',
  loop: 'M18 3l3 3-3 3M3 11.5a5.5 5.5 0 0 1 5.5-5.5H21M6 21l-3-3 3-3M21 12.5a5.5 5.5 0 0 1-5.5 5.5H3',
  help: 'M8.5 8.5a3.5 3.5 0 1 1 5.3 3c-1.2.7-1.8 1.4-1.8 2.7M12 18.4v.1',
  minus: 'M6 12h12',
  plus: 'M6 12h12M12 6v12',
  chevron: 'M6 9.5l6 6 6-6',
  more: 'M5 12h.1M12 12h.1M19 12h.1',
  close: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
};

/** @typedef {keyof typeof SHAPES} Icon */

/** @type {Icon[]} */
const HOLLOW = ['loop', 'help', 'chevron'];

/**
 * @param {Icon} name
 * @returns {string} markup, hidden from assistive technology
 */
export const icon = (name) => '<svg class="cp-icon" viewBox="0 0 24 24" width="20" height="20" '
  + 'aria-hidden="true" focusable="false" stroke="currentColor" stroke-linecap="round" '
  + `stroke-linejoin="round" stroke-width="${name === 'more' ? 3.6 : 2}"><path d="${SHAPES[name]}"${
    HOLLOW.includes(name) ? ' fill="none"' : ''}/></svg>`;
