import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Clock } from '../../docs/assets/js/clock.js';
import { positionAt, stops } from '../../docs/assets/js/timeline.js';

test('progress follows time, however many frames it is cut into', () => {
  const [once, often] = [new Clock([false, false, false]), new Clock([false, false, false])];
  for (const clock of [once, often]) clock.play();
  once.advance(3);
  for (let i = 0; i < 300; i += 1) often.advance(0.01);
  assert.ok(Math.abs(once.position - often.position) < 1e-9);
  assert.equal(once.position, 1.5);
});

test('twice the speed is half the time', () => {
  const clock = new Clock([false, false]);
  clock.play();
  clock.speed = 2;
  clock.advance(1);
  assert.equal(clock.position, 1);
});

test('playing stops at the end, and starts over from there', () => {
  const clock = new Clock([false]);
  clock.play();
  clock.advance(60);
  assert.deepEqual([clock.position, clock.playing], [1, false]);
  clock.play();
  assert.deepEqual([clock.position, clock.playing], [0, true]);
});

test('a loop rests at the end, then begins again', () => {
  const clock = new Clock([false]);
  clock.loop = true;
  clock.play();
  clock.advance(2.5);
  assert.equal(clock.position, 1);
  clock.advance(1.5);
  assert.ok(clock.playing && clock.position > 0 && clock.position < 1);
});

test('forward plays one step and rests', () => {
  const clock = new Clock([false, false]);
  clock.forward();
  clock.advance(60);
  assert.deepEqual([clock.position, clock.moving], [1, false]);
});

test('forward, pressed while a step is under way, finishes it and goes on', () => {
  const clock = new Clock([false, false, false]);
  clock.forward();
  clock.advance(0.5);
  clock.forward();
  assert.equal(clock.position, 1);
  clock.advance(60);
  assert.equal(clock.position, 2);
});

test('back goes to the beginning of the step under way, then to the one before', () => {
  const clock = new Clock([false, false, false]);
  clock.seek(2.4);
  clock.back();
  assert.equal(clock.position, 2);
  clock.back();
  assert.equal(clock.position, 1);
});

test('no position is outside the schedule', () => {
  const clock = new Clock([false, true]);
  for (const [to, is] of [[-3, 0], [99, 2], [1.5, 1.5]]) {
    clock.seek(to);
    assert.equal(clock.position, is);
  }
  const empty = new Clock([]);
  empty.play();
  empty.forward();
  empty.advance(1);
  assert.deepEqual([empty.position, empty.moving], [0, false]);
});

test('a place on the timeline and a position are the same thing', () => {
  const ends = stops([true, false, false]);
  assert.equal(ends.at(-1), 1);
  assert.ok(ends[1] < ends[2] - ends[1], 'a local step is thin');
  for (const position of [0, 0.25, 1, 1.5, 2.75]) {
    const step = Math.floor(position);
    const at = ends[step] + (position - step) * (ends[step + 1] - ends[step]);
    assert.ok(Math.abs(positionAt(ends, at) - position) < 1e-9);
  }
  assert.equal(positionAt(ends, -1), 0);
  assert.equal(positionAt(ends, 2), 3);
});
