/**
 * What a reader chooses: the catalogue behind the bar, the menu of more, the panels, and the state
 * in the address. A player without choices does not load it; one with choices plays before it is
 * here.
 *
 * @typedef {import('./catalog.js').Choice} Choice
 * @typedef {import('./catalog.js').PrimitiveEntry} PrimitiveEntry
 * @typedef {import('./catalog.js').Wish} Wish
 * @typedef {import('./draw.js').Place} Place
 * @typedef {import('./host.js').Outline} Outline
 * @typedef {import('./host.js').Player} Player
 */
import { formatAddress, parseAddress } from './address.js';
import { bySlug, choose, ranksOf, reason } from './catalog.js';
import { loadCatalog } from './catalog-file.js';
import { Controls, field } from './controls.js';
import { Host } from './host.js';
import { Menu } from './menu.js';
import { OPS } from './numbers.js';
import { Panels } from './panels.js';
import { outline, placeAt } from './pointing.js';
import { barStyle, style } from './styles.js';
import { selectBox, setAvailable, setOptions } from './widgets.js';

/** Browsers refuse an address that changes more often than about three times a second. */
const ADDRESS_PAUSE = 400;

/**
 * A select for each parameter; those that stay are not touched, so that they keep the focus.
 * @param {Controls} bar @param {import('./catalog.js').Parameter[]} parameters
 * @param {Choice} choice
 */
function showParameters(bar, parameters, choice) {
  const names = parameters.map(({ name }) => name);
  if (names.join() !== [...bar.parameters.keys()].join()) {
    bar.parameters.clear();
    bar.fields.parameters.replaceChildren(...parameters.map(({ name, title }) => {
      const { select, node } = selectBox(title, (value) => (
        bar.wish({ parameters: { [name]: Number(value) } })));
      bar.parameters.set(name, select);
      return field(name, title, [node]);
    }));
  }
  for (const { name, choices } of parameters) {
    setOptions(/** @type {HTMLSelectElement} */ (bar.parameters.get(name)),
      choices[choice.ranks].map((value) => ({ value: String(value), text: String(value) })),
      String(choice.parameters[name]));
  }
  bar.fields.parameters.hidden = !parameters.length;
}

/**
 * Show what can be chosen beside the present choice; what cannot is there with its reason.
 * @param {Controls} bar @param {PrimitiveEntry[]} catalog @param {Choice} choice
 */
function showChoices(bar, catalog, choice) {
  const primitive = bySlug(catalog, choice.primitive);
  const algorithm = primitive && bySlug(primitive.algorithms, choice.algorithm);
  if (!primitive || !algorithm) return;
  const { selects } = bar;
  const n = choice.ranks;
  setOptions(selects.primitive, catalog.map((p) => ({ value: p.slug, text: p.title })),
    choice.primitive);
  setOptions(selects.algorithm, primitive.algorithms.map((a) => {
    const off = !a.ranks.includes(n);
    return { value: a.slug, text: off ? `${a.title}：${reason(a, n)}` : a.title, off };
  }), choice.algorithm);
  setOptions(selects.ranks, ranksOf(primitive).map((m) => {
    const off = !algorithm.ranks.includes(m);
    return { value: String(m), text: off ? `${m}：${reason(algorithm, m)}` : String(m), off };
  }), String(n));
  setOptions(selects.root, Array.from({ length: n }, (_, rank) => (
    { value: String(rank), text: `rank ${rank}` })), String(choice.root));
  setOptions(selects.op, Object.entries(OPS).map(([slug, { title }]) => (
    { value: slug, text: title })), choice.op);
  showParameters(bar, algorithm.parameters, choice);
  bar.showLook(choice);
  bar.ranks = algorithm.ranks;
  bar.n = n;
  setAvailable(bar.fewer, bar.ranks.some((m) => m < n));
  setAvailable(bar.more, bar.ranks.some((m) => m > n));
}

