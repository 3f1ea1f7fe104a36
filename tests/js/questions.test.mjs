import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerAt, judge, questionOf } from '../../docs/assets/js/questions.js';
import { replay } from '../../docs/assets/js/replay.js';
import { parseSchedule } from '../../docs/assets/js/schedule.js';
import { published, read } from './files.mjs';
import { present } from './present.mjs';

/**
 * @typedef {import('../../docs/assets/js/questions.js').Place} Place
 * @typedef {import('../../docs/assets/js/questions.js').Question} Question
 * @typedef {import('../../docs/assets/js/replay.js').State} State
 * @typedef {import('../../docs/assets/js/schedule.js').Schedule} Schedule
 * @typedef {import('../../docs/assets/js/numbers.js').Op} Op
 * @typedef {{schedule: Schedule, states: State[]}} Loaded
 */

/** @param {string} path @returns {Loaded} */
const load = (path) => {
  const schedule = parseSchedule(read(path));
  return { schedule, states: replay(schedule) };
};
/** @param {Loaded} loaded @param {number} step @param {Op} [op] @param {boolean} [symbols] */
const ask = ({ schedule, states }, step, op = 'sum', symbols = false) =>
  present(questionOf(schedule, states, step, op, symbols));
/** @param {Loaded} loaded @param {number} step */
const passedOver = ({ schedule, states }, step) =>
  questionOf(schedule, states, step, 'sum') === null;

/**
 * Every question of every published schedule up to N = 16: [where, schedule, states, question].
 * @type {[string, Schedule, State[], Question][]}
 */
const all = [];
for (const [name, n, text] of published()) {
  const schedule = parseSchedule(text);
  const states = replay(schedule);
  schedule.rounds.forEach((_, step) => {
    const question = questionOf(schedule, states, step, 'sum');
    if (question) all.push([`${name} n=${n} step=${step}`, schedule, states, question]);
  });
}

/** @param {Schedule} schedule @param {Question} question */
const sends = (schedule, { step, rank }) =>
  schedule.rounds[step].transfers.filter((t) => t.src === rank && t.dst !== rank);

test('the right answer is what the rank sends, the wrong ones are what it has and keeps', () => {
  for (const [where, schedule, states, question] of all) {
    const { step, rank, kind, answers } = question;
    const transfers = sends(schedule, question);
    assert.equal(answers.filter(({ right }) => right).length, 1, where);
    for (const answer of answers) {
      if (kind === 'peer') {
        assert.equal(transfers.some(({ dst }) => dst === answer.rank), answer.right, where);
        continue;
      }
      for (const { rank: owner, buffer, block } of answer.places) {
        const leaves = transfers.some((t) => t.fromBuffer === buffer
          && t.fromOffset <= block && block < t.fromOffset + t.count);
        assert.deepEqual([owner, leaves], [rank, answer.right], where);
        assert.notEqual(states[step][rank][buffer][block], null, where);
      }
    }
  }
});

test('there are always two to five answers, all different, in the order of their places', () => {
  for (const [where, schedule, , { kind, answers }] of all) {
    assert.ok(answers.length >= 2 && answers.length <= 5, where);
    assert.equal(new Set(answers.map(({ text }) => text)).size, answers.length, where);
    const order = schedule.buffers.map(({ name }) => name);
    const keys = answers.map(({ rank, places: [place] }) => (
      kind === 'peer' ? rank : 1e6 * order.indexOf(place.buffer) + place.block));
    assert.deepEqual(keys, [...keys].sort((a, b) => a - b), where);
  }
});

test('where ranks hold enough there are four answers or five', () => {
  const ring = load('allreduce/ring/n8.json');
  ring.schedule.rounds.forEach((_, step) => assert.equal(ask(ring, step).answers.length, 5));
});

test('the place of the right answer in the list gives nothing away', () => {
  const lists = all.filter(([, , , { kind, answers }]) => kind === 'block' && answers.length === 5);
  const counts = [0, 0, 0, 0, 0];
  for (const [, , , { answers }] of lists) counts[answers.findIndex(({ right }) => right)] += 1;
  assert.ok(lists.length > 200);
  for (const count of counts) assert.ok(count > 0.1 * lists.length, counts.join(' '));
  for (const count of counts) assert.ok(count < 0.35 * lists.length, counts.join(' '));
});

test('the same round asks the same, and the next one asks another rank', () => {
  for (const name of ['allreduce/ring', 'reduce/ring_rs_gather', 'allreduce/rabenseifner']) {
    const path = `${name}/n8.json`;
    const ring = load(path);
    const asked = ring.schedule.rounds.map((_, step) => ask(ring, step));
    assert.deepEqual(asked, ring.schedule.rounds.map((_, step) => ask(ring, step)));
    const ranks = asked.slice(0, ring.schedule.ranks - 1).map(({ rank }) => rank);
    assert.equal(new Set(ranks).size, ranks.length, `${path} ${ranks}`);
  }
});

test('steps without communication are passed over, and so is a round without a choice', () => {
  const scatter = load('reducescatter/ring/n4.json');
  assert.ok(passedOver(scatter, 0));
  assert.ok(!passedOver(scatter, 1));
  const pair = load('allreduce/reduce_broadcast/n2.json');
  assert.deepEqual(pair.schedule.rounds.map((_, step) => passedOver(pair, step)), [true, true]);
  assert.ok(passedOver(pair, 99));
});

