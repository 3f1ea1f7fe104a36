/**
 * What if a transfer were lost, sent to the wrong rank, or carried out twice? No DOM.
 *
 * The rules (replay.js) stop at the first mistake. Here the schedule is carried out to the end all
 * the same, as a machine would that checks nothing: every block is then a multiset of
 * contributions, so that "counted twice" and "two blocks mixed" can be told from a right result.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').Transfer} Transfer
 * @typedef {import('./schedule.js').ScheduleError} ScheduleError
 * @typedef {import('./primitives.js').Cell} Cell
 * @typedef {import('./numbers.js').Op} Op
 * @typedef {{rank: number, buffer: string, block: number}} Place
 * @typedef {'drop' | 'redirect' | 'twice' | 'again'} Kind  twice: in the same step; again: in the
 *   step after it as well
 * @typedef {{kind: Kind, round: number, transfer: number, dst?: number}} Damage  round and transfer
 *   from 0, in the schedule as it was; dst: where a redirected transfer goes
 * @typedef {{block: number, rank: number, times: number}} Term
 * @typedef {Term[]} Heap  what a careless replay finds in a block: by block, then by rank
 * @typedef {{heap: Heap | null, step: number, src: number}} Kept  heap: null where it is anybody's
 *   guess; step, src: when it was written last, and by whom; step 0 when it never was
 * @typedef {Record<string, Kept[]>[]} Memory  per rank, buffer name -> one entry per block
 * @typedef {object} Consequences
 * @property {ScheduleError | null} refusal  the first rule broken, null when the schedule is proved
 * @property {Place[]} wrong  blocks that would end wrong, if it were carried out all the same
 * @property {string} outcome  what would then happen, in one sentence and the numbers of `op`
 */
import { OPS, shortNumber, symbolOf } from './numbers.js';
import { PRIMITIVES } from './primitives.js';
import { attempt, endState } from './replay.js';
import { chunkSize } from './schedule.js';
import { placeName, stepTitle } from './text.js';

/** More terms than this are counted instead of written out. */
const MOST_TERMS = 10;

/** Operations that do not mind a number that counts twice. @type {Op[]} */
const FORGIVING = ['max', 'min'];

/** What each rule forbids, in a few words. @type {Record<string, string>} */
export const RULES = {
  format: '格式不对',
  'rank-range': '没有这个 rank',
  'unknown-buffer': '没有这个缓冲区',
  'offset-range': '超出了缓冲区',
  'port-limit': '一轮里对端太多',
  'undefined-read': '读了未定义的块',
  'mixed-blocks': '归约了不同的块',
  'double-count': '同一份贡献算了两次',
  'write-race': '一块在同一步里写了两次',
  'end-state': '结束状态不对',
};

/** @type {Record<Kind, (damage: Damage) => string>} */
const DONE = {
  drop: () => '删掉',
  redirect: ({ dst }) => `改发给 rank ${dst}`,
  twice: () => '同一步里做两次',
  again: () => '下一步再做一次',
};

/**
 * A transfer in words: 「rank 0 → rank 1：块 2，并入」.
 * @param {Schedule} schedule @param {Transfer} t
 */
export function transferName(schedule, t) {
  const what = placeName(schedule, t.fromBuffer, t.fromOffset, t.count);
  const target = placeName(schedule, t.toBuffer, t.toOffset, t.count);
  const into = what === target ? '' : ` ${target}`;
  const who = t.src === t.dst ? `rank ${t.src} 自己` : `rank ${t.src} → rank ${t.dst}`;
  if (t.op === 'reduce') return `${who}：${what}，并入${into}`;
  return `${who}：${what}${into && `，放进${into}`}`;
}

/**
 * A damage in words: 「第 1 / 6 轮，rank 0 → rank 1：块 2，并入：删掉」.
 * @param {Schedule} schedule  as it was @param {Damage} damage
 */
export function damageName(schedule, damage) {
  const [title] = stepTitle(schedule, damage.round + 1).split(' · ');
  const transfer = schedule.rounds[damage.round].transfers[damage.transfer];
  return `${title}，${transferName(schedule, transfer)}：${DONE[damage.kind](damage)}`;
}

/**
 * The ranks that a transfer may be sent to by mistake.
 * @param {Schedule} schedule @param {Transfer} transfer
 */
export const wrongTargets = ({ ranks }, { src, dst }) =>
  Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => rank !== src && rank !== dst);

/**
 * A copy of a schedule with mistakes in it; of several for one transfer, the first counts. The
 * copy says in its captions what was changed, for they would not be true otherwise.
 * @param {Schedule} schedule @param {Damage[]} damages
 * @returns {Schedule}
 */
