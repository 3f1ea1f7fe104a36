import assert from 'node:assert/strict';
import { test } from 'node:test';

import { check } from '../../docs/assets/js/replay.js';
import { parseSchedule } from '../../docs/assets/js/schedule.js';
import {
  RULES, carryOut, consequences, damageName, damaged, transferName, troubleAt, wrongTargets,
} from '../../docs/assets/js/whatif.js';
import '../../docs/assets/js/words.js';
import { published, read } from './files.mjs';
import { present } from './present.mjs';

/**
 * @typedef {import('../../docs/assets/js/whatif.js').Damage} Damage
 * @typedef {import('../../docs/assets/js/whatif.js').Kind} Kind
 * @typedef {import('../../docs/assets/js/schedule.js').Schedule} Schedule
 * @typedef {import('../../docs/assets/js/numbers.js').Op} Op
 */

/** @type {Kind[]} */
const KINDS = ['drop', 'redirect', 'twice', 'again'];

/** @param {string} path */
const load = (path) => parseSchedule(read(path));
const ring = load('allreduce/ring/n4.json');

/**
 * What a schedule with one mistake leads to.
 * @param {Schedule} schedule @param {Damage} damage @param {Op} [op] @param {boolean} [symbols]
 */
const after = (schedule, damage, op = 'sum', symbols = false) =>
  consequences(damaged(schedule, [damage]), op, symbols);

test('a lost reduction is said with the numbers of the rank that lacks it', () => {
  const { refusal, wrong, outcome } = after(ring, { kind: 'drop', round: 0, transfer: 0 });
  assert.equal(refusal?.rule, 'end-state');
  assert.equal(outcome, 'rank 0 的 tensor[3] 最后是 2 + 3 + 4 = 9，应为 1 + 2 + 3 + 4 = 10：'
    + 'rank 0 的贡献没有进来。另有 3 块也错。');
  assert.deepEqual(wrong, [0, 1, 2, 3].map((rank) => ({ rank, buffer: 'tensor', block: 3 })));
});

test('a reduction that is carried out twice in its step counts twice everywhere', () => {
  const { refusal, outcome } = after(ring, { kind: 'twice', round: 0, transfer: 1 });
  assert.equal(refusal?.rule, 'double-count');
  assert.deepEqual([refusal?.place.round, refusal?.place.transfer], [1, 3]);
  assert.equal(outcome, 'rank 0 的 tensor[0] 最后是 1 + 2 + 2 + 3 + 4 = 12，'
    + '应为 1 + 2 + 3 + 4 = 10：rank 1 的贡献算了两次。另有 3 块也错。');
});

test('a contribution that is missing and one that counts twice are said in one sentence', () => {
  const { outcome } = consequences(damaged(ring, [
    { kind: 'drop', round: 0, transfer: 0 }, { kind: 'twice', round: 1, transfer: 1 },
  ]), 'sum');
  assert.equal(outcome, 'rank 0 的 tensor[3] 最后是 2 + 2 + 3 + 4 = 11，应为 1 + 2 + 3 + 4 = 10：'
    + 'rank 1 的贡献算了两次，rank 0 的没有进来。另有 3 块也错。');
});

test('in letters the sentence has letters', () => {
  const { outcome } = after(ring, { kind: 'twice', round: 0, transfer: 1 }, 'sum', true);
  assert.match(outcome, /最后是 a₀ \+ b₀ \+ b₀ \+ c₀ \+ d₀，应为 a₀ \+ b₀ \+ c₀ \+ d₀：/);
});

test('a copy that is carried out again does no harm, and that is what it says', () => {
  const again = after(ring, { kind: 'again', round: 3, transfer: 0 });
  assert.deepEqual([again.refusal, again.wrong], [null, []]);
  assert.equal(again.outcome, '照做也没有坏处：每个 rank 的结果都对。');
  const twice = after(ring, { kind: 'twice', round: 3, transfer: 0 });
  assert.equal(twice.refusal?.rule, 'write-race');
  assert.match(twice.outcome, /^结果却全对：两次写进去的是一样的数/);
});

test('two different writes that end well by chance are not called the same', () => {
  const schedule = load('allgather/ring/n4.json');
  const [round, ...rest] = schedule.rounds;
  const first = present(round.transfers.find((t) => t.src !== t.dst));
  // Rank 2's chunk arrives where rank 0's belongs, and then rank 0's does.
  const transfers = [{ ...first, src: 2 }, ...round.transfers];
  const broken = { ...schedule, ports: 'multi', rounds: [{ ...round, transfers }, ...rest] };
  const { refusal, wrong, outcome } = consequences(broken, 'sum');
  assert.deepEqual([refusal?.rule, wrong], ['write-race', []]);
  assert.equal(outcome, '结果却全对：后写的那一次碰巧是对的，可是谁先谁后没有保证。');
});

