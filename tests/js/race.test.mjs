import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bySlug, parseCatalog, ranksOf } from '../../docs/assets/js/catalog.js';
import { MACHINE, seconds, spending } from '../../docs/assets/js/cost.js';
import { MACHINES } from '../../docs/assets/js/machines.js';
import {
  FEWEST, MOST, QUANTITIES, RaceClock, candidates, clamp, crossingSentences, finishOf,
  formatRaceAddress, joined, laneOf, leaders, lineUp, order, orderSentence, parseQuantity,
  parseRaceAddress, portOf, positionOf, positions, quantityText, raceFile, roundEnds, roundRuns,
  roundsDone, roundsOf, shareText, significant, sizeAt, sizeText, stateSentence, stops, timeText,
  valueAt,
} from '../../docs/assets/js/race.js';
import { parseSchedule } from '../../docs/assets/js/schedule.js';
import { catalog, read } from './files.mjs';
import { present } from './present.mjs';

/**
 * @typedef {import('../../docs/assets/js/cost.js').Machine} Machine
 * @typedef {import('../../docs/assets/js/race.js').Lane} Lane
 * @typedef {import('../../docs/assets/js/race.js').Quantity} Quantity
 */

const entries = parseCatalog(catalog());
const AT_1_MB = { alpha: 5e-6, bandwidth: 50e9, bytes: 1e6 };

const quantities = /** @type {Quantity[]} */ (Object.keys(QUANTITIES));

/** Lanes as they race on a page. @param {string} slug @param {number} n @param {string[]} slugs */
const lanesOf = (slug, n, slugs) => {
  const primitive = present(bySlug(entries, slug));
  return slugs.map((algorithm) => laneOf(parseSchedule(read(raceFile(primitive, n, algorithm))),
    present(candidates(primitive, n).find((candidate) => candidate.slug === algorithm))));
};

/**
 * A lane out of nothing but a number of rounds, all of one length.
 * @param {string} slug @param {number} rounds @param {number} sent @param {number} blocks
 */
const lane = (slug, rounds, sent, blocks) => ({
  slug, name: slug, english: slug, blocks,
  spent: Array.from({ length: rounds + 1 }, (_, i) => (
    { rounds: i, sent: i === rounds ? sent : Math.floor((sent * i) / rounds) })),
});

/** Numbers that look random and are the same each time. @param {number} seed */
function random(seed) {
  let state = seed;
  return (/** @type {number} */ most) => {
    state = (state * 48271) % 2147483647;
    return state % most;
  };
}

/** @param {number} a @param {number} b */
const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

// ------------------------------------------------------------------------------------- the lanes

test('eight GPUs and 1 MB: the ring needs 105 µs, recursive doubling 75, Rabenseifner 65', () => {
  const lanes = lanesOf('allreduce', 8, ['ring', 'recursive_doubling', 'rabenseifner']);
  assert.deepEqual(lanes.map((l) => timeText(finishOf(l, AT_1_MB))), ['105 µs', '75 µs', '65 µs']);
  assert.deepEqual(lanes.map((l) => shareText(portOf(l))), ['7/4 M', '3 M', '7/4 M']);
  assert.equal(orderSentence(lanes, AT_1_MB, 8),
    '8 个 GPU、1 MB：折半再倍增先到，65 µs；递归倍增 75 µs；环形 105 µs。');
});

test('every published algorithm races in the time that the ledger counts', () => {
  for (const primitive of entries) {
    for (const n of ranksOf(primitive).filter((ranks) => ranks <= 16)) {
      for (const { slug, off } of candidates(primitive, n)) {
        if (off) continue;
        const schedule = parseSchedule(read(raceFile(primitive, n, slug)));
        const [racing] = lanesOf(primitive.slug, n, [slug]);
        const counted = seconds(present(spending(schedule).at(-1)), schedule.blocks, AT_1_MB);
        assert.ok(near(finishOf(racing, AT_1_MB), counted), `${primitive.slug}/${slug} ${n}`);
      }
    }
  }
});

test('a step without communication takes no time and is no round', () => {
  const [ring] = lanesOf('reducescatter', 4, ['ring']);
  const schedule = parseSchedule(read('reducescatter/ring/n4.json'));
  assert.ok(schedule.rounds.some((round) => round.local), 'this schedule has a local step');
  assert.equal(roundsOf(ring), schedule.rounds.filter((round) => !round.local).length);
  assert.equal(roundEnds(ring, AT_1_MB).length, roundsOf(ring) + 1);
});

