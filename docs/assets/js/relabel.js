/**
 * A rooted schedule for another root. The counterpart of relabel_root in
 * scripts/collectives/schedule.py.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').Transfer} Transfer
 */
import { PRIMITIVES } from './primitives.js';

/**
 * The same schedule with rank r renamed to (r + shift) mod N, so that `root` is the root. Chunks of
 * scatter_list and gather_list belong to ranks and move along; a transfer whose blocks are then no
 * longer neighbours is split.
 * @param {Schedule} schedule @param {number} root
 * @returns {Schedule}
 */
export function relabelRoot(schedule, root) {
  const n = schedule.ranks;
  if (schedule.root === null) throw new RangeError(`${schedule.primitive} 没有根`);
  if (!Number.isInteger(root) || root < 0 || root >= n) throw new RangeError(`没有 rank ${root}`);
  const shift = (root - schedule.root + n) % n;
  if (shift === 0) return schedule;
  const { rankIndexed } = PRIMITIVES[schedule.primitive];
  const turn = shift * Math.floor(schedule.blocks / n);
  /** @param {string} name @param {number} offset */
  const moved = (name, offset) =>
    rankIndexed.includes(name) ? (offset + turn) % schedule.blocks : offset;
  /** @param {Transfer} t @returns {Transfer[]} */
  const relabelled = (t) => {
    /** @type {Transfer[]} */
    const pieces = [];
    for (let i = 0; i < t.count; i += 1) {
      const fromOffset = moved(t.fromBuffer, t.fromOffset + i);
      const toOffset = moved(t.toBuffer, t.toOffset + i);
      const last = pieces.at(-1);
      if (last && last.fromOffset + last.count === fromOffset
        && last.toOffset + last.count === toOffset) {
        last.count += 1;
      } else {
        pieces.push({
          ...t, src: (t.src + shift) % n, dst: (t.dst + shift) % n, fromOffset, toOffset, count: 1,
        });
      }
    }
    return pieces;
  };
  return {
    ...schedule,
    root,
    rounds: schedule.rounds.map((round) => ({
      ...round, transfers: round.transfers.flatMap(relabelled),
    })),
  };
}
