/**
 * Draws the stage. The picture is a function of schedule and time: nothing depends on what was
 * drawn before. The scene is built once, cells change once a step, tokens move every frame.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').Transfer} Transfer
 * @typedef {import('./replay.js').State} State
 * @typedef {import('./primitives.js').Cell} Cell
 * @typedef {import('./layout.js').Scene} Scene
 * @typedef {import('./routes.js').Curve} Curve
 * @typedef {import('./layout.js').Card} Card
 * @typedef {import('./cards.js').Point} Point
 * @typedef {import('./numbers.js').Op} Op
 * @typedef {object} Play
 * @property {Schedule} schedule
 * @property {State[]} states
 * @property {State} goal  the required end state
 * @property {Op} op
 * @property {boolean} symbols  letters in the cells instead of numbers
 * @property {import('./schedule.js').ScheduleError | null} refusal  the rule it breaks
 * @typedef {{src: number, dst: number, from: Place[], to: Place[], reduces: boolean}} Message
 * @typedef {{rank: number, buffer: string, block: number}} Place
 * @typedef {{node: HTMLElement, curve: Curve}} Token
 * @typedef {{cell: Cell | null, fills: Map<number, string>, hatched: string, done: string}} Piece
 *   what a cell draws, as paths; fills by contributor
 * @typedef {ReturnType<Picture['card']>} Drawn
 * @typedef {object} Canvas  what a picture is drawn on
 * @property {SVGSVGElement} picture
 * @property {HTMLElement} flight  above the picture, for what moves: elements that a browser can
 *   move without painting the picture again
 */
import { textWidth } from './cards.js';
import { html, svg } from './dom.js';
import { OPS, cellText } from './numbers.js';
import { PRIMITIVES } from './primitives.js';
import { sameCell } from './replay.js';
import { curveThrough, pointOn } from './routes.js';

/** Parts of a step: until `LANDED` the tokens travel, then they merge. */
const LANDED = 0.78;

/**
 * Milliseconds of a frame for making tokens: they hardly move at first, and a frame that makes
 * hundreds of them would be late.
 */
const SLICE = 5;

/** More blocks than this in one step travel as bundles. */
const MOST_IN_FLIGHT = 240;

const COLOURS = 16;
let pictures = 0;

/** @param {number} rank */
const colour = (rank) => `cp-c${rank % COLOURS}`;

/** @param {number} n */
const px = (n) => Math.round(n * 100) / 100;

/** @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r */
export const box = (x, y, w, h, r) => `M${px(x + r)} ${px(y)}h${px(w - 2 * r)}a${r} ${r} 0 0 1 ${r} ${r}`
  + `v${px(h - 2 * r)}a${r} ${r} 0 0 1-${r} ${r}h${px(2 * r - w)}a${r} ${r} 0 0 1-${r}-${r}`
  + `v${px(2 * r - h)}a${r} ${r} 0 0 1 ${r}-${r}z`;

/** @param {Curve} c */
const pathOf = ([a, ...rest]) =>
  `M${px(a.x)} ${px(a.y)}C${rest.map(({ x, y }) => `${px(x)} ${px(y)}`).join(' ')}`;

/** The colour of contributions that are too many to be told apart. */
const COUNTED = -1;

/**
 * Whether a cell has room for one sliver per rank; else it shows how many ranks are in.
 * @param {Schedule} schedule @param {Scene} scene
 */
export const hasSlivers = ({ ranks }, { cw }) => (cw - 2 * insetOf(cw)) / ranks >= 0.6;

/** Distance of the colours to the edge of a cell. @param {number} cw */
const insetOf = (cw) => (cw >= 24 ? 3 : cw >= 12 ? 2 : 1);

/** @param {number} t */
const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - (2 - 2 * t) ** 3 / 2);

/**
 * The transfers of a round as messages: one per pair of ranks.
 * @param {Transfer[]} transfers
 * @returns {Message[]}
 */
