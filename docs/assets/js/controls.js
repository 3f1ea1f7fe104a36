/**
 * The bar of choices: primitive, algorithm, number of GPUs, its parameters, root, reduction, view,
 * and the menu of more.
 *
 * @typedef {import('./catalog.js').Choice} Choice
 * @typedef {import('./catalog.js').PrimitiveEntry} PrimitiveEntry
 */
import { VIEWS, bySlug, ranksOf, reason, viewReason } from './catalog.js';
import { html } from './dom.js';
import { Menu } from './menu.js';
import { OPS } from './numbers.js';
import { PRIMITIVES } from './primitives.js';
import { iconButton, segments, selectBox, setAvailable, setOptions } from './widgets.js';

export class Controls {
  /**
   * @param {string[]} names  which controls to offer
   * @param {(wish: import('./catalog.js').Wish) => void} wish  what the reader asks for
   * @param {(panel: string, opener: HTMLElement) => void} open  a panel was chosen
   */
  constructor(names, wish, open) {
    this.wish = wish;
    this.names = names;
    const primitive = selectBox('通信原语', (value) => wish({ primitive: value }));
    const algorithm = selectBox('算法', (value) => wish({ algorithm: value }));
    const ranks = selectBox('GPU 数', (value) => wish({ ranks: value }));
    const root = selectBox('根 rank', (value) => wish({ root: value }));
    const op = selectBox('归约', (value) => wish({ op: value }));
    this.selects = {
      primitive: primitive.select, algorithm: algorithm.select, ranks: ranks.select,
      root: root.select, op: op.select,
    };
    this.view = segments('视图', VIEWS, (value) => wish({ view: value }));
    this.menu = new Menu((value) => wish({ values: value }), open);
    this.fewer = iconButton('cp-step', 'minus', '减少 GPU', () => this.step(-1));
    this.more = iconButton('cp-step', 'plus', '增加 GPU', () => this.step(1));
    /** @param {string} name @param {string} title @param {Node[]} parts */
    const field = this.field = (name, title, parts) =>
      html('div', { class: `cp-field cp-field-${name}` },
        html('span', { class: 'cp-label', 'aria-hidden': 'true' }, title), ...parts);
    /** @type {Record<string, HTMLElement>} */
    this.fields = {
      primitive: field('primitive', '通信原语', [primitive.node]),
      algorithm: field('algorithm', '算法', [algorithm.node]),
      ranks: field('ranks', 'GPU 数', [html('span', { class: 'cp-stepper' },
        this.fewer, ranks.node, this.more)]),
      parameters: html('div', { class: 'cp-parameters' }),
      root: field('root', '根 rank', [root.node]),
      op: field('op', '归约', [op.node]),
    };
    const look = [
      ...(names.includes('view') ? [field('view', '视图', [this.view.node])] : []),
      ...(names.includes('more') ? [this.menu.node] : []),
    ];
    this.node = html('div', { class: 'cp-bar cp-waiting', role: 'group', 'aria-label': '选择' },
      ...Object.entries(this.fields).filter(([name]) => names.includes(name))
        .map(([, node]) => node),
      ...(look.length ? [html('div', { class: 'cp-look' }, ...look)] : []));
    /** @type {Map<string, HTMLSelectElement>} */
    this.parameters = new Map();
    /** @type {number[]} */
    this.ranks = [];
    this.n = 0;
  }

  /**
   * A select for each parameter; those that stay are not touched, so that they keep the focus.
   * @param {import('./catalog.js').Parameter[]} parameters @param {Choice} choice
   */
  showParameters(parameters, choice) {
    const names = parameters.map(({ name }) => name);
    if (names.join() !== [...this.parameters.keys()].join()) {
      this.parameters.clear();
      this.fields.parameters.replaceChildren(...parameters.map(({ name, title }) => {
        const { select, node } = selectBox(title, (value) => (
          this.wish({ parameters: { [name]: Number(value) } })));
        this.parameters.set(name, select);
        return this.field(name, title, [node]);
      }));
    }
    for (const { name, choices } of parameters) {
      setOptions(/** @type {HTMLSelectElement} */ (this.parameters.get(name)),
        choices[choice.ranks].map((value) => ({ value: String(value), text: String(value) })),
        String(choice.parameters[name]));
    }
    this.fields.parameters.hidden = !parameters.length;
  }

  /** @param {-1 | 1} direction */
  step(direction) {
    const next = direction < 0 ? this.ranks.filter((n) => n < this.n).pop()
      : this.ranks.find((n) => n > this.n);
    if (next !== undefined) this.wish({ ranks: next });
  }

  /**
   * Keep room for what a primitive lets one choose, before the catalogue is there.
   * @param {string} slug
   */
  expect(slug) {
    this.fields.root.hidden = PRIMITIVES[slug]?.rooted === false;
    this.fields.op.hidden = PRIMITIVES[slug]?.reduces === false;
  }

  /** Nothing can be chosen. @param {string} sentence */
  fail(sentence) {
    this.node.classList.remove('cp-waiting');
    this.node.replaceChildren(html('span', { class: 'cp-label' }, sentence));
  }

  /** What there is to choose without a catalogue. @param {Choice} choice */
  showLook(choice) {
    this.view.show(choice.view, (view) => viewReason(view, choice.ranks));
    this.menu.values.show(choice.values);
    this.node.classList.remove('cp-waiting');
  }

  /**
   * Show what can be chosen beside the present choice; what cannot is there with its reason.
   * @param {PrimitiveEntry[]} catalog @param {Choice} choice
   */
  show(catalog, choice) {
    const primitive = bySlug(catalog, choice.primitive);
    const algorithm = primitive && bySlug(primitive.algorithms, choice.algorithm);
    if (!primitive || !algorithm) return;
    const { selects } = this;
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
    this.showParameters(algorithm.parameters, choice);
    this.showLook(choice);
    this.ranks = algorithm.ranks;
    this.n = n;
    setAvailable(this.fewer, this.ranks.some((m) => m < n));
    setAvailable(this.more, this.ranks.some((m) => m > n));
  }
}
