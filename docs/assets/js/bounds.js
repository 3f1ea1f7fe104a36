/**
 * What no one-port schedule can beat; the counterpart of the lower bounds in
 * scripts/collectives/primitives.py, held equal to them by a test.
 *
 * @typedef {[number, number]} Fraction  of M: numerator, denominator
 */

/**
 * Multiples of (N - 1) / N of M; beta in whole M where all of it has to pass one port.
 * @type {Record<string, {whole?: boolean, beta: number, gamma: number}>}
 */
const BOUNDS = {
  broadcast: { whole: true, beta: 1, gamma: 0 },
  scatter: { beta: 1, gamma: 0 },
  gather: { beta: 1, gamma: 0 },
  reduce: { whole: true, beta: 1, gamma: 1 },
  allgather: { beta: 1, gamma: 0 },
  reducescatter: { beta: 1, gamma: 1 },
  allreduce: { beta: 2, gamma: 1 },
  alltoall: { beta: 1, gamma: 0 },
};

/**
 * @param {string} primitive @param {number} n  ranks
 * @returns {{rounds: number, beta: Fraction, gamma: Fraction}}
 */
export function lowerBound(primitive, n) {
  const { whole, beta, gamma } = BOUNDS[primitive];
  return {
    rounds: 32 - Math.clz32(n - 1),
    beta: whole ? [beta, 1] : [beta * (n - 1), n],
    gamma: [gamma * (n - 1), n],
  };
}