function messagesOf(transfers) {
  /** @type {Map<string, Message>} */
  const found = new Map();
  for (const t of transfers) {
    // A local move shows where each block goes, so different targets stay apart.
    const key = `${t.src} ${t.dst}${t.src === t.dst ? ` ${t.fromBuffer} ${t.toBuffer}` : ''}`;
    const message = found.get(key)
      ?? { src: t.src, dst: t.dst, from: [], to: [], reduces: t.op === 'reduce' };
    for (let i = 0; i < t.count; i += 1) {
      message.from.push({ rank: t.src, buffer: t.fromBuffer, block: t.fromOffset + i });
      message.to.push({ rank: t.dst, buffer: t.toBuffer, block: t.toOffset + i });
    }
    found.set(key, message);
  }
  return [...found.values()];
}

/**
 * Something that moves: its parts are drawn around the point that it is moved to.
 * @param {SVGElement[]} parts @param {number} w @param {number} h
 */
export function tokenNode(parts, w, h) {
  const [x, y] = [Math.ceil(w / 2) + 6, Math.ceil(h / 2) + 6];
  const picture = svg('svg', {
    class: 'cp-draw', viewBox: `${-x} ${-y} ${2 * x} ${2 * y}`, width: 2 * x, height: 2 * y,
  }, ...parts);
  picture.style.left = `${-x}px`;
  picture.style.top = `${-y}px`;
  return html('div', { class: 'cp-token' }, picture);
}

export class Picture {
  /**
   * Build the still parts of a picture in place of what was there.
   * @param {Canvas} canvas @param {Play} play @param {Scene} scene
   */
  constructor({ picture: root, flight }, play, scene) {
    pictures += 1;
    this.id = `cp-${pictures}`;
    this.play = play;
    this.scene = scene;
    this.reduces = PRIMITIVES[play.schedule.primitive].reduces;
    this.slivers = this.reduces && hasSlivers(play.schedule, scene);
    /** @type {WeakMap<Cell, string>} */
    this.texts = new WeakMap();
    this.shown = -1;
    this.mode = '';
    /** @type {Token[]} */
    this.tokens = [];
    /** What is still to be made of this step. @type {Message[]} */
    this.unmade = [];
    /** Makes it. @type {(message: Message) => void} */
    this.make = () => {};
    this.inset = insetOf(scene.cw);
    this.radius = Math.min(6, Math.floor(Math.min(scene.cw, scene.ch) / 5));
    root.setAttribute('viewBox', `0 0 ${scene.width} ${scene.height}`);
    root.setAttribute('width', String(scene.width));
    root.setAttribute('height', String(scene.height));
    root.classList.toggle('cp-small', scene.cw < 20);
    root.classList.toggle('cp-matrix', scene.kind === 'matrix');
    this.height = scene.height;
    this.arrows = svg('g', { class: 'cp-arrows' });
    this.marks = svg('g', { class: 'cp-marks' });
    this.lit = svg('path', { class: 'cp-lit' });
    this.outlines = svg('g');
    this.flight = flight;
    flight.replaceChildren();
    this.cards = scene.cards.map((card) => this.card(card));
    root.replaceChildren(
      this.definitions(),
      ...scene.frames.map((frame, i) => svg('g', { class: 'cp-frame' },
        svg('rect', {
          x: px(frame.x), y: px(frame.y), width: px(frame.w), height: px(frame.h), rx: 14,
        }),
        svg('text', { class: 'cp-name', x: px(frame.x + 14), y: px(frame.y + 13), 'font-size': 12 },
          `节点 ${i}`))),
      svg('g', { class: 'cp-edges' }, ...scene.edges.map(([a, b]) => svg('path', {
        d: pathOf(scene.route(a, b)), class: scene.node(a) === scene.node(b) ? null : 'cp-outer',
      }))),
      this.arrows,
      ...this.columnNumbers(),
      svg('g', {}, ...this.cards.map(({ node }) => node)),
      this.marks,
      this.outlines,
    );
  }

  definitions() {
    const line = { class: 'cp-hatch', d: 'M-1 7 7-1M2 10 10 2', 'stroke-width': 1.4 };
    return svg('defs', {},
      svg('pattern', {
        id: `${this.id}-hatch`, width: 6, height: 6, patternUnits: 'userSpaceOnUse',
      }, svg('path', line)),
      svg('marker', {
        id: `${this.id}-tip`, viewBox: '0 0 10 10', refX: 8, refY: 5, markerWidth: 5.5,
        markerHeight: 5.5, orient: 'auto-start-reverse',
      }, svg('path', { class: 'cp-tip', d: 'M0 .8 9 5 0 9.2z' })));
  }

