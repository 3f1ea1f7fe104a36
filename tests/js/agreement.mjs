/**
 * The player's half of the comparison with Python. Reads JSON lines from standard input, writes one
 * line for each: {"schedule": text, "root": n} -> a digest of every state;
 * {"check": text} -> the rule that is broken; {"play": text} -> the same, with what the player adds
 * before it shows a schedule; {"values": text} -> the number of every cell;
 * {"whatif": text, "damages": list} -> what the rules say to it, and what it leads to.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';

import { spending } from '../../docs/assets/js/cost.js';
import { OPS, valueOf } from '../../docs/assets/js/numbers.js';
import { check, replay } from '../../docs/assets/js/replay.js';
import { relabelRoot } from '../../docs/assets/js/relabel.js';
import { ScheduleError, checkSize, parseSchedule } from '../../docs/assets/js/schedule.js';
import { carryOut, consequences, damaged } from '../../docs/assets/js/whatif.js';
import { instead } from '../../docs/assets/js/words.js';

/**
 * Cells and buffers are shared between states, so their texts are made once.
 * @type {WeakMap<object, string>}
 */
const texts = new WeakMap();

/** @param {object} part @param {() => string} make */
function textOf(part, make) {
  const text = texts.get(part) ?? make();
  texts.set(part, text);
  return text;
}

/** @param {import('../../docs/assets/js/primitives.js').Cell | null} cell */
const cellText = (cell) => (cell
  ? textOf(cell, () => `${cell.block}:${cell.from.join('.')}`) : '-');

/** @param {import('../../docs/assets/js/replay.js').State} state */
const stateText = (state) => state.map((held) => textOf(held, () => Object.keys(held).sort()
  .map((name) => `${name}=${textOf(held[name], () => held[name].map(cellText).join(','))}`)
  .join(';'))).join('|');

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

const answers = {
  /** @param {{schedule: string, root: number | null}} question */
  schedule: ({ schedule: text, root }) => {
    const schedule = parseSchedule(text);
    return replay(root === null ? schedule : relabelRoot(schedule, root))
      .map((state) => digest(stateText(state)));
  },
  /** @param {{check: string}} question */
  check: ({ check: text }) => {
    let error;
    try {
      error = check(parseSchedule(text));
    } catch (caught) {
      if (!(caught instanceof ScheduleError)) throw caught;
      error = caught;
    }
    return error && {
      rule: error.rule, sentence: error.message, round: error.place.round ?? null,
      rank: error.place.rank ?? null, buffer: error.place.buffer ?? null,
      block: error.place.block ?? null,
    };
  },
  /** @param {{play: string}} question */
  play: ({ play: text }) => {
    try {
      const schedule = parseSchedule(text);
      checkSize(schedule);
      return check(schedule)?.rule ?? null;
    } catch (error) {
      if (error instanceof ScheduleError) return error.rule;
      throw error;
    }
  },
  /** @param {{values: string}} question */
  values: ({ values: text }) => {
    const schedule = parseSchedule(text);
    const ops = /** @type {import('../../docs/assets/js/numbers.js').Op[]} */ (Object.keys(OPS));
    return ops.map((op) => replay(schedule).map((state) => state.map((held) => (
      Object.keys(held).sort().map((name) => held[name].map((cell) => (
        cell ? String(valueOf(schedule, cell, op)) : null)))))));
  },
  /**
   * @param {{whatif: string, damages: import('../../docs/assets/js/whatif.js').Damage[]}} question
   */
  whatif: ({ whatif: text, damages }) => {
    const schedule = damaged(parseSchedule(text), damages);
    const { refusal, wrong } = consequences(schedule, 'sum');
    const held = carryOut(schedule).map((buffers) => Object.fromEntries(
      Object.entries(buffers).map(([name, content]) => [name, content.map(({ heap }) => (
        heap && heap.map(({ block, rank, times }) => [block, rank, times])))])));
    const { round, transfer, rank: at, buffer: name, block: number } = refusal?.place ?? {};
    const [expected, found] = refusal ? instead(refusal) : [];
    return {
      refusal: refusal && {
        rule: refusal.rule, sentence: refusal.message, round, transfer, rank: at, buffer: name,
        block: number, expected, found,
      },
      wrong: wrong.map(({ rank, buffer, block }) => [rank, buffer, block]),
      held,
    };
  },
  /** @param {{spent: string}} question */
  spent: ({ spent: text }) => spending(parseSchedule(text)),
};

const kinds = /** @type {(keyof typeof answers)[]} */ (Object.keys(answers));
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  const kind = kinds.find((key) => key in question);
  assert.ok(kind, line);
  process.stdout.write(`${JSON.stringify(answers[kind](question))}\n`);
}
