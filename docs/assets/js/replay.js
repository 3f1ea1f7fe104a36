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
    /** @param {string} rule @param {import('./schedule.js').Place} place */
    const refuse = (rule, place) => (
      new ScheduleError(rule, { round: index + 1, transfer: number + 1, ...place }));
    for (const rank of [t.src, t.dst]) {
      if (rank < 0 || rank >= n) throw refuse('rank-range', { rank, n });
    }
    const ends = /** @type {[number, string, number][]} */ (
      [[t.src, t.fromBuffer, t.fromOffset], [t.dst, t.toBuffer, t.toOffset]]);
    for (const [rank, buffer] of ends) {
      if (!Object.hasOwn(before[rank], buffer)) {
        throw refuse('unknown-buffer', { rank, buffer, names: Object.keys(before[rank]) });
      }
    }
    for (const [rank, buffer, block] of ends) {
      const size = /** @type {number} */ (sizes.get(buffer));
      if (t.count < 1 || block < 0 || block + t.count > size) {
        throw refuse('offset-range', { rank, buffer, block, size, count: t.count });
      }
    }
    if (t.src !== t.dst && ports === 'single') {
      const to = sendsTo.get(t.src) ?? t.dst;
      const from = receivesFrom.get(t.dst) ?? t.src;
      sendsTo.set(t.src, to);
      receivesFrom.set(t.dst, from);
      if (to !== t.dst) {
        throw refuse('port-limit', { rank: t.src, sends: true, peers: [to, t.dst] });
      }
      if (from !== t.src) throw refuse('port-limit', { rank: t.dst, peers: [from, t.src] });
    }
    const source = before[t.src][t.fromBuffer];
    const target = before[t.dst][t.toBuffer];
    const first = t.dst * width + /** @type {number} */ (starts.get(t.toBuffer)) + t.toOffset;
    for (let i = 0; i < t.count; i += 1) {
      const block = t.toOffset + i;
      const cell = source[t.fromOffset + i];
      const at = { rank: t.dst, buffer: t.toBuffer, block };
      if (!cell) {
        throw refuse('undefined-read', {
          rank: t.src, buffer: t.fromBuffer, block: t.fromOffset + i,
        });
      }
      const earlier = written.get(first + i);
      if (earlier && (t.op === 'copy' || earlier.op === 'copy')) throw refuse('write-race', at);
      if (t.op === 'copy') {
        written.set(first + i, { ...at, cell, op: t.op });
        continue;
      }
      const held = earlier ? earlier.cell : target[block];
      if (!held) throw refuse('undefined-read', { ...at, reduces: true });
      if (held.block !== cell.block) throw refuse('mixed-blocks', { ...at, held, cell });
      if (cell.from.some((rank) => held.from.includes(rank))) {
        throw refuse('double-count', { ...at, held, cell });
      }
      // What this round has made belongs to no state yet, and many may reduce into one block.
      const from = earlier ? /** @type {number[]} */ (earlier.cell.from) : [...held.from];
      insert(from, cell.from);
      if (!earlier) written.set(first + i, { ...at, cell: { block: cell.block, from }, op: t.op });
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
  endState(schedule).forEach((goal, rank) => {
    for (const [buffer, content] of Object.entries(goal)) {
      content.forEach((required, block) => {
        const held = state[rank][buffer][block];
        if (required && !sameCell(required, held)) {
          throw new ScheduleError('end-state', {
            rank, buffer, block, required, held, steps: schedule.rounds.length,
          });
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
    if (kept > MAX_KEPT) throw new ScheduleError('format', {}, 'states');
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