  /** Above a list, the numbers of the blocks, once for all ranks. */
  columnNumbers() {
    const { kind, cards, cw, chunk } = this.scene;
    if (kind !== 'list' && kind !== 'matrix') return [];
    const top = cards.reduce((a, b) => (a.y < b.y ? a : b));
    const richest = cards.reduce((a, b) => (a.buffers.length < b.buffers.length ? b : a));
    const line = richest.buffers[0].cells[0].y;
    const heads = richest.buffers.filter(({ cells }) => cells[0].y === line);
    const names = kind === 'matrix' ? heads.map(({ name, cells }) => svg('text', {
      class: 'cp-name', x: top.x + cells[0].x, y: top.y - 22, 'font-size': 11,
    }, name)) : [];
    return names.concat(heads.filter(({ cells }) => cells.length > chunk)
      .flatMap(({ cells }) => {
        const first = cells.filter(({ y }, i) => y === cells[0].y && i % chunk === 0);
        const wide = first.length > 1 ? first[1].x - first[0].x : cw;
        return wide < 15 ? [] : first.map(({ x }, i) => svg('text', {
          class: 'cp-index', x: top.x + x + (chunk * cw) / 2, y: top.y - 8, 'font-size': 10,
        }, String(i)));
      }));
  }

  /**
   * The still parts of a card, and empty ones for what its cells hold.
   * @param {Card} card
   */
  card(card) {
    const { density: d, cw, ch, chunk, font } = this.scene;
    const { schedule } = this.play;
    const isRoot = card.rank === schedule.root;
    const node = svg('g', {
      class: `cp-card ${colour(card.rank)}`, 'data-rank': card.rank,
      transform: `translate(${card.x} ${card.y})`,
    }, svg('rect', {
      class: 'cp-card-box', width: card.w, height: card.h, rx: d.head ? Math.min(11, d.pad + 1) : 5,
    }));
    const middle = d.head ? (d.head - 1) / 2 : card.h / 2;
    const left = d.head ? d.pad : 7;
    const name = d.head ? `rank ${card.rank}` : `${card.rank}`;
    node.append(
      svg('circle', { class: 'cp-dot', cx: left + 5, cy: middle, r: d.head ? 5.5 : 4.5 }),
      svg('text', { class: 'cp-rank', x: left + 15, y: middle, 'font-size': d.font }, name),
    );
    if (isRoot) {
      const x = left + (d.head ? 21 + textWidth(name, d.font) : 32);
      node.append(
        svg('rect', { class: 'cp-badge', x, y: middle - 8, width: 19, height: 16, rx: 5 }),
        svg('text', { class: 'cp-badge-text', x: x + 9.5, y: middle, 'font-size': 11 }, '根'),
      );
    }
    const taken = left + 15 + textWidth(name, d.font) + (isRoot ? 30 : 8);
    if (card.buffers.length === 1 && d.name
      && taken + textWidth(card.buffers[0].name, 12) + d.pad < card.w) {
      node.append(svg('text', {
        class: 'cp-name cp-end', x: card.w - d.pad, y: middle, 'font-size': 12,
      }, card.buffers[0].name));
    }
    let outline = '';
    let slots = '';
    /** @type {Map<string, SVGTextElement[]>} */
    const values = new Map();
    for (const { name: buffer, x, y, cells } of card.buffers) {
      const group = svg('g', { 'data-buffer': buffer });
      if (y >= 0) {
        group.append(svg('text', {
          class: 'cp-name', x, y: y + d.name / 2 - 1.5, 'font-size': 11,
        }, buffer));
      }
      const whole = cells.length === chunk && chunk > 1;
      cells.forEach((cell, i) => {
        outline += box(cell.x, cell.y, cw, ch, this.radius);
        if (this.slivers) {
          for (let rank = 0; rank < schedule.ranks; rank += 1) slots += this.sliver(cell, rank);
        }
        if (d.index && i % chunk === 0 && !whole) {
          const wide = chunk * cw + (chunk - 1) * d.gap;
          const label = chunk > 1 || PRIMITIVES[schedule.primitive].chunked ? '段' : '块';
          group.append(svg('text', {
            class: 'cp-index', x: cell.x + wide / 2, y: cell.y + ch + d.index / 2 + 2,
            'font-size': 10.5,
          }, wide >= 30 ? `${label} ${i / chunk}` : `${i / chunk}`));
        }
      });
      values.set(buffer, font ? cells.map((cell, block) => {
        const text = svg('text', {
          class: 'cp-value', x: cell.x + cw / 2, y: cell.y + ch / 2, 'data-block': block,
          'font-size': font,
        });
        group.append(text);
        return text;
      }) : []);
      node.append(group);
    }
    const fills = svg('g');
    const hatched = svg('path', { class: 'cp-undefined', fill: `url(#${this.id}-hatch)` });
    const done = svg('path', { class: 'cp-done' });
    const first = node.querySelector('[data-buffer]');
    node.insertBefore(svg('path', { class: 'cp-cells', d: outline }), first);
    node.insertBefore(svg('path', { class: 'cp-slots', d: slots }), first);
    node.insertBefore(fills, first);
    node.insertBefore(hatched, first);
    node.insertBefore(done, first);
    const wrong = svg('path', { class: 'cp-outline cp-outline-wrong' });
    node.append(wrong);
    return {
      node, card, fills, hatched, done, wrong, values,
      /** @type {Map<number, SVGPathElement>} */ paths: new Map(),
      /** @type {import('./primitives.js').Held | null} */ held: null,
      /** @type {Piece[][]} */ pieces: card.buffers.map(() => []),
    };
  }

