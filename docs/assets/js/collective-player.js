/**
 * <collective-player src controls round>: plays a schedule. It lives in the light DOM, upgrades
 * wherever it appears, and touches nothing outside itself but the address.
 * The page docs/reference/player.md describes attributes, properties, methods and events.
 *
 * @typedef {import('./catalog.js').Choice} Choice
 * @typedef {import('./choices.js').Choices} Choices
 * @typedef {import('./replay.js').State} State
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./host.js').Shown} Shown
 * @typedef {import('./spacetime.js').SpaceTime} SpaceTime
 */
import { Clock, SPEEDS } from './clock.js';
import { spending } from './cost.js';
import { html } from './dom.js';
import { Picture, hasSlivers } from './draw.js';
import { loadSchedule } from './files.js';
import { layOut } from './layout.js';
import { longestNumber, nearest } from './numbers.js';
import { attempt, endState, replay } from './replay.js';
import { PRIMITIVES } from './primitives.js';
import { ScheduleError, checkSize, parseSchedule } from './schedule.js';
import { buildShell } from './shell.js';
import { captionLines, captionOf, ledger, legendOf, pictureLabel } from './text.js';
import { viewReason } from './views.js';
import { setAvailable } from './widgets.js';

/**
 * A schedule that keeps the rules: what is wrong with a file is said of the file, before it is
 * turned to another root.
 * @param {Schedule} schedule
 * @throws {ScheduleError}
 */
function checked(schedule) {
  checkSize(schedule);
  replay(schedule);
  return schedule;
}

/**
 * What takes the room of the choices until they are here, so that nothing moves then.
 * @param {string[]} names  of the controls @param {string} primitive
 */
