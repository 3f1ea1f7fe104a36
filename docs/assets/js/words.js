/**
 * Why a schedule is refused, in Chinese. The sentences are loaded where there is something to
 * refuse: importing this module gives every ScheduleError its message.
 * The counterpart of the sentences in scripts/collectives/prove.py; a test holds the two equal.
 *
 * @typedef {import('./primitives.js').Cell} Cell
 * @typedef {import('./schedule.js').Place} Place
 */
import { PRIMITIVES } from './primitives.js';
import { ScheduleError } from './schedule.js';

/** @param {Cell | null} cell */
const content = (cell) => (
  cell ? `块 ${cell.block}（rank ${cell.from.join('、')} 的贡献）` : '未定义的数据');

/** @param {string} name  of the writer's */
const short = (name) => name.slice(0, 40);

/** @param {Place} place */
const cellName = ({ rank, buffer, block }) => `rank ${rank} 的 ${buffer}[${block}]`;

/** @param {Cell} held @param {Cell} cell */
const both = (held, cell) => cell.from.filter((rank) => held.from.includes(rank)).join('、');

/**
 * Kind of refusal -> its sentence, from the place and the facts.
 * @type {Record<string, (facts: Place & Record<string, any>) => string>}
 */
const SENTENCES = {
  json: ({ message }) => `不是完整的 JSON：${message}。`,
  deep: () => '不是日程文件：JSON 嵌套过深。',
  value: ({ where, expected, found }) => `${where} 应为 ${expected}，现在是 ${found}。`,
  member: ({ where, key }) => `${where} 里缺少 ${key}。`,
  primitive: ({ name }) => `没有名为 ${short(name)} 的原语，`
    + `可用的是 ${Object.keys(PRIMITIVES).join('、')}。`,
  range: ({ what, is, from, to }) => `${what} 是 ${is}，应在 ${from} 到 ${to} 之间。`,
  rootless: ({ title, is }) => `${title} 没有根，root 应为 null，现在是 ${is}。`,
  least: ({ is }) => `blocks 是 ${is}，应至少为 1。`,
  multiple: ({ is, title, n }) => (
    `blocks 是 ${is}，${title} 的数据要分给 ${n} 个 rank，应是 ${n} 的倍数。`),
  cells: ({ most }) => `缓冲区太大：全部 rank 合计超过 ${most} 个块。`,
  buffer: ({ title, need: { name, role, blocks, onRoot } }) => (
    `${title} 需要缓冲区 ${name}（${role}，${blocks} 块${onRoot ? '，只在根上' : ''}）。`),
  role: ({ name, role, title }) => `缓冲区 ${short(name)} 的角色是 ${short(role)}：`
    + `${title} 自己的缓冲区之外只能有 scratch。`,
  size: ({ name, is }) => `缓冲区 ${short(name)} 有 ${is} 块，应至少 1 块。`,
  shown: ({ is, most, what }) => `它有 ${is} ${what}，播放器最多放 ${most} ${what}。`,
  states: () => '日程太大，播放器放不下它的全部状态。',
  unreachable: ({ path }) => `读不到 ${path}：网络不通，或者页面是直接从磁盘打开的。`,
  status: ({ path, status }) => `读不到 ${path}：服务器回答 ${status}。`,
  address: () => 'src 不是一个地址。',
  nothing: () => '没有写 src，不知道播放哪一个。',
  internal: () => '播放器内部出错。',
  catalog: () => '算法目录 catalog.json 不是播放器认识的格式。',
  'rank-range': ({ rank, n }) => `rank ${rank} 不存在，${n} 个 rank 的编号是 0 到 ${n - 1}。`,
  'unknown-buffer': ({ rank, buffer, names }) => (
    `rank ${rank} 没有缓冲区 ${short(String(buffer))}，它有 ${names.join('、')}。`),
  'offset-range': ({ rank, buffer, size, block, count }) => (
    `rank ${rank} 的 ${buffer} 只有 ${size} 块，不能从第 ${block} 块起取 ${count} 块。`),
  'port-limit': ({ rank, sends, peers }) => (
    `rank ${rank} 在同一轮里${sends ? '发给' : '接收来自'} ${
      peers.map((/** @type {number} */ peer) => `rank ${peer}`).join(' 和 ')}，`
    + '单端口模型里一轮只能有一个对端。'),
  'undefined-read': (place) => `${cellName(place)} 还是未定义的数据，要${
    place.reduces ? '在它上面归约' : '读它'}，可它还没有值。`,
  'write-race': (place) => `${cellName(place)} 在同一轮里被写两次，结果取决于先后。`,
  'mixed-blocks': (place) => `${cellName(place)} 里是${content(place.held)}，`
    + `不能与${content(place.cell)}归约，两者不是同一块。`,
  'double-count': (place) => `${cellName(place)} 里是${content(place.held)}，`
    + `再并入${content(place.cell)}，rank ${both(place.held, place.cell)} 的贡献就算了两次。`,
  'end-state': ({ steps, required, held, ...place }) => `全部 ${steps} 步结束后，`
    + `${cellName(place)} 应为${content(required)}，实际是${content(held)}。`,
};

/**
 * Rule -> what should have been there, and what was.
 * @type {Record<string, (facts: Place & Record<string, any>) => [string, string]>}
 */
const INSTEAD = {
  format: ({ expected, found }) => [expected, found],
  'unknown-buffer': ({ names, buffer }) => [names.join('、'), String(buffer)],
  'undefined-read': () => ['已定义的数据', content(null)],
  'mixed-blocks': ({ held, cell }) => [content(held), content(cell)],
  'double-count': ({ held, cell }) => [`不含 rank ${both(held, cell)} 的贡献`, content(cell)],
  'end-state': ({ required, held }) => [content(required), content(held)],
};

/**
 * What a place should have held and what it held, in words; undefined where the rule is about
 * something else.
 * @param {ScheduleError} error
 * @returns {[string | undefined, string | undefined]}
 */
export const instead = ({ rule, place }) => INSTEAD[rule]?.(place) ?? [undefined, undefined];

ScheduleError.words = ({ kind, place }) => {
  const { round, transfer } = place;
  const where = round === undefined ? ''
    : `第 ${round} 步${transfer === undefined ? '' : `第 ${transfer} 个传输`}：`;
  return where + SENTENCES[kind](place);
};
