/**
 * Buttons and selects in the player's dress.
 *
 * @typedef {{value: string, text: string, off?: boolean}} Option
 */
import { html } from './dom.js';
import { icon } from './icons.js';

/**
 * An icon; markup of our own, never anything from outside.
 * @param {import('./icons.js').Icon} name
 * @returns {Node}
 */
export function iconNode(name) {
  const template = document.createElement('template');
  template.innerHTML = icon(name);
  return template.content;
}

/**
 * A button with an icon. It is never disabled, so that it keeps the focus; see setAvailable().
 * @param {string} className @param {import('./icons.js').Icon} name @param {string} label
 * @param {() => void} press
 */
export function iconButton(className, name, label, press) {
  const button = html('button', {
    type: 'button', class: `cp-button ${className}`, 'aria-label': label, title: label,
  }, iconNode(name));
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') press();
  });
  return button;
}

/** @param {HTMLElement} button @param {boolean} available */
export const setAvailable = (button, available) =>
  button.setAttribute('aria-disabled', String(!available));

/**
 * @param {string} label @param {(value: string) => void} pick
 */
export function selectBox(label, pick) {
  const select = html('select', { class: 'cp-select', 'aria-label': label });
  select.addEventListener('change', () => pick(select.value));
  return { select, node: html('span', { class: 'cp-select-box' }, select, iconNode('chevron')) };
}

/**
 * Bring a select to new options without touching those that stay.
 * @param {HTMLSelectElement} select @param {Option[]} options @param {string} value
 */
export function setOptions(select, options, value) {
  while (select.options.length > options.length) select.options[options.length].remove();
  options.forEach((option, i) => {
    const node = select.options[i] ?? select.appendChild(html('option'));
    if (node.value !== option.value) node.value = option.value;
    if (node.textContent !== option.text) node.textContent = option.text;
    node.disabled = option.off === true;
  });
  select.value = value;
}
