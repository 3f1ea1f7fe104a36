/**
 * Sentences of the player: titles, captions, the example of a round, the ledger.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').Transfer} Transfer
 * @typedef {import('./replay.js').State} State
 * @typedef {import('./numbers.js').Op} Op
 * @typedef {import('./cost.js').Spent} Spent
 * @typedef {{title: string, caption: string, example: string}} Caption
 */
import { textWidth } from './cards.js';
import { MACHINE, seconds } from './cost.js';
import { OPS, cellText, duration, expression, gcd, shareOfM } from './numbers.js';
import { PRIMITIVES } from './primitives.js';
import { endState, sameCell } from './replay.js';
import { chunkSize, phaseTitle } from './schedule.js';

/** @param {number} first @param {number} count */
const range = (first, count) => (count === 1 ? `${first}` : `${first}–${first + count - 1}`);

/** @param {Schedule} schedule */
const communicationRounds = ({ rounds }) => rounds.filter((r) => !r.local).length;

/**
 * The title of a step: 「第 2 / 6 轮 · ReduceScatter 阶段」. Local steps have no number.
 * @param {Schedule} schedule @param {number} step  0 is the state before the first round
 */
export function stepTitle(schedule, step) {
  if (step === 0) return '起始状态';
  const round = schedule.rounds[step - 1];
  if (round.local) return '本地操作';
  const number = schedule.rounds.slice(0, step).filter((r) => !r.local).length;
  const title = `第 ${number} / ${communicationRounds(schedule)} 轮`;
  const phase = phaseTitle(schedule, round.phase);
  return phase ? `${title} · ${phase}` : title;
}

/**
 * The name of some neighbouring blocks: 「块 2」, 「gather_list 的第 3 段」, 「my_chunk」.
 * @param {Schedule} schedule @param {string} name @param {number} offset @param {number} count
 */
export function placeName(schedule, name, offset, count) {
  const size = chunkSize(schedule);
  const blocks = schedule.buffers.find((b) => b.name === name)?.blocks ?? 0;
  if (size > 1 || PRIMITIVES[schedule.primitive].chunked) {
    if (count === blocks) return name;
    return offset % size === 0 && count % size === 0
      ? `${name} 的第 ${range(offset / size, count / size)} 段`
      : `${name} 的第 ${range(offset, count)} 格`;
  }
  const prefix = schedule.buffers.length > 1 ? `${name} 的` : '';
  return count === blocks && count > 1 ? `${prefix}全部 ${count} 块`
    : `${prefix}块 ${range(offset, count)}`;
}

/** @param {string[]} items @param {number} most */
const listed = (items, most) => (items.length > most
  ? `${items.slice(0, most).join('、')}……` : items.join('、'));

/**
 * One concrete transfer of a step, with its numbers.
 * @param {Schedule} schedule @param {State[]} states @param {number} step @param {Op} op
 * @param {boolean} [symbols]
 * @param {Transfer} [chosen]  of this step; else the first one between two ranks
 */
export function example(schedule, states, step, op, symbols = false, chosen = undefined) {
  const text = (/** @type {import('./primitives.js').Cell} */ cell) =>
    cellText(schedule, cell, op, symbols, 9);
  const round = schedule.rounds[step - 1];
  const t = chosen ?? round?.transfers.find((x) => x.src !== x.dst) ?? round?.transfers[0];
  if (!t) return '';
  const before = states[step - 1];
  const cells = /** @type {import('./primitives.js').Cell[]} */ (
    before[t.src][t.fromBuffer].slice(t.fromOffset, t.fromOffset + t.count));
  const values = cells.map(text);
  const what = placeName(schedule, t.fromBuffer, t.fromOffset, t.count);
  const target = placeName(schedule, t.toBuffer, t.toOffset, t.count);
  const shown = `值 ${new Set(values).size === 1 && t.count > 2 ? `都是 ${values[0]}`
    : listed(values, 6)}`;
  if (t.op === 'copy') {
    const into = t.fromBuffer === t.toBuffer && t.fromOffset === t.toOffset ? '' : `，放进 ${target}`;
    return t.src === t.dst
      ? `rank ${t.src} 自己：${what}（${shown}）${into}，不经过网络。`
      : `rank ${t.src} → rank ${t.dst}：${what}（${shown}）${into}。`;
  }
  const [cell] = cells;
  const held = /** @type {import('./primitives.js').Cell} */ (
    before[t.dst][t.toBuffer][t.toOffset]);
  const union = { block: cell.block, from: [...held.from, ...cell.from].sort((a, b) => a - b) };
  const own = text(held);
  const result = text(union);
  const many = cell.from.length > 4;
  const each = t.count > 1 ? '每格' : '';
  const carried = cell.from.length === 1 ? `${each && '每格是 '}rank ${cell.from[0]} 的 ${values[0]}`
    : each + (many ? `已含 ${cell.from.length} 个 rank 的贡献（${OPS[op].result} ${values[0]}）`
      : `已含 rank ${cell.from.join('、')} 的贡献（${expression(schedule, cell, op, symbols)}）`);
  const after = states[step][t.dst][t.toBuffer][t.toOffset];
  const alone = step === schedule.rounds.length || sameCell(after, union);
  return `rank ${t.src} → rank ${t.dst}：${what}，${carried}，到达后并入 rank ${t.dst} 的 ${own}`
    + `${alone ? ` → ${result}` : '，同一轮还有别的贡献到达'}。`;
}

/**
 * How many blocks already are what the primitive must end with, in all and per rank.
 * @param {Schedule} schedule @param {State[]} states @param {number} step
 */
