/**
 * <collective-player src controls round>: plays a schedule. It lives in the light DOM, upgrades
 * wherever it appears, and touches nothing outside itself but the address.
 * The page docs/reference/player.md describes attributes, properties, methods and events.
 *
 * @typedef {import('./catalog.js').Choice} Choice
 * @typedef {import('./catalog.js').PrimitiveEntry} PrimitiveEntry
 * @typedef {import('./catalog.js').Wish} Wish
 * @typedef {import('./replay.js').State} State
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./numbers.js').Op} Op
 * @typedef {object} Shown  everything that belongs to the schedule on the stage
 * @property {Schedule} schedule
 * @property {State[]} states
 * @property {State} goal
 * @property {import('./cost.js').Spent[]} spent
 * @property {Op} op
 */
import { formatAddress, parseAddress } from './address.js';
import { choose } from './catalog.js';
import { Clock, SPEEDS } from './clock.js';
import { Controls, fromMarkup, iconButton, selectBox, setAvailable, setOptions } from './controls.js';
import { spending } from './cost.js';
import { html, svg } from './dom.js';
import { Picture } from './draw.js';
import { loadCatalog, loadSchedule } from './files.js';
import { icon } from './icons.js';
import { layOut } from './layout.js';
import { longestNumber } from './numbers.js';
import { endState, replay } from './replay.js';
import { ScheduleError, relabelRoot } from './schedule.js';
import { captionLines, captionOf, ledger, legendOf, pictureLabel } from './text.js';
import { Timeline } from './timeline.js';

/** Browsers refuse an address that changes more often than about three times a second. */
const ADDRESS_PAUSE = 400;

const KEYS = [
  ['空格', '播放或暂停'], ['← →', '后退一轮，前进一轮'], ['Home End', '回到开头，跳到结尾'],
  ['+ −', '加快，放慢'], ['?', '打开这张表'], ['Esc', '关闭这张表'],
];

class CollectivePlayer extends HTMLElement {
  static observedAttributes = ['src', 'controls', 'round'];

  /** @type {Shown | null} */
  #shown = null;
  /** @type {Choice | null} */
  #choice = null;
  /** @type {PrimitiveEntry[] | null} */
  #catalog = null;
  #clock = new Clock([]);
  /** @type {Picture | null} */
  #picture = null;
  /** @type {ReturnType<CollectivePlayer['build']> | null} */
  #ui = null;
  /** Ends everything that a stay in the document has started. @type {AbortController | null} */
  #stay = null;
  /** @type {AbortController | null} */
  #loading = null;
  #frame = 0;
  #lastTime = 0;
  #inView = true;
  #width = 0;
  #described = '';
  #announced = -1;
  #notice = '';
  #addressTimer = 0;
  #still = matchMedia('(prefers-reduced-motion: reduce)');

  /** Number of steps. */
  get rounds() {
    return this.#clock.steps;
  }

  /** Completed steps. */
  get round() {
    return this.#clock.round;
  }

  set round(value) {
    const round = Math.trunc(Number(value));
    if (Number.isFinite(round)) this.#do(() => this.#clock.seek(round));
  }

  get playing() {
    return this.#clock.playing;
  }

  play() {
    this.#do(() => this.#clock.play());
  }

  pause() {
    this.#do(() => this.#clock.pause());
  }