export class Choices {
  /** Ends with the stay in the document. @type {AbortSignal | null} */
  #signal = null;
  #addressTimer = 0;
  /** The page it stands on; instant navigation changes the address before it changes the page. */
  #page = '';
  /** What this player wrote into the address last. */
  #written = '';
  /** What fills the player's bar. @type {Controls | null} */
  #controls = null;
  /** @type {Menu | null} */
  #menu = null;
  #dressed = false;
  /** @type {Promise<void> | null} */
  #dressing = null;
  /** @type {Map<Outline, Place[]>} */
  #outlines = new Map();

  /** @param {Player} player */
  constructor(player) {
    this.player = player;
    this.host = new Host(player, this);
    this.panels = new Panels(player.slot);
    // On its way when the reader comes near, before it is asked for; a failure is said where it
    // matters.
    for (const near of ['pointerover', 'focusin']) {
      player.node.addEventListener(near, () => { style().catch(() => {}); }, { once: true });
    }
    /** @type {{entries: PrimitiveEntry[], url: URL} | null} */
    this.catalog = null;
    /** What was chosen last, while its file is still on the way. @type {Choice | null} */
    this.wished = null;
  }

  /** A stay in the document begins. @param {AbortSignal} signal  ends it */
  enter(signal) {
    if (this.#signal === signal) return;
    this.#signal = signal;
    this.#page = location.pathname + location.search;
    addEventListener('hashchange', () => this.#follow(), { signal });
    // A press anywhere else closes the menu, as a menu does.
    document.addEventListener('pointerdown', ({ target }) => {
      if (!this.#menu?.node.contains(/** @type {Node} */ (target))) this.#menu?.toggle(false);
    }, { signal });
    signal.addEventListener('abort', () => {
      this.panels.close(false);
      this.wished = null;
      clearTimeout(this.#addressTimer);
      this.#addressTimer = 0;
    });
  }

  /**
   * Begin with what the address wishes for, or with the schedule that is shown anyway.
   * @param {URL} url  of the catalogue
   * @param {Choice} before
   * @param {boolean} followAddress
   * @returns {Promise<boolean>} whether the address has chosen what to show
   */
  async begin(url, before, followAddress) {
    const signal = this.#signal;
    const first = location.hash;
    const known = await this.#readCatalog(url);
    if (signal?.aborted) return true;
    // While the catalogue was on its way a link may have been followed, and what the player itself
    // wrote is no wish.
    const followed = location.hash !== first && location.hash !== this.#written;
    const asked = followed ? location.hash : followAddress ? first : '';
    const wish = this.#ownsAddress ? parseAddress(asked) : null;
    if (!known || !wish) return false;
    if (wish.speed) this.player.setSpeed(wish.speed);
    const round = wish.round ?? (Number(this.player.element.getAttribute('round')) || 0);
    await this.#choose(wish, before, round);
    return true;
  }

  /**
   * @param {URL} url
   * @returns {Promise<boolean>} whether it could be read
   */
  async #readCatalog(url) {
    const signal = this.#signal;
    try {
      const entries = await loadCatalog(url);
      if (signal?.aborted) return false;
      this.catalog = { entries, url };
      this.show();
      return true;
    } catch (error) {
      const sentence = await this.player.sentence(error);
      if (!signal?.aborted) this.player.withoutChoices(sentence);
      return false;
    }
  }

  /** Bring the bar to what is shown, or was chosen last; not before its style is here. */
  show() {
    const { player } = this;
    if (!this.#dressed) {
      this.#dressing ??= this.#dress();
      return;
    }
    const choice = this.wished ?? player.choice();
    const bar = player.bar();
    if (!choice || !bar) return;
    if (bar !== this.#controls?.node) {
      this.#controls = new Controls(bar, (bar.dataset.names ?? '').split(' '),
        (wish) => this.wishFor(wish));
      this.#menu = new Menu(this.#controls, (values) => this.wishFor({ values }),
        (name, opener) => this.open(name, opener));
    }
    const controls = this.#controls;
    this.#menu?.values.show(choice.values);
    controls.expect(choice.primitive);
    if (this.catalog) showChoices(controls, this.catalog.entries, choice);
    else if (player.shown() && !player.element.hasAttribute('src')) {
      controls.showLook(choice);
    }
  }

  async #dress() {
    try {
      await barStyle();
      this.#dressed = true;
      this.show();
    } catch (error) {
      this.player.withoutChoices(await this.player.sentence(error));
    }
  }