test('the rounds of one length stand together, and add up to the whole', () => {
  const lanes = lanesOf('allreduce', 8, ['ring', 'recursive_doubling', 'rabenseifner']);
  assert.deepEqual(roundRuns(lanes[0], AT_1_MB).map(({ first, last }) => [first, last]), [[1, 14]]);
  for (const racing of lanes) {
    const sum = roundRuns(racing, AT_1_MB)
      .reduce((all, run) => all + (run.last - run.first + 1) * run.seconds, 0);
    assert.ok(near(sum, finishOf(racing, AT_1_MB)));
  }
});

// ----------------------------------------------------------------------------------- the crossings

test('recursive doubling and Rabenseifner cross where the page says: 12/5 α/β, 600 KB', () => {
  const lanes = lanesOf('allreduce', 8, ['ring', 'recursive_doubling', 'rabenseifner']);
  const { crossings } = leaders(lanes);
  assert.deepEqual(crossings.map(({ factor }) => factor), [[12, 5]]);
  assert.equal(sizeText(sizeAt(crossings[0], AT_1_MB)), '600 KB');
  assert.deepEqual(crossingSentences(lanes, AT_1_MB), [
    '交叉点 600 KB：更大时折半再倍增快，更小时递归倍增快。这里 M = 12/5 × α/β。',
    '环形在哪个大小上都不是最快。',
  ]);
});

/** The fastest at M by evaluating every lane. @param {Lane[]} lanes @param {Machine} machine */
const fastest = (lanes, machine) => {
  const best = Math.min(...lanes.map((l) => finishOf(l, machine)));
  return lanes.filter((l) => near(finishOf(l, machine), best));
};

/**
 * What leaders() claims, held against the times on both sides of every crossing.
 * @param {Lane[]} lanes @param {Machine} machine
 */
function checkLeaders(lanes, machine) {
  const { first, crossings } = leaders(lanes);
  const sizes = crossings.map((crossing) => sizeAt(crossing, machine));
  let lead = first;
  let below = 0;
  crossings.forEach((crossing, i) => {
    const at = sizes[i];
    assert.deepEqual(crossing.before, lead);
    assert.ok(at > below, 'crossings ascend');
    const [before] = crossing.before;
    const [after] = crossing.after;
    assert.ok(near(finishOf(before, { ...machine, bytes: at }),
      finishOf(after, { ...machine, bytes: at })), 'both take equally long at the crossing');
    const next = sizes[i + 1] ?? at * 4;
    for (const bytes of [below + (at - below) * 0.5, at * 0.999].filter((b) => b > below)) {
      assert.deepEqual(fastest(lanes, { ...machine, bytes }), lanes.filter((l) => lead.includes(l)));
    }
    lead = crossing.after;
    const bytes = Math.min(at * 1.001, (at + next) / 2);
    assert.deepEqual(fastest(lanes, { ...machine, bytes }), lanes.filter((l) => lead.includes(l)));
    below = at;
  });
  const far = { ...machine, bytes: (below || 1) * 1e6 };
  for (const l of lead) assert.ok(fastest(lanes, far).includes(l), 'the last leader leads for ever');
}

test('left and right of every crossing of the catalogue the leader is who it is said to be', () => {
  let crossed = 0;
  for (const primitive of entries) {
    for (const n of ranksOf(primitive).filter((ranks) => ranks <= 16)) {
      const able = candidates(primitive, n).filter(({ off }) => !off).map(({ slug }) => slug);
      for (let i = 0; i < able.length; i += 1) {
        const some = [...able.slice(i), ...able.slice(0, i)].slice(0, MOST);
        const lanes = lanesOf(primitive.slug, n, some);
        checkLeaders(lanes, AT_1_MB);
        crossed += leaders(lanes).crossings.length;
      }
    }
  }
  assert.ok(crossed > 100, `only ${crossed} crossings were met`);
});

test('left and right of the crossings of any lines the leader is who it is said to be', () => {
  const draw = random(20260101);
  for (let i = 0; i < 4000; i += 1) {
    const lanes = Array.from({ length: 2 + draw(3) }, (_, k) => (
      lane(String(k), 1 + draw(12), 1 + draw(24), 1 + draw(8))));
    checkLeaders(lanes, {
      alpha: (1 + draw(1000)) * 1e-6, bandwidth: (1 + draw(500)) * 1e9, bytes: 1e6,
    });
  }
});