function placeholders(names, primitive) {
  const { rooted = true, reduces = true } = PRIMITIVES[primitive] ?? {};
  const fields = names.filter((name) => ['primitive', 'algorithm', 'ranks'].includes(name)
    || (name === 'root' && rooted) || (name === 'op' && reduces));
  return [
    ...fields.map((name) => html('div', { class: `cp-field cp-field-${name}` })),
    ...(names.includes('view') || names.includes('more') ? [html('div', { class: 'cp-look' })] : []),
  ];
}

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
  #clock = new Clock([]);
  /** @type {Picture | SpaceTime | null} */
  #picture = null;
  /**
   * The view 时空, once it is here.
   * @type {typeof import('./spacetime.js').SpaceTime | null}
   */
  #spaceTime = null;
  /** The chosen file as it was read, and where from. @type {{href: string, file: Schedule} | null} */
  #loaded = null;
  /** The chosen schedule, whatever a panel performs in its place. @type {Schedule | null} */
  #original = null;
  /** What is loaded after the player itself, once it is here. @type {Choices | null} */
  #choices = null;
  /** @type {Promise<Choices | null> | null} */
  #coming = null;
  /** @type {import('./shell.js').Shell | null} */
  #shell = null;
  /** Where the choices are, or will be. @type {HTMLElement | null} */
  #bar = null;
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
  /** Why nothing is shown. @type {ScheduleError | null} */
  #failure = null;
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

  /** What is shown, as the end of an address: "#op=…"; empty for what is in no address. */
  get address() {
    return this.#choices?.address ?? '';
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

  /**
   * Check and show a schedule that is not on the site, as the text of a file.
   * @param {string} source
   * @returns {ScheduleError | null}  why it cannot be played; the player says so as well
   */
  load(source) {
    this.#loading?.abort();
    this.#choices?.panels.close();
    try {
      const file = parseSchedule(source);
      const { primitive, algorithm, ranks, root, parameters } = file;
      const { op, view, values } = { ...this.#usual(), ...this.#choice };
      this.#loaded = null;
      this.#show(file, {
        op, view, values, primitive, algorithm, ranks, root: root ?? 0, parameters,
      }, 0, '');
      if (this.#bar) this.#needChoices();
      return null;
    } catch (caught) {
      const error = this.#known(caught);
      this.#fail(error);
      return error;
    }
  }

  connectedCallback() {
    const shell = this.#shell ??= this.#buildShell();
    // A copy of an upgraded player brings the drawn parts along without what makes them work.
    for (const copy of this.querySelectorAll(':scope > .cp')) {
      if (copy !== shell.node) copy.remove();
    }
    if (!this.#shown) this.removeAttribute('ready');
    this.prepend(shell.node);
    this.#stay = new AbortController();
    const { signal } = this.#stay;
    this.#choices?.enter(signal);
    this.#buildBar();
    document.addEventListener('visibilitychange', () => this.#wake(), { signal });
    this.#still.addEventListener('change', () => this.#draw(), { signal });
    const seen = new IntersectionObserver((entries) => {
      this.#inView = entries[entries.length - 1].isIntersecting;
      this.#wake();
    });
    seen.observe(this);
    const sized = new ResizeObserver(() => this.#fit());
    // Not the stage: its height follows from the width, and so it would be told of its own change.
    sized.observe(shell.timeline.node);
    signal.addEventListener('abort', () => {
      seen.disconnect();
      sized.disconnect();
    });
    if (this.#shown) {
      this.#fit(true);
      this.#wantCatalog(false);
    } else if (this.hasAttribute('src')) this.#begin(true);
  }

  disconnectedCallback() {
    this.#stay?.abort();
    this.#loading?.abort();
    this.#clock.pause();
    this.#wake();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.isConnected || !this.#shell) return;
    if (name === 'round') this.round = Number(now);
    else if (name === 'controls') this.#buildBar();
    if (name === 'src' || (name === 'controls' && this.#bar && !this.#choices?.catalog)) {
      this.#begin(false);
    }
  }

  #buildShell() {
    const on = (/** @type {() => void} */ change) => () => this.#do(change);
    const speed = (/** @type {number} */ value) => {
      this.#setSpeed(value);
      this.#choices?.writeAddress();
    };
    const shell = buildShell({
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
      point: async (x, y) => (await this.#needChoices())?.point(x, y),
      look: async () => (await this.#needChoices())?.open('inspect', shell.stage),
    });
    return shell;
  }

  /**
   * What is loaded when there is something to choose or to look into; null when it does not arrive.
   * @returns {Promise<Choices | null>}
   */
  #needChoices() {
    this.#coming ??= import('./choices.js').then((module) => {
      const choices = new module.Choices(this.#lent());
      if (this.#stay) choices.enter(this.#stay.signal);
      this.#choices = choices;
      choices.show();
      return choices;
    }).catch((error) => {
      console.error(error);
      this.#coming = null;
      this.#withoutChoices('选择栏没有加载成功：网络不通，请稍后再试。');
      return null;
    });
    return this.#coming;
  }

  /** @returns {import('./host.js').Player} */
  #lent() {
    const { node, picture, stage, slot } = /** @type {import('./shell.js').Shell} */ (this.#shell);
    return {
      element: this,
      node,
      picture,
      stage,
      slot,
      shown: () => this.#shown,
      original: () => this.#original,
      choice: () => this.#choice,
      published: () => this.#loaded !== null,
      bar: () => this.#bar,
      drawing: () => this.#picture,
      clock: () => this.#clock,
      change: (change) => this.#do(change),
      perform: (schedule) => this.#perform(schedule),
      load: (file, choice, round, notice) => this.#load(file, choice, round, notice),
      look: (choice) => this.#look(choice),
      usual: () => this.#usual(),
      setSpeed: (speed) => this.#setSpeed(speed),
      withoutChoices: (why) => this.#withoutChoices(why),
      sentence: (error) => this.#sentence(this.#known(error)),
    };
  }

  /** The names of the controls that the attribute asks for. */
  get #names() {
    return (this.getAttribute('controls') ?? '').split(/\s+/).filter(Boolean);
  }

  /** Where the controls that the attribute names will stand. */
  #buildBar() {
    const asked = this.#names.join(' ');
    if (asked === (this.#bar?.dataset.names ?? '')) return;
    this.#bar?.remove();
    this.#bar = asked ? html('div', {
      class: 'cp-bar cp-waiting', role: 'group', 'aria-label': '选择', 'data-names': asked,
    }) : null;
    if (!this.#bar) return;
    this.#shell?.node.prepend(this.#bar);
    this.#keepRoom();
    this.#choices?.show();
  }

  #keepRoom() {
    if (!this.#choice || this.#bar?.childElementCount) return;
    this.#bar?.append(...placeholders(this.#names, this.#choice.primitive));
  }

  /** Say why nothing can be chosen. @param {string} why */
  #withoutChoices(why) {
    this.#bar?.classList.remove('cp-waiting');
    this.#bar?.replaceChildren(html('span', { class: 'cp-label' }, `${why}现在只能看这一个日程。`));
  }

  /**
   * Load what the address wishes for, else `src`.
   * @param {boolean} followAddress
   */
  async #begin(followAddress) {
    const stay = this.#stay;
    const src = this.getAttribute('src');
    if (!src || !URL.canParse(src, document.baseURI)) {
      this.#fail(new ScheduleError('format', {}, src ? 'address' : 'nothing'));
      return;
    }
    const file = new URL(src, document.baseURI);
    const [, primitive = '', algorithm = '', ranks = '4'] = (
      /([^/]+)\/([^/]+)\/n(\d+)(?:-[^/]*)?\.json$/.exec(file.pathname) ?? []);
    const root = Math.max(0, Math.trunc(Number(this.getAttribute('root')) || 0));
    const choice = this.#choice = {
      ...this.#usual(), primitive, algorithm, ranks: Number(ranks), root, parameters: {},
    };
    this.#keepRoom();
    const chosen = this.#wantCatalog(followAddress);
    // Only an address that says something is worth waiting for.
    if (followAddress && /[#&]op=/.test(location.hash) && await chosen) return;
    if (stay?.signal.aborted) return;
    await this.#load(file, choice, Number(this.getAttribute('round')) || 0, '');
  }

  /**
   * Where there is a bar, see that it gets its catalogue.
   * @param {boolean} followAddress
   * @returns {Promise<boolean>} whether the address has chosen what to show
   */
  async #wantCatalog(followAddress) {
    const [stay, choice, src] = [this.#stay, this.#choice, this.getAttribute('src')];
    if (!this.#bar || !choice || !src || (this.#choices?.catalog && !followAddress)) {
      return false;
    }
    const choices = await this.#needChoices();
    if (!choices || stay?.signal.aborted) return false;
    const catalog = new URL('../../catalog.json', new URL(src, document.baseURI));
    return choices.begin(catalog, choice, followAddress);
  }

  /** What is chosen where nobody chose. */
  #usual() {
    const view = this.getAttribute('view') ?? 'topology';
    return { op: /** @type {const} */ ('sum'), view, values: 'demo' };
  }

  /**
   * Show the schedule that is there in another way; without a catalogue there is no other.
   * @param {Choice} choice
   */
  async #look(choice) {
    const shown = this.#shown;
    await this.#prepare(choice.view);
    if (!this.#original || !shown || this.#shown !== shown) return;
    this.#show(this.#original, choice, null, '');
  }

  /** Load what a view needs; without it another one stands in. @param {string} view */
  async #prepare(view) {
    if (view !== 'spacetime' || this.#spaceTime) return;
    try {
      const { SpaceTime, dressed } = await import('./spacetime.js');
      await dressed;
      this.#spaceTime = SpaceTime;
    } catch (error) {
      console.error(error);
    }
  }

  /**
   * Load a schedule and show it. The old picture stays until the new one is ready; when two loads
   * overlap, the last one wins.
   * @param {URL} file @param {Choice} choice
   * @param {number | null} round  null: the clock goes on as it does
   * @param {string} notice
   */
  async #load(file, choice, round, notice) {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    try {
      const known = this.#loaded?.href === file.href ? this.#loaded.file : null;
      await this.#prepare(choice.view);
      const schedule = known ?? await loadSchedule(file, loading.signal);
      if (loading.signal.aborted) return;
      this.#loaded = { href: file.href, file: schedule };
      if (this.#choices) this.#choices.wished = null;
      const { ranks, root } = schedule;
      const turned = root !== null && root !== choice.root && choice.root < ranks;
      const { relabelRoot } = turned ? await import('./relabel.js') : { relabelRoot: null };
      if (loading.signal.aborted) return;
      this.#show(relabelRoot ? relabelRoot(checked(schedule), choice.root) : schedule, choice,
        round, notice);
    } catch (error) {
      if (loading.signal.aborted) return;
      if (this.#choices) this.#choices.wished = null;
      this.#choice = choice;
      this.#fail(this.#known(error));
      this.#choices?.show();
    }
  }

  /** @param {unknown} error */
  #known(error) {
    if (error instanceof ScheduleError) return error;
    console.error(error);
    return new ScheduleError('format', {}, 'internal');
  }

  /**
   * What is wrong, in Chinese. The words are on their way only now: most readers never need them.
   * @param {ScheduleError} error
   */
  async #sentence(error) {
    try {
      await import('./words.js');
      return error.message;
    } catch {
      return '网络不通，请稍后再试。';
    }
  }

  /** @param {ScheduleError} error */
  async #fail(error) {
    this.#clock.pause();
    this.#wake();
    this.#clock = new Clock([]);
    this.#choices?.panels.close(false);
    this.#shown = null;
    this.#picture = null;
    this.#loaded = null;
    this.#failure = error;
    if (!this.#shell) return;
    const { node, problem } = this.#shell;
    const sentence = await this.#sentence(error);
    if (this.#failure !== error) return;
    this.toggleAttribute('failed', true);
    node.classList.add('cp-failed');
    problem.textContent = `这个日程不能播放。${sentence}`;
    problem.hidden = false;
  }

  /**
   * @param {Schedule} schedule @param {Choice} choice  op, view and values of it; the rest the
   *   schedule says
   * @param {number | null} round  null: the clock goes on as it does
   * @param {string} notice
   * @throws {ScheduleError} when it breaks a rule
   */
  #show(schedule, choice, round, notice) {
    if (!this.#shell) return;
    checkSize(schedule);
    const states = replay(schedule);
    const { primitive, algorithm, ranks, root, parameters } = schedule;
    const view = viewReason(choice.view, ranks) || (choice.view === 'spacetime' && !this.#spaceTime)
      ? 'matrix' : choice.view;
    this.#choice = { ...choice, primitive, algorithm, ranks, root: root ?? 0, parameters, view };
    this.#original = schedule;
    this.#failure = null;
    this.#shell.problem.hidden = true;
    this.#shell.node.classList.remove('cp-failed');
    this.removeAttribute('failed');
    this.#keepRoom();
    this.#choices?.show();
    this.#put(schedule, states, null, round === null ? null : Math.trunc(round), notice);
    this.setAttribute('ready', '');
    this.#changed();
  }

  /**
   * @param {Schedule} schedule @param {State[]} states @param {ScheduleError | null} refusal
   * @param {number | null} round  null: the clock goes on as it does
   * @param {string} notice
   */
  #put(schedule, states, refusal, round, notice) {
    const [shell, choice] = [this.#shell, this.#choice];
    if (!shell || !choice) return;
    const { speed, loop, position, playing, target } = this.#clock;
    const steps = states.length - 1;
    this.#shown = {
      schedule, states, refusal, goal: endState(schedule), spent: spending(schedule),
      op: choice.op, symbols: choice.values === 'symbols',
    };
    this.#clock = Object.assign(
      new Clock(schedule.rounds.slice(0, steps).map((r) => r.local)), { speed, loop });
    this.#clock.holds = (step) => this.#choices?.host.guard?.(step) === true;
    if (round === null) Object.assign(this.#clock, { position, playing, target });
    else this.#clock.seek(round);
    this.#wake();
    this.#notice = notice;
    this.#announced = -1;
    shell.timeline.show(schedule, steps);
    this.#fit(true);
    this.#choices?.shown();
  }

  /** @param {Schedule | null} schedule  in place of the chosen one, null: that one again */
  #perform(schedule) {
    if (!this.#original || !this.#shown || this.#shown.schedule === (schedule ?? this.#original)) {
      return;
    }
    const { states, refusal } = attempt(schedule ?? this.#original);
    this.#put(schedule ?? this.#original, states, refusal, this.round, '');
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
    const { schedule, states, op, symbols } = shown;
    stage.style.minHeight = '';
    this.#explain(true, true);
    this.#described = '';
    this.#describe(this.#clock.round, shell, shown);
    const lines = captionLines(schedule, states, op, caption.clientWidth, symbols);
    caption.style.minHeight = `calc(${lines.sentence} * var(--cp-sentence)`
      + ` + ${lines.example} * var(--cp-example))`;
    const height = stage.clientHeight;
    const view = this.#choice?.view;
    if (view === 'spacetime' && this.#spaceTime) {
      this.#picture = new this.#spaceTime(shell, shown, { width, height });
      shell.legend.replaceChildren();
    } else {
      const scene = layOut(schedule, {
        width, height, digits: longestNumber(schedule, states, op, symbols),
        asMatrix: view === 'matrix',
      });
      const inLine = scene.cards.every(({ buffers: [first, ...others] }) => (
        others.every(({ cells }) => cells[0].y === first.cells[0].y)));
      this.#explain(scene.density.name > 0 || (scene.kind === 'matrix' && inLine),
        hasSlivers(schedule, scene), scene.frames.length > 1);
      this.#picture = new Picture(shell, shown, scene);
    }
    stage.style.minHeight = `${this.#picture?.height}px`;
    this.#choices?.redrawn();
    timeline.resize(timeline.node.clientWidth);
    this.#draw();
  }

  /**
   * @param {boolean} named  whether the buffers have their names on the picture
   * @param {boolean} slivers  whether every contribution is seen
   * @param {boolean} [nodes]  whether the ranks stand in nodes
   */
  #explain(named, slivers, nodes = false) {
    const [shell, shown] = [this.#shell, this.#shown];
    if (!shell || !shown) return;
    const items = legendOf(shown.schedule, named, slivers, nodes);
    shell.legend.replaceChildren(...items.map(([kind, text]) => {
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
    this.#choices?.writeAddress();
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
    if (passed) this.#choices?.writeAddress(true);
    if (this.#clock.moving && !this.#frame) {
      this.#frame = requestAnimationFrame((next) => this.#tick(next));
    }
  }

  /** Everything that depends on the position of the clock. */
  #draw() {
    const [shell, shown] = [this.#shell, this.#shown];
    if (!shell || !shown || !this.#picture) return;
    const position = this.#still.matches ? this.#clock.round : this.#clock.position;
    this.#picture.draw(position, this.#clock.moving);
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
    const { schedule, states, spent, op, symbols, refusal } = shown;
    const { title, caption, example } = captionOf(schedule, states, step, op, symbols);
    const stopped = refusal !== null && step === steps;
    setText(shell.title, title);
    setText(shell.words, caption);
    setText(shell.example, stopped ? refusal.message : this.#notice || example);
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
    this.#choices?.host.dispatchEvent(new Event('step'));
  }

  /** @param {number} wanted */
  #setSpeed(wanted) {
    this.#clock.speed = nearest(SPEEDS, wanted);
    if (this.#shell) this.#shell.speed.value = String(this.#clock.speed);
  }
}

if (!customElements.get('collective-player')) {
  customElements.define('collective-player', CollectivePlayer);
}
