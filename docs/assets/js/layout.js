/**
 * The picture's geometry: which cards, cells and routes a schedule has at a given width. No DOM.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./arrange.js').Arrange} Arrange
 * @typedef {import('./arrange.js').Point} Point
 * @typedef {import('./cards.js').Density} Density
 * @typedef {import('./cards.js').Placed} Placed
 * @typedef {import('./cards.js').Shape} Shape
 * @typedef {import('./arrange.js').Size} Size
 * @typedef {import('./arrange.js').Placement} Placement
 * @typedef {{rank: number, x: number, y: number, w: number, h: number, buffers: Placed[]}} Card
 *   x, y: left top corner
 * @typedef {import('./routes.js').Curve} Curve
 * @typedef {{kind: string, liking: number, arrange: Arrange}} Candidate
 * @typedef {{score: number, kind: string, shape: Shape, sizes: Size[], placed: Placement}} Fit
 * @typedef {object} Scene
 * @property {number} width
 * @property {number} height
 * @property {Density} density
 * @property {number} cw
 * @property {number} ch
 * @property {number} chunk
 * @property {number} font  size of the numbers in the cells; 0 when they have no room
 * @property {string} kind  the arrangement: ring, star, tree, line, groups, list or matrix
 * @property {Card[]} cards  by rank
 * @property {[number, number][]} edges  pairs that talk, for the faint lines
 * @property {import('./arrange.js').Frame[]} frames  around the nodes, where ranks form nodes
 * @property {(rank: number) => number} node  the node of a rank; 0 where there are none
 * @property {(a: number, b: number, lane?: boolean) => Point} middle  where a route from a to b
 *   is halfway; lane keeps to the right of it
 * @property {(a: number, b: number, lane?: boolean) => Curve} route  from card to card
 */
import { ellipse, groups, list, matrix, rectangle, snake, tree } from './arrange.js';
import { DENSITIES, FLAT, MATRICES, cardSize, placeBuffers } from './cards.js';
import { routes } from './routes.js';
import { buffersOf, chunkSize } from './schedule.js';

/** Widths of cells to try. */
const LADDER = [
  58, 54, 50, 46, 42, 39, 36, 33, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 5, 4,
];

/** More widths for the matrix, which has the whole stage. */
const WIDE = [112, 98, 86, 76, 66];

/** @param {number} cw @param {Density} density */
const cellHeight = (cw, density) => Math.round(Math.min(
  density === FLAT ? 22 : MATRICES.includes(density) ? 40 : Infinity,
  Math.max(0.69 * cw, Math.min(27, 1.3 * cw), 9)));

/**
 * The ranks of a node, as the schedule's parameter `node` says; all of them where it says nothing.
 * @param {Schedule} schedule
 */
export function nodeSize({ layout, parameters, ranks }) {
  const { node } = parameters;
  return layout === 'groups' && node > 0 && ranks % node === 0 ? node : ranks;
}

/**
 * The size of the numbers in a cell, 0 when there is no room.
 * @param {number} cw @param {number} ch @param {number} digits  the longest number
 */
function numberSize(cw, ch, digits) {
  const size = Math.min(18, 0.56 * ch, (cw - 3) / (0.6 * digits));
  return size >= 9 ? Math.floor(size * 2) / 2 : 0;
}

/**
 * Pairs of ranks that talk to each other, lower rank first.
 * @param {Schedule} schedule
 * @returns {[number, number][]}
 */
export function pairs({ rounds }) {
  const seen = new Map();
  for (const { transfers } of rounds) {
    for (const { src, dst } of transfers) {
      const [a, b] = src < dst ? [src, dst] : [dst, src];
      if (a !== b) seen.set(`${a} ${b}`, [a, b]);
    }
  }
  return [...seen.values()];
}

/**
 * The levels of the tree that a schedule talks along, from its root; null when its messages are far
 * from a tree. A reduction and a broadcast may use two trees with the same levels.
 * @param {Schedule} schedule
 * @returns {number[][] | null}
 */