export function progress(schedule, states, step) {
  const ranks = endState(schedule).map((required, rank) => {
    const count = { done: 0, all: 0 };
    for (const [name, content] of Object.entries(required)) {
      content.forEach((cell, block) => {
        if (!cell) return;
        count.all += 1;
        if (sameCell(cell, states[step][rank][name][block])) count.done += 1;
      });
    }
    return count;
  });
  const total = (/** @type {'done' | 'all'} */ key) => ranks.reduce((sum, r) => sum + r[key], 0);
  return { done: total('done'), all: total('all'), ranks };
}

/**
 * @param {Schedule} schedule @param {State[]} states @param {number} step @param {Op} op
 * @param {boolean} [symbols]
 * @returns {Caption}
 */
export function captionOf(schedule, states, step, op, symbols = false) {
  const title = stepTitle(schedule, step);
  const primitive = PRIMITIVES[schedule.primitive];
  if (step === 0) {
    const root = schedule.root === null ? '' : `，根是 rank ${schedule.root}`;
    return {
      title,
      caption: `${primitive.title}，${schedule.ranks} 个 rank${root}，共 `
        + `${communicationRounds(schedule)} 轮通信。`,
      example: '按播放键连续看，或用前进键一轮一轮看。',
    };
  }
  let shown = example(schedule, states, step, op, symbols);
  const unset = step === schedule.rounds.length && schedule.primitive === 'reduce';
  if (unset) shown += '归约结束：根以外的 tensor 内容未定义。';
  return { title, caption: schedule.rounds[step - 1].caption, example: shown };
}

/**
 * What the picture shows, in brief, for those who do not see it.
 * @param {Schedule} schedule @param {State[]} states @param {number} step
 */
export function pictureLabel(schedule, states, step) {
  const { done, all } = progress(schedule, states, step);
  return `${PRIMITIVES[schedule.primitive].title}，${schedule.ranks} 个 rank，`
    + `${step === 0 ? '起始状态' : `${stepTitle(schedule, step)}之后`}：`
    + `${all} 个结果块中 ${done} 个已完成。`;
}

/**
 * The four figures of the ledger: name, figure, note.
 * @param {Schedule} schedule
 * @param {Spent[]} spent @param {number} step
 * @returns {[string, string, string][]}
 */
export function ledger(schedule, spent, step) {
  const { blocks, bound, ranks } = schedule;
  const now = spent[step];
  const all = spent[spent.length - 1];
  const boundBlocks = Math.round(bound ? bound.beta * blocks : 0);
  const exact = bound !== null && Math.abs(boundBlocks - bound.beta * blocks) < 1e-9;
  // The coarsest parts in which every amount shown is whole, so that they compare at a glance.
  const unit = spent.reduce((d, s) => gcd(d, s.sentNow), exact ? gcd(blocks, boundBlocks) : blocks);
  /** @param {number} amount */
  const share = (amount) => shareOfM(amount / unit, blocks / unit);
  const verb = schedule.ports === 'multi' ? '收发' : '发送';
  const log = Math.ceil(Math.log2(ranks));
  const limit = bound && (bound.rounds === log ? `⌈log₂ ${ranks}⌉ = ${log}` : `${bound.rounds}`);
  const { alpha, bytes, bandwidth } = MACHINE;
  return [
    [`本轮每 rank ${verb}`, share(now.sentNow), '最多的那个 rank'],
    [exact ? `累计${verb} ／ 下界` : `累计${verb}`,
      share(now.sent) + (exact ? ` ／ ${share(boundBlocks)}` : ''), `全程 ${share(all.sent)}`],
    ['轮数', `${now.rounds} / ${all.rounds}`, limit ? `下界 ${limit}` : ''],
    ['α–β 用时', `${duration(seconds(now, blocks))} / ${duration(seconds(all, blocks))}`,
      `α = ${alpha * 1e6} µs，M = ${bytes / 1e9} GB，${bandwidth / 1e9} GB/s，不计归约`],
  ];
}

/**
 * How many lines the captions of a schedule need at most, so that the room stays the same.
 * @param {Schedule} schedule @param {State[]} states @param {Op} op
 * @param {number} width  in pixels @param {boolean} [symbols]
 */
export function captionLines(schedule, states, op, width, symbols = false) {
  const lines = { sentence: 1, example: 1 };
  states.forEach((_, step) => {
    const { title, caption, example: shown } = captionOf(schedule, states, step, op, symbols);
    // Lines break before they are full.
    const sentence = textWidth(`${title}  ${caption}`, 15.5) * 1.03 + 16;
    const words = textWidth(shown, 13.5) * 1.03 + 14;
    lines.sentence = Math.max(lines.sentence, Math.ceil(sentence / width));
    lines.example = Math.max(lines.example, Math.ceil(words / width));
  });
  return lines;
}

/**
 * What the signs of the picture mean: kind of sign, words.
 * @param {Schedule} schedule
 * @param {boolean} named  whether the buffers have their names on the picture
 * @param {boolean} slivers  whether every contribution is seen
 * @param {boolean} [nodes]  whether the ranks stand in nodes
 * @returns {[string, string][]}
 */
export function legendOf({ primitive, buffers }, named, slivers, nodes = false) {
  /** @type {[string, string][]} */
  const items = [
    !PRIMITIVES[primitive].reduces ? ['fill', '颜色：来自哪个 rank']
      : slivers ? ['sliver', '细条：已并入的 rank'] : ['counted', '填充：已并入多少 rank'],
    ['undefined', '斜线：未定义'],
    ['done', '粗框：最终结果'],
    ['changed', '描边：本轮收到'],
  ];
  if (nodes) items.push(['outer', '粗线：节点之间']);
  if (!named && buffers.length > 1) {
    items.push(['', `格子依次属于 ${buffers.map((b) => b.name).join('、')}`]);
  }
  return items;
}
