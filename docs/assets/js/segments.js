/**
 * One of a few, all in sight.
 */
import { html } from './dom.js';
import { setAvailable } from './widgets.js';

/**
 * A row of buttons of which one is pressed; one that cannot be pressed says why.
 * @param {string} label @param {Record<string, string>} options  value -> text
 * @param {(value: string) => void} pick
 */
export function segments(label, options, pick) {
  /** @type {[string, HTMLButtonElement][]} */
  const buttons = Object.entries(options).map(([value, text]) => {
    const button = html('button', { type: 'button', class: 'cp-segmented' }, text);
    button.addEventListener('click', () => {
      if (button.getAttribute('aria-disabled') !== 'true') pick(value);
    });
    return [value, button];
  });
  return {
    node: html('div', { class: 'cp-segments', role: 'group', 'aria-label': label },
      ...buttons.map(([, button]) => button)),
    /** @param {string} chosen @param {(value: string) => string} [why]  empty: it can be pressed */
    show(chosen, why = () => '') {
      for (const [value, button] of buttons) {
        const reason = why(value);
        button.setAttribute('aria-pressed', String(value === chosen));
        button.title = reason;
        if (reason) button.setAttribute('aria-label', `${options[value]}：${reason}`);
        else button.removeAttribute('aria-label');
        setAvailable(button, !reason);
      }
    },
  };
}
