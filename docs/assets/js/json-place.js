/**
 * Where things are in the text of a JSON file: what is wrong with it first, in the same words in
 * every browser, and where a value stands. One pass, no recursion, however the text is made.
 *
 * @typedef {{at: number, problem: string}} Flaw  offset into the text, and a Chinese sentence
 * @typedef {(string | number)[]} Path  keys and indexes from the top
 * @typedef {{list: boolean, key: string | number, start: number}} Level  an open bracket
 */

/** Nobody writes files deeper than this, and browsers differ in how deep they read. */
const DEEPEST = 200;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\p{L}\p{N}_$.+-]+/uy;
const SPACE = /[ \t\n\r]*/y;

/** @param {RegExp} pattern  sticky @param {string} text @param {number} at */
function match(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/**
 * Read a string that begins at an offset.
 * @param {string} text @param {number} at  of the quotation mark
 * @returns {{end: number} | Flaw}
 */
function readString(text, at) {
  for (let i = at + 1; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return { end: i + 1 };
    if (code < 0x20) {
      return { at: i, problem: '字符串里有换行或控制字符：要么少了收尾的双引号，要么该写成 \\n 这样的转义。' };
    }
    if (code !== 0x5c) continue;
    if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(text.slice(i + 1, i + 6))) {
      return { at: i, problem: '反斜线后面不是 JSON 认识的转义。' };
    }
    i += 1;
  }
  return { at, problem: '这个字符串没有收尾的双引号。' };
}

/**
 * Why something cannot begin where a value should.
 * @param {string} text @param {number} at
 */
function notAValue(text, at) {
  const word = match(WORD, text, at).slice(0, 20);
  if (text[at] === "'") return '字符串要用双引号，不能用单引号。';
  if (text.startsWith('//', at) || text.startsWith('/*', at) || text[at] === '#') {
    return 'JSON 里不能写注释。';
  }
  if (/^[-+.\d]/.test(word)) return `${word} 不是 JSON 的数：不能有前导 0 和正号，小数点两边都要有数字。`;
  if (word) return `这里应当是一个值，JSON 里没有 ${word}；字符串要加双引号。`;
  return '这里应当是一个值。';
}

/**
 * Read a text as JSON.
 * @param {string} text
 * @param {Path | null} [path]  of a value that is looked for
 * @returns {{flaw: Flaw | null, span: [number, number] | null}}  what is wrong first; from where to
 *   where the value goes
 */
export function readJson(text, path = null) {
  /** @type {Level[]} */
  const levels = [];
  /** @type {[number, number] | null} */
  let span = null;
  let found = -1;
  let at = 0;
  /** What may come next. */
  let state = 'value';
  /** @param {string} problem */
  const wrong = (problem, where = at) => ({ flaw: { at: where, problem }, span: null });
  const isWanted = () => path !== null && !span && levels.length === path.length
    && levels.every(({ key }, i) => String(key) === String(path[i]));
  const close = (/** @type {number} */ start) => {
    if (start === found && !span) span = [start, at];
    state = 'after';
  };
  for (;;) {
    at += match(SPACE, text, at).length;
    const level = levels[levels.length - 1];
    const mark = text[at];
    if (state === 'after' && !level) {
      if (mark === undefined) return { flaw: null, span };
      return wrong('JSON 到前面就结束了，这里多出了内容。');
    }
    if (mark === undefined) {
      return wrong(level ? `文本到这里就没有了，还有 ${levels.length} 个括号没有合上。` : '这里什么也没有。');
    }
    if (state === 'after') {
      if (mark === ',') {
        at += 1;
        if (level.list) level.key = Number(level.key) + 1;
        state = level.list ? 'value' : 'key';
      } else if (mark === (level.list ? ']' : '}')) {
        at += 1;
        levels.pop();
        close(level.start);
      } else {
        return wrong(`这里应当是逗号或者 ${level.list ? ']' : '}'}。`);
      }
      continue;
    }
    if (state === 'key' || state === 'first key') {
      if (mark === '}' && state === 'first key') {
        at += 1;
        levels.pop();
        close(level.start);
        continue;
      }
      if (mark === '}') return wrong('最后一项后面不能有逗号。');
      if (mark !== '"') return wrong('这里应当是双引号里的键。');
      const read = readString(text, at);
      if ('problem' in read) return { flaw: read, span: null };
      // What is read is a string for sure; its escapes are JSON's own.
      level.key = JSON.parse(text.slice(at, read.end));
      at = read.end + match(SPACE, text, read.end).length;
      if (text[at] !== ':') return wrong('键后面应当是冒号。');
      at += 1;
      state = 'value';
      continue;
    }
    if (state === 'first value' && mark === ']') {
      at += 1;
      levels.pop();
      close(level.start);
      continue;
    }
    if (mark === ']' && level?.list) return wrong('最后一项后面不能有逗号。');
    if (isWanted()) found = at;
    if (mark === '{' || mark === '[') {
      if (levels.length === DEEPEST) return wrong(`括号套得太深，超过 ${DEEPEST} 层。`);
      levels.push({ list: mark === '[', key: 0, start: at });
      at += 1;
      state = mark === '[' ? 'first value' : 'first key';
      continue;
    }
    const start = at;
    if (mark === '"') {
      const read = readString(text, at);
      if ('problem' in read) return { flaw: read, span: null };
      at = read.end;
    } else {
      const word = match(WORD, text, at);
      const number = match(NUMBER, text, at);
      if (!['true', 'false', 'null'].includes(word) && (!number || number !== word)) {
        return wrong(notAValue(text, at));
      }
      at += word.length;
    }
    close(start);
  }
}

/**
 * An offset as a reader counts: line and column from 1, and the line itself.
 * @param {string} text @param {number} at
 * @returns {{line: number, column: number, words: string}}
 */
export function lineAt(text, at) {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  const start = at - before[before.length - 1].length;
  const end = text.slice(at).search(/[\r\n]/);
  return {
    line: before.length, column: at - start + 1,
    words: text.slice(start, end < 0 ? text.length : at + end),
  };
}

/**
 * The path that a sentence of schedule.js names, such as "rounds[0].transfers[2].src".
 * @param {string} where
 * @returns {Path}
 */
export const pathOf = (where) => where.split(/[.[\]]+/).filter(Boolean);
