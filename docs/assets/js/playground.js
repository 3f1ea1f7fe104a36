/**
 * The 演练场: a text, checked and played while one writes it. What the reader brings stays in the
 * page: it is read, checked and drawn here, and sent to nobody.
 *
 * @typedef {import('./catalog.js').PrimitiveEntry} PrimitiveEntry
 * @typedef {import('./json-place.js').Path} Path
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').ScheduleError} ScheduleError
 * @typedef {HTMLElement & {load: (text: string) => ScheduleError | null}} Player
 */
import { lowerBound } from './bounds.js';
import { loadCatalog } from './catalog-file.js';
import { bySlug, fileOf, parametersOf } from './catalog.js';
import { spending } from './cost.js';
import { html } from './dom.js';
import { lineAt, pathOf, readJson } from './json-place.js';
import { MISTAKES } from './mistakes.js';
import { gcd } from './numbers.js';
import { PRIMITIVES } from './primitives.js';
import { writeJson } from './schedule-file.js';
import { parseSchedule } from './schedule.js';
import { RULES } from './whatif.js';
import { instead } from './words.js';

/** Characters. The largest file we publish has a third of it. */
const MOST = 2_000_000;

/** What the player opens with. */
const FIRST = { primitive: 'allreduce', algorithm: 'ring', ranks: 4 };

/** A pause in the writing, in milliseconds. */
const PAUSE = 300;

/** More of a line than this is not quoted. */
const QUOTED = 160;

/** @param {number} size  in characters or bytes */
const tooLarge = (size) => `这段文本有 ${(size / 1e6).toFixed(1)} MB，演练场最多读 ${MOST / 1e6} MB。`;

/** @param {string} title @param {...Node} parts */
const field = (title, ...parts) => html('label', { class: 'pg-field' }, html('span', {}, title), ...parts);

/** @param {string} text @param {() => void} press */
function button(text, press) {
  const node = html('button', { type: 'button', class: 'pg-button' }, text);
  node.addEventListener('click', press);
  return node;
}

/** @param {HTMLSelectElement} select @param {[string, string][]} options  value, text */
function fill(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => html('option', { value }, text)));
  if (options.some(([value]) => value === before)) select.value = before;
}

/** A share of M in lowest terms. @param {number} parts @param {number} whole */
function share(parts, whole) {
  const common = gcd(parts, whole) || 1;
  const [above, below] = [parts / common, whole / common];
  if (!above) return '0';
  return below === 1 ? `${above === 1 ? '' : `${above} `}M` : `${above}/${below} M`;
}

/**
 * What a schedule costs beside what nobody can beat: name, counted, bound, verdict.
 * @param {Schedule} schedule
 * @returns {[string, string, string, string][]}
 */
function costs(schedule) {
  const { primitive, ranks, blocks, ports, rounds } = schedule;
  const all = spending(schedule)[rounds.length];
  const bound = lowerBound(primitive, ranks);
  /** @param {number} counted @param {number} least */
  const verdict = (counted, least) => {
    if (counted < least) return ports === 'multi' ? '比单端口的下界还少：它用了多个端口' : '达到下界';
    if (counted === least) return '达到下界';
    return least ? `是下界的 ${(counted / least).toFixed(2)} 倍` : '多于下界';
  };
  /** @param {string} name @param {number} counted @param {[number, number]} least */
  const amount = (name, counted, [above, below]) => /** @type {[string, string, string, string]} */ (
    [name, share(counted, blocks), share(above, below), verdict(counted * below, above * blocks)]);
  return [
    ['轮数', String(all.rounds), String(bound.rounds), verdict(all.rounds, bound.rounds)],
    amount('收发量（各轮最忙端口之和）', all.sent, bound.beta),
    ...(PRIMITIVES[primitive].reduces ? [amount('归约量', all.reduced, bound.gamma)] : []),
  ];
}

/**
 * The stylesheet, as an element to put into the page.
 * @param {AbortSignal} signal  ends the wait for it
 */