export function damaged(schedule, damages) {
  if (!damages.length) return schedule;
  const { rounds } = schedule;
  /** @type {Transfer[][]} */
  const late = rounds.map(() => []);
  const changed = rounds.map((round, index) => {
    const here = damages.filter((damage) => damage.round === index);
    const transfers = round.transfers.flatMap((t, number) => {
      const damage = here.find(({ transfer }) => transfer === number);
      if (damage?.kind === 'again') late[index].push(t);
      if (damage?.kind === 'drop') return [];
      if (damage?.kind === 'redirect') return [{ ...t, dst: damage.dst ?? t.dst }];
      return damage?.kind === 'twice' ? [t, t] : [t];
    });
    const repeated = late[index - 1] ?? [];
    const notes = [
      ...here.map((damage) => transferName(schedule, round.transfers[damage.transfer])
        + `：${DONE[damage.kind](damage)}`),
      ...repeated.map((t) => `${transferName(schedule, t)}：再做一次`),
    ];
    const all = [...transfers, ...repeated];
    return {
      ...round,
      caption: notes.length ? `${round.caption}这一步改过：${notes.join('；')}。` : round.caption,
      // A round that has lost its last transfer keeps its number.
      local: all.length ? all.every((t) => t.src === t.dst) : round.local,
      transfers: all,
    };
  });
  const left = late[rounds.length - 1] ?? [];
  if (left.length) {
    changed.push({
      phase: rounds[rounds.length - 1].phase,
      caption: `多出来的一步：${left.map((t) => transferName(schedule, t)).join('；')}，再做一次。`,
      local: left.every((t) => t.src === t.dst),
      transfers: left,
    });
  }
  return { ...schedule, rounds: changed };
}

/** @param {Cell} cell @returns {Heap} */
const heapOf = ({ block, from }) => from.map((rank) => ({ block, rank, times: 1 }));

/**
 * Carry a schedule out to the end, whatever it does. All reads of a step come before its writes; of
 * two writes to one block the later one in the list wins, as it might in reality. A transfer from
 * or to a buffer that is not there moves nothing.
 * @param {Schedule} schedule
 * @returns {Memory}
 * @throws {ScheduleError} with rule "format" when it cannot be started at all
 */
export function carryOut(schedule) {
  const n = schedule.ranks;
  // While it runs, a block is a map from (block, rank) to how often that contribution is in it.
  const memory = attempt(schedule).states[0].map((held) => Object.fromEntries(
    Object.entries(held).map(([name, content]) => [name, content.map((cell) => ({
      terms: cell && new Map(cell.from.map((rank) => [cell.block * n + rank, 1])),
      step: 0, src: -1,
    }))])));
  schedule.rounds.forEach(({ transfers }, index) => {
    const moving = transfers.map((t) => (
      memory[t.src]?.[t.fromBuffer]?.slice(t.fromOffset, t.fromOffset + t.count) ?? []));
    /** Maps that nobody else holds yet, so that they may grow. @type {Set<Map<number, number>>} */
    const fresh = new Set();
    transfers.forEach((t, number) => {
      const target = memory[t.dst]?.[t.toBuffer];
      if (!target) return;
      moving[number].forEach(({ terms }, i) => {
        const at = t.toOffset + i;
        let result = terms;
        if (t.op === 'reduce') {
          const held = target[at].terms;
          result = held && terms && (fresh.has(held) ? held : new Map(held));
          if (result && terms) {
            fresh.add(result);
            for (const [key, times] of terms) result.set(key, times + (result.get(key) ?? 0));
          }
        }
        target[at] = { terms: result, step: index + 1, src: t.src };
      });
    });
  });
  return memory.map((held) => Object.fromEntries(Object.entries(held).map(([name, content]) => (
    [name, content.map(({ terms, step, src }) => ({
      heap: terms && [...terms].sort(([a], [b]) => a - b).map(([key, times]) => (
        { block: Math.floor(key / n), rank: key % n, times })),
      step, src,
    }))]))));
}

/**
 * Whether a block holds what it should. A maximum does not change when a number counts twice.
 * @param {Cell} expected @param {Heap | null} heap @param {Op} op
 */
function isRight(expected, heap, op) {
  const forgiving = FORGIVING.includes(op);
  return heap !== null && heap.length === expected.from.length
    && heap.every(({ block, rank, times }, i) => (
      block === expected.block && rank === expected.from[i] && (forgiving || times === 1)));
}

/**
 * @param {Schedule} schedule @param {Memory} memory @param {Op} op
 * @returns {{place: Place, expected: Cell, kept: Kept}[]} by rank, buffer, block
 */
