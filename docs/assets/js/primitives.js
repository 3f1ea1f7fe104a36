/**
 * The eight primitives: their buffers, the state they start from and the state they must reach.
 * The counterpart of scripts/collectives/primitives.py; a test holds the two equal.
 *
 * @typedef {{block: number, from: readonly number[]}} Cell  origin block of M, ranks ascending
 * @typedef {(Cell | null)[]} Content  one entry per block; null is undefined or "not required"
 * @typedef {Record<string, Content>} Held  what one rank holds: buffer name -> content
 * @typedef {{name: string, role: string, blocks: number, onRoot: boolean}} Buffer
 * @typedef {object} Primitive
 * @property {string} title
 * @property {boolean} rooted
 * @property {boolean} reduces
 * @property {boolean} chunked  M is dealt out to the ranks, so that blocks is a multiple of N
 * @property {string[]} rankIndexed  buffers whose chunk c belongs to rank c
 * @property {(n: number, blocks: number) => Buffer[]} buffers
 * @property {(n: number, blocks: number, root: number, rank: number) => Held} start
 * @property {(n: number, blocks: number, root: number, rank: number) => Held} end
 * @property {(block: number, rank: number, size: number) => number} value  the demo's number for
 *   a block (size = blocks of one chunk) on behalf of a rank
 */

/** @param {number} count @returns {null[]} */
const undefinedBlocks = (count) => Array(count).fill(null);

/** @param {number} first @param {number} count @param {readonly number[]} from */
const blocksFrom = (first, count, from) =>
  Array.from({ length: count }, (_, i) => ({ block: first + i, from }));

/** @param {number} n */
const everyone = (n) => Array.from({ length: n }, (_, rank) => rank);

/** @param {number} n @param {number} blocks */
const gathered = (n, blocks) =>
  Array.from({ length: blocks }, (_, b) => ({ block: b, from: [Math.floor(b / (blocks / n))] }));

/** @param {string} name @param {string} role @param {number} blocks @param {boolean} [onRoot] */
const buffer = (name, role, blocks, onRoot = false) => ({ name, role, blocks, onRoot });

/** @type {Record<string, Primitive>} */
export const PRIMITIVES = {
  broadcast: {
    title: 'Broadcast', rooted: true, reduces: false, chunked: false, rankIndexed: [],
    buffers: (n, blocks) => [buffer('tensor', 'inout', blocks)],
    start: (n, blocks, root, rank) => ({
      tensor: rank === root ? blocksFrom(0, blocks, [root]) : undefinedBlocks(blocks),
    }),
    end: (n, blocks, root) => ({ tensor: blocksFrom(0, blocks, [root]) }),
    value: (block) => block + 1,
  },
  scatter: {
    title: 'Scatter', rooted: true, reduces: false, chunked: true, rankIndexed: ['scatter_list'],
    buffers: (n, blocks) => [
      buffer('scatter_list', 'input', blocks, true),
      buffer('output_tensor', 'output', blocks / n),
    ],
    start: (n, blocks, root, rank) => ({
      ...(rank === root && { scatter_list: blocksFrom(0, blocks, [root]) }),
      output_tensor: undefinedBlocks(blocks / n),
    }),
    end: (n, blocks, root, rank) => ({
      ...(rank === root && { scatter_list: undefinedBlocks(blocks) }),
      output_tensor: blocksFrom(rank * (blocks / n), blocks / n, [root]),
    }),
    value: (block) => block,
  },
  gather: {
    title: 'Gather', rooted: true, reduces: false, chunked: true, rankIndexed: ['gather_list'],
    buffers: (n, blocks) => [
      buffer('my_chunk', 'input', blocks / n),
      buffer('gather_list', 'output', blocks, true),
    ],
    start: (n, blocks, root, rank) => ({
      my_chunk: blocksFrom(rank * (blocks / n), blocks / n, [rank]),
      ...(rank === root && { gather_list: undefinedBlocks(blocks) }),
    }),
    end: (n, blocks, root, rank) => ({
      my_chunk: undefinedBlocks(blocks / n),
      ...(rank === root && { gather_list: gathered(n, blocks) }),
    }),
    value: (block, rank) => rank,
  },
  reduce: {
    title: 'Reduce', rooted: true, reduces: true, chunked: false, rankIndexed: [],
    buffers: (n, blocks) => [buffer('tensor', 'inout', blocks)],
    start: (n, blocks, root, rank) => ({ tensor: blocksFrom(0, blocks, [rank]) }),
    end: (n, blocks, root, rank) => ({
      tensor: rank === root ? blocksFrom(0, blocks, everyone(n)) : undefinedBlocks(blocks),
    }),
    value: (block, rank) => rank + 1,
  },
  allgather: {
    title: 'AllGather', rooted: false, reduces: false, chunked: true, rankIndexed: [],
    buffers: (n, blocks) => [
      buffer('my_chunk', 'input', blocks / n),
      buffer('gather_list', 'output', blocks),
    ],
    start: (n, blocks, root, rank) => ({
      my_chunk: blocksFrom(rank * (blocks / n), blocks / n, [rank]),
      gather_list: undefinedBlocks(blocks),
    }),
    end: (n, blocks) => ({
      my_chunk: undefinedBlocks(blocks / n),
      gather_list: gathered(n, blocks),
    }),
    value: (block, rank) => rank,
  },
  reducescatter: {
    title: 'ReduceScatter', rooted: false, reduces: true, chunked: true, rankIndexed: [],
    buffers: (n, blocks) => [
      buffer('input_list', 'input', blocks),
      buffer('output', 'output', blocks / n),
    ],
    start: (n, blocks, root, rank) => ({
      input_list: blocksFrom(0, blocks, [rank]),
      output: undefinedBlocks(blocks / n),
    }),
    end: (n, blocks, root, rank) => ({
      input_list: undefinedBlocks(blocks),
      output: blocksFrom(rank * (blocks / n), blocks / n, everyone(n)),
    }),
    value: (block, rank, size) => 10 * rank + Math.floor(block / size),
  },
  allreduce: {
    title: 'AllReduce', rooted: false, reduces: true, chunked: false, rankIndexed: [],
    buffers: (n, blocks) => [buffer('tensor', 'inout', blocks)],
    start: (n, blocks, root, rank) => ({ tensor: blocksFrom(0, blocks, [rank]) }),
    end: (n, blocks) => ({ tensor: blocksFrom(0, blocks, everyone(n)) }),
    value: (block, rank) => rank + 1,
  },
  alltoall: {
    title: 'All-to-All', rooted: false, reduces: false, chunked: true, rankIndexed: [],
    buffers: (n, blocks) => [
      buffer('input_tensor', 'input', blocks),
      buffer('output_tensor', 'output', blocks),
    ],
    start: (n, blocks, root, rank) => ({
      input_tensor: blocksFrom(0, blocks, [rank]),
      output_tensor: undefinedBlocks(blocks),
    }),
    end: (n, blocks, root, rank) => {
      const size = blocks / n;
      return {
        input_tensor: undefinedBlocks(blocks),
        output_tensor: everyone(n).flatMap((r) => blocksFrom(rank * size, size, [r])),
      };
    },
    value: (block, rank, size) => 10 * rank + Math.floor(block / size),
  },
};
