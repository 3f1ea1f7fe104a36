/**
 * The view 时空: ranks from top to bottom, time to the right, every message an arrow from the rank
 * and moment it leaves to where and when it arrives. Like the other pictures it is a function of
 * schedule and time; where the steps are too many for the width, the window follows the clock.
 *
 * @typedef {import('./draw.js').Play} Play
 * @typedef {import('./draw.js').Place} Place
 * @typedef {import('./schedule.js').Transfer} Transfer
 * @typedef {import('./cards.js').Point} Point
 * @typedef {{src: number, dst: number, from: Point, to: Point, label: string, place: Place,
 *   source: Place}} Arrow
 */
import { html, svg } from './dom.js';
import { tokenNode } from './draw.js';
import { style } from './styles.js';
import { progress, stepTitle } from './text.js';

/** Its stylesheet has arrived. */
export const dressed = style();

/** Room for the names of the ranks, and above for the numbers of the rounds. */
const LEFT = 64;
const HEAD = 36;
const FOOT = 14;

/** The narrowest step that its arrows can be told apart in. */
const LEAST = 46;
const MOST = 190;

/** Part of a step that its arrows keep free on both sides. */
const MARGIN = 0.14;

/** @param {number} n */
const px = (n) => Math.round(n * 100) / 100;

/** @param {Transfer[]} transfers  those of one pair of ranks */
function blocksOf(transfers) {
  const count = transfers.reduce((sum, t) => sum + t.count, 0);
  return count === 1 ? `块 ${transfers[0].fromOffset}` : `${count} 块`;
}

/** @param {Point} from @param {Point} to */
function tip(from, to) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [u, v] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const [x, y] = [to.x - 8 * u, to.y - 8 * v];
  return `M${px(to.x)} ${px(to.y)}L${px(x - 3.6 * v)} ${px(y + 3.6 * u)}`
    + `L${px(x + 3.6 * v)} ${px(y - 3.6 * u)}z`;
}

export class SpaceTime {
  /**
   * Build the picture in place of what was there.
   * @param {import('./draw.js').Canvas} canvas @param {Play} play
   * @param {{width: number, height: number}} room
   */
  constructor({ picture: root, flight }, play, { width, height }) {
    const { schedule, states } = play;
    const { ranks: n, rounds } = schedule;
    this.play = play;
    const pitch = Math.max(22, Math.min(64, (height - HEAD - FOOT) / n));
    this.height = Math.max(height, Math.ceil(HEAD + FOOT + n * pitch));
    this.top = HEAD + (this.height - HEAD - FOOT - n * pitch) / 2;
    this.pitch = pitch;
    this.room = width - LEFT - 16;
    this.step = Math.max(LEAST, Math.min(MOST, this.room / Math.max(1, rounds.length)));
    this.extent = this.step * rounds.length;
    this.shift = Math.max(0, (this.room - this.extent) / 2);
    this.now = -1;
    /** Where the track was moved to last. */
    this.moved = NaN;
    /** @type {Arrow[][]} */
    this.arrows = rounds.map((round, step) => this.arrowsOf(round.transfers, step));
    root.setAttribute('viewBox', `0 0 ${width} ${this.height}`);
    root.setAttribute('width', String(width));
    root.setAttribute('height', String(this.height));
    root.classList.remove('cp-small', 'cp-matrix');

    this.rounds = rounds.map((round, step) => this.round(step, round.local));
    this.playhead = html('div', { class: 'cp-playhead' });
    this.tokens = html('div');
    flight.replaceChildren(this.playhead, this.tokens);
    this.outlines = svg('g');
    const lines = Array.from({ length: n }, (_, rank) => svg('path', {
      class: `cp-life cp-c${rank % 16}`, d: `M0 ${px(this.y(rank))}H${px(this.extent)}`,
    }));
    const marks = states.map((_, step) => this.marks(step));
    this.track = svg('g', {}, ...lines, ...this.rounds.map(({ node }) => node), ...marks,
      this.outlines);
    const names = Array.from({ length: n }, (_, rank) => svg('g', { class: `cp-c${rank % 16}` },
      svg('circle', { class: 'cp-dot', cx: 13, cy: px(this.y(rank)), r: 4.5 }),
      svg('text', { class: 'cp-rank', x: 22, y: px(this.y(rank)), 'font-size': 12 },
        `${rank}${rank === schedule.root ? ' 根' : ''}`)));
    const clip = svg('svg', {
      x: LEFT - 12, y: 0, width: px(this.room + 24), height: this.height, overflow: 'hidden',
    }, this.track);
    root.replaceChildren(svg('text', { class: 'cp-name', x: 8, y: 14, 'font-size': 11 }, 'rank'),
      ...names, clip);
  }

