/**
 * Where the cards of the ranks stand: ring, tree, star, line, groups, list, matrix. No DOM.
 *
 * An arrangement takes the sizes of the cards and the room, and returns the centres of the cards
 * and the height it needs, or null where the cards do not fit.
 *
 * @typedef {{x: number, y: number}} Point
 * @typedef {object} Room
 * @property {number} width
 * @property {number} height  preferred
 * @property {number} most  the greatest height
 * @typedef {{w: number, h: number, lines: number}} Size
 * @typedef {{x: number, y: number, w: number, h: number}} Frame  around the ranks of a node
 * @typedef {{centres: Point[], height: number, broken?: boolean, frames?: Frame[]}} Placement
 *   broken: a level of a tree takes several rows
 * @typedef {(sizes: Size[], room: Room) => Placement | null} Arrange
 */

const NARROW = 600;

/** The part of the stage that cards on an ellipse may cover. */
const CROWDED = 0.36;

/** Room for the arcs beside a list. */
export const GUTTER = 40;

/** Room above a list for the numbers of the blocks, above a matrix for the buffers' names too. */
const LIST_HEAD = 12;
const MATRIX_HEAD = 30;

/** Inside the frame of a node: distance to the cards, room for its name. */
const FRAME_PAD = 12;
const FRAME_HEAD = 24;

/**
 * Distances to the edge and between cards; a message is seen in the gaps, small screens have
 * little to spare.
 * @param {Room} room
 */
const spacing = ({ width }) => (
  width < NARROW ? { edge: 8, x: 24, y: 24 } : { edge: 14, x: 36, y: 36 });

/**
 * Whether two cards keep their distance.
 * @param {Point} a @param {Size} s @param {Point} b @param {Size} t @param {Point} gap
 */
const apart = (a, s, b, t, gap) => Math.abs(a.x - b.x) >= (s.w + t.w) / 2 + gap.x
  || Math.abs(a.y - b.y) >= (s.h + t.h) / 2 + gap.y;

/** @param {Point} c @param {Size} s @param {number} width @param {number} height */
const fits = (c, s, width, height) => c.x - s.w / 2 >= 4 && c.x + s.w / 2 <= width - 4
  && c.y - s.h / 2 >= 4 && c.y + s.h / 2 <= height - 4;

/**
 * On an ellipse, clockwise from the top; `hub` stands in the middle instead.
 * @param {number} [hub]
 * @returns {Arrange}
 */
export const ellipse = (hub) => (sizes, room) => {
  const around = sizes.map((_, rank) => rank).filter((rank) => rank !== hub);
  const gap = spacing(room);
  const { edge } = gap;
  const w = Math.max(...around.map((rank) => sizes[rank].w));
  const h = Math.max(...around.map((rank) => sizes[rank].h));
  const flat = around.length === 2 && hub === undefined;
  // Cards that fill the stage would stand in each other's way.
  if (w * h * around.length > CROWDED * room.width * room.height) return null;
  for (let height = room.height; height <= Math.min(room.most, 1.6 * room.height); height += 40) {
    const ry = (height - h) / 2 - edge;
    if (ry < 0) continue;
    for (const flatness of [1.8, 2.6]) {
      const rx = Math.min((room.width - w) / 2 - edge, flatness * Math.max(ry, 120));
      const centre = { x: room.width / 2, y: height / 2 };
      /** @type {Point[]} */
      const centres = Array(sizes.length).fill(centre);
      around.forEach((rank, i) => {
        const angle = 2 * Math.PI * (i / around.length) + (flat ? Math.PI : -Math.PI / 2);
        centres[rank] = {
          x: centre.x + rx * Math.cos(angle) * (flat ? 0.8 : 1), y: centre.y + ry * Math.sin(angle),
        };
      });
      const clear = centres.every((a, i) => fits(a, sizes[i], room.width, height)
        && centres.every((b, j) => j <= i || apart(a, sizes[i], b, sizes[j], gap)));
      if (clear) return { centres, height };
    }
  }
  return null;
};