export function treeLevels(schedule) {
  const n = schedule.ranks;
  const edges = pairs(schedule);
  if (edges.length >= Math.max(2, 2 * (n - 1))) return null;
  const near = Array.from({ length: n }, () => /** @type {number[]} */ ([]));
  for (const [a, b] of edges) {
    near[a].push(b);
    near[b].push(a);
  }
  let level = [schedule.root ?? 0];
  const seen = new Set(level);
  const levels = [];
  while (level.length) {
    levels.push(level);
    level = level.flatMap((rank) => near[rank].filter((next) => !seen.has(next) && seen.add(next)));
  }
  return seen.size === n ? levels : null;
}

/**
 * The arrangements worth trying, with how much each is liked for this layout hint.
 * @param {Schedule} schedule @param {number[][] | null} levels @param {number} width
 * @returns {Candidate[]}
 */
function candidates(schedule, levels, width) {
  const { layout, ranks: n } = schedule;
  const everyone = Array.from({ length: n }, (_, rank) => rank);
  const size = nodeSize(schedule);
  const found = [{ kind: 'list', liking: 0, arrange: list(levels ? levels.flat() : everyone) }];
  if (levels) {
    found.push({ kind: 'tree', liking: 0.9, arrange: tree(levels) });
    if (levels.length === 2 && n > 4) {
      found.push({ kind: 'star', liking: 0.8, arrange: ellipse(levels[0][0]) });
    }
  } else if (layout === 'line') {
    for (let perRow = n; perRow > 1; perRow = Math.ceil(perRow / 2)) {
      found.push({ kind: 'line', liking: perRow === n ? 0.9 : 0.7, arrange: snake(n, perRow) });
    }
  } else if (size < n) {
    for (let across = n / size; across >= 1; across -= 1) {
      for (let inside = 1; inside <= size; inside += 1) {
        const square = Math.abs(inside - Math.ceil(size / inside));
        found.push({
          kind: 'groups', liking: 1.2 - 0.06 * square, arrange: groups(n, size, across, inside),
        });
      }
    }
  } else {
    if (n <= 10) found.push({ kind: 'ring', liking: width < 600 ? 0.6 : 1, arrange: ellipse() });
    for (let sides = 0; 2 * sides <= n; sides += 1) {
      // A ring with a hole shows its messages best; the nearer to a circle, the better.
      const hole = width > 900 && sides > 0 && n - 2 * sides >= 5 ? 0.5 : 0;
      const round = 0.7 + hole + (sides && n > 4 ? 0.35 - 1.2 * Math.abs(sides / n - 0.25) : 0);
      found.push({ kind: 'ring', liking: round, arrange: rectangle(n, sides) });
    }
  }
  return found;
}

/**
 * The best cell size and arrangement of all that fit.
 * @param {Shape[]} shapes  without their cell size
 * @param {Candidate[]} options
 * @param {(shape: Shape) => Size[]} measure
 * @param {number} digits
 * @param {import('./arrange.js').Room} room
 * @returns {Fit | null}
 */
function search(shapes, options, measure, digits, room) {
  // A wide screen is low: what does not fit on it cannot be seen in one look.
  const slope = room.width < 600 ? 1.6 : 2.5;
  /** @type {Fit | null} */
  let best = null;
  for (const base of shapes) {
    const wanted = base.density === FLAT ? 'list' : MATRICES.includes(base.density) ? 'matrix' : '';
    const open = new Set(options.filter(({ kind }) => (
      wanted ? kind === wanted : kind !== 'list')));
    for (const cw of wanted === 'matrix' ? [...WIDE, ...LADDER] : LADDER) {
      const shape = { ...base, cw, ch: cellHeight(cw, base.density) };
      const font = numberSize(cw, shape.ch, digits);
      const worth = shape.density.rank - shape.malus
        + (font ? 1.5 + font / 14 + Math.min(1, cw / 46) : Math.min(1.6, cw / 9));
      const likely = [...open].filter(({ liking }) => !best || worth + liking > best.score);
      // Smaller cells are worth less still.
      if (!likely.length) break;
      const sizes = measure(shape);
      if (sizes.some(({ w }) => w > room.width)) continue;
      const malus = 0.1 * Math.max(...sizes.map((size) => size.lines - 1));
      for (const option of likely) {
        const placed = option.arrange(sizes, room);
        if (!placed) continue;
        // Smaller cells cannot do better, unless a level of the tree then stays whole.
        if (!placed.broken) open.delete(option);
        const score = worth + option.liking - malus - (placed.broken ? 1.3 : 0)
          - (slope * (placed.height - room.height)) / room.height;
        if (!best || score > best.score) best = { score, kind: option.kind, shape, sizes, placed };
      }
    }
  }
  return best;
}