function wrongBlocks(schedule, memory, op) {
  return endState(schedule).flatMap((required, rank) => (
    Object.entries(required).flatMap(([buffer, content]) => content.flatMap((expected, block) => {
      const kept = memory[rank][buffer][block];
      return expected && !isRight(expected, kept.heap, op)
        ? [{ place: { rank, buffer, block }, expected, kept }] : [];
    }))));
}

/** @param {Schedule} schedule @param {Heap} heap @param {Op} op */
function valueOf(schedule, heap, op) {
  const { value } = PRIMITIVES[schedule.primitive];
  const size = chunkSize(schedule);
  return heap.map(({ block, rank, times }) => {
    const number = BigInt(value(block, rank, size));
    if (op === 'sum') return number * BigInt(times);
    return op === 'prod' ? number ** BigInt(times) : number;
  }).reduce(OPS[op].apply);
}

/**
 * What is in a block, as an expression: 「1 + 2 + 2 + 3 = 8」.
 * @param {Schedule} schedule @param {Heap} heap @param {Op} op @param {boolean} symbols
 */
function sumOf(schedule, heap, op, symbols) {
  const count = heap.reduce((sum, { times }) => sum + times, 0);
  const result = shortNumber(valueOf(schedule, heap, op), 9);
  if (count > MOST_TERMS) return symbols ? `${count} 份贡献` : `${result}（${count} 份贡献）`;
  const terms = heap.flatMap(({ block, rank, times }) => Array(times).fill(symbols
    ? symbolOf({ block, from: [rank] }) : shortNumber(valueOf(schedule,
      [{ block, rank, times: 1 }], op), 9)));
  const written = terms.length > 1 ? OPS[op].join(terms) : terms[0];
  return symbols || terms.length === 1 ? written : `${written} = ${result}`;
}

/**
 * What is in a block of a primitive that only moves blocks: 「rank 1 的块 5（值 11）」.
 * @param {Schedule} schedule @param {Heap} heap @param {boolean} symbols
 */
function movedOf(schedule, [term], symbols) {
  const { block, rank } = term;
  const owner = schedule.root !== null && rank === schedule.root ? '' : `rank ${rank} 的`;
  const text = symbols ? symbolOf({ block, from: [rank] })
    : `值 ${valueOf(schedule, [term], 'sum')}`;
  return `${owner}块 ${block}（${text}）`;
}

/** Chinese runs on; a space stands before Latin and digits. @param {string} text */
const after = (text) => (/^[\x21-\x7e]/.test(text) ? ` ${text}` : text);

/** @param {number[]} ranks */
const rankList = (ranks) => (ranks.length > MOST_TERMS ? `${ranks.length} 个 rank`
  : `rank ${ranks.join('、')}`);

/**
 * Why a reduced block is wrong: 「rank 1 的贡献算了两次，rank 3 的没有进来」.
 * @param {Cell} expected @param {Heap} heap @param {Op} op
 */
function whyReduced(expected, heap, op) {
  const blocks = [...new Set(heap.map(({ block }) => block))];
  if (blocks.length > 1) {
    return `块 ${blocks.slice(0, 4).join('、')}${blocks.length > 4 ? ' 等' : ''} 混在了一起`;
  }
  if (blocks[0] !== expected.block) return `这是块 ${blocks[0]}，不是块 ${expected.block}`;
  const present = new Set(heap.map(({ rank }) => rank));
  const missing = expected.from.filter((rank) => !present.has(rank));
  const repeated = FORGIVING.includes(op) ? [] : heap.filter(({ times }) => times > 1);
  const reasons = [...new Set(repeated.map(({ times }) => times))].map((times) => {
    const ranks = repeated.filter((term) => term.times === times).map(({ rank }) => rank);
    return `${rankList(ranks)} 的贡献${ranks.length > 1 ? '各' : ''}算了${
      times === 2 ? '两次' : ` ${times} 次`}`;
  });
  if (missing.length) {
    reasons.push(`${rankList(missing)} 的${reasons.length ? '' : '贡献'}没有进来`);
  }
  return reasons.join('，');
}

/**
 * @param {Schedule} schedule
 * @param {{place: Place, expected: Cell, kept: Kept}} first  of the wrong blocks
 * @param {number} others  how many more are wrong
 * @param {Op} op @param {boolean} symbols
 */