test('a maximum forgives what counts twice; the rules do not, and both are said', () => {
  /** @type {Damage} */
  const damage = { kind: 'twice', round: 0, transfer: 0 };
  const { refusal, wrong, outcome } = after(ring, damage, 'max');
  assert.deepEqual([refusal?.rule, wrong], ['double-count', []]);
  assert.equal(outcome, '结果却全对：取最大时同一个数算两次没有关系；换成求和，就有 4 块是错的。'
    + '日程要对每一种归约都对，所以规则不许。');
  assert.equal(after(ring, damage, 'prod').wrong.length, 4);
});

test('a number that is right by chance is not called right', () => {
  const { wrong, outcome } = after(ring, { kind: 'drop', round: 0, transfer: 0 }, 'max');
  assert.equal(wrong.length, 4);
  assert.match(outcome, /最后是 max\(2, 3, 4\) = 4，应为 max\(1, 2, 3, 4\) = 4：/);
  assert.match(outcome, /数碰巧一样，但 rank 0 的贡献没有进来，换一组数就错了。/);
});

test('what was counted twice and then overwritten is refused, but harms nobody', () => {
  const { refusal, wrong, outcome } = after(ring, { kind: 'again', round: 0, transfer: 0 });
  assert.deepEqual([refusal?.rule, wrong], ['double-count', []]);
  assert.equal(outcome, '结果却全对：算重的那一块后来没有用上，或者被盖掉了。');
});

test('what goes to the wrong rank is named where it ends up, with its sender', () => {
  const scatter = load('scatter/binomial/n4.json');
  const round = scatter.rounds.length - 1;
  const transfer = scatter.rounds[round].transfers
    .findIndex(({ src, dst }) => src === 2 && dst === 3);
  const { outcome } = after(scatter, { kind: 'redirect', round, transfer, dst: 0 });
  assert.match(outcome, /^rank 0 的 output_tensor\[0\] 最后是块 6（值 6），应为块 0（值 0）：/);
  assert.match(outcome, /第 2 步 rank 2 发来的就是这一块。另有 3 块也错。$/);
});

test('data that nobody sends stays undefined, and so does what is made of it', () => {
  const broadcast = load('broadcast/binomial/n4.json');
  const { refusal, wrong, outcome } = after(broadcast, { kind: 'drop', round: 0, transfer: 0 });
  assert.equal(refusal?.rule, 'undefined-read');
  assert.match(outcome, /^rank 1 的 tensor\[0\] 最后还是未定义的数据，应为块 0（值 1）：一直没有/);
  assert.deepEqual([...new Set(wrong.map(({ rank }) => rank))], [1, 3]);
  const memory = carryOut(damaged(broadcast, [{ kind: 'drop', round: 0, transfer: 0 }]));
  assert.deepEqual(memory[3].tensor[0], { heap: null, step: 2, src: 1 });
});

test('mixed blocks are called mixed', () => {
  const reducescatter = load('reducescatter/ring/n4.json');
  const last = reducescatter.rounds.length - 1;
  const { refusal, outcome } = after(reducescatter,
    { kind: 'redirect', round: last, transfer: 2, dst: 0 });
  assert.equal(refusal?.rule, 'mixed-blocks');
  assert.equal(outcome, 'rank 0 的 output[0] 最后是 0 + 10 + 20 + 30 + 3 + 13 + 23 = 99，'
    + '应为 0 + 10 + 20 + 30 = 60：块 0、6 混在了一起。另有 3 块也错。');
});

test('a transfer to a rank that has no such buffer moves nothing', () => {
  const gather = load('gather/binomial/n4.json');
  const round = gather.rounds.length - 1;
  const { refusal, outcome } = after(gather, { kind: 'redirect', round, transfer: 0, dst: 1 });
  assert.equal(refusal?.rule, 'unknown-buffer');
  assert.match(outcome, /^rank 0 的 gather_list\[4\] 最后还是未定义的数据，应为 rank 2 的块 4（值 2）/);
});

