/**
 * Questions about the round that is to come: which block will a rank send, or to whom? Made from
 * the schedule alone, always the same ones. No DOM.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').Transfer} Transfer
 * @typedef {import('./replay.js').State} State
 * @typedef {import('./numbers.js').Op} Op
 * @typedef {{rank: number, buffer: string, block: number}} Place
 * @typedef {object} Answer
 * @property {string} text
 * @property {boolean} right
 * @property {Place[]} places  the blocks it stands for, none where the answer is a rank
 * @property {number} rank
 * @property {boolean} [empty]  whether there is no data in it
 * @typedef {object} Question
 * @property {number} step  from 0; the step that is asked about
 * @property {'block' | 'peer'} kind
 * @property {number} rank  the sender that is asked about
 * @property {string} text
 * @property {Answer[]} answers  in the order of their places; one is right
 * @property {Place[]} sent  every block that the rank sends in this step
 * @property {number[]} peers  every rank that it sends to
 * @property {string} truth  what really happens, and why
 * @typedef {{right: boolean, text: string}} Verdict
 * @typedef {{buffer: string, offset: number, count: number}} Run
 */
import { PRIMITIVES } from './primitives.js';
import { sameCell } from './replay.js';
import { chunkSize } from './schedule.js';
import { example, placeName } from './text.js';

/** Wrong answers beside the right one. */
const MOST_WRONG = 4;

/** So many wrong answers make a real choice. */
const ENOUGH = 3;

/**
 * A number that looks random and is always the same (FNV-1a).
 * @param {string} text
 */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  // The last letters would otherwise only reach the lowest bits.
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}

/** @param {Schedule} schedule */
const nameOf = ({ primitive, algorithm, ranks, root, parameters }) =>
  JSON.stringify([primitive, algorithm, ranks, root, parameters]);

/**
 * The remote transfers of a step, by sender.
 * @param {Schedule} schedule @param {number} step
 * @returns {[number, Transfer[]][]} ranks ascending
 */
function senders(schedule, step) {
  /** @type {Map<number, Transfer[]>} */
  const found = new Map();
  for (const t of schedule.rounds[step].transfers) {
    if (t.src === t.dst) continue;
    const own = found.get(t.src);
    if (own) own.push(t);
    else found.set(t.src, [t]);
  }
  return [...found].sort(([a], [b]) => a - b);
}

/** @param {number} rank @param {Run} run @returns {Place[]} */
const placesOf = (rank, { buffer, offset, count }) =>
  Array.from({ length: count }, (_, i) => ({ rank, buffer, block: offset + i }));

/**
 * What a rank could send in pieces of one size: those it does send, and those it keeps although it
 * has them. A piece that holds the same data as one that is sent is neither.
 * @param {State} before @param {number} rank
 * @param {Transfer[]} transfers  what it sends
 * @param {number} unit  size of a piece
 * @returns {{unit: number, sent: Run[], kept: Run[]}}
 */
function pieces(before, rank, transfers, unit) {
  /** @type {Run[]} */
  const sent = [];
  /** @type {Run[]} */
  const kept = [];
  /** @type {Map<string, Set<number>>} */
  const leaving = new Map();
  for (const t of transfers) {
    const offsets = leaving.get(t.fromBuffer) ?? new Set();
    leaving.set(t.fromBuffer, offsets);
    for (let i = 0; i < t.count; i += 1) offsets.add(t.fromOffset + i);
  }
  const cells = [...leaving].flatMap(([buffer, offsets]) => (
    [...offsets].map((offset) => before[rank][buffer][offset])));
  for (const [buffer, offsets] of leaving) {
    const content = before[rank][buffer];
    for (let offset = 0; offset + unit <= content.length; offset += unit) {
      const held = content.slice(offset, offset + unit);
      const leave = held.filter((_, i) => offsets.has(offset + i)).length;
      const run = { buffer, offset, count: unit };
      if (leave === unit) sent.push(run);
      else if (leave === 0 && held.every((cell) => cell !== null
        && !cells.some((other) => other?.block === cell.block && sameCell(cell, other)))) {
        kept.push(run);
      }
    }
  }
  return { unit, sent, kept };
}

/**
 * The pieces to ask in: as large as the transfers are where that leaves a choice, else smaller.
 * @param {Schedule} schedule @param {State} before @param {number} rank
 * @param {Transfer[]} transfers
 */
function choiceOf(schedule, before, rank, transfers) {
  const [{ count }] = transfers;
  const even = transfers.every((t) => t.count === count && t.fromOffset % count === 0);
  for (const unit of [...(even ? [count] : []), chunkSize(schedule), 1]) {
    const found = pieces(before, rank, transfers, unit);
    if (found.sent.length && found.kept.length) return found;
  }
  return null;
}

/**
 * One of the senders with the most to choose from. All of them have their turn before one is asked
 * about again, in an order that follows no ring and no tree.
 * @template {{rank: number, wrong: number}} T
 * @param {T[]} candidates @param {Schedule} schedule @param {number} step
 */
