/**
 * The numbers in the blocks: the demo's own, and what an operation makes of them.
 *
 * @typedef {import('./primitives.js').Cell} Cell
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {'sum' | 'max' | 'min' | 'prod'} Op
 */
import { PRIMITIVES } from './primitives.js';
import { chunkSize } from './schedule.js';

/**
 * title: reader-facing name; mark: what a message carries before its number; result: words before
 * a result; join: how an expression is written; apply: exact, on bigints.
 * @type {Record<Op, {title: string, mark: string, result: string,
 *   join: (terms: string[]) => string, apply: (a: bigint, b: bigint) => bigint}>}
 */
export const OPS = {
  sum: {
    title: '求和', mark: '+', result: '和是', join: (t) => t.join(' + '), apply: (a, b) => a + b,
  },
  max: {
    title: '最大', mark: 'max ', result: '最大的是', join: (t) => `max(${t.join(', ')})`,
    apply: (a, b) => (a > b ? a : b),
  },
  min: {
    title: '最小', mark: 'min ', result: '最小的是', join: (t) => `min(${t.join(', ')})`,
    apply: (a, b) => (a < b ? a : b),
  },
  prod: {
    title: '乘积', mark: '×', result: '积是', join: (t) => t.join(' × '), apply: (a, b) => a * b,
  },
};

/**
 * What the ranks in a cell put into its block, in rank order.
 * @param {Schedule} schedule @param {Cell} cell
 */
export function contributions(schedule, cell) {
  const { value } = PRIMITIVES[schedule.primitive];
  const size = chunkSize(schedule);
  return cell.from.map((rank) => value(cell.block, rank, size));
}

/**
 * The value of a cell; a bigint, because a product over 16 ranks outgrows a double.
 * @param {Schedule} schedule @param {Cell} cell @param {Op} op
 */
export const valueOf = (schedule, cell, op) =>
  contributions(schedule, cell).map(BigInt).reduce(OPS[op].apply);

/**
 * A number in at most `room` characters: as it is, else as 2e13.
 * @param {bigint} value @param {number} [room]
 */
export function shortNumber(value, room = 5) {
  const digits = String(value);
  if (digits.length <= room) return digits;
  const [mantissa, exponent] = Number(value).toExponential(Math.max(0, room - 5)).split('e+');
  return `${mantissa}e${exponent}`;
}

/** The letter of a rank: a for rank 0. @param {number} rank */
const letter = (rank) => (rank < 26 ? String.fromCharCode(97 + rank) : `r${rank}·`);

/** @param {number} number */
const subscript = (number) => [...String(number)]
  .map((digit) => String.fromCharCode(0x2080 + Number(digit))).join('');

/**
 * A cell in letters: a₂ is what rank 0 put into block 2, abd₂ has the contributions of ranks 0, 1
 * and 3 in it, a–d₂ those of ranks 0 to 3.
 * @param {Cell} cell
 */
export function symbolOf({ block, from }) {
  const [first, last] = [from[0], from[from.length - 1]];
  const run = from.length > 3 && last - first === from.length - 1;
  return (run ? `${letter(first)}–${letter(last)}` : from.map(letter).join('')) + subscript(block);
}

/**
 * What stands in a cell: its value, in at most `room` characters, or its symbol.
 * @param {Schedule} schedule @param {Cell} cell @param {Op} op
 * @param {boolean} [symbols] @param {number} [room]
 */
export const cellText = (schedule, cell, op, symbols = false, room = 5) =>
  (symbols ? symbolOf(cell) : shortNumber(valueOf(schedule, cell, op), room));

/**
 * How many characters the longest text of a replay takes in a cell.
 * @param {Schedule} schedule @param {import('./replay.js').State[]} states @param {Op} op
 * @param {boolean} [symbols]
 */
export function longestNumber(schedule, states, op, symbols = false) {
  // Contributions only ever join, so the extreme numbers are at the two ends; symbols are longest
  // somewhere between.
  const cells = (symbols ? states : [states[0], states[states.length - 1]])
    .flatMap((state) => state.flatMap((held) => Object.values(held).flat()));
  let longest = 1;
  for (const cell of new Set(cells)) {
    // A number that is cut short is shorter than those before it.
    if (cell) longest = Math.max(longest, cellText(schedule, cell, op, symbols, 99).length);
  }
  return Math.min(symbols ? 8 : 5, longest);
}

/**
 * A cell as an expression: 「1 + 4 = 5」, 「5」 when one rank alone is in it, 「a₂ + d₂」 in symbols.
 * @param {Schedule} schedule @param {Cell} cell @param {Op} op @param {boolean} [symbols]
 */
export function expression(schedule, cell, op, symbols = false) {
  if (symbols) {
    const terms = cell.from.map((rank) => letter(rank) + subscript(cell.block));
    return terms.length > 1 ? OPS[op].join(terms) : terms[0];
  }
  const result = shortNumber(valueOf(schedule, cell, op), 9);
  const terms = contributions(schedule, cell).map(String);
  return terms.length > 1 ? `${OPS[op].join(terms)} = ${result}` : result;
}

/**
 * A share of M in given parts: (2, 4) -> 「2/4 M」, (4, 1) -> 「4 M」.
 * @param {number} parts @param {number} whole
 */
export const shareOfM = (parts, whole) =>
  (parts === 0 ? '0' : `${whole === 1 ? parts : `${parts}/${whole}`} M`);

/** @param {number} a @param {number} b @returns {number} */
export const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/**
 * A duration for reading: 「5 µs」, 「10.0 ms」, 「1.20 s」.
 * @param {number} seconds
 */
export function duration(seconds) {
  if (seconds === 0) return '0';
  const [scaled, unit] = seconds < 1e-3 ? [seconds * 1e6, 'µs']
    : seconds < 1 ? [seconds * 1e3, 'ms'] : [seconds, 's'];
  return `${scaled < 10 ? scaled.toFixed(2) : scaled.toFixed(1)} ${unit}`;
}

/**
 * The member of an ascending list that is nearest to n; the smaller one of two.
 * @param {number[]} list @param {number} n
 */
export const nearest = (list, n) =>
  list.reduce((best, x) => (Math.abs(x - n) < Math.abs(best - n) ? x : best), list[0]);
