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
 * @typedef {[Point, Point, Point, Point]} Curve  cubic
 * @typedef {object} Scene
 * @property {number} width
 * @property {number} height
 * @property {Density} density
 * @property {number} cw
 * @property {number} ch
 * @property {number} chunk
 * @property {number} font  size of the numbers in the cells; 0 when they have no room
 * @property {string} kind  the arrangement
 * @property {Card[]} cards  by rank
 * @property {[number, number][]} edges  pairs that talk, for the faint lines
 * @property {(a: number, b: number, lane?: boolean) => Point} middle  where a route from a to b
 *   is halfway; lane keeps to the right of it
 * @property {(a: number, b: number, lane?: boolean) => Curve} route  from card to card
 */
import { ellipse, list, rectangle, snake, tree, GUTTER } from './arrange.js';
import { DENSITIES, FLAT, cardSize, placeBuffers } from './cards.js';
import { buffersOf, chunkSize } from './schedule.js';

const LADDER = [58, 54, 50, 46, 42, 39, 36, 33, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 5, 4];

/** @param {number} cw @param {boolean} flat  one of many rows */
const cellHeight = (cw, flat) => Math.round(
  Math.min(flat ? 20 : Infinity, Math.max(0.69 * cw, Math.min(27, 1.3 * cw), 9)));

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
 * @returns {{kind: string, liking: number, arrange: Arrange}[]}
 */
function candidates({ layout, ranks: n }, levels, width) {
  const everyone = Array.from({ length: n }, (_, rank) => rank);
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
  } else {
    if (n <= 10) found.push({ kind: 'ring', liking: width < 600 ? 0.6 : 1.5, arrange: ellipse() });
    for (let sides = 0; 2 * sides <= n; sides += 1) {
      // A ring with a hole shows its messages best; the nearer to a circle, the better.
      const hole = width > 900 && sides > 0 && n - 2 * sides >= 5 ? 0.5 : 0;
      const round = 0.7 + hole + (sides && n > 4 ? 0.35 - 1.2 * Math.abs(sides / n - 0.25) : 0);
      found.push({ kind: 'ring', liking: round, arrange: rectangle(n, sides) });
    }
  }
  return found;
}

/** @param {Curve} curve @param {number} t @returns {Point} */
export function pointOn([a, b, c, d], t) {
  const s = 1 - t;
  const [p, q, r, u] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
  return { x: p * a.x + q * b.x + r * c.x + u * d.x, y: p * a.y + q * b.y + r * c.y + u * d.y };
}

/**
 * A curve from one point to another that is at `middle` halfway.
 * @param {Point} from @param {Point} middle @param {Point} to
 * @returns {Curve}
 */
export function curveThrough(from, middle, to) {
  const x = 2 * middle.x - (from.x + to.x) / 2;
  const y = 2 * middle.y - (from.y + to.y) / 2;
  return [from, { x: from.x + (2 / 3) * (x - from.x), y: from.y + (2 / 3) * (y - from.y) },
    { x: to.x + (2 / 3) * (x - to.x), y: to.y + (2 / 3) * (y - to.y) }, to];
}

/**
 * Lay out a schedule.
 * @param {Schedule} schedule
 * @param {object} options
 * @param {number} options.width  of the stage
 * @param {number} options.height  the preferred height
 * @param {number} options.digits  length of the longest number
 * @returns {Scene}
 */
