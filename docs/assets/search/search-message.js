/**
 * Lets a reader paste an error message into the search, whole: paths, addresses and all; and ask
 * in words that this site does not use.
 *
 * Material hands what is typed to lunr, to which a colon names a field, a quotation mark asks for
 * every word, and a number or a path is a word like any other: a message finds nothing, or the
 * wrong page. Here the box keeps what the reader sees, and the search gets the words of it that
 * are the same in everybody's message. In a query that is no message, an alias becomes the term of
 * this site, and a library's name of a primitive the primitive's own; the rest is left alone.
 */

import { NAMES, WORDS } from './aliases.js';

/** How an error begins: by its type, up to the colon, or by what C++ says before it aborts. */
const ERROR = /(?:[\w.]+\.)?\w*(?:Error|Exception|Warning)(?=:\s|:$)|\bterminate called\b/g;

/** Where an error that was printed with its surroundings is over. */
const OVER = /Traceback \(most recent call last\)|Exception raised from |\bframe #\d+:|\bFile "[^"]*", line \d+/;

/** What other processes, or a parent, say about an error: it is never the error itself. */
const HEARSAY = /ChildFailedError|ProcessRaisedException|ProcessExitedException|Connection (?:closed|reset) by peer/;

/** Words that stand in every second message, or that others put around it. */
const IDLE = new Set(
  'the and for you not are was has had but its this that with from have been will can may see use'
    .split(' '),
);

const MOST_WORDS = 28;

/**
 * Whether a query is a piece of a program's output rather than words.
 * @param {string} query
 */
function isMessage(query) {
  const words = query.match(/[A-Za-z]{2,}/g) ?? [];
  return words.length > 5 || (words.length > 1 && /[:[\](){}<>"'`=/\\]/.test(query));
}

/**
 * The part of some output that says what went wrong: of several errors the last, for Python prints
 * the cause of the end at the end; but what is only hearsay, only where there is nothing else.
 * @param {string} output
 */
export function telling(output) {
  const starts = [...output.matchAll(ERROR)].map((match) => match.index);
  const errors = starts.map((start, at) => {
    const end = output.slice(start + 1).search(OVER);
    return output.slice(start, Math.min(starts[at + 1] ?? Infinity, end < 0 ? Infinity : start + 1 + end));
  });
  const last = errors.findLast((error) => !HEARSAY.test(error)) ?? errors.at(-1);
  return last ?? output;
}

/**
 * The words of a message that are the same wherever it is met, as lunr takes them.
 * @param {string} message
 */
export function steadyWords(message) {
  const words = message
    .replace(/\bFile "[^"]*", line \d+(?:, in \S+)?/g, ' ')
    .replace(/(?:[A-Za-z]:)?[\w.~-]*[/\\](?:[\w.~-]+[/\\])*/g, ' ')
    .replace(/[[(]?[\w:.]*\b\d+\.\d+\.\d+\.\d+\b[\])]?(?::\d+)?/g, ' ')
    .replace(/\b0x[0-9a-f]+\b/gi, ' ')
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word.length > 2 && !/^\d/.test(word) && !IDLE.has(word.toLowerCase()));
  return [...new Set(words)].slice(0, MOST_WORDS).join(' ');
}

/** What stands before a library's name of a primitive and says no more than whose it is. */
const WHOSE = /^(?:(?:py)?torch|nccl|mpi|hccl|jax)\s+|^(?:torch\.distributed|dist|jax\.lax|lax)\./i;

/**
 * The same question in the words of this site.
 * @param {string} typed
 */
export function inOurWords(typed) {
  let query = typed;
  // Twice: what an alias becomes may complete a longer one.
  for (let pass = 0; pass < 2; pass += 1) {
    for (const [alias, term] of Object.entries(WORDS)) {
      if (alias.length > 1 || query.trim() === alias) query = query.replaceAll(alias, term);
    }
  }
  const name = query.trim().replace(WHOSE, '').replace(/[-_\s]/g, '').toLowerCase();
  return Object.hasOwn(NAMES, name) ? NAMES[name] : query;
}

/**
 * What the search is asked for when this stands in its box.
 * @param {string} typed
 */
export function queryOf(typed) {
  if (!isMessage(typed)) return inOurWords(typed);
  return steadyWords(telling(typed)) || steadyWords(typed) || typed;
}

/**
 * Puts this between a search box and those who read it.
 * @param {HTMLInputElement} box
 */
export function attach(box) {
  const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  if (!own?.get || !own.set || Object.hasOwn(box, 'value')) return;
  const { get, set } = own;
  Object.defineProperty(box, 'value', {
    configurable: true,
    get: () => queryOf(get.call(box)),
    set: (value) => set.call(box, value),
  });
  box.addEventListener('paste', (event) => {
    const pasted = event.clipboardData?.getData('text/plain') ?? '';
    if (pasted.includes('\n')) {
      // A box of one line would join the last word of a line to the first of the next.
      event.preventDefault();
      const flat = pasted.trim().replace(/\s*\n\s*/g, ' ');
      box.setRangeText(flat, box.selectionStart ?? 0, box.selectionEnd ?? 0, 'end');
    }
    // Material listens for keys, and pasting by mouse or finger presses none.
    setTimeout(() => box.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true })));
  });
}

for (const box of typeof document === 'undefined' ? [] : document.querySelectorAll('.md-search__input')) {
  attach(/** @type {HTMLInputElement} */ (box));
  // This is loaded when the reader turns to the search; what was typed meanwhile was read as it is.
  if (/** @type {HTMLInputElement} */ (box).value) box.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
}
