/**
 * Files that break one rule each, made from published ones: something to start from in the 演练场.
 *
 * @typedef {Record<string, any>} Data  of a schedule file
 * @typedef {object} Mistake
 * @property {string} file  the published file it is made from: primitive/algorithm
 * @property {string} story  what was done to it
 * @property {(data: Data) => void} make
 */

/** @param {Data} data @param {number} [round] */
const transfers = (data, round = 0) => data.rounds[round].transfers;

/** By the rule that is broken. @type {Record<string, Mistake>} */
export const MISTAKES = {
  format: {
    file: 'allreduce/ring',
    story: '少了一个键',
    make: (data) => { delete transfers(data)[0].op; },
  },
  'rank-range': {
    file: 'allreduce/ring',
    story: '编号从 1 数，最后一个 rank 多了 1',
    make: (data) => { transfers(data)[0].dst = data.ranks; },
  },
  'unknown-buffer': {
    file: 'allreduce/ring',
    story: '写到一个没有声明的缓冲区',
    make: (data) => { transfers(data)[0].to[0] = 'temp'; },
  },
  'offset-range': {
    file: 'allreduce/ring',
    story: '从最后一块起取了两块',
    make: (data) => {
      Object.assign(transfers(data)[0], { from: ['tensor', data.blocks - 1], count: 2 });
    },
  },
  'port-limit': {
    file: 'broadcast/binomial',
    story: '根在一轮里发给两个 rank，却说是单端口',
    make: (data) => { data.rounds[0].transfers.push(...data.rounds.pop().transfers.slice(0, 1)); },
  },
  'undefined-read': {
    file: 'broadcast/binomial',
    story: '把各轮倒过来，还没收到就先转发',
    make: (data) => { data.rounds.reverse(); },
  },
  'mixed-blocks': {
    file: 'allreduce/ring',
    story: '发出的块和累加到的块差了一格',
    make: (data) => {
      const { to } = transfers(data)[0];
      to[1] = (to[1] + 1) % data.blocks;
    },
  },
  'double-count': {
    file: 'reduce/flat',
    story: '同一个 rank 的数据加了两次',
    make: (data) => { data.rounds.splice(1, 0, data.rounds[0]); },
  },
  'write-race': {
    file: 'allgather/ring',
    story: '一步里把同一块写了两次',
    make: (data) => { transfers(data).push(transfers(data)[0]); },
  },
  'end-state': {
    file: 'allreduce/ring',
    story: '最后一轮漏了一个传输',
    make: (data) => { transfers(data, data.rounds.length - 1).pop(); },
  },
};