export function layOut(schedule, { width, height, digits }) {
  const n = schedule.ranks;
  const chunk = chunkSize(schedule);
  const rows = Array.from({ length: n }, (_, rank) => buffersOf(schedule, rank));
  const plain = schedule.root === 0 ? 1 : 0;
  const largest = Math.max(...schedule.buffers.map((b) => b.blocks));
  const total = schedule.buffers.reduce((sum, b) => sum + b.blocks, 0);
  const perLines = new Set([total, ...[1, 2, 3, 4, 6, 8].map((parts) => largest / parts)]
    .map((cells) => Math.ceil(cells / chunk) * chunk));
  const levels = schedule.layout === 'tree' ? treeLevels(schedule) : null;
  const options = candidates(schedule, levels, width);
  const shapes = [FLAT, ...DENSITIES].flatMap((density) => [...perLines].map((perLine) => ({
    density, perLine, options: options.filter(({ kind }) => (kind === 'list') === (density === FLAT)),
  })));

  // A wide screen is low: what does not fit on it cannot be seen in one look.
  const slope = width < 600 ? 1.2 : 2.5;
  /** @type {{score: number, kind: string, shape: Shape, sizes: Size[], placed: Placement} | null} */
  let best = null;
  for (const most of [width < 600 ? 2.4 * height : 1.4 * height, Infinity]) {
    const room = { width, height, most: Math.min(most, height + 60 * n) };
    for (const { density, perLine, options: open } of shapes) {
      const left = new Set(open);
      for (const cw of LADDER) {
        const ch = cellHeight(cw, density === FLAT && n > 8);
        const font = numberSize(cw, ch, digits);
        const split = perLine < Math.min(4, largest) ? 0.35 : 0;
        const worth = (font ? 1.5 + font / 18 + 0.6 * (cw / 58) : Math.min(1.2, cw / 14)) + density.rank - split;
        const shape = { density, perLine, cw, ch, chunk };
        /** @type {Size[] | null} */
        let sizes = null;
        for (const option of left) {
          const bound = worth + option.liking;
          if (best && bound <= best.score) {
            left.delete(option);
            continue;
          }
          if (!sizes) {
            const usual = cardSize(rows[plain], shape, false);
            sizes = rows.map((row, rank) => (
              rank === schedule.root ? cardSize(row, shape, true) : usual));
          }
          const placed = option.arrange(sizes, room);
          if (!placed) continue;
          left.delete(option);
          const score = bound - (slope * (placed.height - height)) / height
            - 0.1 * Math.max(...sizes.map((size) => size.lines - 1)) - (placed.broken ? 0.6 : 0);
          if (!best || score > best.score) {
            best = { score, kind: option.kind, shape, sizes, placed };
          }
        }
        if (!left.size) break;
      }
    }
    if (best) break;
  }
  if (!best) throw new RangeError(`no room for ${n} ranks at ${width} px`);
  const { kind, shape, sizes, placed } = best;
  const widest = Math.max(...sizes.map(({ w }) => w));
  const cards = sizes.map(({ w, h }, rank) => ({
    rank,
    x: Math.round(placed.centres[rank].x - w / 2),
    y: Math.round(placed.centres[rank].y - h / 2),
    w: kind === 'list' ? widest : w,
    h,
    buffers: placeBuffers(rows[rank], shape),
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
    edges: talking.length <= 2 * n ? talking : [],
    ...routes(kind, cards, width, Math.round(placed.height)),
  };
}

/**
 * @param {string} kind @param {Card[]} cards @param {number} width @param {number} height
 * @returns {Pick<Scene, 'middle' | 'route'>}
 */
function routes(kind, cards, width, height) {
  const n = cards.length;
  const centre = (/** @type {number} */ rank) => ({
    x: cards[rank].x + cards[rank].w / 2, y: cards[rank].y + cards[rank].h / 2,
  });
  const hub = { x: width / 2, y: height / 2 };

  const radius = {
    x: Math.max(1, ...cards.map((card) => Math.abs(centre(card.rank).x - hub.x))),
    y: Math.max(1, ...cards.map((card) => Math.abs(centre(card.rank).y - hub.y))),
  };

  /**
   * Halfway across a ring, but around its middle: messages that cross at the same time would all
   * meet there.
   * @param {Point} p @param {Point} q @param {number} bend
   * @returns {Point}
   */
  const across = (p, q, bend) => {
    const polar = [p, q].map(({ x, y }) => {
      const [u, v] = [(x - hub.x) / radius.x, (y - hub.y) / radius.y];
      return { angle: Math.atan2(v, u), r: Math.hypot(u, v) };
    });
    let turn = polar[1].angle - polar[0].angle;
    if (turn > Math.PI + 0.01) turn -= 2 * Math.PI;
    if (turn < -Math.PI + 0.01) turn += 2 * Math.PI;
    const angle = polar[0].angle + turn / 2;
    const r = ((polar[0].r + polar[1].r) / 2) * Math.max(0.45, 0.85 * Math.cos(turn / 2))
      - (Math.sign(turn) * bend) / Math.max(radius.x, radius.y);
    return { x: hub.x + radius.x * r * Math.cos(angle), y: hub.y + radius.y * r * Math.sin(angle) };
  };

  /** @type {Scene['middle']} */
  const middle = (a, b, lane = false) => {
    const [p, q] = [centre(a), centre(b)];
    const length = Math.hypot(q.x - p.x, q.y - p.y) || 1;
    const half = { x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 };
    if (kind === 'list') {
      const edge = Math.max(...cards.map((card) => card.x + card.w));
      return { x: edge + GUTTER * (lane ? 0.8 : 0.55), y: half.y };
    }
    if (kind === 'tree') {
      const [from, , , to] = route(a, b);
      half.x = (from.x + to.x) / 2;
      half.y = (from.y + to.y) / 2;
    }
    const bend = lane ? Math.min(22, 0.16 * length) : 0;
    if (kind === 'ring' && n > 2) {
      const next = Math.min((a - b + n) % n, (b - a + n) % n) === 1;
      const slanted = Math.abs(p.x - q.x) > 20 && Math.abs(p.y - q.y) > 20;
      if (!next) return across(p, q, bend);
      if (slanted) {
        half.x += 0.3 * (half.x - hub.x);
        half.y += 0.3 * (half.y - hub.y);
      }
    }
    // Keep to the right, so that messages that meet pass each other.
    return { x: half.x - ((q.y - p.y) / length) * bend, y: half.y + ((q.x - p.x) / length) * bend };
  };

  /** @type {Scene['route']} */
  const route = (a, b, lane = false) => {
    if (kind === 'list') {
      const [p, q] = [a, b].map((rank) => ({
        x: cards[rank].x + cards[rank].w, y: centre(rank).y,
      }));
      return curveThrough(p, middle(a, b, lane), q);
    }
    if (kind === 'tree') {
      const down = centre(a).y < centre(b).y;
      const from = { x: centre(a).x, y: cards[a].y + (down ? cards[a].h : 0) };
      const to = { x: centre(b).x, y: cards[b].y + (down ? 0 : cards[b].h) };
      const pull = (to.y - from.y) * 0.5;
      return [from, { x: from.x, y: from.y + pull }, { x: to.x, y: to.y - pull }, to];
    }
    return clip(curveThrough(centre(a), middle(a, b, lane), centre(b)), cards[a], cards[b]);
  };
  return { middle, route };
}

/**
 * The part of a curve between two cards.
 * @param {Curve} curve @param {Card} a @param {Card} b
 * @returns {Curve}
 */
function clip(curve, a, b) {
  const inside = (/** @type {Card} */ card, /** @type {Point} */ { x, y }) =>
    x > card.x - 4 && x < card.x + card.w + 4 && y > card.y - 4 && y < card.y + card.h + 4;
  let [from, to] = [0, 1];
  const steps = 48;
  for (let i = 0; i <= steps / 2; i += 1) {
    if (inside(a, pointOn(curve, i / steps))) from = i / steps;
    if (inside(b, pointOn(curve, 1 - i / steps))) to = 1 - i / steps;
  }
  return slice(curve, Math.min(from, to), Math.max(from, to));
}

/**
 * @param {Curve} curve @param {number} from @param {number} to
 * @returns {Curve}
 */
function slice(curve, from, to) {
  const slope = (/** @type {number} */ t) => {
    const [a, b, c, d] = curve;
    const s = 1 - t;
    return {
      x: s * s * (b.x - a.x) + 2 * s * t * (c.x - b.x) + t * t * (d.x - c.x),
      y: s * s * (b.y - a.y) + 2 * s * t * (c.y - b.y) + t * t * (d.y - c.y),
    };
  };
  const [p, q] = [pointOn(curve, from), pointOn(curve, to)];
  const [u, v] = [slope(from), slope(to)];
  const span = to - from;
  return [p, { x: p.x + u.x * span, y: p.y + u.y * span },
    { x: q.x - v.x * span, y: q.y - v.y * span }, q];
}