export function stylesheet(signal) {
  const href = new URL('../css/playground.css', import.meta.url).href;
  const link = html('link', { rel: 'stylesheet', href });
  const arrived = new Promise((resolve) => {
    // Without its dress it still works.
    for (const type of ['load', 'error']) link.addEventListener(type, resolve, { signal });
    signal.addEventListener('abort', resolve, { once: true });
  });
  return { link, arrived };
}

export class Playground {
  /** @param {URL} catalog */
  constructor(catalog) {
    this.catalog = catalog;
    /** @type {PrimitiveEntry[]} */
    this.entries = [];
    /** Ends what is under way when the page is left. @type {AbortSignal | null} */
    this.signal = null;
    this.timer = 0;
    /** Counts what was asked to be read: only the last one is shown. */
    this.asked = 0;
    this.parts = this.build();
    this.node = this.parts.node;
  }

  build() {
    const primitive = html('select', { 'aria-label': '原语' });
    const algorithm = html('select', { 'aria-label': '算法' });
    const ranks = html('select', { 'aria-label': 'N' });
    const mistake = html('select', { 'aria-label': '一个写错的日程' });
    fill(mistake, Object.entries(MISTAKES).map(([rule, { story }]) => [rule, `${RULES[rule]}：${story}`]));
    for (const select of [primitive, algorithm]) {
      select.addEventListener('change', () => this.showChoices());
    }
    const file = html('input', { type: 'file', accept: '.json,application/json', class: 'pg-file' });
    file.addEventListener('change', () => {
      if (file.files?.[0]) this.readFile(file.files[0]);
      // The same file may have been changed meanwhile, and chosen again.
      file.value = '';
    });
    const text = html('textarea', {
      class: 'pg-text', rows: 20, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
      wrap: 'off', 'aria-label': '日程文件的内容', 'aria-describedby': 'pg-privacy',
    });
    text.addEventListener('input', () => this.checkSoon());
    text.addEventListener('paste', (event) => this.refuseLong(event, event.clipboardData));
    const verdict = html('div', { class: 'pg-verdict', role: 'status' });
    const extra = html('div', { class: 'pg-extra' });
    const player = /** @type {Player} */ (document.createElement('collective-player'));
    player.setAttribute('controls', 'view more');
    const drop = html('div', { class: 'pg-source' },
      html('div', { class: 'pg-row' },
        html('label', { class: 'pg-button pg-choose' }, '选择文件', file),
        html('span', { class: 'pg-hint' }, '也可以把文件拖到下面的框里，或者直接粘贴、改写。')),
      text,
      html('p', { class: 'pg-hint', id: 'pg-privacy' },
        '内容只在你的浏览器里检查和播放，不会发给任何人。'));
    this.listenToDrops(drop);
    const node = html('div', { class: 'pg' },
      html('div', { class: 'pg-row' },
        field('原语', primitive), field('算法', algorithm), field('N', ranks),
        button('从这个日程开始', () => this.openChosen())),
      html('div', { class: 'pg-row' },
        field('一个写错的日程', mistake), button('看看它错在哪', () => this.openMistake())),
      html('div', { class: 'pg-columns' }, drop,
        html('div', { class: 'pg-result' }, verdict, extra)),
      player);
    return { node, primitive, algorithm, ranks, mistake, text, verdict, extra, player, drop };
  }

