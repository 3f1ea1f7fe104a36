/**
 * Chance that is the same at every run.
 * @param {number} seed
 */
export function chance(seed) {
  let state = seed >>> 0;
  // Mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  /** @param {number} n */
  const below = (n) => Math.floor(next() * n);
  /** @template T @param {T[]} list @returns {T} */
  const pick = (list) => list[below(list.length)];
  return { below, pick };
}