  /** @param {number} rank */
  y(rank) {
    return this.top + (rank + 0.5) * this.pitch;
  }

  /**
   * @param {Transfer[]} transfers @param {number} step
   * @returns {Arrow[]}
   */
  arrowsOf(transfers, step) {
    /** @type {Map<string, Transfer[]>} */
    const messages = new Map();
    for (const t of transfers) {
      const key = `${t.src} ${t.dst}`;
      messages.set(key, [...messages.get(key) ?? [], t]);
    }
    return [...messages.values()].map((parts) => {
      const [{ src, dst, fromBuffer, fromOffset, toBuffer, toOffset }] = parts;
      return {
        src, dst,
        from: { x: (step + MARGIN) * this.step, y: this.y(src) },
        to: { x: (step + 1 - MARGIN) * this.step, y: this.y(dst) },
        label: blocksOf(parts),
        place: { rank: dst, buffer: toBuffer, block: toOffset },
        source: { rank: src, buffer: fromBuffer, block: fromOffset },
      };
    });
  }

  /** @param {number} step @param {boolean} local */
  round(step, local) {
    const { schedule } = this.play;
    const lines = this.arrows[step].map(({ src, dst, from, to }) => (src === dst
      ? `M${px(from.x)} ${px(from.y)}C${px(from.x)} ${px(from.y - 0.5 * this.pitch)} `
        + `${px(to.x)} ${px(to.y - 0.5 * this.pitch)} ${px(to.x)} ${px(to.y)}`
      : `M${px(from.x)} ${px(from.y)}L${px(to.x)} ${px(to.y)}`));
    const tips = this.arrows[step].filter(({ src, dst }) => src !== dst)
      .map(({ from, to }) => tip(from, to));
    const number = schedule.rounds.slice(0, step + 1).filter((r) => !r.local).length;
    const node = svg('g', { class: 'cp-moment' },
      svg('title', {}, stepTitle(schedule, step + 1)),
      svg('rect', {
        class: 'cp-moment-ground', x: px(step * this.step), y: HEAD - 12,
        width: px(this.step), height: this.height - HEAD + 6,
      }),
      svg('path', { class: 'cp-moment-line', d: lines.join('') }),
      svg('path', { class: 'cp-moment-tip', d: tips.join('') }),
      svg('text', {
        class: 'cp-index', x: px((step + 0.5) * this.step), y: 14, 'font-size': 11,
      }, local ? '本地' : String(number)));
    return { node };
  }

  /**
   * How much of its result each rank has after some steps, as a dot that fills up.
   * @param {number} step
   */
  marks(step) {
    const { schedule, states } = this.play;
    const x = step * this.step;
    const group = svg('g', { class: 'cp-progress' });
    progress(schedule, states, step).ranks.forEach(({ done, all }, rank) => {
      const y = this.y(rank);
      const share = all ? done / all : 0;
      group.append(svg('circle', { class: 'cp-ring', cx: px(x), cy: px(y), r: 5 }));
      if (share === 1) {
        group.append(svg('circle', { class: 'cp-full', cx: px(x), cy: px(y), r: 5 }));
      } else if (share > 0) {
        const angle = 2 * Math.PI * share;
        group.append(svg('path', {
          class: 'cp-full',
          d: `M${px(x)} ${px(y)}V${px(y - 5)}A5 5 0 ${share > 0.5 ? 1 : 0} 1 `
            + `${px(x + 5 * Math.sin(angle))} ${px(y - 5 * Math.cos(angle))}z`,
        }));
      }
    });
    return group;
  }

