/**
 * Schedule files, format v1: parsing, validation, relabelling to another root.
 * The counterpart of scripts/collectives/{schedule,serialize}.py and prove.check_shape.
 *
 * @typedef {import('./primitives.js').Buffer} Buffer
 * @typedef {object} Transfer
 * @property {number} src
 * @property {number} dst
 * @property {'copy' | 'reduce'} op
 * @property {string} fromBuffer
 * @property {number} fromOffset  in blocks
 * @property {string} toBuffer
 * @property {number} toOffset
 * @property {number} count
 * @typedef {{phase: string, caption: string, local: boolean, transfers: Transfer[]}} Round
 * @typedef {object} Schedule
 * @property {string} primitive
 * @property {string} algorithm
 * @property {number} ranks
 * @property {number | null} root
 * @property {string} ports
 * @property {number} blocks
 * @property {Record<string, number>} parameters
 * @property {Buffer[]} buffers
 * @property {string} layout
 * @property {Record<string, string>} phases  phase -> reader-facing name
 * @property {Round[]} rounds
 * @property {{rounds: number, beta: number} | null} bound  lower bound; beta in M
 */
import { PRIMITIVES } from './primitives.js';

export const MAX_RANKS = 1024;
export const MAX_CELLS = 4_000_000;

const DEEPEST = 100;

/** What can be drawn at all, and checked while one waits; about twice the largest we publish. */
const SHOWN = { ranks: 64, cells: 20_000, rounds: 1_000, moves: 600_000, words: 1_000 };

/**
 * Where and what: round and transfer counted from 1; where: in the file, such as
 * "rounds[0].phase"; beside them whatever else the sentence of a refusal speaks of.
 * @typedef {{round?: number, transfer?: number, rank?: number, buffer?: string, block?: number,
 *   where?: string} & Record<string, any>} Place
 */

/** A schedule is refused. `rule` is one of the codes shared with Python's prove(). */
export class ScheduleError extends Error {
  /**
   * Makes the Chinese sentence with the place; words.js, once it is loaded, puts itself here.
   * @type {(error: ScheduleError) => string}
   */
  static words = ({ rule }) => rule;

  /**
   * @param {string} rule
   * @param {Place} [place]
   * @param {string} [kind]  of the sentence, where a rule has several
   */
  constructor(rule, place = {}, kind = rule) {
    super();
    this.name = 'ScheduleError';
    this.rule = rule;
    this.place = place;
    this.kind = kind;
  }

  /** @override */
  get message() {
    return ScheduleError.words(this);
  }
}

/** @param {string} kind @param {Place} [facts] */
const format = (kind, facts) => new ScheduleError('format', facts, kind);

/** @param {string} where @param {string} expected @param {unknown} value */
function wrong(where, expected, value) {
  const text = value === undefined ? '没有' : JSON.stringify(value);
  const found = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return format('value', { where, expected, found });
}

/** @param {unknown} value @param {string} where @returns {Record<string, unknown>} */
function object(value, where) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(where, '对象', value);
  }
  return /** @type {Record<string, unknown>} */ (value);
}

/** @param {unknown} value @param {string} where @returns {unknown[]} */
function array(value, where) {
  if (!Array.isArray(value)) throw wrong(where, '数组', value);
  return value;
}

/** @param {unknown} value @param {string} where @returns {string} */
function text(value, where) {
  if (typeof value !== 'string') throw wrong(where, '字符串', value);
  return value;
}

/** @param {unknown} value @param {string} where @returns {number} */
function integer(value, where) {
  if (!Number.isSafeInteger(value)) throw wrong(where, '整数', value);
  return /** @type {number} */ (value);
}

/** @param {Record<string, unknown>} entry @param {string} key @param {string} where */
function member(entry, key, where) {
  if (!Object.hasOwn(entry, key)) throw format('member', { where, key });
  return entry[key];
}

/**
 * What may be left out, but not written as null.
 * @param {Record<string, unknown>} entry @param {string} key @param {unknown} usual
 */
const optional = (entry, key, usual) => (Object.hasOwn(entry, key) ? entry[key] : usual);

/** @param {unknown} value @param {string} where @returns {[string, number]} */
function place(value, where) {
  const pair = array(value, where);
  if (pair.length !== 2) throw wrong(where, '[缓冲区名, 偏移]', value);
  return [text(pair[0], where), integer(pair[1], where)];
}

