/**
 * The race: several algorithms of one primitive in one clock. A round takes α plus its bytes over
 * the bandwidth, as counted from the schedule; no DOM here. What is said about who is ahead, and
 * where the order changes, is computed in whole numbers and rounded only to be read.
 * scripts/race_macros.py writes the same sentences into the pages.
 *
 * @typedef {import('./catalog.js').PrimitiveEntry} PrimitiveEntry
 * @typedef {import('./cost.js').Machine} Machine  s, B/s, and M in bytes
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {object} Lane
 * @property {string} slug
 * @property {string} name  short, for sentences
 * @property {string} english
 * @property {number} blocks  of M
 * @property {{rounds: number, sent: number}[]} spent  after 0, 1, ... all rounds of communication;
 *   sent in blocks, on the busiest port
 * @typedef {{lane: Lane, seconds: number, place: number}} Finish  place from 1; ties share one
 * @typedef {object} Crossing  where one algorithm takes the lead from another as M grows
 * @property {[number, number]} factor  M there = factor · α · bandwidth; a fraction in lowest terms
 * @property {Lane[]} before  the fastest below it; several when they cost the same
 * @property {Lane[]} after
 */
import { bySlug, fileOf, parametersOf, reason } from './catalog.js';
import { spending } from './cost.js';
import { gcd } from './numbers.js';

export const FEWEST = 2;
export const MOST = 4;

/**
 * What the reader may set: the range, and in which unit the address carries it.
 * @typedef {'bytes' | 'alpha' | 'bandwidth'} Quantity
 * @type {Record<Quantity, {title: string, least: number, most: number}>}
 */
export const QUANTITIES = {
  bytes: { title: '数据量 M', least: 1e3, most: 1e10 },
  alpha: { title: '时延 α', least: 1e-7, most: 1e-3 },
  bandwidth: { title: '带宽 1/β', least: 1e8, most: 1e12 },
};

/** Positions of a slider in a tenfold. */
const PER_DECADE = 20;

/** Times that differ by less than this part are the same: they are sums of the same numbers. */
const SAME = 1e-9;

// --------------------------------------------------------------------------- numbers in words

/**
 * A number to some significant digits, halves away from zero, without trailing zeros. Decimal
 * digits are rounded, not the binary number behind them, so that Python says the same.
 * @param {number} value  not negative @param {number} digits
 */
export function significant(value, digits = 3) {
  if (value === 0) return '0';
  const [mantissa, power] = value.toExponential(11).split('e');
  const cut = 10 ** (12 - digits);
  const whole = Math.floor((Number(mantissa.replace('.', '')) + cut / 2) / cut);
  return String(Number(`${whole}e${Number(power) - digits + 1}`));
}

/**
 * @param {number} value @param {[number, string][]} units  ascending
 */
function withUnit(value, units) {
  // What rounds up to a thousand belongs to the next unit.
  const rounded = Number(significant(value));
  const [size, unit] = units.findLast(([least]) => rounded >= least * (1 - SAME)) ?? units[0];
  return `${significant(value / size)} ${unit}`;
}

/** @type {Record<Quantity, [number, string][]>} */
const UNITS = {
  bytes: [[1, 'B'], [1e3, 'KB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']],
  alpha: [[1e-9, 'ns'], [1e-6, 'µs'], [1e-3, 'ms'], [1, 's']],
  bandwidth: [[1e6, 'MB/s'], [1e9, 'GB/s']],
};

/** 「600 KB」 @param {number} bytes */
export const sizeText = (bytes) => withUnit(bytes, UNITS.bytes);

/** 「65 µs」 @param {number} seconds */
export const timeText = (seconds) => (seconds === 0 ? '0' : withUnit(seconds, UNITS.alpha));

/**
 * A value of the machine as it was set; four digits, for 3.125 GB/s.
 * @param {Quantity} quantity @param {number} value
 */
export function quantityText(quantity, value) {
  const units = UNITS[quantity];
  const [size, unit] = units.findLast(([least]) => value >= least * (1 - SAME)) ?? units[0];
  return `${significant(value / size, 4)} ${unit}`;
}

/** What stands before a unit, and units of time in seconds. */
const PREFIX = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const SECONDS = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1 };

/**
 * Read what was typed: 「64 KB」, 「2.5」, 「400 Gb/s」. Without a unit the one that is shown counts.
 * @param {Quantity} quantity @param {string} text @param {number} now  the value there is
 * @returns {number | null} within the range, or null when it cannot be read
 */