test('lanes that cost the same lead together, and a crossing of three is one crossing', () => {
  const twins = [lane('a', 2, 4, 1), lane('b', 2, 8, 2), lane('c', 6, 2, 1)];
  const { first, crossings } = leaders(twins);
  assert.deepEqual(first.map(({ slug }) => slug), ['a', 'b']);
  assert.deepEqual(crossings.map((c) => c.before.length), [2]);
  const three = [lane('a', 1, 3, 1), lane('b', 2, 2, 1), lane('c', 3, 1, 1)];
  assert.deepEqual(leaders(three).crossings.map((c) => [c.factor, c.after[0].slug]),
    [[[1, 1], 'c']]);
});

test('without a crossing the words say who is never beaten, or that all are alike', () => {
  const better = [lane('甲', 1, 1, 1), lane('乙', 2, 2, 1)];
  assert.deepEqual(crossingSentences(better, AT_1_MB), ['没有交叉点：不论多大，都没有比甲更快的。']);
  assert.deepEqual(crossingSentences([lane('甲', 1, 1, 1), lane('乙', 1, 2, 2)], AT_1_MB),
    ['没有交叉点：不论多大，用时都一样。']);
});

test('a crossing beyond the plot says so', () => {
  const lanes = [lane('甲', 1, 2, 1), lane('乙', 2, 1, 1)];
  const [said] = crossingSentences(lanes, { alpha: 1e-3, bandwidth: 1e12, bytes: 1e6 });
  assert.match(said, /^交叉点 1 GB：/);
  const [outside] = crossingSentences([lane('甲', 1, 2, 1), lane('乙', 90, 1, 1)],
    { alpha: 1e-3, bandwidth: 1e12, bytes: 1e6 });
  assert.match(outside, /^交叉点 89 GB（在图外）：/);
});

// ------------------------------------------------------------------------------ order and the clock

test('those who arrive together share a place, and the next one counts them all', () => {
  const lanes = [lane('a', 3, 3, 1), lane('b', 1, 1, 1), lane('c', 2, 4, 2), lane('d', 2, 2, 1)];
  assert.deepEqual(order(lanes, AT_1_MB).map(({ lane: l, place }) => [l.slug, place]),
    [['b', 1], ['c', 2], ['d', 2], ['a', 4]]);
  assert.equal(orderSentence(lanes, AT_1_MB, 4), '4 个 GPU、1 MB：b 先到，25 µs；c、d 都是 50 µs；a 75 µs。');
});

test('stepping stops at the end of every round of every lane, each moment once', () => {
  const lanes = lanesOf('allreduce', 8, ['ring', 'recursive_doubling', 'rabenseifner']);
  const clock = new RaceClock();
  clock.setStops(stops(lanes, AT_1_MB));
  /** @type {number[]} */
  const seen = [];
  while (clock.time < clock.end) {
    clock.next();
    seen.push(clock.time);
  }
  const ends = lanes.flatMap((l) => roundEnds(l, AT_1_MB).slice(1));
  for (const end of ends) assert.ok(seen.some((time) => near(time, end)), `${end} is skipped`);
  for (const time of seen) assert.ok(ends.some((end) => near(time, end)), `${time} is no end`);
  seen.slice(1).forEach((time, i) => assert.ok(time > seen[i] && !near(time, seen[i])));
  for (const time of seen.reverse().slice(1)) {
    clock.previous();
    assert.equal(clock.time, time);
  }
  clock.previous();
  assert.equal(clock.time, 0);
});

test('back, between two ends of rounds, goes to the one before', () => {
  const clock = new RaceClock();
  clock.setStops([0, 1, 2]);
  clock.seek(1.5);
  clock.previous();
  assert.equal(clock.time, 1);
});

test('playing ends with the last lane, and starts over from there', () => {
  const clock = new RaceClock();
  clock.setStops([0, 1, 4]);
  clock.play();
  clock.advance(RaceClock.LENGTH / 2);
  assert.equal(clock.time, 2);
  clock.advance(1e9);
  assert.deepEqual([clock.time, clock.playing, clock.passed], [4, false, 2]);
  clock.play();
  assert.deepEqual([clock.time, clock.playing], [0, true]);
});

test('another machine leaves the race where it stood', () => {
  const clock = new RaceClock();
  clock.setStops([0, 1, 4]);
  clock.seek(3);
  clock.setStops([0, 8]);
  assert.equal(clock.time, 6);
  clock.seek(99);
  assert.equal(clock.time, 8);
});

