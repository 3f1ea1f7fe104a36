/**
 * What a schedule costs, counted round by round; the counterpart of scripts/collectives/cost.py.
 * Amounts are whole blocks, so that they stay exact; M is schedule.blocks of them.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {{alpha: number, bandwidth: number, bytes: number}} Machine  s, B/s, and M in bytes
 * @typedef {object} Spent  after some steps
 * @property {number} rounds  rounds with at least one message between two ranks
 * @property {number} sent  blocks: sum over rounds of the most any rank sends or receives
 * @property {number} sentNow  blocks: the same, of the last step alone
 * @property {number} reduced  blocks: sum over rounds of the most any rank reduces
 */

/** @type {Machine} */
export const MACHINE = { alpha: 5e-6, bandwidth: 50e9, bytes: 1e9 };

/**
 * The cost after 0, 1, ... all steps.
 * @param {Schedule} schedule
 * @returns {Spent[]}
 */
export function spending(schedule) {
  let last = { rounds: 0, sent: 0, sentNow: 0, reduced: 0 };
  const all = [last];
  for (const { transfers, local } of schedule.rounds) {
    const sent = Array(schedule.ranks).fill(0);
    const received = [...sent];
    const reduced = [...sent];
    for (const { src, dst, op, count } of transfers) {
      if (src !== dst) {
        sent[src] += count;
        received[dst] += count;
      }
      if (op === 'reduce') reduced[dst] += count;
    }
    const sentNow = Math.max(...sent, ...received);
    last = {
      rounds: last.rounds + (local ? 0 : 1),
      sent: last.sent + sentNow,
      sentNow,
      reduced: last.reduced + Math.max(...reduced),
    };
    all.push(last);
  }
  return all;
}

/**
 * α–β time in seconds; reductions cost nothing here.
 * @param {Spent} spent @param {number} blocks  of M @param {Machine} [machine]
 */
export const seconds = ({ rounds, sent }, blocks, { alpha, bandwidth, bytes } = MACHINE) =>
  rounds * alpha + (sent / blocks) * (bytes / bandwidth);
