/**
 * Icons as inline SVG, 24 x 24, drawn in the colour of the text.
 */

const FIRST = '<path d="M3 5h2.2v14H3zM13.3 5.6v12.8c0 .8-.9 1.2-1.5.8l-5.6-6.4a1 1 0 0 1 0-1.6l5.6-6.4c.6-.4 1.5 0 1.5.8zM22 5.6v12.8c0 .8-.9 1.2-1.5.8l-5.6-6.4a1 1 0 0 1 0-1.6l5.6-6.4c.6-.4 1.5 0 1.5.8z"/>';
const BACK = '<path d="M16 5h2.2v14H16zM13.5 5.6v12.8c0 .8-1 1.3-1.6.8L3.7 12.8a1 1 0 0 1 0-1.6l8.2-6.4c.6-.5 1.6 0 1.6.8z"/>';

/** @param {string} shape */
const mirrored = (shape) => `<g transform="matrix(-1 0 0 1 24 0)">${shape}</g>`;

const SHAPES = {
  first: FIRST,
  back: BACK,
  forward: mirrored(BACK),
  last: mirrored(FIRST),
  play: '<path d="M7 4.7v14.6c0 .8.9 1.3 1.6.9l11.6-7.3a1 1 0 0 0 0-1.8L8.6 3.8C7.9 3.4 7 3.9 7 4.7z"/>',
  pause: '<path d="M6.5 4.5h3.7v15H6.5zM13.8 4.5h3.7v15h-3.7z"/>',
  loop: '<path d="M17 2.6 20.9 6.5 17 10.4V7.6H8A3.5 3.5 0 0 0 4.5 11.1V12H2.4v-.9A5.6 5.6 0 0 1 8 5.4h9zM7 21.4 3.1 17.5 7 13.6v2.8h9a3.5 3.5 0 0 0 3.5-3.5V12h2.1v.9a5.6 5.6 0 0 1-5.6 5.7H7z"/>',
  help: '<path d="M12 17.2a1.3 1.3 0 1 1 0 2.6 1.3 1.3 0 0 1 0-2.6zM12 4.2c2.9 0 4.9 1.8 4.9 4.3 0 1.9-1 3-2.4 4-1.1.8-1.4 1.2-1.4 2.1v.4h-2.3v-.6c0-1.7.8-2.6 2-3.5 1.1-.8 1.6-1.3 1.6-2.3 0-1.3-1-2.1-2.5-2.1-1.5 0-2.5.9-2.7 2.4H6.9c.2-2.9 2.2-4.7 5.1-4.7z"/>',
  minus: '<path d="M5 10.9h14v2.2H5z"/>',
  plus: '<path d="M10.9 5h2.2v5.9H19v2.2h-5.9V19h-2.2v-5.9H5v-2.2h5.9z"/>',
  chevron: '<path d="M6.3 8.8 12 14.5l5.7-5.7 1.5 1.5L12 17.5l-7.2-7.2z"/>',
  more: '<path d="M5 10a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM12 10a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM19 10a2 2 0 1 1 0 4 2 2 0 0 1 0-4z"/>',
  close: '<path d="M6.4 4.9 12 10.5l5.6-5.6 1.5 1.5-5.6 5.6 5.6 5.6-1.5 1.5-5.6-5.6-5.6 5.6-1.5-1.5 5.6-5.6-5.6-5.6z"/>',
};

/** @typedef {keyof typeof SHAPES} Icon */

/**
 * @param {Icon} name
 * @returns {string} markup, hidden from assistive technology
 */
export const icon = (name) => '<svg class="cp-icon" viewBox="0 0 24 24" width="20" height="20" '
  + `aria-hidden="true" focusable="false">${SHAPES[name]}</svg>`;
