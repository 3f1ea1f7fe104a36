/**
 * The panels below the stage: what each is called, where its module is, and the frame around it.
 * A panel's module is loaded when it is opened first; one panel is open at a time.
 *
 * @typedef {import('./host.js').Host} Host
 * @typedef {{open: (host: Host, signal: AbortSignal) => HTMLElement}} PanelModule
 */
import { html } from './dom.js';
import { style } from './styles.js';
import { iconButton } from './widgets.js';

/** @type {Record<string, {title: string, load: () => Promise<PanelModule>}>} */
export const PANELS = {
  inspect: { title: '看一块', load: () => import('./panels/inspect.js') },
  table: { title: '状态表', load: () => import('./panels/table.js') },
  whatif: { title: '如果……', load: () => import('./panels/whatif.js') },
  predict: { title: '猜一猜', load: () => import('./panels/predict.js') },
  compare: { title: '比较', load: () => import('./panels/compare.js') },
  share: { title: '分享与下载', load: () => import('./panels/share.js') },
};

export class Panels {
  /** @param {HTMLElement} slot  where the open panel goes */
  constructor(slot) {
    this.slot = slot;
    /** The open panel. */
    this.name = '';
    /** @type {AbortController | null} */
    this.stay = null;
    /** What gets the focus back. @type {HTMLElement | null} */
    this.opener = null;
  }

  /**
   * Open a panel in place of the one that is open; nothing happens when it is open already.
   * @param {string} name @param {Host} host @param {HTMLElement | null} opener
   * @param {boolean} [focus]  bring the focus to it
   */
  async open(name, host, opener, focus = true) {
    if (this.name === name) return;
    this.close(false);
    const { title, load } = PANELS[name];
    const stay = this.stay = new AbortController();
    this.name = name;
    this.opener = opener;
    const body = html('div', { class: 'cp-side-body' });
    const section = html('section', { class: 'cp-side', 'aria-label': title, tabindex: -1 },
      html('div', { class: 'cp-side-head' }, html('strong', {}, title),
        iconButton('cp-close', 'close', `关闭：${title}`, () => this.close())), body);
    section.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.close();
    });
    try {
      const [module] = await Promise.all([load(), style()]);
      if (stay.signal.aborted) return;
      body.append(module.open(host, stay.signal));
    } catch (error) {
      if (stay.signal.aborted) return;
      console.error(error);
      body.append(html('p', { role: 'alert' }, '这一部分没有加载成功：网络不通，请稍后再试。'));
    }
    this.slot.replaceChildren(section);
    if (!focus) return;
    section.focus({ preventScroll: true });
    section.scrollIntoView({ block: 'nearest' });
  }

  /** @param {boolean} [restoreFocus] */
  close(restoreFocus = true) {
    const inside = this.slot.contains(document.activeElement);
    this.stay?.abort();
    this.stay = null;
    this.name = '';
    this.slot.replaceChildren();
    if (inside && restoreFocus) this.opener?.focus();
    this.opener = null;
  }
}
