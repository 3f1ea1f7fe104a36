/**
 * The ways of messages between the cards. No DOM.
 *
 * @typedef {import('./arrange.js').Point} Point
 * @typedef {import('./layout.js').Card} Card
 * @typedef {import('./layout.js').Scene} Scene
 * @typedef {[Point, Point, Point, Point]} Curve  cubic
 */
import { GUTTER } from './arrange.js';

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
 * How messages travel in an arrangement.
 * @param {string} kind @param {Card[]} cards @param {number} width @param {number} height
 * @returns {Pick<Scene, 'middle' | 'route'>}
 */
export function routes(kind, cards, width, height) {
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
