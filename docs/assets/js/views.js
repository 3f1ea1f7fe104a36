/**
 * The views by their names in the address, with their names for readers.
 */

/** The greatest N that the player falls back to by itself, and that every view can show. */
export const LIGHT = 16;

export const VIEWS = { topology: '拓扑', matrix: '矩阵', spacetime: '时空' };

/** Why a view cannot show N ranks; empty when it can. @param {string} view @param {number} n */
export const viewReason = (view, n) =>
  (n > LIGHT && view !== 'matrix' ? `超过 ${LIGHT} 个 rank 时只有矩阵视图` : '');
