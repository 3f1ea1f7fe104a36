/**
 * 看一块: what is in one block, who put it there and when, and its way through all rounds. The
 * block is chosen on the stage, with the arrow keys there, or with the three selects.
 *
 * @typedef {import('../host.js').Host} Host
 * @typedef {import('../draw.js').Place} Place
 * @typedef {import('../journey.js').Move} Move
 */
import { html } from '../dom.js';
import { journeyOf, lastWrites, placesOf } from '../journey.js';
import { expression } from '../numbers.js';
import { PRIMITIVES } from '../primitives.js';
import { sameCell } from '../replay.js';
import { buffersOf } from '../schedule.js';
import { placeName, stepTitle } from '../text.js';
import { selectBox, setOptions } from '../widgets.js';

/** More moves than this are not listed one by one. */
const MOST_MOVES = 120;

/** @param {readonly number[]} ranks */
const listRanks = (ranks) => `rank ${ranks.join('、')}`;

export class Inspector {
  /** @param {Host} host @param {AbortSignal} signal */
  constructor(host, signal) {
    this.host = host;
    /** Chosen to stay. @type {Place} */
    this.place = { rank: 0, buffer: '', block: 0 };
    /** Under the pointer. @type {Place | null} */
    this.hovered = null;
    this.following = false;
    /** What the list of moves was made for. */
    this.listed = '';
    const rank = selectBox('rank', (value) => this.choose({ rank: Number(value) }));
    const buffer = selectBox('缓冲区', (value) => this.choose({ buffer: value }));
    const block = selectBox('块', (value) => this.choose({ block: Number(value) }));
    this.selects = { rank: rank.select, buffer: buffer.select, block: block.select };
    const field = (/** @type {string} */ title, /** @type {Node} */ node) => html('div',
      { class: 'cp-field' }, html('span', { class: 'cp-label', 'aria-hidden': 'true' }, title), node);
    this.facts = html('dl', { class: 'cp-inspect-facts', 'aria-live': 'polite', 'aria-atomic': 'true' });
    this.follow = html('button', { type: 'button', class: 'cp-action', 'aria-pressed': 'false' });
    this.follow.addEventListener('click', () => {
      this.following = !this.following;
      this.show();
    });
    this.moves = html('ol', { class: 'cp-inspect-moves' });
    this.node = html('div', {},
      html('div', { class: 'cp-row' }, field('rank', rank.node), field('缓冲区', buffer.node),
        field('块', block.node)),
      html('p', { class: 'cp-hint' }, '也可以直接点画面里的块；焦点在画面上时，方向键换一块。'),
      this.facts, this.follow, this.moves);
    this.listen(signal);
    this.choose({});
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { host } = this;
    host.addEventListener('step', () => this.show(), { signal });
    host.addEventListener('shown', () => {
      this.listed = '';
      this.choose({});
    }, { signal });
    host.addEventListener('pick', (event) => {
      const place = /** @type {CustomEvent<Place | null>} */ (event).detail;
      if (place) this.choose(place);
    }, { signal });
    host.stage.addEventListener('pointermove', (event) => {
      if (event.pointerType !== 'mouse' || event.buttons) return;
      const { left, top } = host.stage.getBoundingClientRect();
      this.hover(host.placeAt(event.clientX - left, event.clientY - top));
    }, { signal });
    host.stage.addEventListener('pointerleave', () => this.hover(null), { signal });
    host.stage.addEventListener('keydown', (event) => this.key(event), { signal });
    signal.addEventListener('abort', () => {
      host.outline([], 'picked');
      host.outline([], 'followed');
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target !== this.host.stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const { rank, block } = this.place;
    /** @type {Record<string, Partial<Place>>} */
    const moves = {
      ArrowUp: { rank: rank - 1 }, ArrowDown: { rank: rank + 1 },
      ArrowLeft: { block: block - 1 }, ArrowRight: { block: block + 1 },
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(moves[event.key]);
  }

  /** @param {Place | null} place */
  hover(place) {
    const [a, b] = [place, this.hovered];
    if (a === b || (a && b && a.rank === b.rank && a.buffer === b.buffer && a.block === b.block)) {
      return;
    }
    this.hovered = place;
    this.show();
  }

  /**
   * Choose another block; what does not exist becomes what is nearest. Past the end of a buffer
   * comes the next one.
   * @param {Partial<Place>} wish
   */
  choose(wish) {
    const { schedule } = this.host.shown;
    const wanted = { ...this.place, ...wish };
    const rank = Math.min(schedule.ranks - 1, Math.max(0, wanted.rank));
    const own = buffersOf(schedule, rank);
    let at = Math.max(0, own.findIndex(({ name }) => name === wanted.buffer));
    let { block } = wanted;
    if (block < 0 && at > 0) {
      at -= 1;
      block = own[at].blocks - 1;
    } else if (block >= own[at].blocks && at < own.length - 1 && wish.rank === undefined
      && wish.buffer === undefined) {
      at += 1;
      block = 0;
    }
    this.place = {
      rank, buffer: own[at].name, block: Math.min(own[at].blocks - 1, Math.max(0, block)),
    };
    this.hovered = null;
    this.show();
  }

  show() {
    const { host } = this;
    const { schedule, states } = host.shown;
    const place = this.hovered ?? this.place;
    const numbers = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => (
      { value: String(i), text: String(i) }));
    const own = buffersOf(schedule, place.rank);
    setOptions(this.selects.rank, numbers(schedule.ranks), String(place.rank));
    setOptions(this.selects.buffer, own.map(({ name }) => ({ value: name, text: name })),
      place.buffer);
    setOptions(this.selects.block,
      numbers(own.find(({ name }) => name === place.buffer)?.blocks ?? 0), String(place.block));
    const facts = this.factsOf(place).flatMap(([term, words]) => (
      [html('dt', {}, term), html('dd', {}, words)]));
    if (facts.map((node) => node.textContent).join('\n')
      !== [...this.facts.children].map((node) => node.textContent).join('\n')) {
      this.facts.replaceChildren(...facts);
    }
    host.outline([place], 'picked');
    const cell = states[host.round][place.rank][place.buffer][place.block];
    this.follow.hidden = !cell && !this.following;
    this.follow.setAttribute('aria-pressed', String(this.following));
    this.follow.textContent = this.following ? '不再跟踪' : '跟踪这一块走过的路';
    const fixed = states[host.round][this.place.rank][this.place.buffer][this.place.block];
    this.showMoves(fixed?.block ?? null);
  }

  /**
   * @param {Place} place
   * @returns {[string, string][]}  term, words
   */
  factsOf(place) {
    const { host } = this;
    const { schedule, states, goal, op, symbols } = host.shown;
    const { round } = host;
    const { rank, buffer, block } = place;
    const cell = states[round][rank][buffer][block];
    const where = round === 0 ? '起始状态' : `${stepTitle(schedule, round)}之后`;
    const name = placeName(schedule, buffer, block, 1);
    /** @type {[string, string][]} */
    const facts = [['位置', `rank ${rank} 的 ${name.startsWith(buffer) ? name : `${buffer}，${name}`}，${where}`]];
    if (!cell) {
      facts.push(['内容', '未定义：还没有人写过，或者原语不保证这里有什么']);
      return facts;
    }
    facts.push(['值', expression(schedule, cell, op, symbols)]);
    const missing = schedule.ranks - cell.from.length;
    facts.push(['原块', `M 的第 ${cell.block} 块`]);
    facts.push(['贡献者', PRIMITIVES[schedule.primitive].reduces
      ? `${listRanks(cell.from)}${missing ? `，还差 ${missing} 个` : '，全部到齐'}`
      : `${listRanks(cell.from)} 的原始数据`]);
    facts.push(['来处', this.originOf(place)]);
    const required = goal[rank][buffer]?.[block];
    if (required) facts.push(['结果', sameCell(required, cell) ? '已是要求的最终结果' : '还不是最终结果']);
    return facts;
  }

  /** @param {Place} place */
  originOf(place) {
    const { schedule } = this.host.shown;
    const writes = lastWrites(schedule, this.host.round, place);
    if (!writes.length) return '一开始就在这里';
    const [{ step, transfer }] = writes;
    const when = schedule.rounds[step - 1].local ? '本地操作' : stepTitle(schedule, step);
    const from = writes.map((move) => (move.from.rank === place.rank ? '自己'
      : `rank ${move.from.rank}`)).join('、');
    const what = placeName(schedule, writes[0].from.buffer, writes[0].from.block, 1);
    return transfer.op === 'reduce' ? `${when}从 ${from} 收到${what}，并入原有的值`
      : `${when}从 ${from} 的 ${what}复制来`;
  }

  /**
   * The way of a block: outlined on the stage, and as a list of moves that lead to their rounds.
   * @param {number | null} block  of M
   */
  showMoves(block) {
    const { host } = this;
    const { schedule, states } = host.shown;
    const follows = this.following && block !== null;
    host.outline(follows ? placesOf(states[host.round], block) : [], 'followed');
    this.moves.hidden = !follows;
    if (!follows) {
      this.listed = '';
      return;
    }
    const key = `${block}`;
    if (key !== this.listed) {
      this.listed = key;
      const moves = journeyOf(schedule, states, block);
      const shown = moves.slice(0, MOST_MOVES);
      this.moves.replaceChildren(...shown.map((move) => this.moveItem(move)),
        ...(moves.length > MOST_MOVES
          ? [html('li', {}, `还有 ${moves.length - MOST_MOVES} 次，没有列出`)] : []));
    }
    for (const button of this.moves.querySelectorAll('button')) {
      if (Number(button.dataset.step) === Math.ceil(host.position)) {
        button.setAttribute('aria-current', 'step');
      } else {
        button.removeAttribute('aria-current');
      }
    }
  }

  /** @param {Move} move */
  moveItem({ step, transfer, from, to }) {
    const { schedule, states, op, symbols } = this.host.shown;
    const cell = /** @type {import('../primitives.js').Cell} */ (
      states[step - 1][from.rank][from.buffer][from.block]);
    const local = from.rank === to.rank;
    const way = local ? `rank ${from.rank} 自己` : `rank ${from.rank} → rank ${to.rank}`;
    const button = html('button', { type: 'button', class: 'cp-inspect-move', 'data-step': step },
      `${stepTitle(schedule, step)}：${way}，${transfer.op === 'reduce' ? '并入' : '放进'} `
      + `${placeName(schedule, to.buffer, to.block, 1)}，带着 ${
        expression(schedule, cell, op, symbols)}`);
    button.addEventListener('click', () => this.host.seek(step));
    return html('li', {}, button);
  }
}

/**
 * @param {Host} host @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export const open = (host, signal) => new Inspector(host, signal).node;
