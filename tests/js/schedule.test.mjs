import assert from 'node:assert/strict';
import { test } from 'node:test';

import { check, replay } from '../../docs/assets/js/replay.js';
import { relabelRoot } from '../../docs/assets/js/relabel.js';
import {
  ScheduleError, parseSchedule, scheduleFromData,
} from '../../docs/assets/js/schedule.js';
import '../../docs/assets/js/words.js';
import { published, read } from './files.mjs';

/** @param {string} name @param {number} n */
const file = (name, n) => JSON.parse(read(`${name}/n${n}.json`));

/**
 * Why data are refused, or null.
 * @param {unknown} data
 */
const judge = (data) => {
  try {
    replay(scheduleFromData(data));
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
  return null;
};

/**
 * Why data that must be refused are refused.
 * @param {unknown} data
 */
const refusal = (data) => {
  const error = judge(data);
  assert.ok(error);
  return error;
};

test('every published file is proved here too', () => {
  for (const [name, n, text] of published()) {
    assert.equal(check(parseSchedule(text))?.message, undefined, `${name} n=${n}`);
  }
});

test('a file that is cut off is refused with the place', () => {
  const text = read('allreduce/ring/n4.json');
  for (const length of [0, 1, 40, text.length - 2]) {
    assert.throws(() => parseSchedule(text.slice(0, length)), { rule: 'format' });
  }
});

test('a file of another format or version is refused with what was expected', () => {
  const data = file('allreduce/ring', 4);
  assert.match(refusal({ ...data, version: 2 }).message, /version 应为 1，现在是 2/);
  assert.match(refusal({ ...data, format: 'x' }).message, /format 应为/);
  for (const nonsense of [null, 7, 'x', [], {}]) assert.equal(refusal(nonsense).rule, 'format');
});

test('every member of a file may be missing or of another type without an error of ours', () => {
  const whole = file('gather/binomial', 4);
  const values = [undefined, null, -1, 1.5, 1e300, '', '__proto__', [], {}, true];
  /** @param {Record<string, unknown>} target @param {string} key */
  const spoil = (target, key) => {
    const before = target[key];
    for (const value of values) {
      target[key] = value;
      judge(whole);
    }
    target[key] = before;
  };
  /** @param {unknown} node */
  const walk = (node) => {
    if (typeof node !== 'object' || node === null) return;
    const members = /** @type {Record<string, unknown>} */ (node);
    for (const key of Object.keys(members)) {
      walk(members[key]);
      spoil(members, key);
    }
  };
  walk(whole);
  assert.equal(judge(whole), null);
});

test('hostile sizes are refused before anything is made of them', () => {
  const data = file('allreduce/ring', 4);
  assert.equal(refusal({ ...data, ranks: 1e9 }).rule, 'format');
  assert.equal(refusal({
    ...data, blocks: 1e9, buffers: { tensor: { role: 'inout', blocks: 1e9 } },
  }).rule, 'format');
  data.rounds[0].transfers[0].count = 1e15;
  assert.equal(refusal(data).rule, 'offset-range');
});

test('a sentence names round, rank, buffer and block', () => {
  const data = file('allreduce/ring', 4);
  data.rounds[1].transfers.push(data.rounds[1].transfers[0]);
  const { message, rule, place } = refusal(data);
  assert.equal(rule, 'double-count');
  assert.deepEqual([place.round, place.transfer, place.rank, place.buffer, place.block],
    [2, 5, 1, 'tensor', 2]);
  assert.match(message, /^第 2 步第 5 个传输：rank 1 的 tensor\[2\]/);
});

test('another root is the same schedule with the ranks renamed', () => {
  for (const [name, n, text] of published()) {
    const schedule = parseSchedule(text);
    if (schedule.root === null || n > 9) continue;
    for (let root = 0; root < n; root += 1) {
      const relabelled = relabelRoot(schedule, root);
      assert.equal(check(relabelled)?.message, undefined, `${name} n=${n} root=${root}`);
      assert.equal(relabelled.root, root);
    }
  }
});

test('a transfer that wraps around the end of the list is split', () => {
  const schedule = parseSchedule(read('scatter/binomial/n4.json'));
  const [first] = relabelRoot(schedule, 1).rounds;
  const half = first.transfers.filter((t) => t.src === 1 && t.dst === 3);
  assert.deepEqual(half.map((t) => [t.fromOffset, t.count]), [[6, 2], [0, 2]]);
});

test('a root that is not a rank is refused', () => {
  const schedule = parseSchedule(read('scatter/binomial/n4.json'));
  for (const root of [-1, 4, 1.5, Number.NaN]) assert.throws(() => relabelRoot(schedule, root));
  assert.throws(() => relabelRoot(parseSchedule(read('allreduce/ring/n4.json')), 0));
});