  /**
   * The outline of one rank's share of a cell that reduces.
   * @param {Point} cell @param {number} rank
   */
  sliver(cell, rank) {
    const { scene, inset } = this;
    const n = this.play.schedule.ranks;
    const room = scene.cw - 2 * inset;
    const gap = room / n >= 4 ? 1 : 0;
    const x = cell.x + inset + (room * rank) / n;
    return `M${px(x)} ${px(cell.y + inset)}h${px(room / n - gap)}v${px(scene.ch - 2 * inset)}`
      + `h${px(gap - room / n)}z`;
  }

  /**
   * What a cell shows as text.
   * @param {Cell} cell
   */
  text(cell) {
    let text = this.texts.get(cell);
    if (text === undefined) {
      text = cellText(this.play.schedule, cell, this.play.op, this.play.symbols);
      this.texts.set(cell, text);
    }
    return text;
  }

  /**
   * Draw the picture at a position of the clock.
   * @param {number} position
   * @param {boolean} [moving]  another frame follows
   */
  draw(position, moving = false) {
    const whole = Math.floor(position);
    const part = position - whole;
    const landed = part >= LANDED;
    this.showState(landed ? whole + 1 : whole);
    const round = part > 0 ? whole + 1 : whole;
    const mode = `${round} ${part === 0 ? 'rest' : landed ? 'landed' : 'flight'}`;
    if (mode !== this.mode) {
      const known = part > 0 && this.mode.startsWith(`${round} `) && !this.mode.endsWith('rest');
      this.mode = mode;
      if (!known) this.showRound(round, part === 0);
      this.showMarks(round, part === 0 || landed);
    }
    this.makeTokens(moving && part > 0 ? SLICE : Infinity);
    if (part === 0) return;
    const t = ease(Math.min(1, part / LANDED));
    this.flight.style.opacity = landed ? String(px(Math.max(0, 1 - (part - LANDED) / 0.12))) : '';
    if (landed) this.lit.style.opacity = String(px((1 - part) / (1 - LANDED)));
    for (const { node, curve } of this.tokens) {
      const { x, y } = pointOn(curve, t);
      node.style.transform = `translate(${px(x)}px,${px(y)}px)`;
    }
  }