/**
 * Rows of cards from top to bottom, each row spread over the width.
 * @param {number[][]} rows  ranks, left to right
 * @param {(row: number) => number} space  least distance below a row
 * @param {Size[]} sizes @param {Room} room
 * @param {{spread?: number, pin?: boolean}} [options]  spread: the greatest distance between two
 *   cards of a row; pin: rows of two stand at the outer ends
 * @returns {Placement | null}
 */
function stack(rows, space, sizes, room, { spread = 90, pin = false } = {}) {
  const { edge, x: gapX } = spacing(room);
  const usable = room.width - 2 * edge;
  const heights = rows.map((row) => Math.max(...row.map((rank) => sizes[rank].h)));
  const spaces = rows.map((_, i) => (i < rows.length - 1 ? space(i) : 0));
  const natural = heights.reduce((a, b) => a + b, 0) + spaces.reduce((a, b) => a + b, 0) + 2 * edge;
  if (natural > room.most) return null;
  const height = Math.max(room.height, natural);
  const slack = rows.length > 1 ? Math.min((height - natural) / (rows.length - 1), 60) : 0;
  const widths = rows.map((row) => row.reduce((sum, rank) => sum + sizes[rank].w, 0));
  const least = Math.min(gapX, 16);
  if (rows.some((row, i) => widths[i] + (row.length - 1) * least > usable)) return null;
  const broadest = Math.max(...rows.map((row, i) => widths[i] + (row.length - 1)
    * Math.min(spread, (usable - widths[i]) / Math.max(1, row.length - 1))));
  /** @type {Point[]} */
  const centres = Array(sizes.length);
  let y = (height - natural - slack * (rows.length - 1)) / 2 + edge;
  rows.forEach((row, i) => {
    const free = (pin && row.length === 2 ? broadest : usable) - widths[i];
    const gap = row.length > 1
      ? Math.min(pin && row.length === 2 ? Infinity : spread, free / (row.length - 1)) : 0;
    let x = (room.width - widths[i] - gap * (row.length - 1)) / 2;
    for (const rank of row) {
      centres[rank] = { x: x + sizes[rank].w / 2, y: y + heights[i] / 2 };
      x += sizes[rank].w + gap;
    }
    y += heights[i] + spaces[i] + slack;
  });
  return { centres, height };
}

/**
 * Clockwise along a rectangle: a row on top, `sides` rows of two, a row at the bottom.
 * @param {number} n @param {number} sides
 * @returns {Arrange}
 */
export const rectangle = (n, sides) => (sizes, room) => {
  const top = Math.ceil((n - 2 * sides) / 2);
  // With no row on top, rank 0 still belongs at the top left.
  const clockwise = Array.from({ length: n }, (_, i) => (top === 0 ? (i + 1) % n : i));
  const rows = [clockwise.slice(0, top)];
  for (let i = 0; i < sides; i += 1) rows.push([clockwise[n - 1 - i], clockwise[top + i]]);
  rows.push(clockwise.slice(top + sides, n - sides).reverse());
  const { x, y } = spacing(room);
  const widest = Math.max(...rows.map(
    (row) => row.reduce((sum, rank) => sum + sizes[rank].w + x, -x)));
  if (widest > room.width) return null;
  return stack(rows.filter((row) => row.length), () => y, sizes, room,
    { pin: true, spread: sides ? 130 : 90 });
};

/**
 * Levels of a tree; a level that is too broad is broken into rows.
 * @param {number[][]} levels
 * @returns {Arrange}
 */
export const tree = (levels) => (sizes, room) => {
  const usable = room.width - 2 * spacing(room).edge;
  /** @type {number[][]} */
  const rows = [];
  /** @type {number[]} */
  const spaces = [];
  for (const level of levels) {
    const total = level.reduce((sum, rank) => sum + sizes[rank].w + 16, -16);
    const parts = Math.min(level.length, Math.ceil(total / usable));
    if (parts > 1 && levels.length > 2 && room.width >= NARROW) return null;
    const size = Math.ceil(level.length / parts);
    for (let i = 0; i < level.length; i += size) {
      rows.push(level.slice(i, i + size));
      spaces.push(14);
    }
    spaces[spaces.length - 1] = 44;
  }
  const placed = stack(rows, (i) => spaces[i], sizes, room, { spread: 70 });
  return placed && { ...placed, broken: rows.length > levels.length };
};

