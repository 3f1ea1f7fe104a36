/**
 * What several panels are made of.
 *
 * @typedef {import('../host.js').Host} Host
 */
import { html } from '../dom.js';

/**
 * A button with words. It is never disabled, so that it keeps the focus; see setAvailable().
 * @param {string} text @param {() => void} press
 */
export function action(text, press) {
  const button = html('button', { type: 'button', class: 'cp-action' }, text);
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') press();
  });
  return button;
}

/** A select with its title above. @param {string} title @param {HTMLElement} box */
export const field = (title, box) => html('div', { class: 'cp-field' },
  html('span', { class: 'cp-label', 'aria-hidden': 'true' }, title), box);

/**
 * Say something without repeating it: a live region speaks again when it is written to again.
 * @param {HTMLElement} node @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * What of a choice makes it another schedule; operation, view and values do not.
 * @param {Host} host
 */
export function identity({ choice, original }) {
  const { primitive, algorithm, ranks, root, parameters } = choice;
  return JSON.stringify([primitive, algorithm, ranks, root, parameters, original.rounds.length]);
}