test('where a rule is broken there are blocks to look at', () => {
  const gather = load('gather/binomial/n4.json');
  /** @param {Schedule} schedule @param {Damage} damage */
  const trouble = (schedule, damage) => {
    const broken = damaged(schedule, [damage]);
    return troubleAt(broken, present(check(broken)));
  };
  /** @param {number} rank @param {number} block */
  const tensor = (rank, block) => ({ rank, buffer: 'tensor', block });
  assert.deepEqual(trouble(ring, { kind: 'twice', round: 0, transfer: 0 }), [tensor(1, 3)]);
  assert.deepEqual(trouble(ring, { kind: 'redirect', round: 0, transfer: 0, dst: 2 }),
    [tensor(2, 0)], 'the second transfer to the crowded rank');
  const last = gather.rounds.length - 1;
  assert.deepEqual(trouble(gather, { kind: 'redirect', round: last, transfer: 0, dst: 1 }),
    [0, 1, 2, 3].map((block) => ({ rank: 2, buffer: 'scratch', block })));
});

test('no damage is no change, and every damage leaves the original alone', () => {
  const before = structuredClone(ring);
  assert.equal(damaged(ring, []), ring);
  damaged(ring, KINDS.map((kind, transfer) => (
    { kind, round: 5, transfer, dst: 0 })));
  assert.deepEqual(ring, before);
});

test('the order in which damages were made does not matter', () => {
  /** @type {Damage[]} */
  const damages = [
    { kind: 'again', round: 0, transfer: 2 }, { kind: 'drop', round: 1, transfer: 2 },
    { kind: 'again', round: 0, transfer: 1 }, { kind: 'redirect', round: 4, transfer: 0, dst: 3 },
  ];
  const [there, back] = [damages, [...damages].reverse()].map((list) => damaged(ring, list));
  assert.deepEqual(there.rounds.map((r) => r.transfers), back.rounds.map((r) => r.transfers));
});

test('the last step is done again in a step of its own', () => {
  const longer = damaged(ring, [{ kind: 'again', round: 5, transfer: 2 }]);
  assert.equal(longer.rounds.length, 7);
  assert.deepEqual(longer.rounds[6].transfers, [ring.rounds[5].transfers[2]]);
  assert.match(longer.rounds[6].caption, /^多出来的一步：rank 2 → rank 3：块 0，再做一次。$/);
});

test('a round that loses all its transfers keeps its number', () => {
  const empty = damaged(ring, [0, 1, 2, 3].map((transfer) => (
    { kind: 'drop', round: 2, transfer })));
  assert.deepEqual([empty.rounds[2].local, empty.rounds[2].transfers], [false, []]);
});

test('the captions of a damaged schedule say what was changed', () => {
  const { rounds } = damaged(ring, [{ kind: 'redirect', round: 1, transfer: 0, dst: 2 }]);
  assert.ok(rounds[1].caption.endsWith(
    '这一步改过：rank 0 → rank 1：块 2，并入：改发给 rank 2。'), rounds[1].caption);
  assert.equal(rounds[2].caption, ring.rounds[2].caption);
});

test('transfers and damages have names to choose by', () => {
  const gather = load('gather/binomial/n4.json');
  assert.equal(transferName(ring, ring.rounds[0].transfers[0]), 'rank 0 → rank 1：块 3，并入');
  assert.equal(transferName(ring, ring.rounds[3].transfers[0]), 'rank 0 → rank 1：块 0');
  assert.equal(transferName(gather, gather.rounds[0].transfers[0]),
    'rank 0 自己：my_chunk，放进 gather_list 的第 0 段');
  assert.equal(damageName(ring, { kind: 'drop', round: 2, transfer: 0 }),
    '第 3 / 6 轮，rank 0 → rank 1：块 1，并入：删掉');
  assert.deepEqual(wrongTargets(ring, ring.rounds[0].transfers[0]), [2, 3]);
});

test('whatever is damaged, the words are whole and agree with the rules', () => {
  for (const [name, n, text] of published()) {
    if (n > 5) continue;
    const schedule = parseSchedule(text);
    schedule.rounds.forEach((round, index) => {
      const transfer = index % round.transfers.length;
      const [dst] = wrongTargets(schedule, round.transfers[transfer]);
      for (const kind of KINDS) {
        if (kind === 'redirect' && dst === undefined) continue;
        const broken = damaged(schedule, [{ kind, round: index, transfer, dst }]);
        const { refusal, wrong, outcome } = consequences(broken, 'sum');
        const where = `${name} n=${n} ${kind} ${index} ${transfer}`;
        assert.equal(refusal?.message, check(broken)?.message, where);
        assert.doesNotMatch(outcome, /undefined|null|NaN|\[object/, where);
        assert.match(outcome, /。$/, where);
        if (!refusal) assert.deepEqual(wrong, [], where);
        else assert.ok(Object.hasOwn(RULES, refusal?.rule), where);
        if (refusal?.rule === 'end-state') {
          const { rank, buffer, block } = refusal?.place;
          assert.deepEqual(wrong[0], { rank, buffer, block }, where);
        }
      }
    });
  }
});