/**
 * Rows that are read left to right, then right to left, so that neighbours stay neighbours.
 * @param {number} n @param {number} perRow
 * @returns {Arrange}
 */
export const snake = (n, perRow) => (sizes, room) => {
  const rows = [];
  for (let i = 0; i < n; i += perRow) {
    const row = Array.from({ length: Math.min(perRow, n - i) }, (_, j) => i + j);
    rows.push(rows.length % 2 ? row.reverse() : row);
  }
  return stack(rows, () => spacing(room).y, sizes, room, { spread: 60 });
};

/**
 * One below the other, with room beside and above.
 * @param {number[]} order @param {number} gutter @param {number} head @param {number} most  the
 *   greatest distance between two rows
 * @returns {Arrange}
 */
const rows = (order, gutter, head, most) => (sizes, room) => {
  const { edge } = spacing(room);
  const gap = 5;
  const natural = sizes.reduce((sum, size) => sum + size.h + gap, -gap) + 2 * edge + head;
  const widest = Math.max(...sizes.map((size) => size.w));
  if (natural > room.most || widest + gutter + edge + 2 > room.width) return null;
  const height = Math.max(room.height, natural);
  const slack = Math.min((height - natural) / sizes.length, most);
  let y = (height - natural - slack * (sizes.length - 1)) / 2 + edge + head;
  const left = Math.max(edge, (room.width - gutter - widest) / 2);
  /** @type {Point[]} */
  const centres = Array(sizes.length);
  for (const rank of order) {
    centres[rank] = { x: left + sizes[rank].w / 2, y: y + sizes[rank].h / 2 };
    y += sizes[rank].h + gap + slack;
  }
  return { centres, height };
};

/**
 * One below the other, with room for arcs on the right.
 * @param {number[]} order
 */
export const list = (order) => rows(order, GUTTER, LIST_HEAD, 14);

/**
 * Rank by block: blocks move from row to row along their column.
 * @param {number[]} order
 */
export const matrix = (order) => rows(order, 0, MATRIX_HEAD, 8);

/**
 * The ranks of each node in a frame; inside it they go forth and back like a snake, so that
 * neighbours of the inner ring stay neighbours.
 * @param {number} n @param {number} size  ranks of a node
 * @param {number} across  frames in a row @param {number} inside  cards in a row of a frame
 * @returns {Arrange}
 */
export const groups = (n, size, across, inside) => (sizes, room) => {
  const { edge, x, y } = spacing(room);
  const w = Math.max(...sizes.map((s) => s.w));
  const h = Math.max(...sizes.map((s) => s.h));
  const lines = Math.ceil(size / inside);
  const frame = {
    w: inside * w + (inside - 1) * x + 2 * FRAME_PAD,
    h: lines * h + (lines - 1) * y + FRAME_PAD + FRAME_HEAD,
  };
  const down = Math.ceil(n / size / across);
  const usable = room.width - 2 * edge;
  const natural = down * frame.h + (down - 1) * (y + 6) + 2 * edge;
  if (across * frame.w + (across - 1) * x > usable || natural > room.most) return null;
  const height = Math.max(room.height, natural);
  const gap = {
    x: across > 1 ? Math.min(90, (usable - across * frame.w) / (across - 1)) : 0,
    y: y + 6 + (down > 1 ? Math.min(50, (height - natural) / (down - 1)) : 0),
  };
  const left = (room.width - across * frame.w - (across - 1) * gap.x) / 2;
  const top = (height - down * frame.h - (down - 1) * gap.y) / 2;
  const frames = Array.from({ length: n / size }, (_, node) => ({
    x: left + (node % across) * (frame.w + gap.x),
    y: top + Math.floor(node / across) * (frame.h + gap.y),
    ...frame,
  }));
  const centres = sizes.map((_, rank) => {
    const { x: fx, y: fy } = frames[Math.floor(rank / size)];
    const place = rank % size;
    const line = Math.floor(place / inside);
    const column = line % 2 ? inside - 1 - (place % inside) : place % inside;
    return {
      x: fx + FRAME_PAD + w / 2 + column * (w + x), y: fy + FRAME_HEAD + h / 2 + line * (h + y),
    };
  });
  return { centres, height, frames };
};