export function parseQuantity(quantity, text, now) {
  const match = /^\s*(\d{1,15}(?:\.\d{0,12})?(?:e[+-]?\d{1,3})?)\s*([a-zµμ/]*)\s*$/i.exec(
    text.slice(0, 60).replace(/，/g, ''));
  if (!match) return null;
  const unit = match[2] || quantityText(quantity, now).split(' ')[1];
  let size;
  if (quantity === 'alpha') {
    size = SECONDS[/** @type {keyof typeof SECONDS} */ (unit.toLowerCase())];
  } else {
    const parts = /^([kmgt]?)i?(b(?:yte|it)?)?(\/s|ps)?$/i.exec(unit);
    const prefix = parts && PREFIX[/** @type {keyof typeof PREFIX} */ (parts[1].toLowerCase())];
    const bits = quantity === 'bandwidth' && (parts?.[2] === 'b' || parts?.[2] === 'bit');
    size = prefix ? prefix / (bits ? 8 : 1) : undefined;
  }
  const value = size === undefined ? NaN : Number(match[1]) * size;
  return Number.isFinite(value) && value > 0 ? clamp(quantity, value) : null;
}

/** @param {Quantity} quantity @param {number} value */
export const clamp = (quantity, value) =>
  Math.min(QUANTITIES[quantity].most, Math.max(QUANTITIES[quantity].least, value));

/** Positions of the slider of a quantity, from 0. @param {Quantity} quantity */
export const positions = (quantity) => Math.round(
  Math.log10(QUANTITIES[quantity].most / QUANTITIES[quantity].least) * PER_DECADE);

/** The position nearest to a value. @param {Quantity} quantity @param {number} value */
export const positionOf = (quantity, value) => Math.round(
  Math.log10(clamp(quantity, value) / QUANTITIES[quantity].least) * PER_DECADE);

/**
 * The value at a position: two significant digits, so that 1, 2, 5 and 10 are all there.
 * @param {Quantity} quantity @param {number} position
 */
export const valueAt = (quantity, position) => clamp(quantity, Number(significant(
  QUANTITIES[quantity].least * 10 ** (position / PER_DECADE), 2)));

// ----------------------------------------------------------------------------------- the choice

/**
 * The algorithms of a primitive at N: which can race, and why the others cannot.
 * @param {PrimitiveEntry} primitive @param {number} n
 */
export const candidates = (primitive, n) => primitive.algorithms.map((algorithm) => {
  const off = !algorithm.ranks.includes(n);
  const [, name, english] = /^(.*)（([^（）]*)）$/.exec(algorithm.title) ?? ['', algorithm.title, ''];
  return { slug: algorithm.slug, name, english, off: off ? reason(algorithm, n) : '' };
});

/**
 * Who races: those wished for that can, at most four; filled up to two in the catalogue's order.
 * @param {PrimitiveEntry} primitive @param {number} n @param {string[]} wished
 * @returns {string[]} slugs, without repetition
 */
export function lineUp(primitive, n, wished) {
  const able = candidates(primitive, n).filter(({ off }) => !off).map(({ slug }) => slug);
  const chosen = [...new Set(wished)].filter((slug) => able.includes(slug)).slice(0, MOST);
  return [...chosen, ...able.filter((slug) => !chosen.includes(slug))
    .slice(0, Math.max(0, FEWEST - chosen.length))];
}

/**
 * The file of an algorithm at N with the parameters it has by itself, relative to the catalogue.
 * @param {PrimitiveEntry} primitive @param {number} n @param {string} slug
 */
export function raceFile(primitive, n, slug) {
  const algorithm = bySlug(primitive.algorithms, slug);
  if (!algorithm) throw new RangeError(`${primitive.slug} has no ${slug}`);
  return fileOf(algorithm, n, parametersOf(algorithm, n, {}));
}

/**
 * @param {Schedule} schedule @param {{slug: string, name: string, english: string}} names
 * @returns {Lane}
 */
export function laneOf(schedule, { slug, name, english }) {
  // A step without communication costs nothing and is no round.
  const spent = spending(schedule).filter(({ rounds }, step, all) => (
    step === 0 || rounds > all[step - 1].rounds));
  return {
    slug, name, english, blocks: schedule.blocks,
    spent: spent.map(({ rounds, sent }) => ({ rounds, sent })),
  };
}

// ------------------------------------------------------------------------------------- the clock

/** @param {Lane} lane */
const total = ({ spent }) => spent[spent.length - 1];