test('the words for a moment say how far everyone is', () => {
  const lanes = lanesOf('allreduce', 8, ['ring', 'recursive_doubling', 'rabenseifner']);
  assert.equal(stateSentence(lanes, AT_1_MB, finishOf(lanes[2], AT_1_MB)),
    '65 µs：环形走完 8 / 14 轮；递归倍增走完 2 / 3 轮；折半再倍增到了（第 1）。');
  assert.match(stateSentence(lanes, AT_1_MB, 0), /^还没有出发/);
  assert.equal(roundsDone([0, 1, 2], 1.9999), 1);
});

// -------------------------------------------------------------------------------- choosing who races

test('two to four race, all of them at home at this N', () => {
  const draw = random(7);
  for (const primitive of entries) {
    for (const n of ranksOf(primitive)) {
      const able = candidates(primitive, n).filter(({ off }) => !off).map(({ slug }) => slug);
      const wished = primitive.algorithms.map(({ slug }) => slug)
        .filter(() => draw(2)).concat(['nonsense', 'ring', 'ring']);
      const racing = lineUp(primitive, n, wished);
      assert.equal(new Set(racing).size, racing.length);
      assert.ok(racing.length <= MOST && racing.length >= Math.min(FEWEST, able.length));
      for (const slug of racing) assert.ok(able.includes(slug));
    }
  }
});

test('who cannot race at an N is named with the reason', () => {
  const primitive = present(bySlug(entries, 'allgather'));
  const off = candidates(primitive, 6).filter((candidate) => candidate.off);
  assert.deepEqual(off.map(({ slug }) => slug), ['recursive_doubling']);
  assert.match(off[0].off, /2 的幂/);
  assert.deepEqual(lineUp(primitive, 6, ['recursive_doubling', 'bruck']), ['bruck', 'ring']);
});

// ------------------------------------------------------------------------------------ numbers as text

test('numbers are rounded in decimal digits, halves up', () => {
  for (const [value, digits, text] of /** @type {[number, number, string][]} */ ([
    [1.235, 3, '1.24'], [1.225, 3, '1.23'], [64.99999999999999, 3, '65'], [999.6, 3, '1000'],
    [0.0001055, 3, '0.000106'], [3.125, 4, '3.125'], [0, 3, '0'], [1e10, 2, '10000000000'],
  ])) assert.equal(significant(value, digits), text);
  assert.deepEqual([599999.9999999999, 999.7, 1e3, 1.5e9].map(sizeText),
    ['600 KB', '1 KB', '1 KB', '1.5 GB']);
  assert.deepEqual([0, 1.5e-7, 9.996e-4, 1.065e-3, 2].map(timeText),
    ['0', '150 ns', '1 ms', '1.07 ms', '2 s']);
});

test('what a value is shown as can be typed again', () => {
  for (const quantity of quantities) {
    for (let i = 0; i <= positions(quantity); i += 1) {
      const value = valueAt(quantity, i);
      assert.ok(near(present(parseQuantity(quantity, quantityText(quantity, value), 1)), value));
      assert.equal(positionOf(quantity, value), i);
    }
  }
});

test('typed numbers are read with their unit, clamped, or refused', () => {
  /** @type {[Quantity, string, number, number | null][]} */
  const typed = [
    ['bytes', '64 KB', 1e6, 64e3], ['bytes', '2.5', 1e6, 2.5e6], ['bytes', '1e4 b', 1e6, 1e4],
    ['bytes', '3GiB', 1e6, 3e9], ['bytes', '99 TB', 1e6, 1e10], ['bytes', '1', 5e3, 1e3],
    ['alpha', '20us', 5e-6, 2e-5], ['alpha', '20 µs', 1, 2e-5], ['alpha', '7', 5e-6, 7e-6],
    ['alpha', '5 s', 5e-6, 1e-3], ['bandwidth', '400 Gb/s', 5e10, 5e10],
    ['bandwidth', '400 Gbps', 5e10, 5e10], ['bandwidth', '12.5', 5e10, 12.5e9],
    ['bandwidth', '100 MB/s', 5e10, 1e8], ['bandwidth', '9 PB/s', 5e10, null],
    ['alpha', '-3', 5e-6, null], ['bytes', '', 1e6, null], ['bytes', '0', 1e6, null],
    ['bytes', '很多', 1e6, null], ['alpha', '1 MB', 5e-6, null], ['bytes', '1e999', 1e6, null],
    ['bytes', '<b>1', 1e6, null], ['bytes', '9'.repeat(99), 1e6, null],
  ];
  for (const [quantity, text, now, value] of typed) {
    const read_ = parseQuantity(quantity, text, now);
    if (value === null) assert.equal(read_, null, text);
    else assert.ok(near(present(read_), value), `${text}: ${read_}`);
  }
});