  /**
   * Bring the cells to the state after some steps. A step changes few cells of many, so what the
   * others have drawn is kept.
   * @param {number} index
   */
  showState(index) {
    if (index === this.shown) return;
    this.shown = index;
    const { states, refusal } = this.play;
    const ended = refusal?.rule === 'end-state' && index === states.length - 1;
    for (const drawn of this.cards) {
      const held = states[index][drawn.card.rank];
      if (held !== drawn.held) this.showHeld(drawn, held);
      drawn.held = held;
      if (refusal) drawn.wrong.setAttribute('d', ended ? this.wrongCells(drawn.card) : '');
    }
  }

  /**
   * @param {Drawn} drawn @param {import('./primitives.js').Held} held
   */
  showHeld({ card, values, pieces, paths, fills, hatched, done }, held) {
    /** @type {Set<number>} */
    const repaint = new Set();
    card.buffers.forEach(({ name, cells }, i) => {
      const texts = values.get(name) ?? [];
      cells.forEach((at, block) => {
        const cell = held[name][block];
        const old = pieces[i][block];
        if (old?.cell === cell) return;
        if (texts[block]) texts[block].textContent = cell ? this.text(cell) : '';
        const piece = pieces[i][block] = this.piece(at, cell, card.rank, name, block);
        for (const from of [...(old?.fills.keys() ?? []), ...piece.fills.keys()]) repaint.add(from);
      });
    });
    const all = pieces.flat();
    hatched.setAttribute('d', all.map((piece) => piece.hatched).join(''));
    done.setAttribute('d', all.map((piece) => piece.done).join(''));
    for (const from of repaint) {
      const d = all.map((piece) => piece.fills.get(from) ?? '').join('');
      let path = paths.get(from);
      if (!d) {
        path?.remove();
        paths.delete(from);
        continue;
      }
      if (!path) {
        path = svg('path', { class: from === COUNTED ? 'cp-counted' : `cp-fill ${colour(from)}` });
        // The same order, whatever was shown before.
        const next = Math.min(...[...paths.keys()].filter((other) => other > from));
        fills.insertBefore(path, paths.get(next) ?? null);
        paths.set(from, path);
      }
      path.setAttribute('d', d);
    }
  }

  /**
   * What a cell draws, as paths.
   * @param {Point} at @param {Cell | null} cell
   * @param {number} rank @param {string} buffer @param {number} block  whose it is
   * @returns {Piece}
   */
  piece(at, cell, rank, buffer, block) {
    const { inset, reduces, slivers, radius } = this;
    const { goal, schedule } = this.play;
    const { cw, ch } = this.scene;
    /** @type {Map<number, string>} */
    const fills = new Map();
    if (!cell) {
      const hatched = box(at.x + 1, at.y + 1, cw - 2, ch - 2, Math.max(0, radius - 1));
      return { cell, fills, hatched, done: '' };
    }
    for (const from of reduces && !slivers ? [COUNTED] : cell.from) {
      const high = (ch - 2 * inset)
        * (from === COUNTED ? Math.max(0.12, cell.from.length / schedule.ranks) : 1);
      fills.set(from, slivers ? this.sliver(at, from)
        : box(at.x + inset, at.y + ch - inset - high, cw - 2 * inset, high,
          reduces ? 0 : Math.max(0, radius - 2)));
    }
    const required = goal[rank][buffer]?.[block];
    const reached = required && sameCell(required, cell);
    return { cell, fills, hatched: '', done: reached ? box(at.x, at.y, cw, ch, radius) : '' };
  }

  /** Outlines around what is not as it should be. @param {Card} card */
  wrongCells({ rank, buffers }) {
    const { states, goal } = this.play;
    const held = states[states.length - 1][rank];
    return buffers.flatMap(({ name, cells }) => cells.map(({ x, y }, block) => {
      const required = goal[rank][name]?.[block];
      return !required || sameCell(required, held[name][block]) ? ''
        : box(x - 2, y - 2, this.scene.cw + 4, this.scene.ch + 4, this.radius);
    })).join('');
  }

  /**
   * The middle of some blocks on the stage.
   * @param {Place[]} places
   * @returns {Point}
   */
  centreOf(places) {
    const corners = places.map((place) => this.corner(place));
    const xs = corners.map(({ x }) => x);
    const ys = corners.map(({ y }) => y);
    return {
      x: (Math.min(...xs) + Math.max(...xs) + this.scene.cw) / 2,
      y: (Math.min(...ys) + Math.max(...ys) + this.scene.ch) / 2,
    };
  }