/**
 * Lay out a schedule.
 * @param {Schedule} schedule
 * @param {object} options
 * @param {number} options.width  of the stage
 * @param {number} options.height  the preferred height
 * @param {number} options.digits  length of the longest number
 * @param {boolean} [options.asMatrix]  rank by block, whatever the schedule's hint
 * @returns {Scene}
 */
export function layOut(schedule, { width, height, digits, asMatrix = false }) {
  const { ranks: n, root, buffers } = schedule;
  const chunk = chunkSize(schedule);
  const own = Array.from({ length: n }, (_, rank) => buffersOf(schedule, rank));
  // In the matrix a buffer has its columns, also where a rank does not have it.
  const rows = asMatrix ? own.map(() => buffers) : own;
  const plain = root === 0 ? 1 : 0;
  const largest = Math.max(...buffers.map((b) => b.blocks));
  const total = buffers.reduce((sum, b) => sum + b.blocks, 0);
  const perLines = new Set([total, ...[1, 2, 3, 4, 6, 8].map((parts) => largest / parts)]
    .map((cells) => Math.ceil(cells / chunk) * chunk));
  // Lines of unequal length are ugly, most of all in a short buffer; buffers should have names.
  const densities = asMatrix ? MATRICES : [FLAT, ...DENSITIES];
  const shapes = densities.flatMap((density) => [...perLines].map((perLine) => ({
    density, perLine, chunk, cw: 0, ch: 0,
    malus: (perLine < largest && largest % perLine ? (largest < 5 ? 0.6 : 0.15) : 0)
      + (buffers.length > 1 && !density.name ? 0.25 : 0),
  })));
  const levels = schedule.layout === 'tree' ? treeLevels(schedule) : null;
  const everyone = Array.from({ length: n }, (_, rank) => rank);
  const options = asMatrix ? [{ kind: 'matrix', liking: 0, arrange: matrix(everyone) }]
    : candidates(schedule, levels, width);
  /** @param {Shape} shape */
  const measure = (shape) => {
    const usual = cardSize(rows[plain], shape, false);
    return rows.map((row, rank) => (rank === root ? cardSize(row, shape, true) : usual));
  };
  const most = (width < 600 ? 2.4 : 1.4) * height;
  const fit = search(shapes, options, measure, digits, { width, height, most })
    ?? search(shapes, options, measure, digits, { width, height, most: most + 60 * n });
  if (!fit) throw new RangeError(`no room for ${n} ranks at ${width} px`);
  const { kind, shape, sizes, placed } = fit;
  const widest = Math.max(...sizes.map(({ w }) => w));
  const cards = sizes.map(({ w, h }, rank) => ({
    rank,
    x: Math.round(placed.centres[rank].x - w / 2),
    y: Math.round(placed.centres[rank].y - h / 2),
    w: kind === 'list' || kind === 'matrix' ? widest : w,
    h,
    buffers: placeBuffers(rows[rank], shape).filter(({ name }) => (
      own[rank].some((buffer) => buffer.name === name))),
  }));
  const talking = pairs(schedule);
  return {
    width,
    height: Math.round(placed.height),
    density: shape.density,
    cw: shape.cw,
    ch: shape.ch,
    chunk,
    font: numberSize(shape.cw, shape.ch, digits),
    kind,
    cards,
    edges: talking.length <= 2 * n && kind !== 'matrix' ? talking : [],
    frames: placed.frames ?? [],
    node: (rank) => Math.floor(rank / nodeSize(schedule)),
    ...routes(kind, cards, width, Math.round(placed.height)),
  };
}
