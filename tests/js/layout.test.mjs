import assert from 'node:assert/strict';
import { test } from 'node:test';

import { layOut, treeLevels } from '../../docs/assets/js/layout.js';
import { longestNumber } from '../../docs/assets/js/numbers.js';
import { replay } from '../../docs/assets/js/replay.js';
import { pointOn } from '../../docs/assets/js/routes.js';
import { parseSchedule } from '../../docs/assets/js/schedule.js';
import { published, read } from './files.mjs';

const WIDTHS = [288, 358, 600, 688, 1090, 1200];

/**
 * @typedef {object} LaidOut
 * @property {string} where
 * @property {import('../../docs/assets/js/schedule.js').Schedule} schedule
 * @property {number} width
 * @property {import('../../docs/assets/js/layout.js').Scene} scene
 */

/** @type {LaidOut[] | undefined} */
let laidOut;

/** Every published schedule at every width. */
const scenes = () => {
  laidOut ??= published().flatMap(([name, n, text]) => {
    const schedule = parseSchedule(text);
    const digits = longestNumber(schedule, replay(schedule), 'sum');
    return WIDTHS.flatMap((width) => [false, true].map((asMatrix) => ({
      where: `${name} n=${n} at ${width} px${asMatrix ? ' as a matrix' : ''}`,
      schedule,
      width,
      scene: layOut(schedule, { width, height: width < 600 ? 400 : 470, digits, asMatrix }),
    })));
  });
  return laidOut;
};

/**
 * @typedef {{x: number, y: number, w: number, h: number}} Box
 * @param {Box} a @param {Box} b
 */
const apart = (a, b) => a.x + a.w <= b.x || b.x + b.w <= a.x
  || a.y + a.h <= b.y || b.y + b.h <= a.y;

test('no card leaves the stage, none overlaps another, no cell leaves its card', () => {
  for (const { where, schedule, scene } of scenes()) {
    const { cards, width, height, cw, ch } = scene;
    assert.equal(cards.length, schedule.ranks, where);
    cards.forEach((card, i) => {
      assert.ok(card.x >= 0 && card.y >= 0 && card.x + card.w <= width && card.y + card.h <= height,
        `${where}: rank ${i} leaves the stage`);
      for (const other of cards.slice(i + 1)) {
        assert.ok(apart(card, other), `${where}: ranks ${i} and ${other.rank} overlap`);
      }
      const cells = card.buffers.flatMap((buffer) => buffer.cells);
      for (const { x, y } of cells) {
        assert.ok(x >= 0 && y >= 0 && x + cw <= card.w && y + ch <= card.h,
          `${where}: a cell leaves the card of rank ${i}`);
      }
      const boxes = cells.map(({ x, y }) => `${x} ${y}`);
      assert.equal(new Set(boxes).size, boxes.length, `${where}: cells of rank ${i} overlap`);
    });
  }
});

test('at four ranks every number can be read, even on the narrowest phone', () => {
  for (const { where, schedule, scene } of scenes()) {
    if (schedule.ranks <= 4 && scene.kind !== 'matrix') assert.ok(scene.font >= 9, where);
  }
});

test('on a wide screen the stage stays low enough to be seen in one look', () => {
  for (const { where, schedule, scene, width } of scenes()) {
    if (width >= 600 && schedule.ranks <= 8) assert.ok(scene.height <= 1.4 * 470, where);
  }
});

test('a message is on the stage all the way', () => {
  for (const { where, schedule, scene } of scenes()) {
    for (const { transfers } of schedule.rounds) {
      for (const { src, dst } of transfers) {
        if (src === dst) continue;
        const { x, y } = scene.middle(src, dst);
        assert.ok(x >= 0 && x <= scene.width && y >= 0 && y <= scene.height, where);
        for (const t of [0, 0.5, 1]) {
          const at = pointOn(scene.route(src, dst), t);
          assert.ok(Number.isFinite(at.x) && Number.isFinite(at.y), where);
        }
      }
    }
  }
});

test('a binomial tree is drawn by its real levels', () => {
  const levels = treeLevels(parseSchedule(read('broadcast/binomial/n8.json')));
  assert.ok(levels);
  assert.deepEqual(levels.map((level) => level.length), [1, 3, 3, 1]);
  const scene = layOut(parseSchedule(read('broadcast/binomial/n8.json')),
    { width: 1090, height: 470, digits: 1 });
  const rows = levels.map((level) => new Set(level.map((rank) => scene.cards[rank].y)));
  for (const row of rows) assert.equal(row.size, 1);
  const tops = rows.map(([y]) => y);
  assert.deepEqual(tops, [...tops].sort((a, b) => a - b));
});

test('a schedule whose messages run in a ring is no tree', () => {
  assert.equal(treeLevels(parseSchedule(read('reducescatter/n_reduces/n8.json'))), null);
});

test('in the matrix every rank is a row, and a block has its column', () => {
  for (const { where, schedule, scene } of scenes().filter((s) => s.scene.kind === 'matrix')) {
    const { cards } = scene;
    cards.slice(1).forEach((card, i) => assert.ok(card.y >= cards[i].y + cards[i].h, where));
    const columns = new Map();
    for (const { buffers } of cards) {
      for (const { name, cells } of buffers) {
        const shown = JSON.stringify(cells);
        assert.equal(columns.get(name) ?? shown, shown, where);
        columns.set(name, shown);
      }
    }
    assert.equal(columns.size, schedule.buffers.length, where);
  }
});

test('the ranks of a node stand in its frame, and frames keep apart', () => {
  const found = scenes().filter((s) => s.scene.kind === 'groups');
  assert.ok(found.some(({ width }) => width < 400) && found.some(({ width }) => width > 1000));
  for (const { where, schedule, scene } of found) {
    const size = schedule.parameters.node;
    assert.equal(scene.frames.length, schedule.ranks / size, where);
    scene.frames.forEach((frame, i) => {
      assert.ok(scene.frames.slice(i + 1).every((other) => apart(frame, other)), where);
      for (const card of scene.cards) {
        const inside = card.x >= frame.x && card.y >= frame.y
          && card.x + card.w <= frame.x + frame.w && card.y + card.h <= frame.y + frame.h;
        assert.equal(inside, scene.node(card.rank) === i, where);
        assert.ok(inside || apart(frame, card), where);
      }
    });
  }
});

test('the same schedule at the same width is always laid out the same', () => {
  const schedule = parseSchedule(read('alltoall/pairwise_shift/n8.json'));
  const [a, b] = [1, 2].map(() => layOut(schedule, { width: 700, height: 470, digits: 2 }));
  assert.deepEqual(a.cards, b.cards);
});