/** Rounds of communication. @param {Lane} lane */
export const roundsOf = (lane) => total(lane).rounds;

/** What goes through the busiest port, in M: a fraction in lowest terms. @param {Lane} lane
 * @returns {[number, number]} */
export const portOf = (lane) => lowest(total(lane).sent, lane.blocks);

/**
 * A fraction in lowest terms.
 * @param {number} numerator @param {number} denominator @returns {[number, number]}
 */
export function lowest(numerator, denominator) {
  const unit = gcd(numerator, denominator) || 1;
  return [numerator / unit, denominator / unit];
}

/** 「7/4 M」 @param {[number, number]} fraction */
export const shareText = ([numerator, denominator]) => (numerator === 0 ? '0'
  : `${numerator === denominator ? '' : denominator === 1 ? `${numerator} `
    : `${numerator}/${denominator} `}M`);

/**
 * When each round of a lane is over, from 0 on: one more than there are rounds.
 * @param {Lane} lane @param {Machine} machine
 */
export const roundEnds = (lane, { alpha, bandwidth, bytes }) => lane.spent.map(
  ({ rounds, sent }) => rounds * alpha + (sent * bytes) / (lane.blocks * bandwidth));

/** @param {Lane} lane @param {Machine} machine */
export const finishOf = (lane, machine) => /** @type {number} */ (roundEnds(lane, machine).at(-1));

/** Whether two results of arithmetic mean the same number. @param {number} a @param {number} b */
export const same = (a, b) => Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b));

/**
 * Every moment at which some round ends, ascending, 0 first.
 * @param {Lane[]} lanes @param {Machine} machine
 */
export function stops(lanes, machine) {
  const ends = lanes.flatMap((lane) => roundEnds(lane, machine)).sort((a, b) => a - b);
  return ends.filter((end, i) => i === 0 || !same(end, ends[i - 1]));
}

/** How many rounds of a lane are over at a time. @param {number[]} ends @param {number} time */
export const roundsDone = (ends, time) =>
  ends.filter((end, i) => i > 0 && (end <= time || same(end, time))).length;

/**
 * Who arrives when, first first; equal times share a place.
 * @param {Lane[]} lanes @param {Machine} machine
 * @returns {Finish[]}
 */
export function order(lanes, machine) {
  const finishes = lanes.map((lane) => ({ lane, seconds: finishOf(lane, machine), place: 1 }))
    .sort((a, b) => (same(a.seconds, b.seconds) ? 0 : a.seconds - b.seconds));
  finishes.forEach((finish, i) => {
    const before = finishes[i - 1];
    if (before) finish.place = same(before.seconds, finish.seconds) ? before.place : i + 1;
  });
  return finishes;
}

/** A clock that knows no frames: where the race stands between 0 and the last arrival. */
export class RaceClock {
  /** Seconds that the whole race takes to watch. */
  static LENGTH = 8;

  constructor() {
    /** @type {number[]} */
    this.stops = [0];
    this.time = 0;
    this.playing = false;
  }

  get end() {
    return this.stops[this.stops.length - 1];
  }

  /** How many stops have been passed, 0 at the start. */
  get passed() {
    return this.stops.findLastIndex((stop) => stop <= this.time || same(stop, this.time));
  }

  /**
   * Another machine or other lanes: the race stands where it stood, as a part of the whole.
   * @param {number[]} moments  ascending, from 0
   */
  setStops(moments) {
    const part = this.end ? this.time / this.end : 0;
    this.stops = moments;
    this.time = part * this.end;
  }

  /** @param {number} time */
  seek(time) {
    this.playing = false;
    this.time = Math.min(this.end, Math.max(0, time));
  }

  /** To the end of a round, by number. @param {number} stop */
  seekStop(stop) {
    this.seek(this.stops[Math.min(this.stops.length - 1, Math.max(0, stop))]);
  }

  next() {
    this.seekStop(this.passed + 1);
  }

  /** To the end of the round before, or of the one just passed when between two. */
  previous() {
    const { passed } = this;
    this.seekStop(same(this.stops[passed], this.time) ? passed - 1 : passed);
  }

  /** Start; from the beginning when at the end. */
  play() {
    if (this.time >= this.end) this.time = 0;
    this.playing = this.end > 0;
  }

  /** @param {number} seconds  of the reader's */
  advance(seconds) {
    if (!this.playing) return;
    this.time = Math.min(this.end, this.time + (seconds / RaceClock.LENGTH) * this.end);
    if (this.time >= this.end) this.playing = false;
  }
}

