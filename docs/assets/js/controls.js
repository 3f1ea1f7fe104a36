/**
 * The bar of choices: primitive, algorithm, number of GPUs, its parameters, root, reduction, view,
 * and the button of more. It takes the place that skeleton.js has kept for it.
 *
 * @typedef {import('./catalog.js').Choice} Choice
 */
import { html } from './dom.js';
import { PRIMITIVES } from './primitives.js';
import { VIEWS, viewReason } from './views.js';
import { segments } from './segments.js';
import { iconButton, selectBox } from './widgets.js';

/**
 * A control with its title.
 * @param {string} name @param {string} title @param {Node[]} parts
 */
export const field = (name, title, parts) => html('div', { class: `cp-field cp-field-${name}` },
  html('span', { class: 'cp-label', 'aria-hidden': 'true' }, title), ...parts);

export class Controls {
  /**
   * @param {HTMLElement} node  the bar @param {string[]} names  which controls to offer
   * @param {(wish: import('./catalog.js').Wish) => void} wish  what the reader asks for
   */
  constructor(node, names, wish) {
    this.node = node;
    this.wish = wish;
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
    this.fewer = iconButton('cp-step', 'minus', '减少 GPU', () => this.step(-1));
    this.more = iconButton('cp-step', 'plus', '增加 GPU', () => this.step(1));
    /** What the button of more does. */
    this.showMenu = () => {};
    this.menuButton = iconButton('cp-more', 'more', '更多', () => this.showMenu());
    this.menuButton.setAttribute('aria-expanded', 'false');
    this.menu = html('div', { class: 'cp-more-box' }, this.menuButton);
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
      ...(names.includes('more') ? [this.menu] : []),
    ];
    node.replaceChildren(
      ...Object.entries(this.fields).filter(([name]) => names.includes(name))
        .map(([, part]) => part),
      ...(look.length ? [html('div', { class: 'cp-look' }, ...look)] : []));
    /** @type {Map<string, HTMLSelectElement>} */
    this.parameters = new Map();
    /** @type {number[]} */
    this.ranks = [];
    this.n = 0;
  }

  /** @param {-1 | 1} direction */
  step(direction) {
    const next = direction < 0 ? this.ranks.filter((n) => n < this.n).pop()
      : this.ranks.find((n) => n > this.n);
    if (next !== undefined) this.wish({ ranks: next });
  }

  /** What a primitive lets one choose. @param {string} slug */
  expect(slug) {
    this.fields.root.hidden = PRIMITIVES[slug]?.rooted === false;
    this.fields.op.hidden = PRIMITIVES[slug]?.reduces === false;
  }

  /** What there is to choose without a catalogue. @param {Choice} choice */
  showLook(choice) {
    this.view.show(choice.view, (view) => viewReason(view, choice.ranks));
    this.node.classList.remove('cp-waiting');
  }
}
