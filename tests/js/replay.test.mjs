import assert from 'node:assert/strict';
import { test } from 'node:test';

import { spending } from '../../docs/assets/js/cost.js';
import { replay } from '../../docs/assets/js/replay.js';
import { parseSchedule, scheduleFromData } from '../../docs/assets/js/schedule.js';
import { published, read } from './files.mjs';

/** @param {string | number} text */
const fraction = (text) => {
  const [a, b = 1] = String(text).split('/').map(Number);
  return a / b;
};

test('there is a state before the first round and after every round', () => {
  for (const [name, n, text] of published()) {
    const schedule = parseSchedule(text);
    assert.equal(replay(schedule).length, schedule.rounds.length + 1, `${name} n=${n}`);
  }
});

test('after Reduce only the root knows what its tensor holds', () => {
  const states = replay(parseSchedule(read('reduce/binomial/n4.json')));
  const [before, last] = states.slice(-2);
  assert.deepEqual(last[0].tensor[0], { block: 0, from: [0, 1, 2, 3] });
  for (const rank of [1, 2, 3]) assert.deepEqual(last[rank].tensor, [null, null, null, null]);
  assert.deepEqual(before[2].tensor[0], { block: 0, from: [2, 3] });
});

test('a rank has the buffers that the file gives it, and no others', () => {
  const [start] = replay(parseSchedule(read('gather/binomial/n4.json')));
  assert.deepEqual(Object.keys(start[0]).sort(), ['gather_list', 'my_chunk', 'scratch']);
  assert.deepEqual(Object.keys(start[1]).sort(), ['my_chunk', 'scratch']);
});

test('every transfer reads the state from before its round', () => {
  const data = JSON.parse(read('allreduce/reduce_broadcast/n2.json'));
  const swap = [[0, 1], [1, 0]].map(([src, dst]) => (
    { src, dst, op: 'reduce', from: ['tensor', 0], to: ['tensor', 0], count: 2 }));
  data.rounds = [{ phase: 'exchange', caption: '', transfers: swap }];
  const [, last] = replay(scheduleFromData(data));
  for (const held of last) assert.deepEqual(held.tensor[1], { block: 1, from: [0, 1] });
});

test('the rounds that went before are not touched by later ones', () => {
  const schedule = parseSchedule(read('allreduce/ring/n8.json'));
  const states = replay(schedule);
  const first = structuredClone(states[1]);
  replay(schedule);
  assert.deepEqual(states[1], first);
});

test('what the player counts is what the file says it costs', () => {
  for (const [name, n, text] of published()) {
    const { cost, blocks } = JSON.parse(text);
    const [{ rounds, sent, reduced }] = spending(parseSchedule(text)).slice(-1);
    const counted = [rounds, sent / blocks, reduced / blocks];
    const told = [cost.rounds, fraction(cost.beta), fraction(cost.gamma)];
    counted.forEach((value, i) => (
      assert.ok(Math.abs(value - told[i]) < 1e-9, `${name} n=${n}: ${counted} ${told}`)));
  }
});