// ---------------------------------------------------------------------------------- the crossings

/** Which of two lanes sends less; negative when the first does. @param {Lane} a @param {Lane} b */
const slope = (a, b) => total(a).sent * b.blocks - total(b).sent * a.blocks;

/**
 * The fastest for every M from the smallest on, and where the lead changes. A time is a straight
 * line, rounds · α + port · β · M, so the lead never comes back to one that has lost it.
 * @param {Lane[]} lanes  at least one
 * @returns {{first: Lane[], crossings: Crossing[]}}
 */
export function leaders(lanes) {
  const alike = (/** @type {Lane} */ a) => lanes.filter((b) => (
    roundsOf(a) === roundsOf(b) && slope(a, b) === 0));
  let lead = lanes.reduce((best, lane) => (
    roundsOf(lane) - roundsOf(best) || slope(lane, best)) < 0 ? lane : best);
  const first = alike(lead);
  /** @type {Crossing[]} */
  const crossings = [];
  for (;;) {
    /** @type {{lane: Lane, factor: [number, number]} | null} */
    let next = null;
    for (const lane of lanes) {
      const saved = -slope(lane, lead);
      if (saved <= 0) continue;
      const factor = lowest((roundsOf(lane) - roundsOf(lead)) * lane.blocks * lead.blocks, saved);
      const sooner = next && factor[0] * next.factor[1] - next.factor[0] * factor[1];
      if (!next || Number(sooner) < 0 || (sooner === 0 && slope(lane, next.lane) < 0)) {
        next = { lane, factor };
      }
    }
    if (!next) return { first, crossings };
    crossings.push({ factor: next.factor, before: alike(lead), after: alike(next.lane) });
    lead = next.lane;
  }
}

/** M at a crossing, in bytes. @param {Crossing} crossing @param {Machine} machine */
export const sizeAt = ({ factor: [numerator, denominator] }, { alpha, bandwidth }) =>
  (alpha * bandwidth * numerator) / denominator;

// -------------------------------------------------------------------------------------- sentences

const LATIN = /[A-Za-z0-9]/;

/**
 * Put parts together, with a space where Chinese meets Latin letters or digits.
 * @param {...string} parts
 */
export const joined = (...parts) => parts.filter(Boolean).reduce((text, part) => {
  const [left, right] = [text.slice(-1), part.slice(0, 1)];
  const meets = /\p{Script=Han}/u;
  const apart = (meets.test(left) && LATIN.test(right)) || (LATIN.test(left) && meets.test(right));
  return `${text}${apart ? ' ' : ''}${part}`;
}, '');

/** @param {Lane[]} lanes */
const names = (lanes) => lanes.map(({ name }) => name).join('、');

/**
 * Who arrives first and when the others do: 「8 个 GPU、1 MB：折半再倍增先到，65 µs；……」.
 * @param {Lane[]} lanes @param {Machine} machine @param {number} ranks
 */
export function orderSentence(lanes, machine, ranks) {
  const finishes = order(lanes, machine);
  const places = [...new Set(finishes.map(({ place }) => place))].map((place) => (
    finishes.filter((finish) => finish.place === place)));
  const said = places.map((group, i) => {
    const who = names(group.map(({ lane }) => lane));
    const when = timeText(group[0].seconds);
    if (i > 0) return joined(who, group.length > 1 ? '都是' : '', ` ${when}`);
    return `${joined(who, group.length > 1 ? '同时' : '', '先到')}，${when}`;
  });
  return `${ranks} 个 GPU、${sizeText(machine.bytes)}：${said.join('；')}。`;
}

/** 「12/5」 @param {[number, number]} fraction */
const fractionText = ([numerator, denominator]) =>
  (denominator === 1 ? `${numerator}` : `${numerator}/${denominator}`);

/**
 * Where the lead changes, one sentence each, and who never has it.
 * @param {Lane[]} lanes @param {Machine} machine
 */
export function crossingSentences(lanes, machine) {
  const { first, crossings } = leaders(lanes);
  const led = new Set([...first, ...crossings.flatMap(({ after }) => after)]);
  const never = lanes.filter((lane) => !led.has(lane));
  const sentences = crossings.map((crossing) => {
    const at = sizeAt(crossing, machine);
    const outside = at < QUANTITIES.bytes.least || at > QUANTITIES.bytes.most ? '（在图外）' : '';
    return `交叉点 ${sizeText(at)}${outside}：${joined('更大时', names(crossing.after), '快')}，`
      + `${joined('更小时', names(crossing.before), '快')}。`
      + `这里 M = ${fractionText(crossing.factor)} × α/β。`;
  });
  if (!crossings.length) {
    sentences.push(never.length ? `没有交叉点：${joined('不论多大，都没有比', names(first), '更快的')}。`
      : '没有交叉点：不论多大，用时都一样。');
  } else if (never.length) {
    sentences.push(`${joined(names(never), '在哪个大小上都不是最快')}。`);
  }
  return sentences;
}