function wrongOutcome(schedule, { place, expected, kept }, others, op, symbols) {
  const { rank, buffer, block } = place;
  const { heap, step, src } = kept;
  const { reduces } = PRIMITIVES[schedule.primitive];
  const words = (/** @type {Heap} */ held) => (reduces ? sumOf(schedule, held, op, symbols)
    : movedOf(schedule, held, symbols));
  const target = heapOf(expected);
  const also = others ? `另有 ${others} 块也错。` : '';
  const name = `rank ${rank} 的 ${buffer}[${block}] 最后`;
  const wanted = `，应为${after(words(target))}：`;
  if (!heap) {
    return `${name}还是未定义的数据${wanted}${step === 0 ? '一直没有数据写进来'
      : `第 ${step} 步写进来的东西还没有值`}。${also}`;
  }
  const found = `${name}是${after(words(heap))}`;
  if (!reduces) {
    const writer = src === rank ? '它自己放进来' : ` rank ${src} 发来`;
    return `${found}${wanted}${step ? `第 ${step} 步${writer}的就是这一块` : '一直没有数据写进来'}。${also}`;
  }
  const why = whyReduced(expected, heap, op);
  const same = !symbols && valueOf(schedule, heap, op) === valueOf(schedule, target, op);
  return `${found}${wanted}${same ? `数碰巧一样，但${after(why)}，换一组数就错了` : why}。${also}`;
}

/** Why a broken rule may still leave every result right. @type {Record<string, string>} */
const LUCK = {
  'port-limit': '数据没有错；但一个端口一轮里只能有一个对端，真要做完得多花一轮',
  'write-race': '后写的那一次碰巧是对的，可是谁先谁后没有保证',
  'double-count': '算重的那一块后来没有用上，或者被盖掉了',
  'mixed-blocks': '混在一起的那一块后来没有用上，或者被盖掉了',
  'undefined-read': '没有值的数据后来没有用上，或者被盖掉了',
  'unknown-buffer': '做不成的那个传输本来就用不着',
};

/**
 * Whether what is written twice in one step comes from one and the same place.
 * @param {Schedule} schedule @param {ScheduleError} refusal
 */
function isSameTwice({ rounds }, { rule, place }) {
  const { round = 0, rank, buffer, block = 0 } = place;
  if (rule !== 'write-race') return false;
  const sources = rounds[round - 1].transfers.filter((t) => t.dst === rank && t.toBuffer === buffer
    && t.toOffset <= block && block < t.toOffset + t.count)
    .map((t) => `${t.src} ${t.op} ${t.fromBuffer} ${t.fromOffset + block - t.toOffset}`);
  return new Set(sources).size === 1;
}

/**
 * @param {Schedule} schedule @param {Memory} memory
 * @param {ScheduleError | null} refusal @param {Op} op
 */
function rightOutcome(schedule, memory, refusal, op) {
  if (!refusal) return '照做也没有坏处：每个 rank 的结果都对。';
  const inSum = wrongBlocks(schedule, memory, 'sum').length;
  if (inSum) {
    return `结果却全对：取${OPS[op].title}时同一个数算两次没有关系；换成求和，就有 ${inSum} 块是错的。`
      + '日程要对每一种归约都对，所以规则不许。';
  }
  const luck = isSameTwice(schedule, refusal) ? '两次写进去的是一样的数；若不一样，就要看谁先谁后'
    : LUCK[refusal.rule];
  return luck ? `结果却全对：${luck}。` : '结果却全对。';
}

/**
 * The blocks to look at where a rule is broken: the one that the rule names, else those that the
 * transfer is about.
 * @param {Schedule} schedule @param {ScheduleError} refusal
 * @returns {Place[]}
 */
export function troubleAt({ rounds, buffers, root }, { place }) {
  const { rank, buffer, block, round = 0, transfer = 0 } = place;
  if (rank !== undefined && buffer !== undefined && block !== undefined) {
    return [{ rank, buffer, block }];
  }
  const t = rounds[round - 1]?.transfers[transfer - 1];
  if (!t) return [];
  const arrives = t.dst === root || !buffers.find(({ name }) => name === t.toBuffer)?.onRoot;
  return Array.from({ length: t.count }, (_, i) => (arrives
    ? { rank: t.dst, buffer: t.toBuffer, block: t.toOffset + i }
    : { rank: t.src, buffer: t.fromBuffer, block: t.fromOffset + i }));
}

/**
 * What the rules say to a schedule, and what would happen if it were carried out all the same.
 * @param {Schedule} schedule @param {Op} op @param {boolean} [symbols]
 * @returns {Consequences}
 * @throws {ScheduleError} with rule "format" when it cannot be started at all
 */
export function consequences(schedule, op, symbols = false) {
  const { refusal } = attempt(schedule);
  const memory = carryOut(schedule);
  const wrong = wrongBlocks(schedule, memory, op);
  return {
    refusal,
    wrong: wrong.map(({ place }) => place),
    outcome: wrong.length
      ? wrongOutcome(schedule, wrong[0], wrong.length - 1, op, symbols)
      : rightOutcome(schedule, memory, refusal, op),
  };
}
