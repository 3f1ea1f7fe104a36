/**
 * Replays a schedule on symbolic contributions and refuses it where it breaks a rule.
 * The counterpart of scripts/collectives/prove.py: same rules, same order, same sentences.
 *
 * A state is never changed once it is made: rounds share the buffers that they leave alone, so
 * that any round can be shown at any time.
 *
 * @typedef {import('./primitives.js').Cell} Cell
 * @typedef {import('./primitives.js').Held} Held
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').Transfer} Transfer
 * @typedef {import('./schedule.js').Round} Round
 * @typedef {Held[]} State  per rank
 */
import { PRIMITIVES } from './primitives.js';
import { ScheduleError, buffersOf, checkShape } from './schedule.js';

/** Past this many copied cells the states of a schedule are not kept. */
const MAX_KEPT = 20_000_000;

/** @param {Cell | null} cell */
function words(cell) {
  return cell ? `块 ${cell.block}（rank ${cell.from.join('、')} 的贡献）` : '未定义的数据';
}

/**
 * @param {Schedule} schedule
 * @returns {State}
 */
function startState(schedule) {
  const { ranks: n, blocks, root } = schedule;
  const primitive = PRIMITIVES[schedule.primitive];
  return Array.from({ length: n }, (_, rank) => {
    // No prototype: a buffer may be called "constructor".
    const held = Object.assign(Object.create(null), primitive.start(n, blocks, root ?? 0, rank));
    for (const { name, blocks: size } of buffersOf(schedule, rank)) {
      held[name] ??= Array(size).fill(null);
    }
    return held;
  });
}

/**
 * What the primitive requires at the end, per rank; null where nothing is required.
 * @param {Schedule} schedule
 * @returns {State}
 */
export function endState({ primitive, ranks: n, blocks, root }) {
  return Array.from({ length: n }, (_, rank) => (
    PRIMITIVES[primitive].end(n, blocks, root ?? 0, rank)
  ));
}

/** @param {Cell | null} a @param {Cell | null} b */
export const sameCell = (a, b) => a === b || (a !== null && b !== null && a.block === b.block
  && a.from.length === b.from.length && a.from.every((rank, i) => rank === b.from[i]));

/**
 * Put the members of a list into an ascending one that has none of them.
 * @param {number[]} all @param {readonly number[]} more
 */
function insert(all, more) {
  for (const member of more) {
    let at = all.length;
    while (at > 0 && all[at - 1] > member) at -= 1;
    all.splice(at, 0, member);
  }
}

/**
 * Carry out one round: all reads from `before`, then all writes.
 * @param {Schedule} schedule
 * @param {State} before
 * @param {number} index  of the round, from 0
 * @returns {State}
 * @throws {ScheduleError} the first rule broken, with its place
 */
