/**
 * Where a block came from and where it goes: read off the schedule and its states. No DOM.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').Transfer} Transfer
 * @typedef {import('./replay.js').State} State
 * @typedef {import('./draw.js').Place} Place
 * @typedef {{step: number, transfer: Transfer, from: Place, to: Place}} Move  step from 1
 */

/**
 * @param {Transfer} transfer @param {number} step @param {number} index  of the block in it
 * @returns {Move}
 */
const moveOf = (transfer, step, index) => ({
  step,
  transfer,
  from: {
    rank: transfer.src, buffer: transfer.fromBuffer, block: transfer.fromOffset + index,
  },
  to: { rank: transfer.dst, buffer: transfer.toBuffer, block: transfer.toOffset + index },
});

/**
 * What wrote a block last, up to a step: one move, several reductions of the same step, or none
 * when it holds what it started with.
 * @param {Schedule} schedule @param {number} step  completed steps @param {Place} place
 * @returns {Move[]}
 */
export function lastWrites({ rounds }, step, { rank, buffer, block }) {
  for (let k = step; k > 0; k -= 1) {
    const moves = rounds[k - 1].transfers
      .filter((t) => t.dst === rank && t.toBuffer === buffer
        && t.toOffset <= block && block < t.toOffset + t.count)
      .map((t) => moveOf(t, k, block - t.toOffset));
    if (moves.length) return moves;
  }
  return [];
}

/**
 * Every move of an origin block, in the order of the steps. Of a block that every rank contributes
 * to, these are the moves of all its parts.
 * @param {Schedule} schedule @param {State[]} states
 * @param {number} block  of M, as cells name it
 * @returns {Move[]}
 */
export function journeyOf({ rounds }, states, block) {
  /** @type {Move[]} */
  const moves = [];
  // A refused schedule has fewer states than rounds.
  rounds.slice(0, states.length - 1).forEach(({ transfers }, k) => {
    for (const t of transfers) {
      for (let i = 0; i < t.count; i += 1) {
        const cell = states[k][t.src][t.fromBuffer][t.fromOffset + i];
        if (cell?.block === block) moves.push(moveOf(t, k + 1, i));
      }
    }
  });
  return moves;
}

/**
 * Everywhere a block is in a state.
 * @param {State} state @param {number} block
 * @returns {Place[]}
 */
export const placesOf = (state, block) => state.flatMap((held, rank) => (
  Object.entries(held).flatMap(([buffer, content]) => content.flatMap((cell, at) => (
    cell?.block === block ? [{ rank, buffer, block: at }] : [])))));