  /** @param {HTMLElement} node */
  listenToDrops(node) {
    const mark = (/** @type {boolean} */ over) => node.classList.toggle('pg-over', over);
    node.addEventListener('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      mark(true);
    });
    node.addEventListener('dragleave', () => mark(false));
    node.addEventListener('drop', (event) => {
      mark(false);
      const file = event.dataTransfer?.files[0];
      if (!file) {
        this.refuseLong(event, event.dataTransfer);
        return;
      }
      event.preventDefault();
      this.readFile(file);
    });
  }

  /**
   * A text that is far too long never gets into the box: the browser would be slow from then on.
   * @param {Event} event @param {DataTransfer | null} data
   */
  refuseLong(event, data) {
    const { length } = data?.getData('text/plain') ?? '';
    if (length <= MOST) return;
    event.preventDefault();
    this.say('wrong', '没有读', tooLarge(length));
  }

  /**
   * It stands in the page until the signal is aborted.
   * @param {AbortSignal} signal
   */
  async begin(signal) {
    this.signal = signal;
    signal.addEventListener('abort', () => clearTimeout(this.timer));
    const { primitive, ranks, text } = this.parts;
    try {
      this.entries = await loadCatalog(this.catalog);
    } catch (error) {
      console.error(error);
    }
    if (signal.aborted) return;
    if (this.entries.length && !primitive.options.length) {
      fill(primitive, this.entries.map(({ slug, title }) => [slug, title]));
      primitive.value = FIRST.primitive;
      this.showChoices();
      ranks.value = String(FIRST.ranks);
    }
    if (text.value) this.check();
    else if (this.entries.length) await this.openChosen();
    else this.refuse('例子现在读不到；自己的文件照样可以检查和播放。', 'quiet', '还没有内容');
  }

  /** What can be chosen beside the primitive and the algorithm that are chosen. */
  showChoices() {
    const { primitive, algorithm, ranks } = this.parts;
    const entry = bySlug(this.entries, primitive.value);
    if (!entry) return;
    fill(algorithm, entry.algorithms.map(({ slug, title }) => [slug, title]));
    const chosen = bySlug(entry.algorithms, algorithm.value);
    fill(ranks, (chosen?.ranks ?? []).map((n) => [String(n), String(n)]));
  }

  /**
   * The text of a published file.
   * @param {string} primitive @param {string} algorithm @param {number} ranks
   * @throws {Error} it cannot be read
   */
  async published(primitive, algorithm, ranks) {
    const entry = bySlug(this.entries, primitive);
    const chosen = entry && bySlug(entry.algorithms, algorithm);
    if (!chosen) throw new Error(`${primitive}/${algorithm}`);
    const path = fileOf(chosen, ranks, parametersOf(chosen, ranks, {}));
    const response = await fetch(new URL(path, this.catalog), { signal: this.signal });
    if (!response.ok) throw new Error(String(response.status));
    return response.json();
  }

  async openChosen() {
    const { primitive, algorithm, ranks } = this.parts;
    await this.open(() => this.published(primitive.value, algorithm.value, Number(ranks.value)));
  }

  async openMistake() {
    const { mistake } = this.parts;
    const { file, make } = MISTAKES[mistake.value];
    const [primitive, algorithm] = file.split('/');
    await this.open(async () => {
      const data = await this.published(primitive, algorithm, FIRST.ranks);
      make(data);
      return data;
    });
  }

  /** @param {() => Promise<unknown>} read  the data of a file */
  async open(read) {
    this.asked += 1;
    const { asked, signal } = this;
    try {
      const data = await read();
      if (asked === this.asked && !signal?.aborted) this.put(`${writeJson(data)}\n`);
    } catch (error) {
      if (signal?.aborted || asked !== this.asked) return;
      console.error(error);
      this.say('wrong', '读不到这个日程', '网络不通，请稍后再试。');
    }
  }

  /** @param {File} file */
  async readFile(file) {
    this.asked += 1;
    const { asked } = this;
    if (file.size > MOST) {
      this.say('wrong', '没有读', tooLarge(file.size));
      return;
    }
    try {
      const text = await file.text();
      if (asked === this.asked) this.put(text);
    } catch (error) {
      console.error(error);
      this.say('wrong', '读不到这个文件', '浏览器打不开它，请换一种方式，例如复制它的内容粘贴进来。');
    }
  }

  /** @param {string} text */
  put(text) {
    const { text: box } = this.parts;
    box.value = text;
    box.setSelectionRange(0, 0);
    box.scrollTop = 0;
    this.check();
  }

  checkSoon() {
    this.asked += 1;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.check(), PAUSE);
  }

  /** Check what is written, and play it when it is right. */
  check() {
    clearTimeout(this.timer);
    const { text: { value: text }, player } = this.parts;
    if (text.length > MOST) {
      this.refuse(tooLarge(text.length));
      return;
    }
    if (!text.trim()) {
      this.refuse('粘贴一个日程文件，或者从上面选一个开始。', 'quiet', '还没有内容');
      return;
    }
    const { flaw } = readJson(text);
    if (flaw) {
      const { line, column, words } = lineAt(text, flaw.at);
      this.refuse(`第 ${line} 行第 ${column} 列：${flaw.problem}`, 'wrong', '不是完整的 JSON');
      this.quote(words, column);
      this.offer([flaw.at, Math.min(text.length, flaw.at + 1)]);
      return;
    }
    player.hidden = false;
    const error = player.load(text);
    if (error) this.showError(text, error);
    else this.showSuccess(parseSchedule(text));
  }

  /**
   * @param {'right' | 'wrong' | 'quiet'} kind @param {string} title @param {string} sentence
   */
  say(kind, title, sentence) {
    const { verdict, extra } = this.parts;
    extra.replaceChildren();
    verdict.dataset.kind = kind;
    verdict.replaceChildren(html('strong', {}, title), html('p', {}, sentence));
  }

  /**
   * Nothing can be played.
   * @param {string} sentence @param {'wrong' | 'quiet'} [kind] @param {string} [title]
   */
  refuse(sentence, kind = 'wrong', title = '没有读') {
    this.parts.player.hidden = true;
    this.say(kind, title, sentence);
  }

  /** @param {string} text @param {ScheduleError} error */
  showError(text, error) {
    const { rule, place } = error;
    this.refuse(error.message, 'wrong', `${RULES[rule]}（${rule}）`);
    const { extra } = this.parts;
    const [expected, found] = instead(error);
    /** @type {[string, string | number | undefined][]} */
    const facts = [
      ['步', place.round], ['传输', place.transfer], ['rank', place.rank],
      ['缓冲区', place.buffer], ['块', place.block], ['应为', expected], ['实际', found],
    ];
    const known = facts.filter(([, value]) => value !== undefined && value !== null);
    if (known.length) {
      extra.append(html('dl', { class: 'pg-facts' }, ...known.flatMap(([name, value]) => [
        html('dt', {}, name), html('dd', {}, String(value).slice(0, QUOTED))])));
    }
    /** @type {Path} */
    const path = place.round && place.transfer
      ? ['rounds', place.round - 1, 'transfers', place.transfer - 1] : pathOf(place.where ?? '');
    const { span } = path.length ? readJson(text, path) : { span: null };
    if (!span) return;
    const { line, column, words } = lineAt(text, span[0]);
    extra.append(html('p', { class: 'pg-hint' }, `在文本的第 ${line} 行：`));
    this.quote(words, column);
    this.offer(span);
  }

  /** The line of the text where it is, with a mark below. @param {string} words @param {number} column */
  quote(words, column) {
    const indent = Math.min(words.search(/\S|$/), column - 1);
    const first = Math.max(indent, Math.min(column - 60, words.length - QUOTED));
    const shown = words.slice(first, first + QUOTED).replace(/\t/g, ' ');
    this.parts.extra.append(html('pre', { class: 'pg-line', tabindex: 0, 'aria-label': '出错的那一行' },
      html('code', {}, `${shown}\n${' '.repeat(Math.max(0, column - 1 - first))}^`)));
  }

  /** @param {[number, number]} span  of the text */
  offer([from, to]) {
    const { extra, text } = this.parts;
    extra.append(button('在文本里选中它', () => {
      text.focus();
      text.setSelectionRange(from, to);
      const { line } = lineAt(text.value, from);
      const high = text.scrollHeight / text.value.split('\n').length;
      text.scrollTop = Math.max(0, (line - 4) * high);
    }));
  }

  /** @param {Schedule} schedule */
  showSuccess(schedule) {
    const { extra } = this.parts;
    const { primitive, ranks, rounds } = schedule;
    this.say('right', '通过',
      `这是一个正确的 ${PRIMITIVES[primitive].title}：${ranks} 个 rank，${rounds.length} 步，每条规则都守住了，`
      + '结束时每个 rank 都有它该有的。');
    extra.append(html('table', { class: 'pg-costs' },
      html('thead', {}, html('tr', {}, ...['代价', '数出来', '单端口下界', ''].map((head) => (
        html('th', { scope: 'col' }, head))))),
      html('tbody', {}, ...costs(schedule).map(([name, ...cells]) => html('tr', {},
        html('th', { scope: 'row' }, name), ...cells.map((cell) => html('td', {}, cell)))))));
  }
}