function step(schedule, before, index) {
  const { ranks: n, rounds, ports } = schedule;
  const sizes = new Map(schedule.buffers.map((b) => [b.name, b.blocks]));
  /** Where each buffer begins when a rank's blocks are counted through. @type {Map<string, number>} */
  const starts = new Map();
  let width = 0;
  for (const { name, blocks } of schedule.buffers) {
    starts.set(name, width);
    width += blocks;
  }
  const sendsTo = new Map();
  const receivesFrom = new Map();
  /** @type {Map<number, {rank: number, buffer: string, block: number, cell: Cell, op: string}>} */
  const written = new Map();

  rounds[index].transfers.forEach((t, number) => {
    /** @param {string} rule @param {string} sentence @param {object} [place] */
    const fail = (rule, sentence, place) => {
      throw new ScheduleError(rule, sentence, { round: index + 1, transfer: number + 1, ...place });
    };
    for (const rank of [t.src, t.dst]) {
      if (rank < 0 || rank >= n) {
        fail('rank-range', `rank ${rank} 不存在，${n} 个 rank 的编号是 0 到 ${n - 1}。`, { rank });
      }
    }
    const ends = /** @type {[number, string, number][]} */ (
      [[t.src, t.fromBuffer, t.fromOffset], [t.dst, t.toBuffer, t.toOffset]]);
    for (const [rank, buffer] of ends) {
      if (!Object.hasOwn(before[rank], buffer)) {
        const names = Object.keys(before[rank]).join('、');
        fail('unknown-buffer', `rank ${rank} 没有缓冲区 ${buffer.slice(0, 40)}，它有 ${names}。`,
          { rank, buffer, expected: names, found: buffer });
      }
    }
    for (const [rank, buffer, offset] of ends) {
      const size = /** @type {number} */ (sizes.get(buffer));
      if (t.count < 1 || offset < 0 || offset + t.count > size) {
        fail('offset-range', `rank ${rank} 的 ${buffer} 只有 ${size} 块，`
          + `不能从第 ${offset} 块起取 ${t.count} 块。`, { rank, buffer, block: offset });
      }
    }
    if (t.src !== t.dst && ports === 'single') {
      const to = sendsTo.get(t.src) ?? t.dst;
      const from = receivesFrom.get(t.dst) ?? t.src;
      sendsTo.set(t.src, to);
      receivesFrom.set(t.dst, from);
      if (to !== t.dst || from !== t.src) {
        const [rank, verb, first, second] = to !== t.dst
          ? [t.src, '发给', to, t.dst] : [t.dst, '接收来自', from, t.src];
        fail('port-limit', `rank ${rank} 在同一轮里${verb} rank ${first} 和 rank ${second}，`
          + '单端口模型里一轮只能有一个对端。', { rank });
      }
    }
    /** @param {object} where @param {string} what */
    const undefinedRead = (where, what) =>
      fail('undefined-read', what, { ...where, expected: '已定义的数据', found: '未定义的数据' });
    const source = before[t.src][t.fromBuffer];
    const target = before[t.dst][t.toBuffer];
    const first = t.dst * width + /** @type {number} */ (starts.get(t.toBuffer)) + t.toOffset;
    for (let i = 0; i < t.count; i += 1) {
      const block = t.toOffset + i;
      const cell = source[t.fromOffset + i];
      const at = () => ({ rank: t.dst, buffer: t.toBuffer, block });
      const name = () => `rank ${t.dst} 的 ${t.toBuffer}[${block}]`;
      if (!cell) {
        const offset = t.fromOffset + i;
        undefinedRead({ rank: t.src, buffer: t.fromBuffer, block: offset },
          `rank ${t.src} 的 ${t.fromBuffer}[${offset}] 还是未定义的数据，要读它，可它还没有值。`);
        return;
      }
      const earlier = written.get(first + i);
      if (earlier && (t.op === 'copy' || earlier.op === 'copy')) {
        fail('write-race', `${name()} 在同一轮里被写两次，结果取决于先后。`, at());
      }
      if (t.op === 'copy') {
        written.set(first + i, { ...at(), cell, op: t.op });
        continue;
      }
      const held = earlier ? earlier.cell : target[block];
      if (!held) {
        undefinedRead(at(), `${name()} 还是未定义的数据，要在它上面归约，可它还没有值。`);
        return;
      }
      if (held.block !== cell.block) {
        fail('mixed-blocks', `${name()} 里是${words(held)}，不能与${words(cell)}归约，`
          + '两者不是同一块。', { ...at(), expected: words(held), found: words(cell) });
      }
      if (cell.from.some((rank) => held.from.includes(rank))) {
        const both = cell.from.filter((rank) => held.from.includes(rank)).join('、');
        fail('double-count', `${name()} 里是${words(held)}，再并入${words(cell)}，`
          + `rank ${both} 的贡献就算了两次。`,
        { ...at(), expected: `不含 rank ${both} 的贡献`, found: words(cell) });
      }
      // What this round has made belongs to no state yet, and many may reduce into one block.
      const from = earlier ? /** @type {number[]} */ (earlier.cell.from) : [...held.from];
      insert(from, cell.from);
      if (!earlier) written.set(first + i, { ...at(), cell: { block: cell.block, from }, op: t.op });
    }
  });

  const after = [...before];
  for (const { rank, buffer, block, cell } of written.values()) {
    if (after[rank] === before[rank]) after[rank] = { ...before[rank] };
    if (after[rank][buffer] === before[rank][buffer]) {
      after[rank][buffer] = [...before[rank][buffer]];
    }
    after[rank][buffer][block] = cell;
  }
  return after;
}