test('a slider goes from end to end, always up, through every power of ten', () => {
  for (const quantity of quantities) {
    const { least, most } = QUANTITIES[quantity];
    const values = Array.from({ length: positions(quantity) + 1 }, (_, i) => valueAt(quantity, i));
    assert.deepEqual([values[0], values.at(-1)], [least, most]);
    values.slice(1).forEach((value, i) => assert.ok(value > values[i]));
    for (let power = least; power < most * 1.01; power *= 10) {
      assert.ok(values.some((value) => near(value, power)), `${quantity} misses ${power}`);
    }
  }
  assert.deepEqual([clamp('bytes', 1), clamp('bytes', 1e99)], [1e3, 1e10]);
});

test('a space stands where Chinese meets Latin letters, and nowhere else', () => {
  assert.equal(joined('更大时', 'Bruck 算法', '快'), '更大时 Bruck 算法快');
  assert.equal(joined('更大时', '环形', '快'), '更大时环形快');
  assert.equal(joined('N 次 Reduce', '快'), 'N 次 Reduce 快');
});

// --------------------------------------------------------------------------------------- the machines

test('every machine lies within the sliders, and all but the ledger name their sources', () => {
  assert.deepEqual(MACHINES.map(({ slug }) => slug),
    ['ledger', 'nvlink', 'pcie', 'infiniband', 'ethernet']);
  for (const { slug, microseconds, gigabytes, sources, about } of MACHINES) {
    assert.equal(clamp('alpha', microseconds / 1e6), microseconds / 1e6, slug);
    assert.equal(clamp('bandwidth', gigabytes * 1e9), gigabytes * 1e9, slug);
    assert.ok(about.endsWith('。'));
    assert.ok(slug === 'ledger' || sources.length > 0, slug);
    for (const { url } of sources) assert.match(url, /^https:\/\//);
  }
});

test('the first machine is the one that the ledger of the player counts with', () => {
  const [{ microseconds, gigabytes }] = MACHINES;
  assert.deepEqual([microseconds / 1e6, gigabytes * 1e9], [MACHINE.alpha, MACHINE.bandwidth]);
});

// ---------------------------------------------------------------------------------------- the address

test('a state survives its address', () => {
  const state = {
    primitive: 'allreduce', ranks: 8, algorithms: ['ring', 'rabenseifner'],
    machine: { bytes: 1.3e6, alpha: 3.4e-6, bandwidth: 370.8e9 }, stop: 4,
  };
  assert.equal(formatRaceAddress(state),
    '#race=allreduce&n=8&algos=ring+rabenseifner&m=1300000&alpha=3.4&bw=370.8&stop=4');
  assert.deepEqual(parseRaceAddress(formatRaceAddress(state)), state);
});

test('an address that makes no sense costs nothing: numbers are clamped, the rest is left out', () => {
  assert.equal(parseRaceAddress('#op=allreduce&algo=ring&n=4'), null);
  assert.equal(parseRaceAddress('#标题'), null);
  const read_ = parseRaceAddress('#race=x&n=-1&algos=<b>+../..+ring&m=1e99&alpha=0&bw=NaN&stop=1e3');
  assert.deepEqual(read_, {
    primitive: 'x', ranks: undefined, algorithms: ['ring'], stop: undefined,
    machine: { bytes: 1e10 },
  });
});

test('10,000 malformed addresses are read without an error and name nothing outside the ranges', () => {
  const draw = random(99);
  const bits = ['#race=', 'allreduce', '&n=', '&algos=', '&m=', '&alpha=', '&bw=', '&stop=', '=', '&',
    '+', '%', '<svg>', '9'.repeat(40), '-1', '1e308', '__proto__', 'constructor', '\u0000', '环'];
  for (let i = 0; i < 10000; i += 1) {
    const hash = `${draw(4) ? '#race=' : ''}${
      Array.from({ length: draw(14) }, () => bits[draw(bits.length)]).join('')}`;
    const wish = parseRaceAddress(hash);
    for (const quantity of quantities) {
      const value = wish?.machine?.[quantity];
      if (value !== undefined) assert.equal(clamp(quantity, value), value, hash);
    }
    if (wish) assert.ok(lineUp(entries[0], 4, wish.algorithms ?? []).length >= FEWEST);
  }
});