/** @param {unknown} value @param {string} where @returns {Transfer} */
function parseTransfer(value, where) {
  const entry = object(value, where);
  const [fromBuffer, fromOffset] = place(member(entry, 'from', where), `${where}.from`);
  const [toBuffer, toOffset] = place(member(entry, 'to', where), `${where}.to`);
  const op = text(member(entry, 'op', where), `${where}.op`);
  if (op !== 'copy' && op !== 'reduce') throw wrong(`${where}.op`, '"copy" 或 "reduce"', op);
  return {
    src: integer(member(entry, 'src', where), `${where}.src`),
    dst: integer(member(entry, 'dst', where), `${where}.dst`),
    op, fromBuffer, fromOffset, toBuffer, toOffset,
    count: integer(optional(entry, 'count', 1), `${where}.count`),
  };
}

/**
 * A non-negative fraction such as "3/2", or null where there is none to be read.
 * @param {unknown} value
 * @returns {number | null}
 */
function fraction(value) {
  const match = /^(\d{1,9})(?:\/([1-9]\d{0,8}))?$/.exec(String(value));
  return match ? Number(match[1]) / Number(match[2] ?? 1) : null;
}

/** @param {unknown} value @returns {{rounds: number, beta: number} | null} */
function parseBound(value) {
  if (typeof value !== 'object' || value === null) return null;
  const { rounds, beta } = /** @type {Record<string, unknown>} */ (value);
  const share = fraction(beta);
  if (!Number.isSafeInteger(rounds) || share === null) return null;
  return { rounds: /** @type {number} */ (rounds), beta: share };
}

/**
 * Whether values are nested deeper than in any schedule: readers differ in how deep they can go.
 * @param {unknown} data
 */
