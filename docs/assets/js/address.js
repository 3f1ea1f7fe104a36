/**
 * The state of the player in the address: #op=allreduce&algo=ring&n=8&root=0&round=3. Parameters
 * of the algorithm stand under their own names: #op=broadcast&algo=chain&chunks=8.
 * Reading never throws; what it returns is a wish, made valid by catalog.js.
 *
 * @typedef {import('./catalog.js').Choice} Choice
 * @typedef {import('./catalog.js').Wish} Wish
 */

const KEYS = /** @type {const} */ ({
  op: 'primitive', algo: 'algorithm', n: 'ranks', root: 'root', reduce: 'op', round: 'round',
  view: 'view', values: 'values', speed: 'speed',
});

/**
 * @param {string} hash  with or without "#"
 * @returns {(Wish & {round?: number, speed?: number}) | null} null when the address is not ours
 */
export function parseAddress(hash) {
  if (!/^#?(?:[^&]*&)*?op=/.test(hash.slice(0, 500))) return null;
  /** @type {Record<string, any>} */
  const wish = {};
  /** @type {Record<string, number>} */
  const parameters = {};
  for (const pair of hash.slice(0, 500).replace(/^#/, '').split('&')) {
    const at = pair.indexOf('=');
    const key = at > 0 ? pair.slice(0, at) : '';
    const raw = pair.slice(at + 1);
    if (!Object.hasOwn(KEYS, key)) {
      if (/^[a-z]{2,20}$/.test(key) && /^\d{1,6}$/.test(raw)) parameters[key] = Number(raw);
      continue;
    }
    const field = KEYS[/** @type {keyof typeof KEYS} */ (key)];
    if (['ranks', 'root', 'round'].includes(field)) {
      if (/^\d{1,6}$/.test(raw)) wish[field] = Number(raw);
    } else if (field === 'speed') {
      if (/^\d(\.\d\d?)?$/.test(raw)) wish.speed = Number(raw);
    } else if (/^[a-z0-9_-]{1,60}$/.test(raw)) {
      wish[field] = raw;
    }
  }
  if (Object.keys(parameters).length) wish.parameters = parameters;
  return wish;
}

/**
 * What is as usual is left out, but for root and round.
 * @param {Choice & {round: number, speed: number}} state
 * @returns {string} with "#"
 */
export const formatAddress = (
  { primitive, algorithm, ranks, root, op, parameters, view, values, round, speed },
) => `#op=${primitive}&algo=${algorithm}&n=${ranks}${
  Object.entries(parameters).map(([name, value]) => `&${name}=${value}`).join('')
}&root=${root}&round=${round}${op === 'sum' ? '' : `&reduce=${op}`}${
  view === 'topology' ? '' : `&view=${view}`}${values === 'demo' ? '' : `&values=${values}`}${
  speed === 1 ? '' : `&speed=${speed}`}`;
