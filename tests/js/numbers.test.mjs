import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  duration, expression, longestNumber, shareOfM, shortNumber, valueOf,
} from '../../docs/assets/js/numbers.js';
import { replay } from '../../docs/assets/js/replay.js';
import { parseSchedule } from '../../docs/assets/js/schedule.js';
import { captionOf, ledger, placeName, stepTitle } from '../../docs/assets/js/text.js';
import { spending } from '../../docs/assets/js/cost.js';
import { published, read } from './files.mjs';

/** @param {string} path */
const load = (path) => parseSchedule(read(path));
const ring = load('allreduce/ring/n4.json');

test('a reduction is an expression over the numbers of the ranks', () => {
  const cell = { block: 2, from: [0, 1, 3] };
  assert.equal(expression(ring, cell, 'sum'), '1 + 2 + 4 = 7');
  assert.equal(expression(ring, cell, 'max'), 'max(1, 2, 4) = 4');
  assert.equal(expression(ring, cell, 'min'), 'min(1, 2, 4) = 1');
  assert.equal(expression(ring, cell, 'prod'), '1 × 2 × 4 = 8');
  assert.equal(expression(ring, { block: 0, from: [2] }, 'sum'), '3');
});

test('a product over sixteen ranks is exact and still fits', () => {
  const all = { block: 0, from: Array.from({ length: 16 }, (_, rank) => rank) };
  const schedule = load('allreduce/ring/n16.json');
  assert.equal(valueOf(schedule, all, 'prod'), 20922789888000n);
  assert.equal(shortNumber(valueOf(schedule, all, 'prod')), '2e13');
  assert.equal(shortNumber(12345n), '12345');
});

test('no number is longer than the room that is kept for it', () => {
  for (const [name, n, text] of published()) {
    const schedule = parseSchedule(text);
    const states = replay(schedule);
    for (const op of /** @type {const} */ (['sum', 'max', 'prod'])) {
      const room = longestNumber(schedule, states, op);
      for (const cell of states.flat().flatMap((held) => Object.values(held).flat())) {
        if (!cell) continue;
        assert.ok(shortNumber(valueOf(schedule, cell, op)).length <= room, `${name} n=${n} ${op}`);
      }
    }
  }
});

test('shares of M and durations read well', () => {
  assert.equal(shareOfM(3, 2), '3/2 M');
  assert.equal(shareOfM(2, 1), '2 M');
  assert.equal(shareOfM(0, 4), '0');
  assert.equal(duration(5e-6), '5.00 µs');
  assert.equal(duration(0.01001), '10.0 ms');
  assert.equal(duration(1.2), '1.20 s');
});

test('the ledger of a ring says what the mock says', () => {
  const [sent, total, rounds, time] = ledger(ring, spending(ring), 2);
  assert.equal(sent[1], '1/4 M');
  assert.equal(total[1], '2/4 M ／ 6/4 M');
  assert.deepEqual([rounds[1], rounds[2]], ['2 / 6', '下界 ⌈log₂ 4⌉ = 2']);
  assert.equal(time[1], '10.0 ms / 30.0 ms');
});

test('communication rounds are numbered, local steps are not', () => {
  const schedule = load('reducescatter/ring/n4.json');
  assert.deepEqual([0, 1, 2, 4].map((step) => stepTitle(schedule, step)), ['起始状态', '本地操作',
    '第 1 / 3 轮 · ReduceScatter 阶段', '第 3 / 3 轮 · ReduceScatter 阶段']);
});

test('a step has a concrete example with its numbers', () => {
  const { example } = captionOf(ring, replay(ring), 2, 'sum');
  assert.equal(example, 'rank 0 → rank 1：块 2，已含 rank 0、3 的贡献（1 + 4 = 5），'
    + '到达后并入 rank 1 的 2 → 7。');
});

test('blocks are named as the pages name them', () => {
  const gather = load('gather/binomial/n4.json');
  assert.equal(placeName(ring, 'tensor', 2, 1), '块 2');
  assert.equal(placeName(gather, 'my_chunk', 0, 2), 'my_chunk');
  assert.equal(placeName(gather, 'gather_list', 4, 4), 'gather_list 的第 2–3 段');
  assert.equal(placeName(gather, 'gather_list', 5, 1), 'gather_list 的第 5 格');
});

test('after Reduce the words say what is undefined', () => {
  const schedule = load('reduce/binomial/n4.json');
  assert.match(captionOf(schedule, replay(schedule), 2, 'sum').example, /未定义/);
});