function isDeep(data) {
  let level = [data];
  for (let depth = 0; depth < DEEPEST && level.length; depth += 1) {
    level = level.flatMap((value) => (
      typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return level.length > 0;
}

/**
 * Read a schedule file. Costs in the file are not believed: the player counts for itself.
 * @param {string} source
 * @returns {Schedule}
 * @throws {ScheduleError} with rule "format"
 */
export function parseSchedule(source) {
  let data;
  try {
    data = JSON.parse(source);
  } catch (error) {
    throw format('json', { message: /** @type {Error} */ (error).message });
  }
  if (isDeep(data)) throw format('deep');
  return scheduleFromData(data);
}

/**
 * The same for JSON that has been parsed already.
 * @param {unknown} data
 * @returns {Schedule}
 */
export function scheduleFromData(data) {
  const top = object(data, '文件');
  if (top.format !== 'collective-schedule') {
    throw wrong('format', '"collective-schedule"', top.format);
  }
  if (top.version !== 1) throw wrong('version', '1', top.version);
  const buffers = Object.entries(object(member(top, 'buffers', '文件'), 'buffers'))
    .map(([name, value]) => {
      const where = `buffers.${name}`;
      const entry = object(value, where);
      if (entry.on !== 'root' && (entry.on ?? null) !== null) {
        throw wrong(`${where}.on`, '"root" 或不写', entry.on);
      }
      return {
        name,
        role: text(member(entry, 'role', where), `${where}.role`),
        blocks: integer(member(entry, 'blocks', where), `${where}.blocks`),
        onRoot: entry.on === 'root',
      };
    });
  const rounds = array(member(top, 'rounds', '文件'), 'rounds').map((value, number) => {
    const where = `rounds[${number}]`;
    const entry = object(value, where);
    const transfers = array(member(entry, 'transfers', where), `${where}.transfers`)
      .map((item, index) => parseTransfer(item, `${where}.transfers[${index}]`));
    return {
      phase: text(optional(entry, 'phase', ''), `${where}.phase`),
      caption: text(optional(entry, 'caption', ''), `${where}.caption`),
      local: transfers.every((t) => t.src === t.dst),
      transfers,
    };
  });
  const root = top.root ?? null;
  const phases = Object.entries(object(optional(top, 'phases', {}), 'phases'))
    .map(([name, title]) => /** @type {const} */ ([name, text(title, `phases.${name}`)]));
  const parameters = Object.entries(object(optional(top, 'parameters', {}), 'parameters'))
    .map(([name, value]) => (
      /** @type {const} */ ([name, integer(value, `parameters.${name}`)])));
  const schedule = {
    primitive: text(member(top, 'primitive', '文件'), 'primitive'),
    algorithm: text(member(top, 'algorithm', '文件'), 'algorithm'),
    ranks: integer(member(top, 'ranks', '文件'), 'ranks'),
    root: root === null ? null : integer(root, 'root'),
    ports: text(optional(top, 'ports', 'single'), 'ports'),
    blocks: integer(member(top, 'blocks', '文件'), 'blocks'),
    buffers,
    layout: text(optional(top, 'layout', 'ring'), 'layout'),
    phases: Object.fromEntries(phases),
    parameters: Object.fromEntries(parameters),
    rounds,
    bound: parseBound(top.lower_bound),
  };
  checkShape(schedule);
  return schedule;
}

/**
 * All that can be checked without replaying: names, counts, buffers.
 * @param {Schedule} schedule
 * @throws {ScheduleError} with rule "format"
 */
export function checkShape(schedule) {
  const { ranks: n, blocks, root } = schedule;
  if (!Object.hasOwn(PRIMITIVES, schedule.primitive)) {
    throw format('primitive', { name: schedule.primitive });
  }
  const primitive = PRIMITIVES[schedule.primitive];
  const { title } = primitive;
  if (n < 2 || n > MAX_RANKS) throw format('range', { what: 'ranks', is: n, from: 2, to: MAX_RANKS });
  if (primitive.rooted && (root === null || root < 0 || root >= n)) {
    throw format('range', { what: 'root', is: root, from: 0, to: n - 1 });
  }
  if (!primitive.rooted && root !== null) throw format('rootless', { title, is: root });
  if (!['single', 'multi'].includes(schedule.ports)) {
    throw wrong('ports', 'single 或 multi', schedule.ports);
  }
  if (!['ring', 'tree', 'line', 'groups'].includes(schedule.layout)) {
    throw wrong('layout', 'ring、tree、line、groups 之一', schedule.layout);
  }
  if (blocks < 1) throw format('least', { is: blocks });
  if (primitive.chunked && blocks % n) throw format('multiple', { is: blocks, title, n });
  const declared = new Map(schedule.buffers.map((b) => [b.name, b]));
  if (schedule.buffers.reduce((sum, b) => sum + b.blocks, 0) * n > MAX_CELLS) {
    throw format('cells', { most: MAX_CELLS });
  }
  const own = new Map(primitive.buffers(n, blocks).map((b) => [b.name, b]));
  for (const [name, need] of own) {
    const have = declared.get(name);
    if (have?.role !== need.role || have.blocks !== need.blocks || have.onRoot !== need.onRoot) {
      throw format('buffer', { title, need });
    }
  }
  for (const { name, role, blocks: is } of schedule.buffers) {
    if (!own.has(name) && role !== 'scratch') throw format('role', { name, role, title });
    if (is < 1) throw format('size', { name, is });
  }
}

/**
 * Whether the player can show a schedule; one that is proved may still be too much for it.
 * @param {Schedule} schedule
 * @throws {ScheduleError} with rule "format"
 */
export function checkSize({ ranks, algorithm, buffers, phases, rounds }) {
  const moves = rounds.reduce((sum, { transfers }) => (
    transfers.reduce((all, { count }) => all + Math.max(1, count), sum)), 0);
  const words = [algorithm, ...buffers.map(({ name }) => name), ...Object.values(phases)]
    .concat(rounds.flatMap(({ phase, caption }) => [phase, caption]));
  const longest = words.reduce((most, { length }) => Math.max(most, length), 0);
  /** @type {[number, number, string][]} */
  const sizes = [
    [ranks, SHOWN.ranks, '个 rank'],
    [buffers.reduce((sum, { blocks }) => sum + blocks, 0) * ranks, SHOWN.cells, '个块'],
    [rounds.length, SHOWN.rounds, '步'],
    [moves, SHOWN.moves, '次搬运'],
    [longest, SHOWN.words, '个字的名字或说明'],
  ];
  for (const [is, most, what] of sizes) {
    if (is > most) throw format('shown', { is, most, what });
  }
}

/**
 * What a phase is called. Its name is the writer's: "constructor" is nothing special.
 * @param {Schedule} schedule @param {string} phase
 */
export const phaseTitle = ({ phases }, phase) =>
  (Object.hasOwn(phases, phase) ? phases[phase] : phase);

/**
 * Blocks of one chunk: what one rank gets when M is dealt out, else 1.
 * @param {Schedule} schedule
 */
export const chunkSize = ({ primitive, blocks, ranks }) =>
  PRIMITIVES[primitive].chunked ? blocks / ranks : 1;

/**
 * The buffers a rank has, in the order of the file.
 * @param {Schedule} schedule @param {number} rank
 */
export const buffersOf = (schedule, rank) =>
  schedule.buffers.filter((b) => !b.onRoot || rank === schedule.root);