/**
 * @param {Schedule} schedule
 * @param {State} state
 * @throws {ScheduleError} with rule "end-state"
 */
function checkEnd(schedule, state) {
  endState(schedule).forEach((required, rank) => {
    for (const [buffer, content] of Object.entries(required)) {
      content.forEach((expected, block) => {
        const found = state[rank][buffer][block];
        if (expected && !sameCell(expected, found)) {
          throw new ScheduleError('end-state', `全部 ${schedule.rounds.length} 步结束后，`
            + `rank ${rank} 的 ${buffer}[${block}] 应为${words(expected)}，实际是${words(found)}。`,
          { rank, buffer, block, expected: words(expected), found: words(found) });
        }
      });
    }
  });
}

/**
 * Drop what the primitive leaves undefined in its own outputs: after Reduce the tensors of the
 * other ranks.
 * @param {Schedule} schedule @param {State} state
 * @returns {State}
 */
function forgetUndefined(schedule, state) {
  const outputs = schedule.buffers
    .filter((b) => b.role === 'output' || b.role === 'inout').map((b) => b.name);
  return endState(schedule).map((required, rank) => {
    const held = { ...state[rank] };
    for (const name of outputs) {
      if (required[name]?.includes(null)) {
        held[name] = held[name].map((cell, block) => required[name][block] && cell);
      }
    }
    return held;
  });
}

/**
 * Replay as far as the rules allow: the state before the first round and after each round, and the
 * rule that is broken first, null when the schedule is proved. A round that breaks a rule leaves no
 * state; a wrong end state is the last one.
 * @param {Schedule} schedule
 * @returns {{states: State[], refusal: ScheduleError | null}}
 * @throws {ScheduleError} with rule "format" when it has no states at all
 */
export function attempt(schedule) {
  checkShape(schedule);
  /** @type {State[]} */
  const states = [];
  try {
    run(schedule, states);
    return { states, refusal: null };
  } catch (error) {
    if (error instanceof ScheduleError && error.rule !== 'format') return { states, refusal: error };
    throw error;
  }
}

/**
 * Check every rule and the end state, and return the state before the first round and after each
 * round: rounds.length + 1 states.
 * @param {Schedule} schedule
 * @returns {State[]}
 * @throws {ScheduleError}
 */
export function replay(schedule) {
  checkShape(schedule);
  /** @type {State[]} */
  const states = [];
  run(schedule, states);
  return states;
}

/**
 * @param {Schedule} schedule
 * @param {State[]} states  filled as far as it gets
 * @throws {ScheduleError}
 */
function run(schedule, states) {
  states.push(startState(schedule));
  let kept = 0;
  schedule.rounds.forEach((_, index) => {
    const before = states[index];
    const after = step(schedule, before, index);
    after.forEach((held, rank) => {
      if (held === before[rank]) return;
      for (const name of Object.keys(held)) {
        if (held[name] !== before[rank][name]) kept += held[name].length;
      }
    });
    if (kept > MAX_KEPT) throw new ScheduleError('format', '日程太大，播放器放不下它的全部状态。');
    states.push(after);
  });
  const last = states.length - 1;
  checkEnd(schedule, states[last]);
  states[last] = forgetUndefined(schedule, states[last]);
}

/**
 * What is wrong with a schedule, or null when it is proved.
 * @param {Schedule} schedule
 * @returns {ScheduleError | null}
 */
export function check(schedule) {
  try {
    replay(schedule);
    return null;
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
}
