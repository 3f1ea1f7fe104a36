/**
 * The race on a page: choices, lanes with one playhead, words, a plot of time against M, the
 * machine, and everything once more as tables. What it says is computed in race.js.
 *
 * @typedef {import('./catalog.js').PrimitiveEntry} PrimitiveEntry
 * @typedef {import('./cost.js').Machine} Machine
 * @typedef {import('./race.js').Lane} Lane
 * @typedef {import('./race.js').Quantity} Quantity
 * @typedef {import('./race.js').RaceState} RaceState
 * @typedef {import('./race.js').RaceWish} RaceWish
 */
import { bySlug, ranksOf } from './catalog.js';
import { html, svg } from './dom.js';
import { loadSchedule } from './files.js';
import { MACHINES } from './machines.js';
import { nearest } from './numbers.js';
import {
  FEWEST, MOST, QUANTITIES, RaceClock, candidates, clamp, crossingSentences, finishOf, laneOf,
  leaders, lineUp, lowest, order, orderSentence, parseQuantity, portOf, positionOf, positions,
  quantityText, raceFile, roundEnds, roundRuns, roundsDone, roundsOf, same, shareText, sizeAt,
  sizeText, stateSentence, stops, timeText, valueAt,
} from './race.js';
import { ScheduleError } from './schedule.js';
import { iconButton, iconNode, selectBox, setAvailable, setOptions } from './widgets.js';
import './words.js';

const LETTERS = ['A', 'B', 'C', 'D'];

/** Words and tables follow this many milliseconds after the last change of a drag. */
const SETTLE = 200;

/** The plot in pixels: height and the margins that hold the labels. */
const PLOT = { height: 280, left: 62, right: 30, top: 34, bottom: 30 };

/** Points of a line of the plot. */
const SAMPLES = 56;

/** Steps of the M handle for PageUp and PageDown: a tenfold. */
const PAGE = positions('bytes') / Math.log10(QUANTITIES.bytes.most / QUANTITIES.bytes.least);

/** The stylesheet of the race. */
export const STYLES = new URL('../css/collective-race.css', import.meta.url);

/**
 * The races' stylesheet as a node to put before them, and when it has arrived (or failed to).
 * @param {AbortSignal} signal
 */
export function stylesheet(signal) {
  const link = html('link', { rel: 'stylesheet', href: STYLES.href });
  const arrived = new Promise((resolve) => {
    for (const name of ['load', 'error']) link.addEventListener(name, resolve, { signal });
    signal.addEventListener('abort', resolve, { once: true });
  });
  return { link, arrived };
}

/** @param {Element} node @param {string} text */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {string} caption @param {string[]} head @param {string[][]} rows  the first cell heads it
 */
const table = (caption, head, rows) => html('table', { class: 'race-table' },
  html('caption', {}, caption),
  html('thead', {}, html('tr', {}, ...head.map((text) => html('th', { scope: 'col' }, text)))),
  html('tbody', {}, ...rows.map(([first, ...cells]) => html('tr', {},
    html('th', { scope: 'row' }, first), ...cells.map((text) => html('td', {}, text))))));

/** @param {Lane} lane @param {number} index */
const lettered = (lane, index) => `${LETTERS[index]} ${lane.name}`;

export class RaceView {
  /** @type {PrimitiveEntry} */
  #primitive;
  #ranks;
  /** What the reader wants to see, whether it can race at this N or not. @type {string[]} */
  #wished;
  /** @type {Machine} */
  #machine;
  /** @type {Lane[]} */
  #lanes = [];
  #clock = new RaceClock();
  /** Where to stand when the first schedules are there. */
  #opening;
  /** @type {AbortController | null} */
  #loading = null;
  #frame = 0;
  #lastTime = 0;
  #inView = true;
  #settling = 0;
  /** The width that is drawn for, and the frame that draws for another. */
  #width = 0;
  #fitting = 0;
  #arrived = 0;
  /** Whether a race has been shown: the first is the page's, those after it the reader's. */
  #begun = false;
  #still = matchMedia('(prefers-reduced-motion: reduce)');
  /** Per lane: its drawn parts and the ends of its rounds.
   * @type {{ends: number[], rest: SVGPathElement, done: SVGPathElement, time: HTMLElement,
   *   round: HTMLElement, row: HTMLElement}[]} */
  #rows = [];