test('a schedule that is refused asks no further than it plays', () => {
  const { schedule, states } = load('allreduce/ring/n4.json');
  assert.notEqual(questionOf(schedule, states.slice(0, 3), 1, 'sum'), null);
  assert.equal(questionOf(schedule, states.slice(0, 3), 2, 'sum'), null);
});

test('the target is named only where it gives nothing away', () => {
  assert.match(ask(load('allreduce/ring/n4.json'), 0).text,
    /^第 1 轮：rank \d 会把哪一块发给右邻居？$/);
  assert.match(ask(load('reduce/chain/n4.json'), 0).text, /会把哪一块发给下一个 rank？$/);
  assert.match(ask(load('alltoall/pairwise_shift/n4.json'), 0).text, /会发出哪一段？$/);
  for (const [where, , , { kind, text, peers, rank }] of all) {
    if (kind === 'peer') continue;
    const named = text.match(/rank \d+/g);
    assert.deepEqual(named, [`rank ${rank}`], where);
    assert.ok(peers.every((peer) => peer !== rank), where);
  }
});

test('where a rank sends all it has, the question is to whom', () => {
  const question = ask(load('allreduce/recursive_doubling/n4.json'), 1);
  assert.equal(question.kind, 'peer');
  assert.match(question.text, /^第 2 轮：rank \d 会把全部 4 块发给谁？$/);
  const tree = ask(load('gather/binomial/n4.json'), 0);
  assert.match(tree.text, /会把 my_chunk 发给谁？$/);
});

test('right or wrong, the reader is told what happens, with its numbers, and why', () => {
  const ring = load('allreduce/ring/n4.json');
  const question = ask(ring, 1);
  const { rank } = question;
  const [t] = sends(ring.schedule, question);
  const right = judge(question, present(question.answers.find((answer) => answer.right)));
  const wrong = judge(question, present(question.answers.find((answer) => !answer.right)));
  assert.deepEqual([right.right, wrong.right], [true, false]);
  assert.match(right.text, new RegExp(`^对。rank ${rank} → rank ${t.dst}：块 ${t.fromOffset}，`
    + '已含 rank .* 的贡献（.* = \\d+），到达后并入 .* → \\d+。'));
  assert.ok(right.text.endsWith(ring.schedule.rounds[1].caption));
  assert.match(wrong.text, new RegExp(`^不对：rank ${rank} 这一轮不发块 \\d。rank ${rank} → `));
});

test('in letters and with other operations the numbers follow', () => {
  const ring = load('allreduce/ring/n4.json');
  assert.match(ask(ring, 1, 'sum', true).truth, /（[a-d]₍?[₀-₃] \+ [a-d][₀-₃]）/);
  assert.match(ask(ring, 1, 'max').truth, /max\(/);
});

test('a block on the stage is an answer when it belongs to the rank that is asked about', () => {
  const { schedule, states } = load('allreduce/ring/n8.json');
  const question = ask({ schedule, states }, 3);
  const { rank, answers, sent } = question;
  /** @param {Place} place */
  const tap = (place) => answerAt(schedule, states, question, place);
  assert.equal(tap(sent[0]), answers.find(({ right }) => right));
  const listed = new Set(answers.flatMap(({ places }) => places.map(({ block }) => block)));
  const [other] = [0, 1, 2, 3, 4, 5, 6, 7].filter((block) => !listed.has(block));
  const unlisted = present(tap({ rank, buffer: 'tensor', block: other }));
  assert.deepEqual([unlisted.text, unlisted.right], [`块 ${other}`, false]);
  assert.equal(tap({ rank: (rank + 1) % 8, buffer: 'tensor', block: 0 }), null);
});

test('an empty block on the stage is a wrong answer that says so', () => {
  const { schedule, states } = load('allgather/ring/n8.json');
  const question = ask({ schedule, states }, 1);
  const content = states[1][question.rank].gather_list;
  const answer = present(answerAt(schedule, states, question, {
    rank: question.rank, buffer: 'gather_list', block: content.indexOf(null),
  }));
  assert.match(judge(question, answer).text, /^不对：rank \d 的 gather_list 的第 \d+ 段还没有数据。/);
});

test('any block of a rank answers a question about ranks', () => {
  const { schedule, states } = load('allreduce/recursive_doubling/n8.json');
  const question = ask({ schedule, states }, 0);
  /** @param {number} rank */
  const at = (rank) => answerAt(schedule, states, question, { rank, buffer: 'tensor', block: 3 });
  assert.equal(at(question.peers[0])?.right, true);
  const [unlisted] = [0, 1, 2, 3, 4, 5, 6, 7].filter((rank) => (
    rank !== question.rank && !question.answers.some((answer) => answer.rank === rank)));
  assert.deepEqual([at(unlisted)?.text, at(unlisted)?.right], [`rank ${unlisted}`, false]);
  assert.equal(at(question.rank), null);
});

test('whatever is asked, the words are whole', () => {
  for (const [where, , , question] of all) {
    const said = question.answers.map((answer) => judge(question, answer).text);
    const texts = [question.text, ...said];
    for (const text of texts) {
      assert.doesNotMatch(text, /undefined|null|NaN|\[object|  | [。，：？]/, `${where}: ${text}`);
    }
  }
});
