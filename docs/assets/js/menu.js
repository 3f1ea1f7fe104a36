/**
 * The "⋯" of the bar: what stands in the blocks, and the panels.
 */
import { html } from './dom.js';
import { PANELS } from './panels.js';
import { style } from './styles.js';
import { segments } from './segments.js';

export class Menu {
  /**
   * @param {import('./controls.js').Controls} controls  with its button
   * @param {(values: string) => void} values  "demo" or "symbols" was chosen
   * @param {(name: string, opener: HTMLElement) => void} open  a panel was chosen
   */
  constructor(controls, values, open) {
    this.button = controls.menuButton;
    controls.showMenu = () => { style().then(() => this.toggle()); };
    this.values = segments('格子里写', { demo: '演示值', symbols: '符号' }, values);
    this.list = html('div', { class: 'cp-menu', hidden: true },
      html('div', { class: 'cp-menu-values' },
        html('span', { class: 'cp-label', 'aria-hidden': 'true' }, '格子里写'), this.values.node),
      ...Object.entries(PANELS).map(([name, { title }]) => {
        const item = html('button', { type: 'button', class: 'cp-item' }, title);
        item.addEventListener('click', () => {
          this.toggle(false);
          open(name, this.button);
        });
        return item;
      }));
    this.node = controls.menu;
    this.node.append(this.list);
    this.node.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || this.list.hidden) return;
      event.stopPropagation();
      this.toggle(false);
      this.button.focus();
    });
    this.node.addEventListener('focusout', (event) => {
      const to = /** @type {Node | null} */ (event.relatedTarget);
      if (to && !this.node.contains(to)) this.toggle(false);
    });
  }

  /** @param {boolean} [open] */
  toggle(open = this.list.hidden === true) {
    this.list.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
  }
}