  /** How far the track is moved, so that a position of the clock is seen. @param {number} position */
  offset(position) {
    const most = Math.max(0, this.extent - this.room);
    return this.shift - Math.min(most, Math.max(0, position * this.step - this.room / 2));
  }

  /**
   * @param {number} position  of the clock
   */
  draw(position) {
    const offset = px(this.offset(position) + 12);
    if (offset !== this.moved) {
      this.moved = offset;
      this.track.style.transform = `translate(${offset}px,0px)`;
    }
    const left = offset + LEFT - 12;
    this.playhead.style.transform = `translate(${px(left + position * this.step)}px,${HEAD - 12}px)`;
    const now = Math.ceil(position) - 1;
    if (now !== this.now) {
      this.now = now;
      this.rounds.forEach(({ node }, step) => {
        node.classList.toggle('cp-future', step > now);
        node.classList.toggle('cp-now', step === now);
      });
      this.tokens.replaceChildren(...(now < 0 ? [] : this.arrows[now]).map((arrow) => (
        this.token(arrow))));
    }
    const part = position - Math.max(0, now);
    // At rest what has travelled names its arrow.
    const t = part === 1 ? 0.5 : Math.min(1, Math.max(0, (part - MARGIN) / (1 - 2 * MARGIN)));
    if (now >= 0) {
      this.arrows[now].forEach(({ src, dst, from, to }, i) => {
        const lift = src === dst ? 1.5 * this.pitch * t * (1 - t) : 0;
        /** @type {HTMLElement} */ (this.tokens.children[i]).style.transform = `translate(${
          px(left + from.x + (to.x - from.x) * t)}px,${
          px(from.y + (to.y - from.y) * t - lift)}px)`;
      });
    }
  }

  /** @param {Arrow} arrow */
  token({ label, src }) {
    const named = this.play.schedule.ranks <= 8 && this.step >= 60;
    const w = named ? 11 * label.length + 2 : 12;
    return tokenNode([
      svg('rect', {
        class: `cp-token-box cp-c${src % 16}`, x: -w / 2, y: named ? -10 : -6, width: w,
        height: named ? 20 : 12, rx: 5,
      }),
      ...(named ? [svg('text', { class: 'cp-value', x: 0, y: 0, 'font-size': 11 }, label)] : []),
    ], w, 20);
  }

  /**
   * The outline of some blocks. They have no place of their own here: their ranks are marked at the
   * present moment.
   * @param {Place[]} places
   */
  outlineOf(places) {
    const ranks = [...new Set(places.map(({ rank }) => rank))];
    const x = (this.now + 1) * this.step;
    return ranks.map((rank) => (
      `M${px(x - 9)} ${px(this.y(rank) - 9)}h18v18h-18z`)).join('');
  }

  /**
   * The first block that the nearest message brings, or null.
   * @param {number} x @param {number} y
   * @param {number} position  of the clock, because the window moves with it
   * @returns {Place | null}
   */
  placeAt(x, y, position) {
    const at = { x: x - (LEFT - 12) - this.offset(position) - 12, y };
    const arrows = this.arrows[Math.floor(at.x / this.step)] ?? [];
    let best = null;
    let nearest = 16;
    for (const arrow of arrows) {
      const { from, to } = arrow;
      const [u, v] = [to.x - from.x, to.y - from.y];
      const t = Math.min(1, Math.max(0,
        ((at.x - from.x) * u + (at.y - from.y) * v) / (u * u + v * v)));
      const distance = Math.hypot(from.x + t * u - at.x, from.y + t * v - at.y);
      if (distance < nearest) {
        nearest = distance;
        best = arrow;
      }
    }
    return best && best.place;
  }
}
