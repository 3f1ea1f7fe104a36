/**
 * The player's half of the comparison with Python. Reads JSON lines from standard input, writes one
 * line for each: {"schedule": text, "root": n} -> a digest of every state;
 * {"check": text} -> the rule that is broken; {"values": text} -> the number of every cell;
 * {"whatif": text, "damages": list} -> what the rules say to it, and what it leads to.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';

import { spending } from '../../docs/assets/js/cost.js';
import { OPS, valueOf } from '../../docs/assets/js/numbers.js';
import { check, replay } from '../../docs/assets/js/replay.js';
import { ScheduleError, parseSchedule, relabelRoot } from '../../docs/assets/js/schedule.js';
import { carryOut, consequences, damaged } from '../../docs/assets/js/whatif.js';

const cellText = (cell) => (cell ? `${cell.block}:${cell.from.join('.')}` : '-');

const stateText = (state) => state.map((held) => Object.keys(held).sort()
  .map((name) => `${name}=${held[name].map(cellText).join(',')}`).join(';')).join('|');

const digest = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

const answers = {
  schedule: ({ schedule: text, root }) => {
    const schedule = parseSchedule(text);
    return replay(root === null ? schedule : relabelRoot(schedule, root))
      .map((state) => digest(stateText(state)));
  },
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
  values: ({ values: text }) => {
    const schedule = parseSchedule(text);
    return Object.keys(OPS).map((op) => replay(schedule).map((state) => state.map((held) => (
      Object.keys(held).sort().map((name) => held[name].map((cell) => (
        cell ? String(valueOf(schedule, cell, op)) : null)))))));
  },
  whatif: ({ whatif: text, damages }) => {
    const schedule = damaged(parseSchedule(text), damages);
    const { refusal, wrong } = consequences(schedule, 'sum');
    const held = carryOut(schedule).map((buffers) => Object.fromEntries(
      Object.entries(buffers).map(([name, content]) => [name, content.map(({ heap }) => (
        heap && heap.map(({ block, rank, times }) => [block, rank, times])))])));
    return {
      refusal: refusal && { rule: refusal.rule, sentence: refusal.message, ...refusal.place },
      wrong: wrong.map(({ rank, buffer, block }) => [rank, buffer, block]),
      held,
    };
  },
  spent: ({ spent: text }) => spending(parseSchedule(text)),
};

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  const kind = Object.keys(answers).find((key) => key in question);
  process.stdout.write(`${JSON.stringify(answers[kind](question))}\n`);
}
