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
 * @typedef {object} Shown  everything that belongs to the schedule on the stage
 * @property {Schedule} schedule
 * @property {State[]} states
 * @property {State} goal
 * @property {import('./cost.js').Spent[]} spent
 * @property {import('./numbers.js').Op} op
 */
import { formatAddress, parseAddress } from './address.js';
import { choose } from './catalog.js';
import { Clock, SPEEDS } from './clock.js';
import { Controls } from './controls.js';
import { spending } from './cost.js';
import { html } from './dom.js';
import { Picture, hasSlivers } from './draw.js';
import { loadCatalog, loadSchedule } from './files.js';
import { layOut } from './layout.js';
import { longestNumber } from './numbers.js';
import { endState, replay } from './replay.js';
import { ScheduleError, relabelRoot } from './schedule.js';
import { buildShell } from './shell.js';
import { captionLines, captionOf, ledger, legendOf, pictureLabel } from './text.js';
import { setAvailable } from './widgets.js';

/** Browsers refuse an address that changes more often than about three times a second. */
const ADDRESS_PAUSE = 400;

/** More ranks than this cannot be told apart on a screen. */
const MOST_RANKS = 64;

/** @param {Element} node @param {string} text */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

class CollectivePlayer extends HTMLElement {
  static observedAttributes = ['src', 'controls', 'round'];

  /** @type {Shown | null} */
  #shown = null;
  /** What is on the stage, or failed to be. @type {Choice | null} */
  #choice = null;
  /** What was chosen last, while its file is still on the way. @type {Choice | null} */
  #wished = null;
  /** @type {{entries: PrimitiveEntry[], url: URL} | null} */
  #catalog = null;
  #clock = new Clock([]);
  /** @type {Picture | null} */
  #picture = null;
  /** @type {import('./shell.js').Shell | null} */
  #shell = null;
  /** @type {Controls | null} */
  #controls = null;
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