  /**
   * What every rank holds after some steps; a copy.
   * @param {number} round
   * @returns {State}
   */
  stateAt(round) {
    if (!this.#shown) return [];
    const { states } = this.#shown;
    const index = Math.min(states.length - 1, Math.max(0, Math.trunc(Number(round)) || 0));
    return structuredClone(states[index]);
  }

  connectedCallback() {
    // A copy of an upgraded player brings the drawn parts along without what makes them work.
    for (const copy of this.querySelectorAll(':scope > .cp')) {
      if (copy !== this.#ui?.node) copy.remove();
    }
    this.#stay = new AbortController();
    const { signal } = this.#stay;
    document.addEventListener('visibilitychange', () => this.#wake(), { signal });
    addEventListener('hashchange', () => this.#followAddress(), { signal });
    this.#still.addEventListener('change', () => this.#draw(), { signal });
    const ui = this.#ui ??= this.build();
    this.append(ui.node);
    const seen = new IntersectionObserver(([entry]) => {
      this.#inView = entry.isIntersecting;
      this.#wake();
    });
    seen.observe(this);
    const sized = new ResizeObserver(() => this.#fit());
    sized.observe(ui.stage);
    signal.addEventListener('abort', () => {
      seen.disconnect();
      sized.disconnect();
    });
    if (this.#shown) this.#fit(true);
    else this.#begin();
  }

  disconnectedCallback() {
    this.#stay?.abort();
    this.#loading?.abort();
    clearTimeout(this.#addressTimer);
    this.#addressTimer = 0;
    this.#clock.pause();
    this.#wake();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.#ui || !this.isConnected) return;
    if (name === 'round') {
      this.round = Number(now);
      return;
    }
    const ui = this.build();
    this.#ui.node.replaceWith(ui.node);
    this.#ui = ui;
    this.#picture = null;
    this.disconnectedCallback();
    this.connectedCallback();
    if (name === 'src') this.#begin();
  }

  /** @returns {string[]} */
  get #wanted() {
    return (this.getAttribute('controls') ?? '').split(/\s+/).filter(Boolean);
  }

  /** Whether the address is this player's: it is the first on the page that offers choices. */
  get #ownsAddress() {
    return document.querySelector('collective-player[controls]') === this;
  }

  /** Make the parts of the player. They are filled by #show() and #draw(). */
  build() {
    const controls = this.#wanted.length
      ? new Controls(this.#wanted, (wish) => this.#wishFor(wish)) : null;
    const picture = svg('svg', { class: 'cp-svg', role: 'img', 'aria-label': '' });
    const stage = html('div', { class: 'cp-stage' });
    stage.append(picture);
    const legend = html('div', { class: 'cp-legend' });
    const title = html('strong', { class: 'cp-title' });
    const words = html('span', { class: 'cp-words' });
    const example = html('p', { class: 'cp-example' });
    const caption = html('div', { class: 'cp-caption', 'aria-live': 'polite', 'aria-atomic': 'true' },
      html('p', { class: 'cp-sentence' }, title, ' ', words), example);
    const timeline = new Timeline({
      scrub: (position) => this.#do(() => this.#clock.seek(
        this.#still.matches ? Math.round(position) : position)),
      pick: (step) => this.#do(() => this.#clock.seek(step)),
    });
    const on = (/** @type {() => void} */ change) => () => this.#do(change);
    const buttons = {
      first: iconButton('cp-first', 'first', '回到开头', on(() => this.#clock.seek(0))),
      back: iconButton('cp-back', 'back', '后退一轮', on(() => this.#clock.back())),
      play: iconButton('cp-play', 'play', '播放', () => (this.playing ? this.pause() : this.play())),
      forward: iconButton('cp-forward', 'forward', '前进一轮', on(() => this.#forward())),
      last: iconButton('cp-last', 'last', '跳到结尾', on(() => this.#clock.seek(this.rounds))),
      loop: iconButton('cp-loop', 'loop', '循环播放', () => this.#toggleLoop()),
      help: iconButton('cp-help-button', 'help', '快捷键', () => help.showModal()),
    };
    buttons.play.append(fromMarkup(icon('pause')));
    buttons.loop.setAttribute('aria-pressed', 'false');
    const speed = selectBox('速度', (value) => this.#setSpeed(Number(value)));
    speed.node.classList.add('cp-speed');
    setOptions(speed.select, SPEEDS.map((s) => ({ value: String(s), text: `${s}×` })), '1');
    const help = this.#buildHelp();
    const figures = html('div', { class: 'cp-ledger' });
    const problem = html('p', { class: 'cp-problem', role: 'alert', hidden: true });
    const node = html('div', { class: 'cp', tabindex: -1 });
    if (controls) node.append(controls.node);
    node.append(problem, stage, legend, caption,
      html('div', { class: 'cp-transport', role: 'group', 'aria-label': '播放' },
        html('div', { class: 'cp-buttons' },
          buttons.first, buttons.back, buttons.play, buttons.forward, buttons.last),
        timeline.node,
        html('div', { class: 'cp-extras' }, speed.node, buttons.loop, buttons.help)),
      figures, help);
    node.addEventListener('keydown', (event) => this.#onKey(event));
    return {
      node, controls, stage, picture, legend, title, words, example, caption, timeline, buttons,
      speed: speed.select, help, figures, problem,
    };
  }

  #buildHelp() {
    const close = iconButton('cp-close', 'close', '关闭', () => help.close());
    const help = html('dialog', { class: 'cp-help', 'aria-label': '快捷键' },
      html('div', { class: 'cp-help-head' }, html('strong', {}, '快捷键'), close),
      html('ul', { class: 'cp-keys' }, ...KEYS.map(([keys, what]) => html('li', {},
        html('span', { class: 'cp-key-list' },
          ...keys.split(' ').map((key) => html('kbd', { class: 'cp-key' }, key))),
        html('span', {}, what)))));
    help.addEventListener('click', (event) => {
      if (event.target === help) help.close();
    });
    // Its keys are its own: Escape closes it, and nothing steps behind it.
    help.addEventListener('keydown', (event) => event.stopPropagation());
    return help;
  }

  /** First load: what the address wishes for, else `src`. */
  async #begin() {
    this.#shown = null;
    const src = this.getAttribute('src');
    if (!src) {
      this.#fail('没有写 src，不知道播放哪个日程。');
      return;
    }
    let file;
    try {
      file = new URL(src, document.baseURI);
    } catch {
      this.#fail('src 不是一个地址。');
      return;
    }
    const wish = this.#ownsAddress ? parseAddress(location.hash) : null;
    const catalog = this.#ui?.controls ? this.#readCatalog(new URL('../../catalog.json', file)) : null;
    const round = Number(wish?.round ?? this.getAttribute('round')) || 0;
    if (wish && await catalog) {
      const [, primitive = '', algorithm = '', n = '4'] = /([^/]+)\/([^/]+)\/n(\d+)\.json$/
        .exec(file.pathname) ?? [];
      await this.#choose(wish, { primitive, algorithm, ranks: Number(n), root: 0, op: 'sum' }, round);
    } else {
      await this.#load(file, null, round, '');
    }
    await catalog;
  }

  /** @param {URL} url */
  async #readCatalog(url) {
    const signal = this.#stay?.signal;
    try {
      const catalog = await loadCatalog(url);
      if (signal?.aborted) return null;
      this.#catalog = catalog;
      this.#catalogUrl = url;
      this.#showControls();
      return catalog;
    } catch (error) {
      if (!signal?.aborted && this.#ui?.controls) {
        this.#ui.controls.node.replaceChildren(html('span', { class: 'cp-label' },
          `${this.#sentence(error)}现在只能看这一个日程。`));
      }
      return null;
    }
  }

  /** @type {URL | null} */
  #catalogUrl = null;

  /**
   * @param {Wish} wish @param {Choice} before @param {number} round
   */
  async #choose(wish, before, round) {
    if (!this.#catalog || !this.#catalogUrl) return;
    const { file, notice, ...choice } = choose(this.#catalog, wish, before);
    await this.#load(new URL(file, this.#catalogUrl), choice, round, notice);
  }

  /** @param {Wish} wish  of the reader, by a control */
  async #wishFor(wish) {
    if (!this.#choice || !this.#catalog) return;
    const before = this.#wished ?? this.#choice;
    const same = Object.keys(wish).every((key) => key === 'root' || key === 'op');
    this.#wished = choose(this.#catalog, wish, before);
    await this.#choose(wish, before, same ? this.round : 0);
    this.#writeAddress();
  }

  /** The newest choice, while its file is still on the way. @type {Choice | null} */
  #wished = null;

  /**
   * Load a schedule and show it. The old picture stays until the new one is ready; when two loads
   * overlap, the last one wins.
   * @param {URL} file @param {Choice | null} choice  null: what the file itself is
   * @param {number} round @param {string} notice
   */
  async #load(file, choice, round, notice) {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    try {
      let schedule = await loadSchedule(file, loading.signal);
      if (loading.signal.aborted) return;
      replay(schedule);
      if (choice && schedule.root !== null) schedule = relabelRoot(schedule, choice.root);
      this.#show(schedule, choice, round, notice);
    } catch (error) {
      if (!loading.signal.aborted) this.#fail(this.#sentence(error));
    } finally {
      if (this.#loading === loading) this.#wished = null;
    }
  }

  /** @param {unknown} error */
  #sentence(error) {
    if (error instanceof ScheduleError) return error.message;
    console.error(error);
    return '播放器内部出错，这个日程没有画出来。';
  }

  /** @param {string} sentence */
  #fail(sentence) {
    const ui = this.#ui;
    if (!ui) return;
    this.#clock.pause();
    this.#wake();
    this.#shown = null;
    this.#picture = null;
    this.#clock = new Clock([]);
    ui.problem.textContent = `这个日程不能播放。${sentence}`;
    ui.problem.hidden = false;
    ui.node.classList.add('cp-failed');
    this.toggleAttribute('failed', true);
  }

  /**
   * @param {Schedule} schedule @param {Choice | null} choice
   * @param {number} round @param {string} notice
   */
  #show(schedule, choice, round, notice) {
    const ui = this.#ui;
    if (!ui) return;
    const { primitive, algorithm, ranks, root } = schedule;
    this.#choice = { primitive, algorithm, ranks, root: root ?? 0, op: choice?.op ?? 'sum' };
    this.#shown = {
      schedule, states: replay(schedule), goal: endState(schedule), spent: spending(schedule),
      op: this.#choice.op,
    };
    const { speed, loop } = this.#clock;
    this.#clock = Object.assign(new Clock(schedule.rounds.map((r) => r.local)), { speed, loop });
    this.#clock.seek(Math.trunc(round));
    this.#notice = notice;
    this.#announced = -1;
    this.#described = '';
    ui.problem.hidden = true;
    ui.node.classList.remove('cp-failed');
    this.removeAttribute('failed');
    ui.timeline.show(schedule);
    this.#showControls();
    this.#fit(true);
    this.#changed();
    this.setAttribute('ready', '');
  }

  #showControls() {
    const ui = this.#ui;
    if (ui?.controls && this.#catalog && this.#choice) {
      ui.controls.show(this.#catalog, this.#choice);
    }
  }

  /**
   * Lay the schedule out for the width there is.
   * @param {boolean} [anew]  even when the width is the same
   */
  #fit(anew = false) {
    const [ui, shown] = [this.#ui, this.#shown];
    if (!ui || !shown) return;
    const width = Math.floor(ui.stage.clientWidth);
    if (!width || (!anew && width === this.#width)) return;
    this.#width = width;
    const { schedule, states, op } = shown;
    ui.stage.style.minHeight = '';
    this.#explain('');
    this.#describe(this.#clock.round, ui, shown);
    const room = ui.caption.clientWidth;
    const { sentence, example } = captionLines(schedule, states, op, room);
    ui.caption.style.minHeight = `calc(${sentence} * var(--cp-sentence) + ${example} * var(--cp-example))`;
    const scene = layOut(schedule, {
      width, height: ui.stage.clientHeight, digits: longestNumber(schedule, states, op),
    });
    ui.stage.style.minHeight = `${scene.height}px`;
    if (!scene.density.name) this.#explain(scene.kind === 'list' ? '左到右' : '上到下');
    this.#picture = new Picture(ui.picture, shown, scene);
    ui.timeline.resize(ui.timeline.node.clientWidth);
    this.#described = '';
    this.#draw();
  }

  /** @param {'' | '上到下' | '左到右'} unnamed */
  #explain(unnamed) {
    const [ui, shown] = [this.#ui, this.#shown];
    if (!ui || !shown) return;
    ui.legend.replaceChildren(...legendOf(shown.schedule, unnamed).map(([kind, text]) => {
      const item = html('span', { class: 'cp-legend-item' }, text);
      if (kind) item.prepend(html('span', { class: `cp-swatch cp-swatch-${kind}`, 'aria-hidden': 'true' }));
      return item;
    }));
  }

  /**
   * Do something with the clock, then bring everything else up to date.
   * @param {() => void} change
   */
  #do(change) {
    if (!this.#shown) return;
    this.#notice = '';
    change();
    this.#changed();
    this.#writeAddress();
    this.#wake();
  }

  #forward() {
    if (this.#still.matches) {
      this.#clock.pause();
      this.#clock.seek(this.#clock.round + 1);
    } else {
      this.#clock.forward();
    }
  }

  #toggleLoop() {
    this.#clock.loop = !this.#clock.loop;
    this.#ui?.buttons.loop.setAttribute('aria-pressed', String(this.#clock.loop));
  }

  /** @param {number} speed */
  #setSpeed(speed) {
    if (!SPEEDS.includes(speed)) return;
    this.#clock.speed = speed;
    if (this.#ui) this.#ui.speed.value = String(speed);
  }

  /** Draw, and tell others when another step is complete. */
  #changed() {
    this.#draw();
    const { round, rounds } = this;
    if (round === this.#announced) return;
    this.#announced = round;
    this.dispatchEvent(new CustomEvent('roundchange', { bubbles: true, detail: { round, rounds } }));
  }

  /** The frame loop runs only while there is something to move and someone to see it. */
  #wake() {
    const run = this.#clock.moving && this.#inView && !document.hidden && this.isConnected;
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
    const before = this.#clock.moving;
    this.#clock.advance(Math.max(0, now - this.#lastTime) / 1000);
    this.#lastTime = now;
    const { round } = this;
    if (round !== this.#announced) this.#writeAddress();
    this.#changed();
    if (before && this.#clock.moving) {
      this.#frame = requestAnimationFrame((next) => this.#tick(next));
    }
  }

  /** Everything that depends on the position of the clock. */
  #draw() {
    const [ui, shown] = [this.#ui, this.#shown];
    if (!ui || !shown || !this.#picture) return;
    const position = this.#still.matches ? this.#clock.round : this.#clock.position;
    this.#picture.draw(position);
    ui.timeline.draw(position, Math.ceil(position));
    this.#describe(position, ui, shown);
  }

  /**
   * Words and figures; they change when another step begins.
   * @param {number} position
   * @param {ReturnType<CollectivePlayer['build']>} ui
   * @param {Shown} shown
   */
  #describe(position, ui, shown) {
    const clock = this.#clock;
    const step = Math.ceil(position);
    const key = `${step} ${position === step} ${clock.playing} ${this.#notice}`;
    if (key === this.#described) return;
    this.#described = key;
    const { schedule, states, spent, op } = shown;
    const caption = captionOf(schedule, states, step, op);
    for (const [node, text] of /** @type {[Element, string][]} */ ([
      [ui.title, caption.title], [ui.words, caption.caption],
      [ui.example, this.#notice || caption.example],
    ])) {
      if (node.textContent !== text) node.textContent = text;
    }
    ui.picture.setAttribute('aria-label', pictureLabel(schedule, states, clock.round));
    const figures = ledger(schedule, spent, step);
    if (ui.figures.childElementCount !== figures.length) {
      ui.figures.replaceChildren(...figures.map(() => html('div', { class: 'cp-figure' },
        html('span', { class: 'cp-label' }), html('span', { class: 'cp-number' }),
        html('span', { class: 'cp-note' }))));
    }
    figures.forEach((texts, i) => texts.forEach((text, j) => {
      const node = ui.figures.children[i].children[j];
      if (node.textContent !== text) node.textContent = text;
    }));
    const { buttons } = ui;
    const label = clock.playing ? '暂停' : '播放';
    buttons.play.setAttribute('aria-label', label);
    buttons.play.title = label;
    buttons.play.classList.toggle('cp-playing', clock.playing);
    setAvailable(buttons.first, position > 0);
    setAvailable(buttons.back, position > 0);
    setAvailable(buttons.forward, position < clock.steps);
    setAvailable(buttons.last, position < clock.steps);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#shown) return;
    const target = /** @type {Element} */ (event.target);
    const onSelect = target.closest('select') !== null;
    const { buttons } = /** @type {NonNullable<ReturnType<CollectivePlayer['build']>>} */ (this.#ui);
    const faster = (/** @type {number} */ by) => this.#setSpeed(
      SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.#clock.speed) + by))]);
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => buttons.back.click(),
      ArrowRight: () => buttons.forward.click(),
      Home: () => buttons.first.click(),
      End: () => buttons.last.click(),
      ' ': () => buttons.play.click(),
      '+': () => faster(1),
      '=': () => faster(1),
      '-': () => faster(-1),
      '?': () => buttons.help.click(),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    if (onSelect && !['+', '-', '?'].includes(event.key)) return;
    if (event.key === ' ' && target.closest('button')) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  #followAddress() {
    const wish = this.#ownsAddress ? parseAddress(location.hash) : null;
    if (!wish || !this.#choice || location.hash === this.#address()) return;
    this.#choose({ op: 'sum', root: 0, ...wish }, this.#choice, Number(wish.round) || 0);
  }

  #address() {
    return this.#choice ? formatAddress({ ...this.#choice, round: this.round }) : '';
  }

  /** Keep the address up to date: at once, then again after a pause if it has changed since. */
  #writeAddress() {
    if (!this.#ownsAddress || this.#addressTimer || !this.#shown) return;
    const write = () => {
      const address = this.#address();
      if (address && address !== location.hash) history.replaceState(history.state, '', address);
    };
    write();
    this.#addressTimer = window.setTimeout(() => {
      this.#addressTimer = 0;
      if (this.#shown && this.#ownsAddress) write();
    }, ADDRESS_PAUSE);
  }
}

if (!customElements.get('collective-player')) {
  customElements.define('collective-player', CollectivePlayer);
}
