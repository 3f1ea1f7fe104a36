/**
 * The catalogue of primitives and algorithms, and how a wish becomes a valid choice.
 *
 * @typedef {import('./numbers.js').Op} Op
 * @typedef {object} AlgorithmEntry
 * @property {string} slug
 * @property {string} title
 * @property {number[]} ranks  valid N, ascending
 * @property {string} restriction  why other N are off
 * @property {string} file  relative to the catalogue, with {ranks} and {parameters}
 * @property {Parameter[]} parameters
 * @typedef {object} Parameter  a number beside N that the schedule depends on
 * @property {string} name
 * @property {string} title
 * @property {Record<number, number[]>} choices  per N, ascending
 * @property {Record<number, number>} defaults  per N
 * @typedef {object} PrimitiveEntry
 * @property {string} slug
 * @property {string} title
 * @property {boolean} rooted
 * @property {boolean} reduces
 * @property {string} opens  slug of the algorithm it opens with
 * @property {AlgorithmEntry[]} algorithms
 * @typedef {{primitive: string, algorithm: string, ranks: number, root: number, op: Op,
 *   parameters: Record<string, number>, view: string, values: string}} Choice
 *   view: a key of VIEWS; values: "demo" or "symbols"
 * @typedef {Partial<Record<Exclude<keyof Choice, 'parameters'>, string | number>>
 *   & {parameters?: Record<string, number>}} Wish  as typed or linked, not trusted
 */
import { OPS, nearest } from './numbers.js';
import { ScheduleError } from './schedule.js';
import { LIGHT, VIEWS } from './views.js';

/** @param {{zh: string, en: string}} title */
const bothNames = ({ zh, en }) => `${zh}（${en}）`;

/**
 * @param {any} data
 * @returns {PrimitiveEntry[]}
 * @throws {ScheduleError} when it is not a catalogue
 */
export function parseCatalog(data) {
  try {
    if (data.format !== 'collective-catalog' || data.version !== 1) throw new TypeError('version');
    return data.primitives.map((/** @type {any} */ p) => ({
      slug: String(p.slug),
      title: `${p.title.en} ${p.title.zh}`,
      rooted: p.rooted === true,
      reduces: p.reduces === true,
      opens: String(p.default),
      algorithms: p.algorithms.map((/** @type {any} */ a) => ({
        slug: String(a.slug),
        title: bothNames(a.title),
        ranks: a.ranks.filter(Number.isInteger),
        restriction: a.restriction ?? '',
        file: String(a.file),
        parameters: (a.parameters ?? []).map((/** @type {any} */ p) => ({
          name: String(p.name), title: String(p.title), choices: p.choices, defaults: p.default,
        })),
      })),
    }));
  } catch {
    throw new ScheduleError('format', {}, 'catalog');
  }
}

/**
 * @template {{slug: string}} T
 * @param {T[]} entries @param {string | number | undefined} slug @returns {T | undefined}
 */
export const bySlug = (entries, slug) => entries.find((entry) => entry.slug === slug);

/**
 * Every N that some algorithm of a primitive has.
 * @param {PrimitiveEntry} primitive
 */
export const ranksOf = (primitive) =>
  [...new Set(primitive.algorithms.flatMap((a) => a.ranks))].sort((a, b) => a - b);

/** Why an algorithm does not have some N. @param {AlgorithmEntry} algorithm @param {number} n */
export const reason = (algorithm, n) => algorithm.restriction.replace(/。$/, '')
  || `没有 N = ${n} 的日程`;

/**
 * The parameters of an algorithm at N ranks: what is wished where it is offered, else the default.
 * @param {AlgorithmEntry} algorithm @param {number} n
 * @param {Record<string, number>} wished
 * @returns {Record<string, number>}
 */
export const parametersOf = (algorithm, n, wished) => Object.fromEntries(algorithm.parameters.map(
  ({ name, choices, defaults }) => [name,
    choices[n].includes(wished[name]) ? wished[name] : defaults[n]]));

/**
 * The file of a choice, relative to the catalogue; its name leaves out what is the default.
 * @param {AlgorithmEntry} algorithm @param {number} n @param {Record<string, number>} parameters
 */
export const fileOf = (algorithm, n, parameters) => algorithm.file.replace('{ranks}', String(n))
  .replace('{parameters}', algorithm.parameters.map(({ name, defaults }) => (
    parameters[name] === defaults[n] ? '' : `-${name}${parameters[name]}`)).join(''));

/**
 * Make a valid choice out of any wish. What is not valid falls back to what was chosen before,
 * then to what the primitive opens with, then to the nearest N; a changed N or root is said in
 * `notice`.
 * @param {PrimitiveEntry[]} catalog
 * @param {Wish} wish
 * @param {Choice} before
 * @returns {Choice & {file: string, notice: string}}
 */
export function choose(catalog, wish, before) {
  const primitive = bySlug(catalog, wish.primitive) ?? bySlug(catalog, before.primitive)
    ?? catalog[0];
  const { algorithms } = primitive;
  const wanted = Number(wish.ranks ?? before.ranks);
  const n = Number.isInteger(wanted) ? wanted : before.ranks;
  const opens = bySlug(algorithms, primitive.opens) ?? algorithms[0];
  const algorithm = bySlug(algorithms, wish.algorithm)
    ?? (before.primitive === primitive.slug || wish.algorithm === undefined
      ? bySlug(algorithms, before.algorithm) : undefined)
    ?? (opens.ranks.includes(n) ? opens : algorithms.find((a) => a.ranks.includes(n)))
    ?? opens;
  // An N that does not exist leads to one that is light to draw, never to the largest.
  const ranks = algorithm.ranks.includes(n) ? n
    : nearest(algorithm.ranks.filter((m) => m <= LIGHT), n);
  const root = Number(wish.root ?? before.root);
  const rootFits = Number.isInteger(root) && root >= 0 && root < ranks;
  const notices = [];
  if (ranks !== n) {
    notices.push(`${primitive.title}的${algorithm.title}没有 N = ${n}（${reason(algorithm, n)}），`
      + `改为 N = ${ranks}。`);
  }
  if (primitive.rooted && !rootFits) notices.push('这里没有那个根，改为 rank 0。');
  const op = String(wish.op ?? before.op);
  const view = String(wish.view ?? before.view);
  const kept = algorithm.slug === before.algorithm && primitive.slug === before.primitive
    ? before.parameters : {};
  const parameters = parametersOf(algorithm, ranks, { ...kept, ...wish.parameters });
  return {
    primitive: primitive.slug,
    algorithm: algorithm.slug,
    ranks,
    root: primitive.rooted && rootFits ? root : 0,
    op: /** @type {Op} */ (Object.hasOwn(OPS, op) ? op : 'sum'),
    parameters,
    view: Object.hasOwn(VIEWS, view) ? view : 'topology',
    values: (wish.values ?? before.values) === 'symbols' ? 'symbols' : 'demo',
    file: fileOf(algorithm, ranks, parameters),
    notice: notices.join(''),
  };
}