  /** @param {Place} place @returns {Point} the left top corner of a cell on the stage */
  corner({ rank, buffer, block }) {
    const card = this.scene.cards[rank];
    const cell = /** @type {import('./cards.js').Placed} */ (
      card.buffers.find((b) => b.name === buffer)).cells[block];
    return { x: card.x + cell.x, y: card.y + cell.y };
  }

  /**
   * Arrows and tokens of a step.
   * @param {number} round  from 1; 0 has none @param {boolean} rest  nothing is in flight
   */
  showRound(round, rest) {
    const { scene, arrows, flight } = this;
    const { schedule, states } = this.play;
    const transfers = round ? schedule.rounds[round - 1].transfers : [];
    const messages = messagesOf(transfers);
    const ways = new Set(messages.map(({ src, dst }) => `${src} ${dst}`));
    const meets = (/** @type {Message} */ m) => ways.has(`${m.dst} ${m.src}`);
    const total = messages.reduce((sum, m) => sum + m.from.length, 0);
    const longest = Math.max(1, ...messages.map((m) => m.from.length));
    // In the matrix a block's own column is its way.
    const isMatrix = scene.kind === 'matrix';
    arrows.replaceChildren();
    flight.style.opacity = '';
    this.tokens = [];
    flight.replaceChildren();
    const before = states[Math.max(0, round - 1)];
    this.unmade = messages;
    this.make = (m) => {
      const local = m.src === m.dst;
      if (!local && !isMatrix) {
        arrows.append(svg('path', {
          d: pathOf(scene.route(m.src, m.dst, meets(m))), 'marker-end': `url(#${this.id}-tip)`,
          class: scene.node(m.src) === scene.node(m.dst) ? null : 'cp-outer',
        }));
      }
      if (rest && (local || isMatrix)) return;
      const from = this.centreOf(m.from);
      const to = this.centreOf(m.to);
      const { node, w, h } = this.token(m, before, total > MOST_IN_FLIGHT, longest);
      const middle = isMatrix ? { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
        : local ? { x: (from.x + to.x) / 2, y: Math.min(from.y, to.y) }
          : scene.middle(m.src, m.dst, meets(m));
      middle.x = Math.max(w / 2 + 3, Math.min(scene.width - w / 2 - 3, middle.x));
      const curve = curveThrough(from, middle, to);
      if (rest) {
        const at = pointOn(curve, 0.5);
        if (!this.isFree(at, w, h)) return;
        node.style.transform = `translate(${px(at.x)}px,${px(at.y)}px)`;
        node.classList.add('cp-past');
      } else {
        this.tokens.push({ node, curve });
      }
      flight.append(node);
    };
  }

  /** @param {number} patience  milliseconds */
  makeTokens(patience) {
    const until = performance.now() + patience;
    for (let made = 0; made < this.unmade.length; made += 1) {
      this.make(this.unmade[made]);
      if (performance.now() > until) {
        this.unmade = this.unmade.slice(made + 1);
        return;
      }
    }
    this.unmade = [];
  }

  /**
   * Whether a label has room between the cards.
   * @param {Point} at @param {number} w @param {number} h
   */
  isFree({ x, y }, w, h) {
    const { cards, width, height } = this.scene;
    return x - w / 2 > 2 && x + w / 2 < width - 2 && y - h / 2 > 2 && y + h / 2 < height - 2
      && cards.every((c) => x + w / 2 < c.x - 3 || x - w / 2 > c.x + c.w + 3
        || y + h / 2 < c.y - 3 || y - h / 2 > c.y + c.h + 3);
  }

  /**
   * What travels: the blocks of one message side by side, or a bundle of them.
   * @param {Message} message @param {State} before @param {boolean} bundled @param {number} longest
   * @returns {{node: HTMLElement, w: number, h: number}}
   */
  token(message, before, bundled, longest) {
    const { scene, reduces } = this;
    const { schedule, op } = this.play;
    const cells = message.from.map(({ rank, buffer, block }) => (
      /** @type {Cell} */ (before[rank][buffer][block])));
    const size = Math.max(11, Math.min(16, scene.font));
    const mark = message.reduces ? OPS[op].mark : '';
    const labels = cells.map((cell) => mark + this.text(cell));
    const one = Math.max(Math.min(scene.cw, 54),
      ...labels.slice(0, 4).map((label) => textWidth(label, size) + 10));
    const h = Math.max(Math.min(scene.ch, 38), size + 10);
    const most = scene.kind === 'list' ? 70 : Math.min(240, 0.4 * scene.width);
    const few = !bundled && longest * (one + 2) <= most;
    const count = scene.chunk > 1 && cells.length % scene.chunk === 0
      ? `${cells.length / scene.chunk} 段` : `${cells.length} 块`;
    const shown = few ? labels : [cells.length === 1 ? labels[0] : count];
    const each = few ? one : Math.max(one, textWidth(shown[0], size) + 16);
    const w = shown.length * (each + 2) - 2;
    /** @type {SVGElement[]} */
    const parts = [];
    if (!few && cells.length > 1) {
      parts.push(svg('rect', {
        class: 'cp-token-box cp-token-under', x: -each / 2 + 3, y: -h / 2 - 3, width: each,
        height: h, rx: 6,
      }));
    }
    shown.forEach((label, i) => {
      const x = -w / 2 + i * (each + 2);
      parts.push(svg('rect', {
        class: 'cp-token-box', x, y: px(-h / 2), width: px(each), height: h, rx: 6,
      }));
      // A bundle of moved blocks shows every origin in it; a reduction shows who has contributed.
      const inside = few ? [cells[i]] : cells;
      const origins = [...new Set(inside.flatMap((cell) => cell.from))].sort((a, b) => a - b);
      const room = each - 6;
      origins.forEach((rank, order) => {
        const [slots, slot] = reduces ? [schedule.ranks, rank] : [origins.length, order];
        parts.push(svg('rect', {
          class: `cp-fill ${colour(rank)}`, x: px(x + 3 + (room * slot) / slots), y: px(-h / 2 + 3),
          width: px(room / slots), height: px(h - 6), rx: slots === 1 ? 3 : 0,
        }));
      });
      parts.push(svg('text', {
        class: 'cp-value', x: px(x + each / 2), y: 0, 'font-size': size,
      }, label));
    });
    return { node: tokenNode(parts, w, h), w, h };
  }

  /**
   * Outline the blocks that leave, or those that have changed.
   * @param {number} round @param {boolean} arrived
   */
  showMarks(round, arrived) {
    const transfers = round ? this.play.schedule.rounds[round - 1].transfers : [];
    const { cw, ch } = this.scene;
    const seen = new Set();
    let d = '';
    for (const t of transfers) {
      const [rank, buffer, offset] = arrived ? [t.dst, t.toBuffer, t.toOffset]
        : [t.src, t.fromBuffer, t.fromOffset];
      for (let block = offset; block < offset + t.count; block += 1) {
        const key = `${rank} ${buffer} ${block}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const { x, y } = this.corner({ rank, buffer, block });
        d += box(x - 1, y - 1, cw + 2, ch + 2, this.radius);
      }
    }
    this.marks.replaceChildren(svg('path', { class: arrived ? 'cp-changed' : 'cp-leaving', d }),
      this.lit);
    this.lit.style.opacity = '0';
    this.lit.setAttribute('d', arrived && this.slivers ? this.newSlivers(round) : '');
  }

  /**
   * The contributions that a step has brought in, to be lit while it lands.
   * @param {number} round
   */
  newSlivers(round) {
    const { schedule, states } = this.play;
    let d = '';
    for (const t of round ? schedule.rounds[round - 1].transfers : []) {
      if (t.op !== 'reduce') continue;
      for (let i = 0; i < t.count; i += 1) {
        const place = { rank: t.dst, buffer: t.toBuffer, block: t.toOffset + i };
        const brought = states[round - 1][t.src][t.fromBuffer][t.fromOffset + i];
        for (const rank of brought?.from ?? []) d += this.sliver(this.corner(place), rank);
      }
    }
    return d;
  }
}