  /** Number of ranks, 0 before anything is shown. */
  get ranks() {
    return this.#shown?.schedule.ranks ?? 0;
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
    const shell = this.#shell ??= this.#buildShell();
    // A copy of an upgraded player brings the drawn parts along without what makes them work.
    for (const copy of this.querySelectorAll(':scope > .cp')) {
      if (copy !== shell.node) copy.remove();
    }
    if (!this.#shown) this.removeAttribute('ready');
    this.prepend(shell.node);
    this.#buildControls();
    this.#stay = new AbortController();
    const { signal } = this.#stay;
    document.addEventListener('visibilitychange', () => this.#wake(), { signal });
    addEventListener('hashchange', () => this.#followAddress(), { signal });
    this.#still.addEventListener('change', () => this.#draw(), { signal });
    const seen = new IntersectionObserver((entries) => {
      this.#inView = entries[entries.length - 1].isIntersecting;
      this.#wake();
    });
    seen.observe(this);
    const sized = new ResizeObserver(() => this.#fit());
    sized.observe(shell.stage);
    signal.addEventListener('abort', () => {
      seen.disconnect();
      sized.disconnect();
    });
    if (this.#shown) this.#fit(true);
    else this.#begin(parseAddress(location.hash));
  }

  disconnectedCallback() {
    this.#stay?.abort();
    this.#loading?.abort();
    this.#wished = null;
    clearTimeout(this.#addressTimer);
    this.#addressTimer = 0;
    this.#clock.pause();
    this.#wake();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.isConnected || !this.#shell) return;
    if (name === 'round') this.round = Number(now);
    else if (name === 'controls') this.#buildControls();
    if (name === 'src' || (name === 'controls' && this.#controls && !this.#catalog)) {
      this.#begin(null);
    }
  }

  /** Whether the address is this player's: it is the first on the page that offers choices. */
  get #ownsAddress() {
    return document.querySelector('collective-player[controls]') === this;
  }

  #buildShell() {
    const on = (/** @type {() => void} */ change) => () => this.#do(change);
    const speed = (/** @type {number} */ value) => {
      this.#clock.speed = value;
      if (this.#shell) this.#shell.speed.value = String(value);
    };
    return buildShell({
      first: on(() => this.#clock.seek(0)),
      back: on(() => this.#clock.back()),
      toggle: () => (this.playing ? this.pause() : this.play()),
      forward: on(() => {
        if (this.#still.matches) this.#clock.skip();
        else this.#clock.forward();
      }),
      last: on(() => this.#clock.seek(this.rounds)),
      loop: () => {
        this.#clock.loop = !this.#clock.loop;
        this.#shell?.loop.setAttribute('aria-pressed', String(this.#clock.loop));
      },
      speed,
      faster: (by) => {
        const index = SPEEDS.indexOf(this.#clock.speed) + by;
        speed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, index))]);
      },
      scrub: (position) => this.#do(() => {
        this.#clock.pause();
        this.#clock.seek(this.#still.matches ? Math.round(position) : position);
      }),
      pick: (step) => this.#do(() => this.#clock.seek(step)),
    });
  }

  /** The bar of choices that the attribute names. */
  #buildControls() {
    const names = (this.getAttribute('controls') ?? '').split(/\s+/).filter(Boolean);
    if (names.join() === (this.#controls?.names.join() ?? '')) return;
    this.#controls?.node.remove();
    this.#controls = names.length ? new Controls(names, (wish) => this.#wishFor(wish)) : null;
    if (this.#controls) this.#shell?.node.prepend(this.#controls.node);
    this.#showControls();
  }

  #showControls() {
    const choice = this.#wished ?? this.#choice;
    if (!choice || !this.#controls) return;
    this.#controls.expect(choice.primitive);
    if (this.#catalog) this.#controls.show(this.#catalog.entries, choice);
  }

  /**
   * Load what the address wishes for, else `src`.
   * @param {ReturnType<typeof parseAddress>} address
   */
  async #begin(address) {
    const stay = this.#stay;
    const src = this.getAttribute('src');
    if (!src || !URL.canParse(src, document.baseURI)) {
      this.#fail(src ? 'src 不是一个地址。' : '没有写 src，不知道播放哪一个。');
      return;
    }
    const file = new URL(src, document.baseURI);
    const [, primitive = '', algorithm = '', ranks = '4'] = (
      /([^/]+)\/([^/]+)\/n(\d+)(?:-[^/]*)?\.json$/.exec(file.pathname) ?? []);
    const root = Math.max(0, Math.trunc(Number(this.getAttribute('root')) || 0));
    this.#choice = { primitive, algorithm, ranks: Number(ranks), root, op: 'sum', parameters: {} };
    const wish = this.#ownsAddress ? address : null;
    const round = Number(wish?.round ?? this.getAttribute('round')) || 0;
    const catalog = this.#controls ? this.#readCatalog(new URL('../../catalog.json', file)) : null;
    const choosable = wish !== null && await catalog;
    if (stay?.signal.aborted) return;
    if (choosable) await this.#choose(wish, this.#choice, round);
    else await this.#load(file, this.#choice, round, '');
  }

  /**
   * @param {URL} url
   * @returns {Promise<boolean>} whether it could be read
   */
  async #readCatalog(url) {
    const signal = this.#stay?.signal;
    try {
      const entries = await loadCatalog(url);
      if (signal?.aborted) return false;
      this.#catalog = { entries, url };
      this.#showControls();
      return true;
    } catch (error) {
      if (!signal?.aborted) {
        this.#controls?.fail(`${this.#sentence(error)}现在只能看这一个日程。`);
      }
      return false;
    }
  }

  /** @param {Wish} wish @param {Choice} before @param {number} round */
  async #choose(wish, before, round) {
    if (!this.#catalog) return;
    const { file, notice, ...choice } = choose(this.#catalog.entries, wish, before);
    this.#wished = choice;
    this.#showControls();
    await this.#load(new URL(file, this.#catalog.url), choice, round, notice);
  }

  /** @param {Wish} wish  of the reader, by a control */
  async #wishFor(wish) {
    const before = this.#wished ?? this.#choice;
    if (!before) return;
    const same = Object.keys(wish).every((key) => key === 'root' || key === 'op');
    await this.#choose(wish, before, same ? this.round : 0);
    this.#writeAddress();
  }

  /**
   * Load a schedule and show it. The old picture stays until the new one is ready; when two loads
   * overlap, the last one wins.
   * @param {URL} file @param {Choice} choice
   * @param {number} round @param {string} notice
   */
  async #load(file, choice, round, notice) {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    try {
      const schedule = await loadSchedule(file, loading.signal);
      if (loading.signal.aborted) return;
      this.#wished = null;
      this.#show(schedule, choice, round, notice);
    } catch (error) {
      if (loading.signal.aborted) return;
      this.#wished = null;
      this.#choice = choice;
      this.#fail(this.#sentence(error));
      this.#showControls();
    }
  }

  /** @param {unknown} error */
  #sentence(error) {
    if (error instanceof ScheduleError) return error.message;
    console.error(error);
    return '播放器内部出错。';
  }

  /** @param {string} sentence */
  #fail(sentence) {
    this.#clock.pause();
    this.#wake();
    this.#clock = new Clock([]);
    this.#shown = null;
    this.#picture = null;
    this.toggleAttribute('failed', true);
    if (!this.#shell) return;
    const { node, problem } = this.#shell;
    problem.textContent = `这个日程不能播放。${sentence}`;
    problem.hidden = false;
    node.classList.add('cp-failed');
  }

  /**
   * @param {Schedule} file @param {Choice} choice  root and op of it; the rest the file says
   * @param {number} round @param {string} notice
   * @throws {ScheduleError} when it breaks a rule
   */
  #show(file, choice, round, notice) {
    if (!this.#shell) return;
    if (file.ranks > MOST_RANKS) {
      throw new ScheduleError('format',
        `它有 ${file.ranks} 个 rank，播放器最多画 ${MOST_RANKS} 个。`);
    }
    let states = replay(file);
    let schedule = file;
    if (file.root !== null && file.root !== choice.root && choice.root < file.ranks) {
      schedule = relabelRoot(file, choice.root);
      states = replay(schedule);
    }
    const { primitive, algorithm, ranks, root, parameters } = schedule;
    const { op } = choice;
    this.#choice = { primitive, algorithm, ranks, root: root ?? 0, op, parameters };
    this.#shown = { schedule, states, goal: endState(schedule), spent: spending(schedule), op };
    const { speed, loop } = this.#clock;
    this.#clock = Object.assign(new Clock(schedule.rounds.map((r) => r.local)), { speed, loop });
    this.#clock.seek(Math.trunc(round));
    this.#wake();
    this.#notice = notice;
    this.#announced = -1;
    this.#shell.problem.hidden = true;
    this.#shell.node.classList.remove('cp-failed');
    this.removeAttribute('failed');
    this.#shell.timeline.show(schedule);
    this.#showControls();
    this.#fit(true);
    this.setAttribute('ready', '');
    this.#changed();
  }

  /**
   * Lay the schedule out for the width there is.
   * @param {boolean} [anew]  even when the width is the same
   */
  #fit(anew = false) {
    const [shell, shown] = [this.#shell, this.#shown];
    if (!shell || !shown) return;
    const { stage, caption, timeline } = shell;
    const width = stage.clientWidth;
    if (!width || (!anew && width === this.#width)) return;
    this.#width = width;
    const { schedule, states, op } = shown;
    stage.style.minHeight = '';
    this.#explain(true, true);
    this.#described = '';
    this.#describe(this.#clock.round, shell, shown);
    const lines = captionLines(schedule, states, op, caption.clientWidth);
    caption.style.minHeight = `calc(${lines.sentence} * var(--cp-sentence)`
      + ` + ${lines.example} * var(--cp-example))`;
    const scene = layOut(schedule, {
      width, height: stage.clientHeight, digits: longestNumber(schedule, states, op),
    });
    stage.style.minHeight = `${scene.height}px`;
    this.#explain(scene.density.name > 0, hasSlivers(schedule, scene));
    this.#picture = new Picture(shell.picture, shown, scene);
    timeline.resize(timeline.node.clientWidth);
    this.#draw();
  }

  /**
   * @param {boolean} named  whether the buffers have their names on the picture
   * @param {boolean} slivers  whether every contribution is seen
   */
  #explain(named, slivers) {
    const [shell, shown] = [this.#shell, this.#shown];
    if (!shell || !shown) return;
    shell.legend.replaceChildren(...legendOf(shown.schedule, named, slivers).map(([kind, text]) => {
      const item = html('span', { class: 'cp-legend-item' }, text);
      if (kind) {
        item.prepend(html('span', { class: `cp-swatch cp-swatch-${kind}`, 'aria-hidden': 'true' }));
      }
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
    this.#shell?.caption.setAttribute('aria-live', 'polite');
    change();
    this.#changed();
    this.#writeAddress();
    this.#wake();
  }

  /** Draw, and tell others when another step is complete. */
  #changed() {
    this.#draw();
    const { round, rounds } = this;
    if (round === this.#announced) return;
    this.#announced = round;
    const detail = { round, rounds };
    this.dispatchEvent(new CustomEvent('roundchange', { bubbles: true, detail }));
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
    this.#clock.advance(Math.max(0, now - this.#lastTime) / 1000);
    this.#lastTime = now;
    const passed = this.round !== this.#announced;
    this.#changed();
    if (passed) this.#writeAddress();
    if (this.#clock.moving && !this.#frame) {
      this.#frame = requestAnimationFrame((next) => this.#tick(next));
    }
  }

  /** Everything that depends on the position of the clock. */
  #draw() {
    const [shell, shown] = [this.#shell, this.#shown];
    if (!shell || !shown || !this.#picture) return;
    const position = this.#still.matches ? this.#clock.round : this.#clock.position;
    this.#picture.draw(position);
    shell.timeline.draw(position, Math.ceil(position));
    this.#describe(position, shell, shown);
  }

  /**
   * Words and figures; they change when another step begins.
   * @param {number} position @param {import('./shell.js').Shell} shell @param {Shown} shown
   */
  #describe(position, shell, shown) {
    const { playing, steps, round } = this.#clock;
    const step = Math.ceil(position);
    const key = `${step} ${position === step} ${playing} ${this.#notice}`;
    if (key === this.#described) return;
    this.#described = key;
    const { schedule, states, spent, op } = shown;
    const { title, caption, example } = captionOf(schedule, states, step, op);
    setText(shell.title, title);
    setText(shell.words, caption);
    setText(shell.example, this.#notice || example);
    shell.picture.setAttribute('aria-label', pictureLabel(schedule, states, round));
    const figures = ledger(schedule, spent, step);
    if (shell.ledger.childElementCount !== figures.length) {
      shell.ledger.replaceChildren(...figures.map(() => html('div', { class: 'cp-amount' },
        ...['label', 'number', 'note'].map((name) => html('span', { class: `cp-${name}` })))));
    }
    figures.forEach((texts, i) => texts.forEach((text, j) => (
      setText(shell.ledger.children[i].children[j], text))));
    const { first, back, play, forward, last } = shell.buttons;
    play.title = playing ? '暂停' : '播放';
    play.setAttribute('aria-label', play.title);
    play.classList.toggle('cp-playing', playing);
    for (const button of [first, back]) setAvailable(button, position > 0);
    for (const button of [forward, last]) setAvailable(button, position < steps);
  }

  #followAddress() {
    const wish = this.#ownsAddress ? parseAddress(location.hash) : null;
    if (!wish || !this.#choice || location.hash === this.#address()) return;
    const before = { ...this.#choice, parameters: {} };
    this.#choose({ op: 'sum', root: 0, ...wish }, before, Number(wish.round) || 0);
  }

  #address() {
    return this.#choice ? formatAddress({ ...this.#choice, round: this.round }) : '';
  }

  /** Keep the address up to date: at once, then again after a pause if it has changed since. */
  #writeAddress() {
    if (!this.#ownsAddress || this.#addressTimer) return;
    const write = () => {
      if (!this.#shown || !this.#ownsAddress || location.hash === this.#address()) return;
      history.replaceState(history.state, '', this.#address());
    };
    write();
    this.#addressTimer = window.setTimeout(() => {
      this.#addressTimer = 0;
      write();
    }, ADDRESS_PAUSE);
  }
}

if (!customElements.get('collective-player')) {
  customElements.define('collective-player', CollectivePlayer);
}