function pick(candidates, schedule, step) {
  const most = Math.min(ENOUGH, Math.max(...candidates.map(({ wrong }) => wrong)));
  const able = candidates.filter(({ wrong }) => wrong >= most);
  const time = schedule.rounds.slice(0, step).filter((r) => !r.local).length;
  const turn = `${nameOf(schedule)} ${Math.floor(time / able.length)} `;
  const order = able.map((one) => ({ one, at: hash(turn + one.rank) }))
    .sort((a, b) => a.at - b.at);
  return order[time % able.length].one;
}

/**
 * Some of the wrong answers: first what was on the move in the step before, for it is easily taken
 * for what moves now.
 * @template T
 * @param {T[]} wrong @param {(item: T) => boolean} recent
 * @param {string} seed @param {(item: T) => string} key
 */
function tempting(wrong, recent, seed, key) {
  return [...wrong].sort((a, b) => Number(recent(b)) - Number(recent(a))
    || hash(seed + key(a)) - hash(seed + key(b))).slice(0, MOST_WRONG);
}

/**
 * 「右邻居」 where all that moves moves there; else nothing, for the target may give the answer away.
 * @param {Schedule} schedule
 */
function neighbour({ rounds, ranks: n, layout }) {
  const shifts = new Set(rounds.flatMap(({ transfers }) => transfers
    .filter((t) => t.src !== t.dst).map((t) => (t.dst - t.src + n) % n)));
  if (n < 3 || shifts.size !== 1) return '';
  if (shifts.has(1)) return layout === 'line' ? '下一个 rank' : '右邻居';
  return shifts.has(n - 1) && layout !== 'line' ? '左邻居' : '';
}

/** @param {Schedule} schedule @param {number} unit @param {boolean} several */
function unitName(schedule, unit, several) {
  const size = chunkSize(schedule);
  const chunked = PRIMITIVES[schedule.primitive].chunked;
  const word = chunked ? (unit % size === 0 ? '段' : '格') : '块';
  const many = unit > (word === '段' ? size : 1);
  return `${several ? '下面' : ''}哪${many ? '几' : '一'}${word}`;
}

/**
 * What a rank really does in a step, with its numbers, and why.
 * @param {Schedule} schedule @param {State[]} states @param {number} step
 * @param {Transfer[]} transfers  of the rank @param {Transfer} told  the one to tell of
 * @param {Op} op @param {boolean} symbols
 */
function truthOf(schedule, states, step, transfers, told, op, symbols) {
  const more = transfers.length > 1 ? `这一轮它一共发出 ${transfers.length} 份。` : '';
  return `${example(schedule, states, step + 1, op, symbols, told)}${more}`
    + schedule.rounds[step].caption;
}

/**
 * Which block does a rank send? Null when no rank has a choice.
 * @param {Schedule} schedule @param {State[]} states @param {number} step @param {Op} op
 * @param {boolean} symbols
 * @returns {Question | null}
 */
function blockQuestion(schedule, states, step, op, symbols) {
  const before = states[step];
  const candidates = senders(schedule, step).flatMap(([rank, transfers]) => {
    const choice = choiceOf(schedule, before, rank, transfers);
    return choice ? [{ rank, transfers, ...choice, wrong: choice.kept.length }] : [];
  });
  if (!candidates.length) return null;
  const { rank, transfers, unit, sent, kept } = pick(candidates, schedule, step);
  const seed = `${nameOf(schedule)} ${step} `;
  const right = sent[hash(seed) % sent.length];
  const earlier = step ? schedule.rounds[step - 1].transfers : [];
  const recent = (/** @type {Run} */ { buffer, offset }) => earlier.some((t) => (
    (t.src === rank && t.fromBuffer === buffer && t.fromOffset <= offset
      && offset < t.fromOffset + t.count)
    || (t.dst === rank && t.toBuffer === buffer && t.toOffset <= offset
      && offset < t.toOffset + t.count)));
  const wrong = tempting(kept, recent, seed, ({ buffer, offset }) => `${buffer} ${offset}`);
  const order = schedule.buffers.map(({ name }) => name);
  const answers = [right, ...wrong]
    .sort((a, b) => order.indexOf(a.buffer) - order.indexOf(b.buffer) || a.offset - b.offset)
    .map((run) => ({
      text: placeName(schedule, run.buffer, run.offset, run.count), right: run === right,
      places: placesOf(rank, run), rank,
    }));
  const told = /** @type {Transfer} */ (transfers.find((t) => t.fromBuffer === right.buffer
    && t.fromOffset <= right.offset && right.offset < t.fromOffset + t.count));
  const to = neighbour(schedule);
  const several = sent.length > 1;
  const what = unitName(schedule, unit, several);
  return {
    step,
    kind: 'block',
    rank,
    text: `${roundName(schedule, step)}：rank ${rank} ${several ? `要发出的不止一份，${what}在里面？`
      : to ? `会把${what}发给${to}？` : `会发出${what}？`}`,
    answers,
    sent: transfers.flatMap((t) => (
      placesOf(rank, { buffer: t.fromBuffer, offset: t.fromOffset, count: t.count }))),
    peers: [...new Set(transfers.map(({ dst }) => dst))],
    truth: truthOf(schedule, states, step, transfers, told, op, symbols),
  };
}

