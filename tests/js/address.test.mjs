import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatAddress, parseAddress } from '../../docs/assets/js/address.js';
import { choose, parseCatalog } from '../../docs/assets/js/catalog.js';
import { catalog } from './files.mjs';

const CATALOG = parseCatalog(catalog());
/** @type {import('../../docs/assets/js/catalog.js').Choice} */
const BEFORE = {
  primitive: 'allreduce', algorithm: 'ring', ranks: 4, root: 0, op: 'sum', parameters: {}, view: 'topology', values: 'demo',
};

/** A catalogue in which one algorithm is for powers of two only. */
const PICKY = parseCatalog({
  ...catalog(),
  primitives: catalog().primitives.map((p) => (p.slug !== 'alltoall' ? p : {
    ...p,
    algorithms: [{
      ...p.algorithms[0], slug: 'xor', ranks: [2, 4, 8, 16], restriction: 'N 必须是 2 的幂。',
    }],
    default: 'xor',
  })),
});

/**
 * What an address of ours wishes for.
 * @param {string} hash
 */
function wishOf(hash) {
  const wish = parseAddress(hash);
  assert.ok(wish, hash);
  return wish;
}

test('an address says the same after it is read and written', () => {
  const address = '#op=allreduce&algo=ring&n=8&root=0&round=3';
  const { round, ...wish } = wishOf(address);
  const state = { ...choose(CATALOG, wish, BEFORE), round: Number(round), speed: 1 };
  assert.equal(formatAddress(state), address);
});

test('another reduction is part of the address, the sum is not', () => {
  const state = { ...BEFORE, round: 1, speed: 1 };
  assert.match(formatAddress({ ...state, op: 'max' }), /&reduce=max$/);
  assert.doesNotMatch(formatAddress(state), /reduce=/);
  assert.equal(wishOf('#op=reduce&reduce=prod').op, 'prod');
});

test('view, values and speed are part of the address where they are not as usual', () => {
  const address = '#op=allreduce&algo=ring&n=8&root=0&round=3&view=spacetime&values=symbols&speed=0.25';
  const { round, speed = 1, ...wish } = wishOf(address);
  const state = { ...choose(CATALOG, wish, BEFORE), round: Number(round), speed };
  assert.equal(formatAddress(state), address);
  for (const odd of ['view=3d', 'view=__proto__', 'values=hex', 'speed=x', 'speed=-1', 'speed=1e9']) {
    const { speed: s = 1, ...w } = wishOf(`#op=allreduce&${odd}`);
    const choice = choose(CATALOG, w, BEFORE);
    assert.deepEqual([choice.view, choice.values, s], ['topology', 'demo', 1], odd);
  }
});

test('addresses that are not ours are left alone', () => {
  for (const hash of ['', '#', '#交互演示', '#algorithm', '#loop=1', '#n=4&round=2', '#chunks=8']) {
    assert.equal(parseAddress(hash), null, hash);
  }
});

test('whatever an address says, the choice is valid and costs nothing', () => {
  const odd = ['', '20000', '-1', '1.5', '1e9', 'NaN', '%', '%E0%A4%A', '<b>', '__proto__', '４',
    '9'.repeat(400), 'constructor', 'allreduce&op=x', ' 4', '0x10'];
  const keys = ['op', 'algo', 'n', 'root', 'round', 'reduce', 'chunks', 'node', '__proto__'];
  for (const key of keys) {
    for (const value of odd) {
      for (const start of ['op=reduce&', 'op=nothing&', 'op=&']) {
        const choice = choose(CATALOG, wishOf(`#${start}${key}=${value}`), BEFORE);
        const primitive = CATALOG.find((p) => p.slug === choice.primitive);
        const algorithm = primitive?.algorithms.find((a) => a.slug === choice.algorithm);
        assert.ok(algorithm?.ranks.includes(choice.ranks));
        assert.ok(choice.root >= 0 && choice.root < choice.ranks);
        assert.ok(['sum', 'max', 'min', 'prod'].includes(choice.op));
        assert.match(choice.file, /^[a-z_]+\/[a-z_]+\/n\d+(-[a-z]+\d+)*\.json$/);
      }
    }
  }
});

test('a parameter is part of the address, and what is not offered falls back to the default', () => {
  const address = '#op=broadcast&algo=chain&n=4&chunks=8&root=0&round=3';
  const { round, ...wish } = wishOf(address);
  const choice = choose(CATALOG, wish, BEFORE);
  assert.equal(formatAddress({ ...choice, round: Number(round), speed: 1 }), address);
  assert.equal(choice.file, 'broadcast/chain/n4-chunks8.json');
  const odd = choose(CATALOG, wishOf('#op=broadcast&algo=chain&chunks=5'), BEFORE);
  assert.deepEqual(odd.parameters, { chunks: 3 });
  assert.equal(odd.file, 'broadcast/chain/n4.json');
});

test('a parameter is kept while the algorithm stays, and dropped with it', () => {
  const chain = choose(CATALOG, wishOf('#op=broadcast&algo=chain&chunks=8'), BEFORE);
  assert.deepEqual(choose(CATALOG, { ranks: 6 }, chain).parameters, { chunks: 8 });
  assert.deepEqual(choose(CATALOG, { algorithm: 'flat' }, chain).parameters, {});
});

test('switching the primitive keeps N and, where it exists, the algorithm', () => {
  const choice = choose(CATALOG, { primitive: 'allgather' }, { ...BEFORE, ranks: 6 });
  assert.deepEqual([choice.algorithm, choice.ranks, choice.notice], ['ring', 6, '']);
});

test('an N that the algorithm does not have is changed to the nearest, with a sentence', () => {
  const choice = choose(PICKY, { primitive: 'alltoall' }, { ...BEFORE, ranks: 6 });
  assert.equal(choice.ranks, 4);
  assert.match(choice.notice, /没有 N = 6（N 必须是 2 的幂），改为 N = 4/);
});

test('an enormous N leads to one that is light to draw', () => {
  assert.equal(choose(CATALOG, { ranks: 20000 }, BEFORE).ranks, 16);
  assert.equal(choose(CATALOG, { ranks: 64 }, BEFORE).ranks, 64);
});

test('a root that a smaller N does not have falls back to rank 0', () => {
  const before = { ...BEFORE, primitive: 'reduce', algorithm: 'binomial', ranks: 8, root: 7 };
  assert.equal(choose(CATALOG, { ranks: 4 }, before).root, 0);
  assert.equal(choose(CATALOG, { ranks: 9 }, before).root, 7);
});

test('what is no catalogue is refused in one sentence', () => {
  for (const data of [null, {}, [], { format: 'collective-catalog', version: 1 }, 'x']) {
    assert.throws(() => parseCatalog(data), { rule: 'format' });
  }
});
