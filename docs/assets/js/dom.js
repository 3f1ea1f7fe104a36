/**
 * Making elements. Text from files and addresses goes in as text, never as markup.
 */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @template {Element} T
 * @param {T} node
 * @param {Record<string, string | number | boolean | null>} attributes  false and null: left out
 * @param {(Node | string)[]} children
 * @returns {T}
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null) continue;
    node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children);
  return node;
}

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const html = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export const svg = (tag, attributes = {}, ...children) => fill(
  /** @type {SVGElementTagNameMap[K]} */ (document.createElementNS(SVG, tag)),
  attributes, children);
