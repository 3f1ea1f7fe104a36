/**
 * How many bytes a rank sends in one training step, by the way the work is split. The same formulas
 * stand in scripts/training_traffic.py; a test holds the two together.
 *
 * @typedef {object} Work
 * @property {number} parameters  of the whole model
 * @property {number} layers  of the model
 * @property {number} hidden  width of the activations between the layers
 * @property {number} moe  layers whose feed-forward part is split into experts
 * @property {number} chosen  experts that a token is sent to
 * @property {number} ranks  N, of the group that shares the work in the one way that is looked at
 * @property {number} tokens  that a rank works on in a step; batch times sequence
 * @property {number} gradient  bytes of a gradient
 * @property {number} value  bytes of a parameter and of an activation
 *
 * @typedef {keyof typeof SCHEMES} Scheme
 *
 * @typedef {object} Traffic  one kind of call in a step
 * @property {Scheme} scheme
 * @property {string} primitive  its slug, or "sendrecv"
 * @property {number} calls  how often in a step
 * @property {number} size  M of one call, in bytes
 * @property {number} sent  what a rank sends in all calls, in bytes
 */

/** The ways to split the work, and the numbers that each depends on beside N. */
export const SCHEMES = {
  data: { title: '数据并行（DDP）', needs: ['parameters', 'gradient'] },
  zero: { title: 'ZeRO-1/2', needs: ['parameters', 'gradient', 'value'] },
  fsdp: { title: 'ZeRO-3（FSDP）', needs: ['parameters', 'gradient', 'value'] },
  tensor: { title: '张量并行', needs: ['layers', 'hidden', 'tokens', 'value'] },
  sequence: { title: '张量并行 + 序列并行', needs: ['layers', 'hidden', 'tokens', 'value'] },
  pipeline: { title: '流水线并行', needs: ['hidden', 'tokens', 'value'] },
  expert: { title: '专家并行', needs: ['moe', 'hidden', 'tokens', 'chosen', 'value'] },
};

/** @type {Record<string, string>} */
export const PRIMITIVES = {
  allreduce: 'AllReduce', reducescatter: 'ReduceScatter', allgather: 'AllGather',
  alltoall: 'All-to-All', sendrecv: '点对点',
};

/**
 * What a rank sends in the algorithm that asks least of its port, in M.
 * @param {string} primitive @param {number} ranks
 */
export function share(primitive, ranks) {
  const apart = (ranks - 1) / ranks;
  return primitive === 'allreduce' ? 2 * apart : primitive === 'sendrecv' ? 1 : apart;
}

/**
 * Every kind of call of every scheme; a model without experts has no row for them.
 * @param {Work} work
 * @returns {Traffic[]}
 */
export function traffic({
  parameters, layers, hidden, moe, chosen, ranks, tokens, gradient, value,
}) {
  const gradients = parameters * gradient;
  const weights = parameters * value;
  const activations = tokens * hidden * value;
  /** @type {[Scheme, string, number, number][]} */
  const calls = [
    ['data', 'allreduce', 1, gradients],
    ['zero', 'reducescatter', 1, gradients],
    ['zero', 'allgather', 1, weights],
    ['fsdp', 'allgather', 2, weights],
    ['fsdp', 'reducescatter', 1, gradients],
    ['tensor', 'allreduce', 4 * layers, activations],
    ['sequence', 'allgather', 6 * layers, activations],
    ['sequence', 'reducescatter', 4 * layers, activations],
    ['pipeline', 'sendrecv', 2, activations],
    ['expert', 'alltoall', 4 * moe, activations * chosen],
  ];
  return calls.filter(([, , count]) => count).map(([scheme, primitive, count, size]) => (
    { scheme, primitive, calls: count, size, sent: count * size * share(primitive, ranks) }));
}
