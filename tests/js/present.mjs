import assert from 'node:assert/strict';

/**
 * A value that has to be there.
 * @template T
 * @param {T | null | undefined} value
 * @returns {T}
 */
export function present(value) {
  assert.ok(value !== null && value !== undefined);
  return value;
}