/**
 * Whom does a rank send to? For rounds in which every rank sends all it has.
 * @param {Schedule} schedule @param {State[]} states @param {number} step @param {Op} op
 * @param {boolean} symbols
 * @returns {Question | null}
 */
function peerQuestion(schedule, states, step, op, symbols) {
  const { ranks } = schedule;
  const candidates = senders(schedule, step).flatMap(([rank, transfers]) => {
    const peers = new Set(transfers.map(({ dst }) => dst));
    return peers.size === 1 && ranks > 2 ? [{ rank, transfers, wrong: ranks - 2 }] : [];
  });
  if (!candidates.length) return null;
  const { rank, transfers } = pick(candidates, schedule, step);
  const [told] = transfers;
  const others = Array.from({ length: ranks }, (_, other) => other)
    .filter((other) => other !== rank && other !== told.dst);
  const earlier = step ? schedule.rounds[step - 1].transfers : [];
  const recent = (/** @type {number} */ other) => earlier.some((t) => (
    (t.src === rank && t.dst === other) || (t.dst === rank && t.src === other)));
  const wrong = tempting(others, recent, `${nameOf(schedule)} ${step} `, String);
  const what = transfers.length > 1 ? '手里的数据'
    : placeName(schedule, told.fromBuffer, told.fromOffset, told.count);
  return {
    step,
    kind: 'peer',
    rank,
    text: `${roundName(schedule, step)}：rank ${rank} 会把${spaced(what)}发给谁？`,
    answers: [told.dst, ...wrong].sort((a, b) => a - b).map((other) => (
      { text: `rank ${other}`, right: other === told.dst, places: [], rank: other })),
    sent: transfers.flatMap((t) => (
      placesOf(rank, { buffer: t.fromBuffer, offset: t.fromOffset, count: t.count }))),
    peers: [told.dst],
    truth: truthOf(schedule, states, step, transfers, told, op, symbols),
  };
}

/** @param {Schedule} schedule @param {number} step */
const roundName = ({ rounds }, step) =>
  `第 ${rounds.slice(0, step + 1).filter((r) => !r.local).length} 轮`;

/**
 * The question before a step, null where there is nothing to ask: in local steps, and where every
 * rank sends all it has to the only one it can send it to.
 * @param {Schedule} schedule @param {State[]} states  one more than there are rounds
 * @param {number} step  from 0 @param {Op} op @param {boolean} [symbols]
 * @returns {Question | null}
 */
export function questionOf(schedule, states, step, op, symbols = false) {
  if (!schedule.rounds[step] || !states[step + 1] || schedule.rounds[step].local) return null;
  return blockQuestion(schedule, states, step, op, symbols)
    ?? peerQuestion(schedule, states, step, op, symbols);
}

/** Latin and digits have a space between them and Chinese. @param {string} text */
const spaced = (text) => text.replace(/^(?=[\x21-\x7e])|(?<=[\x21-\x7e])$/g, ' ');

/**
 * What there is to say to one of the answers.
 * @param {Question} question @param {Answer} answer
 * @returns {Verdict}
 */
export function judge(question, { right, text, empty }) {
  const { kind, rank, truth } = question;
  if (right) return { right, text: `对。${truth}` };
  const name = spaced(text);
  const why = kind === 'peer' ? `rank ${rank} 这一轮不发给${name.trimEnd()}`
    : empty ? `rank ${rank} 的${name}还没有数据` : `rank ${rank} 这一轮不发${name.trimEnd()}`;
  return { right, text: `不对：${why}。${truth}` };
}

/**
 * A block on the stage as an answer: the listed one that it belongs to, or one of its own. Null
 * when it belongs to a rank that the question is not about.
 * @param {Schedule} schedule @param {State[]} states @param {Question} question
 * @param {Place} place
 * @returns {Answer | null}
 */
export function answerAt(schedule, states, question, { rank, buffer, block }) {
  const { kind, step, answers, sent, peers } = question;
  if (kind === 'peer') {
    if (rank === question.rank) return null;
    return answers.find((answer) => answer.rank === rank)
      ?? { text: `rank ${rank}`, right: peers.includes(rank), places: [], rank };
  }
  if (rank !== question.rank) return null;
  const is = (/** @type {Place} */ place) => place.buffer === buffer && place.block === block;
  const listed = answers.find(({ places }) => places.some(is));
  if (listed) return listed;
  // As large as the answers are, where the buffer has room for one.
  const content = states[step][rank][buffer];
  const unit = answers[0].places.length;
  const offset = block - (block % unit);
  const run = offset + unit <= content.length ? { buffer, offset, count: unit }
    : { buffer, offset: block, count: 1 };
  return {
    text: placeName(schedule, run.buffer, run.offset, run.count), right: sent.some(is),
    places: placesOf(rank, run), rank, empty: content[block] === null,
  };
}
