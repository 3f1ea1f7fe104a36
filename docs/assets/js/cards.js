/**
 * The inside of a rank's card: header, buffers, cells. No DOM; lengths in CSS pixels.
 *
 * @typedef {{name: string, blocks: number}} Row
 * @typedef {object} Density  how generously a card is drawn
 * @property {number} rank  how much nicer it is than the next one, for choosing
 * @property {number} pad
 * @property {number} head  height of the header; 0 puts the rank's name beside the cells
 * @property {number} font  size of the rank's name
 * @property {number} name  height of the line with a buffer's name; 0 leaves it out
 * @property {number} index  height of the line with block numbers; 0 leaves it out
 * @property {number} gap  between cells
 * @property {number} chunkGap  between chunks, on top
 * @property {number} seam  between two buffers on one line
 * @property {number} line  between lines of cells
 * @typedef {object} Shape
 * @property {Density} density
 * @property {number} perLine  most cells on one line
 * @property {number} cw  cell width
 * @property {number} ch  cell height
 * @property {number} chunk  cells that belong together
 * @property {number} malus  how much uglier it is than others
 * @typedef {{x: number, y: number}} Point
 * @typedef {{name: string, x: number, y: number, cells: Point[]}} Placed  a buffer inside a card:
 *   where its name stands (y = -1: nowhere) and its cells by their left top corner
 */

/** @type {Density[]} */
export const DENSITIES = [
  {
    rank: 0.5, pad: 12, head: 31, font: 15, name: 19, index: 16,
    gap: 5, chunkGap: 7, seam: 16, line: 7,
  },
  {
    rank: 0.4, pad: 9, head: 27, font: 13, name: 17, index: 14,
    gap: 4, chunkGap: 5, seam: 12, line: 5,
  },
  {
    rank: 0.15, pad: 7, head: 24, font: 12, name: 15, index: 0,
    gap: 2, chunkGap: 4, seam: 9, line: 3,
  },
  {
    rank: 0, pad: 5, head: 20, font: 11, name: 0, index: 0,
    gap: 1, chunkGap: 3, seam: 6, line: 4,
  },
];

/** Cards of a list: one flat row per rank. @type {Density} */
export const FLAT = {
  rank: 0, pad: 3, head: 0, font: 11, name: 0, index: 0, gap: 1, chunkGap: 2, seam: 6, line: 2,
};

/** Cards of the matrix. @type {Density[]} */
export const MATRICES = [
  { rank: 0.2, pad: 2, head: 0, font: 12, name: 0, index: 0, gap: 3, chunkGap: 4, seam: 18, line: 3 },
  { rank: 0, pad: 1, head: 0, font: 11, name: 0, index: 0, gap: 1, chunkGap: 1, seam: 8, line: 2 },
];

/** Width of the rank's name beside the cells of a flat card. */
export const FLAT_LABEL = 62;

/** A rough width of a text. @param {string} text @param {number} size */
export const textWidth = (text, size) =>
  [...text].reduce((sum, c) => sum + (c > '\u2e80' ? 1 : 0.58), 0) * size;

/** @param {number} cells @param {Shape} shape */
const lineWidth = (cells, { cw, chunk, density }) =>
  cells * (cw + density.gap) - density.gap + (Math.ceil(cells / chunk) - 1) * density.chunkGap;

/**
 * Where the buffers of a card go: as many on a line as there is room for.
 * @param {Row[]} rows @param {Shape} shape
 */
function flow(rows, shape) {
  const { density: d, perLine, ch } = shape;
  const named = d.name > 0 && rows.length > 1 ? d.name : 0;
  const pitch = ch + (d.index ? d.index + 2 : d.gap);
  const left = d.head ? d.pad : FLAT_LABEL;
  const total = rows.reduce((sum, { blocks }) => sum + blocks, 0);
  const seams = perLine >= total ? (rows.length - 1) * d.seam : 0;
  const room = left + lineWidth(perLine, shape) + seams + 1;
  let [x, y, lineHeight, right, lines] = [left, d.head || d.pad, 0, left, 0];
  const places = rows.map(({ name, blocks }) => {
    const perRow = Math.min(blocks, perLine);
    const width = Math.max(lineWidth(perRow, shape), named && textWidth(name, 11));
    if (x > left && x + width > room) {
      x = left;
      y += lineHeight + d.line;
      lineHeight = 0;
    }
    const place = { name, blocks, perRow, x, y, top: y + named, named: named > 0 };
    const rowsOfCells = Math.ceil(blocks / perRow);
    if (x === left) lines += rowsOfCells;
    lineHeight = Math.max(lineHeight, named + rowsOfCells * pitch - (d.index ? 2 : d.gap));
    right = Math.max(right, x + width);
    x += width + d.seam;
    return place;
  });
  return { places, pitch, right, bottom: y + lineHeight, lines };
}

/**
 * The size of a card, and how many lines of cells it has.
 * @param {Row[]} rows @param {Shape} shape @param {boolean} root  leave room for the root's badge
 */
export function cardSize(rows, shape, root) {
  const { density: d } = shape;
  const { right, bottom, lines } = flow(rows, shape);
  const single = rows.length === 1 && d.index > 0 ? textWidth(rows[0].name, 12) + 14 : 0;
  const header = d.head ? 2 * d.pad + 16 + d.font * 3.6 + (root ? 26 : 0) + single : 0;
  return {
    w: Math.ceil(Math.max(right + d.pad, header)),
    h: Math.ceil(bottom + (d.index ? 5 : d.pad)),
    lines,
  };
}

/**
 * The buffers of a card with every cell in its place.
 * @param {Row[]} rows @param {Shape} shape
 * @returns {Placed[]}
 */
export function placeBuffers(rows, shape) {
  const { density: d, cw, chunk } = shape;
  const { places, pitch } = flow(rows, shape);
  return places.map(({ name, blocks, perRow, x, y, top, named }) => ({
    name,
    x,
    y: named ? y : -1,
    cells: Array.from({ length: blocks }, (_, i) => ({
      x: x + (i % perRow) * (cw + d.gap) + Math.floor((i % perRow) / chunk) * d.chunkGap,
      y: top + Math.floor(i / perRow) * pitch,
    })),
  }));
}
