/**
 * Ten thousand addresses that nobody meant: each leads to a published schedule, none to an error.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatAddress, parseAddress } from '../../docs/assets/js/address.js';
import { choose, parseCatalog } from '../../docs/assets/js/catalog.js';
import { SPEEDS } from '../../docs/assets/js/clock.js';
import { nearest } from '../../docs/assets/js/numbers.js';
import { catalog, read } from './files.mjs';
import { chance } from './random.mjs';

const CATALOG = parseCatalog(catalog());
/** @type {import('../../docs/assets/js/catalog.js').Choice} */
const BEFORE = {
  primitive: 'allreduce', algorithm: 'ring', ranks: 4, root: 0, op: 'sum', parameters: {},
  view: 'topology', values: 'demo',
};
const COUNT = 10_000;

const KEYS = ['op', 'algo', 'n', 'root', 'reduce', 'round', 'view', 'values', 'speed', 'chunks',
  'groups', '__proto__', 'constructor', 'toString', 'OP', 'n ', '', '%6e', 'round[]', 'ｎ'];
const VALUES = ['allreduce', 'alltoall', 'scatter', 'ring', 'tree', 'chain', 'max', 'prod', 'matrix',
  'spacetime', 'symbols', 'demo', '4', '8', '16', '64', '0', '-1', '-0', '1e9', '20000', '999999',
  '9999999', '1.5', '0.25', '4.', 'NaN', 'Infinity', 'null', 'undefined', '[]', '{}', '__proto__',
  'constructor', 'hasOwnProperty', '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>',
  'javascript:alert(1)', '../../../etc/passwd', '%00', '%F0%9F', '%', '\u0000', '\ud800', '\u202e',
  '４', '٤', '4'.repeat(400), 'a'.repeat(70), '=', '&', '#', '?', ' 4', '4 ', '+4', '0x10', '1_0'];

/** What addresses of ours really hold. @type {Record<string, string[]>} */
const GOOD = {
  op: CATALOG.map(({ slug }) => slug),
  algo: CATALOG.flatMap(({ algorithms }) => algorithms.map(({ slug }) => slug)),
  n: ['2', '3', '4', '6', '8', '16', '33', '64'],
};

/** @param {ReturnType<typeof chance>} random */
function address(random) {
  if (random.below(20) === 0) {
    return String.fromCharCode(...Array.from({ length: random.below(80) }, () => random.below(65536)));
  }
  const pairs = Array.from({ length: random.below(9) }, () => {
    const key = random.pick(KEYS);
    const value = random.pick(random.below(2) ? VALUES : GOOD[key] ?? VALUES);
    return random.pick([`${key}=${value}`, `${key}=${value}`, `${key}=${value}`, key, value,
      `${key}==${value}`, `${encodeURIComponent(key)}=${key}`]);
  });
  if (random.below(3)) pairs.unshift(`op=${random.pick(random.below(2) ? VALUES : GOOD.op)}`);
  return `${random.pick(['#', '', '##', '#&'])}${pairs.join(random.pick(['&', '&', '&&', ';']))}`;
}

test('an address that nobody meant leads to a published schedule, and says so', () => {
  const random = chance(20261201);
  /** @type {Set<string>} */
  const files = new Set();
  let ours = 0;
  for (let i = 0; i < COUNT; i += 1) {
    const hash = address(random);
    const wish = parseAddress(hash);
    if (!wish) continue;
    ours += 1;
    const { file, notice, ...choice } = choose(CATALOG, wish, BEFORE);
    files.add(file);
    const primitive = CATALOG.find(({ slug }) => slug === choice.primitive);
    const algorithm = primitive?.algorithms.find(({ slug }) => slug === choice.algorithm);
    assert.ok(algorithm?.ranks.includes(choice.ranks), hash);
    assert.ok(choice.root >= 0 && choice.root < choice.ranks, hash);
    assert.ok(['sum', 'max', 'min', 'prod'].includes(choice.op), hash);
    assert.ok(['topology', 'matrix', 'spacetime'].includes(choice.view), hash);
    assert.ok(['demo', 'symbols'].includes(choice.values), hash);
    assert.ok(SPEEDS.includes(nearest(SPEEDS, wish.speed ?? 1)), hash);
    assert.ok(Number.isInteger(wish.round ?? 0) && (wish.round ?? 0) < 1e6, hash);
    assert.deepEqual(Object.keys(choice.parameters), algorithm?.parameters.map(({ name }) => name));
    // What is written is understood: the same choice again, without a word about it.
    const again = choose(CATALOG, parseAddress(
      formatAddress({ ...choice, round: 0, speed: 1 })) ?? {}, BEFORE);
    assert.deepEqual(again, { ...choice, file, notice: '' }, hash);
    assert.match(notice, /^[^<>"]*$/);
  }
  assert.ok(ours > COUNT / 4, `${ours} addresses of ours`);
  assert.ok(files.size > 20);
  for (const file of files) assert.equal(JSON.parse(read(file)).format, 'collective-schedule');
});