  /**
   * @param {Wish} wish @param {Choice} before
   * @param {number | null} round  null: the clock goes on as it does
   */
  async #choose(wish, before, round) {
    if (!this.catalog) return;
    const { file, notice, ...choice } = choose(this.catalog.entries, wish, before);
    this.wished = choice;
    this.show();
    await this.player.load(new URL(file, this.catalog.url), choice, round, notice);
  }

  /** @param {Wish} wish  of the reader, by a control */
  async wishFor(wish) {
    const before = this.wished ?? this.player.choice();
    if (!before) return;
    if (!this.catalog) {
      await this.player.look({
        ...before, ...(/** @type {Partial<Choice>} */ (wish)), parameters: before.parameters,
      });
      return;
    }
    const same = Object.keys(wish).every((key) => ['root', 'op', 'view', 'values'].includes(key));
    await this.#choose(wish, before, same ? null : 0);
    this.writeAddress();
  }

  /**
   * @param {string} name  of a panel
   * @param {HTMLElement | null} opener  gets the focus back when the panel closes
   */
  async open(name, opener) {
    if (this.player.shown()) await this.panels.open(name, this.host, opener, name !== 'inspect');
  }

  /** The reader pointed at a place of the stage. @param {number} x @param {number} y */
  async point(x, y) {
    const place = this.placeAt(x, y);
    // A question of another panel is answered by pointing, too.
    if (!this.panels.name && place) await this.open('inspect', this.player.stage);
    this.host.dispatchEvent(new CustomEvent('pick', { detail: place }));
  }

  /** @param {number} x @param {number} y @returns {Place | null} */
  placeAt(x, y) {
    const drawing = this.player.drawing();
    return drawing && placeAt(drawing, x, y, this.player.clock().position);
  }

  /** @param {Place[]} places @param {Outline} kind */
  outline(places, kind) {
    this.#outlines.set(kind, places);
    const drawing = this.player.drawing();
    if (drawing) outline(drawing, places, kind);
  }

  /** Another schedule is on the stage. */
  shown() {
    this.#outlines.clear();
    this.host.dispatchEvent(new Event('shown'));
  }

  /** The picture was drawn anew. */
  redrawn() {
    for (const [kind, places] of this.#outlines) this.outline(places, kind);
  }

  /** Whether the address is this player's: it is the first on the page that offers choices. */
  get #ownsAddress() {
    return document.querySelector('collective-player[controls]') === this.player.element;
  }

  #follow() {
    const { player } = this;
    const wish = this.#ownsAddress ? parseAddress(location.hash) : null;
    const choice = player.choice();
    if (!wish || !choice || location.hash === this.address) return;
    player.setSpeed(wish.speed ?? 1);
    this.#choose({ root: 0, ...player.usual(), ...wish }, { ...choice, parameters: {} },
      wish.round ?? 0);
  }

  /** What is shown, as the end of an address; empty for what is in no address. */
  get address() {
    const choice = this.player.choice();
    if (!choice || !this.player.published()) return '';
    const { round, speed } = this.player.clock();
    return formatAddress({ ...choice, round, speed });
  }

  /**
   * Keep the address up to date: at once, then again after a pause if it has changed since.
   * @param {boolean} [later]  not at once: writing takes about as long as a frame
   */
  writeAddress(later = false) {
    if (!this.#ownsAddress || this.#addressTimer) return;
    const write = () => {
      const { address } = this;
      if (!address || !this.#ownsAddress || location.hash === address
        || location.pathname + location.search !== this.#page) return;
      this.#written = address;
      history.replaceState(history.state, '', address);
    };
    if (!later) write();
    this.#addressTimer = window.setTimeout(() => {
      this.#addressTimer = 0;
      write();
    }, ADDRESS_PAUSE);
  }
}