  /**
   * @param {object} options
   * @param {{entries: PrimitiveEntry[], url: URL}} options.catalog
   * @param {RaceWish} options.state  wishes; what is not valid falls back
   * @param {(state: RaceState) => void} [options.changed]  the state is another one
   * @param {(done: boolean) => void} [options.loaded]  a race is about to be drawn, and needs its
   *   place in the document; or it could not be read
   * @param {AbortSignal} signal  ends everything
   */
  constructor({ catalog, state, changed = () => {}, loaded = () => {} }, signal) {
    this.catalog = catalog;
    this.changed = changed;
    this.loaded = loaded;
    this.signal = signal;
    this.#primitive = bySlug(catalog.entries, state.primitive) ?? catalog.entries[0];
    this.#ranks = this.#nearestRanks(state.ranks ?? 8);
    this.#wished = state.algorithms ?? [];
    const [ledger] = MACHINES;
    this.#machine = {
      bytes: clamp('bytes', state.machine?.bytes ?? 1e6),
      alpha: clamp('alpha', state.machine?.alpha ?? ledger.microseconds / 1e6),
      bandwidth: clamp('bandwidth', state.machine?.bandwidth ?? ledger.gigabytes * 1e9),
    };
    this.#opening = state.stop ?? 0;
    const { node, parts } = this.#build();
    this.node = node;
    this.parts = parts;
    this.#listen();
    this.#load();
  }

  /** @returns {RaceState} */
  get state() {
    return {
      primitive: this.#primitive.slug, ranks: this.#ranks,
      algorithms: this.#lineUp(), machine: { ...this.#machine },
      stop: this.#lanes.length ? this.#clock.passed : this.#opening,
    };
  }

  /** Show another race; what is left out stays. @param {RaceWish} wish */
  show(wish) {
    this.#primitive = bySlug(this.catalog.entries, wish.primitive) ?? this.#primitive;
    this.#ranks = this.#nearestRanks(wish.ranks ?? this.#ranks);
    this.#wished = wish.algorithms ?? this.#wished;
    for (const quantity of /** @type {Quantity[]} */ (Object.keys(QUANTITIES))) {
      const wished = wish.machine?.[quantity];
      if (wished !== undefined) this.#machine[quantity] = clamp(quantity, wished);
    }
    this.#opening = wish.stop ?? 0;
    this.#load();
  }

  /** @param {number} wanted */
  #nearestRanks(wanted) {
    return nearest(ranksOf(this.#primitive), Number.isInteger(wanted) ? wanted : 8);
  }

  #lineUp() {
    return lineUp(this.#primitive, this.#ranks, this.#wished);
  }

  // ------------------------------------------------------------------------------------- making

  #build() {
    const primitive = selectBox('通信原语', (slug) => {
      // The algorithms of one primitive mean nothing to another.
      this.show({ primitive: slug, algorithms: [] });
    });
    const ranks = selectBox('GPU 数', (value) => this.show({ ranks: Number(value) }));
    /** @param {string} title @param {Node} node */
    const field = (title, node) => html('div', { class: 'race-field' },
      html('span', { class: 'race-label', 'aria-hidden': 'true' }, title), node);
    const picks = html('div', { class: 'race-picks' });
    const title = html('strong', { class: 'race-title' });
    const lanes = html('div', { class: 'race-lanes' });
    const head = html('div', {
      class: 'race-head', role: 'slider', tabindex: 0, 'aria-label': '时刻',
      'aria-orientation': 'horizontal', 'aria-valuemin': 0,
    });
    const buttons = {
      first: iconButton('race-first', 'first', '回到开头', () => this.#do((c) => c.seekStop(0))),
      back: iconButton('race-back', 'back', '退回上一个轮末', () => this.#do((c) => c.previous())),
      play: iconButton('race-play', 'play', '播放', () => this.#do((c) => (
        c.playing ? c.seek(c.time) : c.play()))),
      forward: iconButton('race-forward', 'forward', '前进到下一个轮末',
        () => this.#do((c) => c.next())),
      last: iconButton('race-last', 'last', '跳到结尾', () => this.#do((c) => c.seek(c.end))),
    };
    buttons.play.append(iconNode('pause'));
    const now = html('span', { class: 'race-time' });
    const ordered = html('p', { class: 'race-order' });
    const standing = html('p', { class: 'race-standing' });
    const plot = svg('svg', { class: 'race-svg', role: 'img', 'aria-label': '' });
    const handle = html('div', {
      class: 'race-handle', role: 'slider', tabindex: 0, 'aria-label': QUANTITIES.bytes.title,
      'aria-orientation': 'horizontal', 'aria-valuemin': 0, 'aria-valuemax': positions('bytes'),
    });
    const plotBox = html('div', { class: 'race-plot' }, plot, handle);
    const crossings = html('ul', { class: 'race-crossings' });
    const fields = this.#quantityFields();
    const preset = selectBox('预设', (slug) => {
      const machine = bySlug(MACHINES, slug);
      if (!machine) return;
      this.#set({ alpha: machine.microseconds / 1e6, bandwidth: machine.gigabytes * 1e9 });
    });
    const source = html('p', { class: 'race-source' });
    // Wider than a phone, so it scrolls, and what scrolls can be reached by keyboard.
    const tables = html('div', {
      class: 'race-tables', role: 'group', tabindex: 0, 'aria-label': '表格',
    });
    const problem = html('p', { class: 'race-problem', role: 'alert', hidden: true });
    const body = html('div', { class: 'race-body' },
      html('div', { class: 'race-track-box' }, lanes, head),
      html('div', { class: 'race-transport', role: 'group', 'aria-label': '播放' },
        ...Object.values(buttons), now),
      html('div', { class: 'race-words', 'aria-live': 'polite' }, ordered, standing),
      plotBox, crossings,
      html('div', { class: 'race-machine', role: 'group', 'aria-label': '机器和数据量' },
        ...Object.values(fields).map(({ node }) => node),
        field('预设', preset.node)),
      source,
      html('p', { class: 'race-note' }, '一轮的用时 = α + 最忙端口收发的字节 ÷ 带宽，'
        + '轮数和字节都从日程数出来；只在本地搬数据不花时间。'
        + '不计归约 γ、链路拥塞和启动内核的时间。'),
      html('details', { class: 'race-details' },
        html('summary', {}, '用表格看'), tables));
    const ruler = html('div', { 'aria-hidden': 'true' });
    const node = html('section', { class: 'race', 'aria-label': '算法比较' }, ruler,
      html('div', { class: 'race-bar' }, title,
        field('通信原语', primitive.node), field('GPU 数', ranks.node)),
      html('fieldset', { class: 'race-fieldset' },
        html('legend', {}, `比哪几个算法（${FEWEST} 到 ${MOST} 个）`), picks),
      problem, body);
    const parts = {
      primitive: primitive.select, ranks: ranks.select, picks, title, lanes, head, buttons, now,
      ordered, standing, plot, handle, plotBox, crossings, fields, preset: preset.select, source,
      tables, problem, body, ruler,
    };
    return { node, parts };
  }

  /** A slider and a text field for each quantity. */
  #quantityFields() {
    const make = (/** @type {Quantity} */ quantity) => {
      const { title } = QUANTITIES[quantity];
      const range = html('input', {
        type: 'range', class: 'race-range', min: 0, max: positions(quantity), step: 1,
        'aria-label': `${title}，滑块`,
      });
      range.addEventListener('input', () => {
        this.#set({ [quantity]: valueAt(quantity, Number(range.value)) });
      });
      const text = html('input', {
        type: 'text', class: 'race-text', 'aria-label': title, autocomplete: 'off',
        spellcheck: 'false', enterkeyhint: 'done', maxlength: 40,
      });
      text.addEventListener('change', () => {
        const value = parseQuantity(quantity, text.value, this.#machine[quantity]);
        this.#set(value === null ? {} : { [quantity]: value });
        this.#showMachine();
      });
      text.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') text.dispatchEvent(new Event('change'));
      });
      return {
        node: html('div', { class: 'race-quantity' },
          html('span', { class: 'race-label', 'aria-hidden': 'true' }, title),
          html('span', { class: 'race-pair' }, range, text)),
        range, text,
      };
    };
    return { bytes: make('bytes'), alpha: make('alpha'), bandwidth: make('bandwidth') };
  }

  #listen() {
    const { signal } = this;
    const { head, handle, plotBox } = this.parts;
    // Whoever holds this race has keys of its own; they are not meant while one is in here.
    this.node.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') event.stopPropagation();
    }, { signal });
    document.addEventListener('visibilitychange', () => this.#wake(), { signal });
    this.#still.addEventListener('change', () => this.#draw(), { signal });
    const seen = new IntersectionObserver((entries) => {
      this.#inView = entries[entries.length - 1].isIntersecting;
      this.#wake();
    });
    seen.observe(this.node);
    const sized = new ResizeObserver(() => {
      if (this.node.clientWidth === this.#width) return;
      // Not here: what is drawn has another height, which the observer would hear of at once.
      cancelAnimationFrame(this.#fitting);
      this.#fitting = requestAnimationFrame(() => this.#redraw());
    });
    // Not the whole: its height follows from the width, and so it would be told of its own change.
    sized.observe(this.parts.ruler);
    signal.addEventListener('abort', () => {
      seen.disconnect();
      sized.disconnect();
      this.#loading?.abort();
      clearTimeout(this.#settling);
      cancelAnimationFrame(this.#fitting);
      this.#clock.playing = false;
      this.#wake();
    }, { once: true });

    this.#drag(/** @type {HTMLElement} */ (head.parentElement), (event) => {
      const { left, width: room } = this.#track();
      this.#do((clock) => clock.seek(((event.clientX - left) / (room || 1)) * clock.end), true);
    }, head);
    this.#drag(plotBox, (event) => {
      const { left, width: room } = plotBox.getBoundingClientRect();
      const part = (event.clientX - left - PLOT.left) / (room - PLOT.left - PLOT.right || 1);
      this.#set({ bytes: valueAt('bytes', Math.round(part * positions('bytes'))) });
    }, handle);
    head.addEventListener('keydown', (event) => this.#onKey(event, {
      ArrowLeft: () => this.#do((c) => c.previous()),
      ArrowDown: () => this.#do((c) => c.previous()),
      ArrowRight: () => this.#do((c) => c.next()),
      ArrowUp: () => this.#do((c) => c.next()),
      Home: () => this.#do((c) => c.seekStop(0)), End: () => this.#do((c) => c.seek(c.end)),
      ' ': () => this.#do((c) => (c.playing ? c.seek(c.time) : c.play())),
    }), { signal });
    const move = (/** @type {number} */ by) => () => {
      const position = positionOf('bytes', this.#machine.bytes) + by;
      this.#set({ bytes: valueAt('bytes', Math.min(positions('bytes'), Math.max(0, position))) });
    };
    handle.addEventListener('keydown', (event) => this.#onKey(event, {
      ArrowLeft: move(-1), ArrowDown: move(-1), ArrowRight: move(1), ArrowUp: move(1),
      PageDown: move(-PAGE), PageUp: move(PAGE), Home: move(-Infinity), End: move(Infinity),
    }), { signal });
  }

  /** @param {KeyboardEvent} event @param {Record<string, () => void>} keys */
  #onKey(event, keys) {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }

  /**
   * Follow a pointer that is pressed on a node, from the press on.
   * @param {HTMLElement} node @param {(event: PointerEvent) => void} move
   * @param {HTMLElement} focus  what the keys should work on afterwards
   */
  #drag(node, move, focus) {
    const { signal } = this;
    let pressed = false;
    // A finger that comes down may be about to scroll: it counts once it moves sideways or leaves.
    let waiting = false;
    node.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      pressed = true;
      waiting = event.pointerType === 'touch';
      node.setPointerCapture(event.pointerId);
      event.preventDefault();
      focus.focus({ preventScroll: true });
      if (!waiting) move(event);
    }, { signal });
    node.addEventListener('pointermove', (event) => {
      if (!pressed) return;
      waiting = false;
      move(event);
    }, { signal });
    node.addEventListener('pointerup', (event) => {
      if (pressed && waiting) move(event);
      pressed = false;
    }, { signal });
    node.addEventListener('pointercancel', () => {
      pressed = false;
    }, { signal });
  }

  /** Where the tracks lie on the screen. */
  #track() {
    const track = this.parts.lanes.querySelector('.race-track');
    return (track ?? this.parts.lanes).getBoundingClientRect();
  }

  // ------------------------------------------------------------------------------------- loading

  /** Load the schedules that race now; the old picture stays until the new ones are there. */
  async #load() {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    this.#showChoice();
    this.#showMachine();
    const [primitive, ranks] = [this.#primitive, this.#ranks];
    const known = candidates(primitive, ranks);
    try {
      const lanes = await Promise.all(this.#lineUp().map(async (slug) => {
        const file = new URL(raceFile(primitive, ranks, slug), this.catalog.url);
        const schedule = await loadSchedule(file, loading.signal);
        return laneOf(schedule, known.find((candidate) => candidate.slug === slug)
          ?? { slug, name: slug, english: '' });
      }));
      if (loading.signal.aborted) return;
      this.#start(lanes);
    } catch (error) {
      if (loading.signal.aborted) return;
      loading.abort();
      if (!(error instanceof ScheduleError)) console.error(error);
      this.#fail(error instanceof ScheduleError ? error.message : '比较的程序出错。');
    }
  }

  /** @param {string} sentence */
  #fail(sentence) {
    this.#clock.playing = false;
    this.#wake();
    this.#lanes = [];
    const { problem, body } = this.parts;
    problem.textContent = `现在不能比较。${sentence}`;
    problem.hidden = false;
    body.hidden = true;
    this.loaded(false);
  }

  /** @param {Lane[]} lanes */
  #start(lanes) {
    const { problem, body, lanes: box } = this.parts;
    problem.hidden = true;
    body.hidden = false;
    this.#lanes = lanes;
    this.#clock = new RaceClock();
    this.#rows = lanes.map((lane, i) => {
      const rest = svg('path', { class: 'race-rest' });
      const done = svg('path', { class: 'race-done' });
      const time = html('strong', { class: 'race-finish' });
      const round = html('span', { class: 'race-round' });
      const row = html('div', { class: `race-lane race-lane-${i}` },
        html('div', { class: 'race-name' },
          html('span', { class: 'race-letter', 'aria-hidden': 'true' }, LETTERS[i]),
          html('span', { class: 'race-zh' }, lane.name), ' ',
          html('span', { class: 'race-en' }, lane.english)),
        html('div', { class: 'race-track', 'aria-hidden': 'true' },
          svg('svg', { class: 'race-bars' }, rest),
          svg('svg', { class: 'race-bars race-bars-done' }, done)),
        html('div', { class: 'race-result' }, time, round));
      return { ends: [], rest, done, time, round, row };
    });
    box.replaceChildren(...this.#rows.map(({ row }) => row));
    this.loaded(true);
    this.#redraw();
    this.#clock.seekStop(this.#opening);
    this.#opening = 0;
    this.#arrived = this.#arrivals();
    this.#draw();
    this.#settle();
    if (this.#begun) this.changed(this.state);
    this.#begun = true;
  }

  // -------------------------------------------------------------------------------------- acting

  /**
   * Change the machine or M.
   * @param {Partial<Machine>} change
   */
  #set(change) {
    Object.assign(this.#machine, change);
    this.#showMachine();
    this.#redraw();
    this.#settleSoon();
    if (this.#lanes.length) this.changed(this.state);
  }

  /**
   * Do something with the clock.
   * @param {(clock: RaceClock) => void} act @param {boolean} [dragging]
   */
  #do(act, dragging = false) {
    if (!this.#lanes.length) return;
    act(this.#clock);
    this.#arrived = this.#arrivals();
    this.#draw();
    this.#wake();
    if (dragging) this.#settleSoon();
    else this.#settle();
    this.changed(this.state);
  }

  /** How many lanes have arrived. */
  #arrivals() {
    return this.#lanes.filter((lane, i) => (
      roundsDone(this.#rows[i].ends, this.#clock.time) === roundsOf(lane))).length;
  }

  /** Frames are asked for only while there is something to move and someone to see it. */
  #wake() {
    const run = this.#clock.playing && this.#inView && !document.hidden && !this.signal.aborted;
    if (run && !this.#frame) {
      this.#lastTime = performance.now();
      this.#frame = requestAnimationFrame((now) => this.#tick(now));
    } else if (!run && this.#frame) {
      cancelAnimationFrame(this.#frame);
      this.#frame = 0;
    }
  }

  /** @param {number} now */
  #tick(now) {
    this.#frame = 0;
    this.#clock.advance(Math.max(0, now - this.#lastTime) / 1000);
    this.#lastTime = now;
    this.#draw();
    const arrived = this.#arrivals();
    if (arrived !== this.#arrived || !this.#clock.playing) {
      this.#arrived = arrived;
      this.#say();
      this.changed(this.state);
    }
    if (this.#clock.playing) this.#frame = requestAnimationFrame((next) => this.#tick(next));
  }

  // -------------------------------------------------------------------------------------- showing

  /** What can be chosen beside the present choice; what cannot is there with its reason. */
  #showChoice() {
    const { primitive, ranks, picks, title } = this.parts;
    const { entries } = this.catalog;
    const chosen = this.#lineUp();
    setOptions(primitive, entries.map((p) => ({ value: p.slug, text: p.title })),
      this.#primitive.slug);
    setOptions(ranks, ranksOf(this.#primitive).map((n) => (
      { value: String(n), text: String(n) })), String(this.#ranks));
    setText(title, `${this.#ranks} 个 GPU 上的 ${this.#primitive.title}`);
    const all = candidates(this.#primitive, this.#ranks);
    const slugs = all.map(({ slug }) => slug).join();
    // The boxes of a primitive stay, so that they keep the focus.
    if (picks.dataset.slugs !== slugs) {
      picks.dataset.slugs = slugs;
      picks.replaceChildren(...all.map(({ slug, name }) => {
        const box = html('input', { type: 'checkbox', value: slug });
        box.addEventListener('change', () => this.#pick(slug, box.checked));
        return html('label', { class: 'race-pick' }, box,
          html('span', {}, name), html('span', { class: 'race-reason' }));
      }));
    }
    [...picks.children].forEach((label, i) => {
      const { slug, off } = all[i];
      const box = /** @type {HTMLInputElement} */ (label.querySelector('input'));
      const full = chosen.length >= MOST && !chosen.includes(slug);
      const few = chosen.length <= FEWEST && chosen.includes(slug);
      box.checked = chosen.includes(slug);
      box.disabled = off !== '';
      label.classList.toggle('race-off', off !== '' || full);
      setText(/** @type {Element} */ (label.querySelector('.race-reason')),
        off || (full ? `最多 ${MOST} 个` : few ? `至少 ${FEWEST} 个` : ''));
    });
  }

  /** @param {string} slug @param {boolean} on */
  #pick(slug, on) {
    const chosen = this.#lineUp();
    const next = on ? [...chosen, slug] : chosen.filter((other) => other !== slug);
    if (next.length > MOST || next.length < FEWEST) {
      this.#showChoice();
      return;
    }
    this.show({ algorithms: next });
  }

  #showMachine() {
    const { fields, handle, preset, source } = this.parts;
    for (const quantity of /** @type {Quantity[]} */ (Object.keys(fields))) {
      const { range, text } = fields[quantity];
      const value = this.#machine[quantity];
      const said = quantityText(quantity, value);
      const position = String(positionOf(quantity, value));
      if (range.value !== position) range.value = position;
      range.setAttribute('aria-valuetext', said);
      if (text.value !== said) text.value = said;
    }
    handle.setAttribute('aria-valuenow', String(positionOf('bytes', this.#machine.bytes)));
    handle.setAttribute('aria-valuetext', quantityText('bytes', this.#machine.bytes));
    const { alpha, bandwidth } = this.#machine;
    const found = MACHINES.find(({ microseconds, gigabytes }) => (
      same(microseconds / 1e6, alpha) && same(gigabytes * 1e9, bandwidth)));
    if (preset.value !== (found?.slug ?? '') || !preset.options.length) {
      setOptions(preset, [
        ...MACHINES.map(({ slug, title }) => ({ value: slug, text: title })),
        { value: '', text: '自己定', off: true },
      ], found?.slug ?? '');
    }
    const slug = found?.slug ?? '';
    if (source.dataset.machine !== slug) {
      source.dataset.machine = slug;
      source.replaceChildren(found ? found.about : 'α 和带宽是自己定的。');
      found?.sources.forEach(({ text, url }, i) => {
        source.append(i ? '；' : ' 来源：', html('a', { href: url }, text));
      });
      if (found?.sources.length) source.append('。');
    }
  }

  /** Everything that depends on the lengths: bars and plot. */
  #redraw() {
    if (!this.#lanes.length) return;
    this.#width = this.node.clientWidth;
    this.#clock.setStops(stops(this.#lanes, this.#machine));
    const { left, width } = this.#track();
    const { end } = this.#clock;
    const box = /** @type {HTMLElement} */ (this.parts.head.parentElement);
    box.style.setProperty('--race-left', `${left - box.getBoundingClientRect().left}px`);
    box.style.setProperty('--race-width', `${width}px`);
    this.#lanes.forEach((lane, i) => {
      const row = this.#rows[i];
      row.ends = roundEnds(lane, this.#machine);
      setText(row.time, timeText(finishOf(lane, this.#machine)));
      const shape = bars(row.ends, end, width);
      row.rest.setAttribute('d', shape);
      row.done.setAttribute('d', shape);
    });
    const { head } = this.parts;
    head.setAttribute('aria-valuemax', String(this.#clock.stops.length - 1));
    this.#plot();
    this.#draw();
  }

  /** Everything that depends on the time. */
  #draw() {
    if (!this.#lanes.length) return;
    const { head, now, buttons } = this.parts;
    const clock = this.#clock;
    const time = this.#still.matches && clock.playing ? clock.stops[clock.passed] : clock.time;
    const part = clock.end ? time / clock.end : 0;
    head.parentElement?.style.setProperty('--race-part', part.toFixed(5));
    setText(now, `${timeText(time)} / ${timeText(clock.end)}`);
    const value = String(clock.passed);
    if (head.getAttribute('aria-valuenow') !== value) head.setAttribute('aria-valuenow', value);
    head.setAttribute('aria-valuetext', timeText(time));
    this.#lanes.forEach((lane, i) => {
      const { ends, round, row } = this.#rows[i];
      const done = roundsDone(ends, time);
      const arrived = done === roundsOf(lane);
      setText(round, arrived ? `到了，${done} 轮`
        : `第 ${Math.min(done + 1, roundsOf(lane))} / ${roundsOf(lane)} 轮`);
      row.classList.toggle('race-arrived', arrived);
    });
    buttons.play.classList.toggle('race-playing', clock.playing);
    const label = clock.playing ? '暂停' : '播放';
    if (buttons.play.title !== label) {
      buttons.play.title = label;
      buttons.play.setAttribute('aria-label', label);
    }
    for (const button of [buttons.first, buttons.back]) setAvailable(button, clock.time > 0);
    for (const button of [buttons.forward, buttons.last]) {
      setAvailable(button, clock.time < clock.end);
    }
  }

  #settleSoon() {
    clearTimeout(this.#settling);
    this.#settling = window.setTimeout(() => this.#settle(), SETTLE);
  }

  /** Words and tables of the present state. */
  #settle() {
    clearTimeout(this.#settling);
    this.#settling = 0;
    if (!this.#lanes.length) return;
    this.#say();
    const { crossings } = this.parts;
    crossings.replaceChildren(...crossingSentences(this.#lanes, this.#machine)
      .map((sentence) => html('li', {}, sentence)));
    this.#showTables();
  }

  #say() {
    const { ordered, standing } = this.parts;
    setText(ordered, orderSentence(this.#lanes, this.#machine, this.#ranks));
    setText(standing, stateSentence(this.#lanes, this.#machine, this.#clock.time));
  }

  #showTables() {
    const lanes = this.#lanes;
    const machine = this.#machine;
    const places = new Map(order(lanes, machine).map(({ lane, place }) => [lane, place]));
    const sizes = [];
    for (let { least } = QUANTITIES.bytes; least <= QUANTITIES.bytes.most * 1.01; least *= 10) {
      sizes.push(least);
    }
    this.parts.tables.replaceChildren(
      table(`${sizeText(machine.bytes)} 时的用时和名次`,
        ['算法', '轮数', '收发量（各轮最忙端口之和）', '用时', '名次'],
        lanes.map((lane, i) => [lettered(lane, i), String(roundsOf(lane)),
          shareText(portOf(lane)), timeText(finishOf(lane, machine)), String(places.get(lane))])),
      table('每一轮的用时', ['算法', '轮', '最忙端口的收发量', '每轮用时'],
        lanes.flatMap((lane, i) => roundRuns(lane, machine).map((run) => [
          lettered(lane, i),
          run.first === run.last ? `第 ${run.first} 轮` : `第 ${run.first} 到 ${run.last} 轮`,
          shareText(lowest(run.blocks, lane.blocks)), timeText(run.seconds)]))),
      table('用时随 M 的变化', ['M', ...lanes.map(lettered)],
        sizes.map((bytes) => [sizeText(bytes),
          ...lanes.map((lane) => timeText(finishOf(lane, { ...machine, bytes })))])));
  }

  /** Time against M, both logarithmic. */
  #plot() {
    const { plot, plotBox, handle } = this.parts;
    const lanes = this.#lanes;
    const machine = this.#machine;
    const width = Math.max(200, plotBox.clientWidth);
    const { height, left, right, top, bottom } = PLOT;
    const { least, most } = QUANTITIES.bytes;
    const at = (/** @type {Lane} */ lane, /** @type {number} */ bytes) =>
      finishOf(lane, { ...machine, bytes });
    const low = Math.floor(Math.log10(Math.min(...lanes.map((lane) => at(lane, least)))));
    const high = Math.ceil(Math.log10(Math.max(...lanes.map((lane) => at(lane, most)))));
    const x = (/** @type {number} */ bytes) => left
      + (Math.log10(bytes / least) / Math.log10(most / least)) * (width - left - right);
    const y = (/** @type {number} */ seconds) => top
      + ((high - Math.log10(seconds)) / (high - low)) * (height - top - bottom);
    const f = (/** @type {number} */ value) => value.toFixed(1);
    /** @type {Node[]} */
    const parts = [];
    const every = Math.ceil((high - low) / 6);
    for (let power = low; power <= high; power += every) {
      const line = f(y(10 ** power));
      parts.push(svg('path', { class: 'race-grid', d: `M${left} ${line}H${width - right}` }),
        svg('text', { x: left - 8, y: line, class: 'race-tick-y' }, timeText(10 ** power)));
    }
    const apart = width < 560 ? 2 : 1;
    for (let tick = 0, bytes = least; bytes <= most * 1.01; bytes *= 10, tick += 1) {
      const line = f(x(bytes));
      parts.push(svg('path', { class: 'race-grid', d: `M${line} ${top}V${height - bottom}` }));
      if (tick % apart === 0) {
        parts.push(svg('text', { x: line, y: height - 10, class: 'race-tick-x' },
          sizeText(bytes)));
      }
    }
    lanes.forEach((lane, i) => {
      const points = Array.from({ length: SAMPLES + 1 }, (_, k) => {
        const bytes = least * (most / least) ** (k / SAMPLES);
        return `${f(x(bytes))} ${f(y(at(lane, bytes)))}`;
      });
      parts.push(svg('path', { class: `race-line race-lane-${i}`, d: `M${points.join('L')}` }));
    });
    let lowest = -Infinity;
    lanes.map((lane, i) => ({ i, end: y(at(lane, most)) })).sort((a, b) => a.end - b.end)
      .forEach(({ i, end }) => {
        lowest = Math.max(end, lowest + 14);
        parts.push(svg('text', {
          x: width - right + 8, y: f(lowest), class: `race-line-letter race-lane-${i}`,
        }, LETTERS[i]));
      });
    const { crossings } = leaders(lanes);
    const now = x(machine.bytes);
    parts.push(svg('path', {
      class: 'race-now', d: `M${f(now)} ${top - 8}V${height - bottom}`,
    }), svg('circle', { class: 'race-now-dot', cx: f(now), cy: top - 12, r: 7 }),
    svg('text', {
      class: 'race-now-text', x: f(Math.min(width - 44, Math.max(left + 14, now))), y: 8,
    }, sizeText(machine.bytes)));
    for (const crossing of crossings) {
      const bytes = sizeAt(crossing, machine);
      if (bytes < least || bytes > most) continue;
      const [cx, cy] = [x(bytes), y(at(crossing.after[0], bytes))];
      parts.push(svg('circle', { class: 'race-crossing', cx: f(cx), cy: f(cy), r: 5 }),
        svg('text', {
          class: `race-crossing-text${cx > width * 0.6 ? ' race-leftward' : ''}`,
          x: f(cx + (cx > width * 0.6 ? -9 : 9)), y: f(Math.min(cy + 16, height - bottom - 6)),
        }, sizeText(bytes)));
    }
    plot.setAttribute('width', String(width));
    plot.setAttribute('height', String(height));
    plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    plot.setAttribute('aria-label', '用时随数据量 M 的变化，两轴都是对数；数值见「用表格看」');
    plot.replaceChildren(...parts);
    handle.style.left = `${f(now)}px`;
  }
}

/**
 * The bars of a lane as one path in a box of `width` x 28 pixels: a rectangle for each round.
 * @param {number[]} ends @param {number} end  of the slowest lane @param {number} width
 */
function bars(ends, end, width) {
  const scale = end ? width / end : 0;
  return ends.slice(1).map((stop, i) => {
    const [from, to] = [ends[i] * scale, stop * scale];
    const gap = to - from > 8 ? 2 : to - from > 3 ? 1 : 0;
    return `M${from.toFixed(2)} 0h${Math.max(0.3, to - from - gap).toFixed(2)}v28H${
      from.toFixed(2)}z`;
  }).join('');
}
