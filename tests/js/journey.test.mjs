import assert from 'node:assert/strict';
import { test } from 'node:test';

import { journeyOf, lastWrites, placesOf } from '../../docs/assets/js/journey.js';
import { replay } from '../../docs/assets/js/replay.js';
import { parseSchedule } from '../../docs/assets/js/schedule.js';
import { published, read } from './files.mjs';

for (const [algorithm, n, text] of published().filter(([, ranks]) => ranks <= 5)) {
  const schedule = parseSchedule(text);
  const name = `${algorithm}, N = ${n}`;

  test(`${name}: the way of every block is the way its data went`, () => {
    const states = replay(schedule);
    for (let block = 0; block < schedule.blocks; block += 1) {
      for (const { step, transfer, from, to } of journeyOf(schedule, states, block)) {
        assert.equal(states[step - 1][from.rank][from.buffer][from.block]?.block, block);
        assert.ok(schedule.rounds[step - 1].transfers.includes(transfer));
        assert.ok(transfer.op === 'reduce' || step === schedule.rounds.length
          || states[step][to.rank][to.buffer][to.block]?.block === block);
      }
    }
    const moves = schedule.rounds.flatMap((round) => round.transfers)
      .reduce((sum, t) => sum + t.count, 0);
    const followed = Array.from({ length: schedule.blocks }, (_, block) => (
      journeyOf(schedule, states, block).length)).reduce((a, b) => a + b);
    assert.equal(followed, moves);
  });

  test(`${name}: what wrote a block last is found, and nothing where nothing did`, () => {
    const states = replay(schedule);
    states.forEach((state, step) => {
      state.forEach((held, rank) => {
        for (const [buffer, content] of Object.entries(held)) {
          content.forEach((cell, block) => {
            const writes = lastWrites(schedule, step, { rank, buffer, block });
            if (!writes.length) {
              // What Reduce leaves undefined at its end was written by nobody.
              assert.ok(cell === states[0][rank][buffer][block] || cell === null);
              return;
            }
            const [{ step: at }] = writes;
            assert.ok(at >= 1 && at <= step);
            assert.ok(writes.every(({ step: same, to }) => same === at && to.rank === rank));
            for (let k = at; k < Math.min(step, schedule.rounds.length - 1); k += 1) {
              assert.equal(states[k][rank][buffer][block], states[at][rank][buffer][block]);
            }
          });
        }
      });
    });
  });
}

test('a block is found everywhere it is', () => {
  const schedule = parseSchedule(read('broadcast/binomial/n4.json'));
  const states = replay(schedule);
  assert.deepEqual(placesOf(states[0], 1), [{ rank: 0, buffer: 'tensor', block: 1 }]);
  assert.deepEqual(placesOf(states[2], 1).map(({ rank }) => rank), [0, 1, 2, 3]);
});