/**
 * Where everyone is at a time: 「65 µs：折半再倍增到了（第 1）；环形走完 8 / 14 轮。」.
 * @param {Lane[]} lanes @param {Machine} machine @param {number} time
 */
export function stateSentence(lanes, machine, time) {
  if (time === 0) return '还没有出发。按播放键看它们跑，或者用前进键一轮一轮看。';
  const places = new Map(order(lanes, machine).map(({ lane, place }) => [lane, place]));
  const said = lanes.map((lane) => {
    const done = roundsDone(roundEnds(lane, machine), time);
    return done === roundsOf(lane) ? joined(lane.name, `到了（第 ${places.get(lane)}）`)
      : joined(lane.name, `走完 ${done} / ${roundsOf(lane)} 轮`);
  });
  return `${timeText(time)}：${said.join('；')}。`;
}

/**
 * The rounds of a lane, neighbours of one length together: first, last, seconds of each.
 * @param {Lane} lane @param {Machine} machine
 */
export function roundRuns(lane, machine) {
  /** @type {{first: number, last: number, blocks: number, seconds: number}[]} */
  const runs = [];
  lane.spent.slice(1).forEach(({ sent }, i) => {
    const blocks = sent - lane.spent[i].sent;
    const run = runs[runs.length - 1];
    if (run?.blocks === blocks) run.last = i + 1;
    else {
      const seconds = machine.alpha + (blocks * machine.bytes) / (lane.blocks * machine.bandwidth);
      runs.push({ first: i + 1, last: i + 1, blocks, seconds });
    }
  });
  return runs;
}

// ------------------------------------------------------------------------------------ the address

/**
 * @typedef {object} RaceState  what an address carries
 * @property {string} primitive
 * @property {number} ranks
 * @property {string[]} algorithms
 * @property {Machine} machine
 * @property {number} stop  ends of rounds that have been passed
 * @typedef {Partial<Omit<RaceState, 'machine'>> & {machine?: Partial<Machine>}} RaceWish  not trusted
 */

/** Short names in the address, with the size of their unit. @type {[string, Quantity, number][]} */
const IN_ADDRESS = [['m', 'bytes', 1], ['alpha', 'alpha', 1e-6], ['bw', 'bandwidth', 1e9]];

/** @param {RaceState} state @returns {string} with "#" */
export const formatRaceAddress = ({ primitive, ranks, algorithms, machine, stop }) =>
  `#race=${primitive}&n=${ranks}&algos=${algorithms.join('+')}${
    IN_ADDRESS.map(([key, quantity, unit]) => (
      `&${key}=${significant(machine[quantity] / unit, 10)}`)).join('')}&stop=${stop}`;

/**
 * Read an address. What is missing or makes no sense is left out; nothing throws.
 * @param {string} hash  with or without "#"
 * @returns {RaceWish | null} null when the address is not a race's
 */
export function parseRaceAddress(hash) {
  const text = hash.slice(0, 500).replace(/^#/, '');
  if (!text.startsWith('race=')) return null;
  /** @type {Map<string, string>} */
  const given = new Map(text.split('&').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, Math.max(0, at)), pair.slice(at + 1)];
  }));
  const whole = (/** @type {string} */ key) => {
    const raw = given.get(key) ?? '';
    return /^\d{1,6}$/.test(raw) ? Number(raw) : undefined;
  };
  /** @type {Partial<Machine>} */
  const machine = {};
  for (const [key, quantity, unit] of IN_ADDRESS) {
    const raw = given.get(key) ?? '';
    const value = /^\d{1,15}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?$/.test(raw) ? Number(raw) : 0;
    if (value > 0) machine[quantity] = clamp(quantity, Number((value * unit).toPrecision(12)));
  }
  const slugs = (given.get('algos') ?? '').split('+')
    .filter((slug) => /^[a-z0-9_]{1,60}$/.test(slug));
  return {
    primitive: given.get('race') ?? '', ranks: whole('n'), stop: whole('stop'),
    algorithms: slugs.length ? slugs : undefined, machine,
  };
}
