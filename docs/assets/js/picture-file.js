/**
 * Makes an SVG file of a picture that is on the page: one that needs no stylesheet, looks the same
 * in every browser and image viewer, and asks nobody for anything. The picture is an element with
 * drawings in it, one of them as large as the whole, others and coloured boxes laid over it.
 *
 * @typedef {object} Words
 * @property {string} title
 * @property {string} description  for those who do not see the picture
 * @property {string} caption  below the picture
 * @property {string} foot  below the caption, in small; empty for none
 */
import { svg } from './dom.js';

/** What an element hands down to those inside it, with what it is where nobody has set it. */
const INHERITED = {
  fill: '#000000', 'fill-opacity': '1', stroke: 'none', 'stroke-opacity': '1', 'stroke-width': '1',
  'stroke-dasharray': 'none', 'stroke-linecap': 'butt', 'font-size': '16', 'font-weight': '400',
  'text-anchor': 'start', 'paint-order': 'normal', visibility: 'visible',
};

const MARGIN = 16;
const LINE = 20;

/** Canvases beyond this many pixels fail without a word in some browsers. */
const MOST_PIXELS = 16_000_000;

/** XML has no way at all to write these. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** @param {string} text */
const writable = (text) => text.replace(FORBIDDEN, '\u{FFFD}');

/**
 * A computed colour as #rrggbb, and how opaque it is. A reference such as url(#…) stays.
 * @param {string} value
 * @returns {[string, string]}
 */
function colourOf(value) {
  const parts = /^rgba?\(([\d.]+), ?([\d.]+), ?([\d.]+)(?:, ?([\d.]+))?\)$/.exec(value);
  if (!parts) return [value, '1'];
  const [red, green, blue] = parts.slice(1, 4).map((part) => (
    Math.round(Number(part)).toString(16).padStart(2, '0')));
  const opacity = parts[4] ?? '1';
  return Number(opacity) ? [`#${red}${green}${blue}`, opacity] : ['none', '1'];
}

/**
 * The properties of an element that matter to a picture, as attributes want them.
 * @param {CSSStyleDeclaration} style
 * @returns {Record<string, string>}
 */
function lookOf(style) {
  /** @type {Record<string, string>} */
  const look = {};
  for (const name of Object.keys(INHERITED)) {
    const value = style.getPropertyValue(name);
    if (name === 'fill' || name === 'stroke') {
      const [colour, opacity] = colourOf(value);
      look[name] = colour;
      look[`${name}-opacity`] = opacity;
    } else if (!name.endsWith('-opacity')) {
      look[name] = value.replaceAll('px', '');
    }
  }
  return look;
}

/**
 * Copy what is below an element, its look written into it.
 * @param {Element} from @param {Element} to @param {Record<string, string>} inherited
 */
function copyInto(from, to, inherited) {
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) {
      to.append(writable(child.nodeValue ?? ''));
    } else if (child instanceof SVGElement) {
      const copy = copyOf(child, inherited);
      if (copy) to.append(copy);
    }
  }
}

/** Attributes that say how to find or style an element on its page, not what it is. */
const OF_THE_PAGE = /^(class|style|role|tabindex|aria-.*|data-.*)$/;

/**
 * @param {SVGElement} node @param {Record<string, string>} inherited
 * @returns {Element | null} null for what is not displayed
 */
function copyOf(node, inherited) {
  const style = getComputedStyle(node);
  const describes = node instanceof SVGTitleElement;
  if (style.display === 'none' && !describes && !node.closest('defs')) return null;
  const copy = document.createElementNS(node.namespaceURI, node.localName);
  for (const { name, value } of node.attributes) {
    if (!OF_THE_PAGE.test(name) && !(name in INHERITED)) copy.setAttribute(name, writable(value));
  }
  if (describes) {
    copyInto(node, copy, inherited);
    return copy;
  }
  const look = lookOf(style);
  for (const [name, value] of Object.entries(look)) {
    // A reference is written as it stands; what is computed may carry the address of the page.
    if (value.startsWith('url(')) copy.setAttribute(name, node.getAttribute(name) ?? 'none');
    else if (value !== inherited[name]) copy.setAttribute(name, value);
  }
  if (Number(style.opacity) < 1) copy.setAttribute('opacity', style.opacity);
  if (node.style.transform) copy.setAttribute('transform', style.transform);
  // Image viewers do not know dominant-baseline; the middle of a line is about here.
  if (node instanceof SVGTextElement && style.dominantBaseline === 'central') {
    copy.setAttribute('dy', '.35em');
  }
  copyInto(node, copy, look);
  return copy;
}

/**
 * Copy all drawings and coloured boxes below an element to where they are seen.
 * @param {Element} from @param {Element} to
 * @param {(seen: Element) => {x: number, y: number, width: number, height: number}} placeOf
 */
function collect(from, to, placeOf) {
  for (const child of from.children) {
    const style = getComputedStyle(child);
    const opacity = Number(style.opacity);
    if (style.display === 'none' || !opacity) continue;
    if (child instanceof SVGSVGElement) {
      const nested = svg('svg', {
        ...placeOf(child), viewBox: child.getAttribute('viewBox'),
        overflow: child.getAttribute('overflow') ?? 'visible',
      });
      copyInto(child, nested, INHERITED);
      to.append(nested);
      continue;
    }
    const group = svg('g', { opacity: opacity < 1 ? opacity : null });
    const [colour, solid] = colourOf(style.backgroundColor);
    if (colour !== 'none') {
      group.append(svg('rect', { ...placeOf(child), fill: colour, 'fill-opacity': solid }));
    }
    collect(child, group, placeOf);
    if (group.childElementCount) to.append(group);
  }
}

/**
 * Break a text into lines of a width, between any two letters.
 * @param {string} text @param {number} width @param {number} size  of the letters, in pixels
 * @param {string} family
 */
function linesOf(text, width, size, family) {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return [text];
  context.font = `${size}px ${family}`;
  const lines = [''];
  for (const letter of text) {
    const line = lines[lines.length - 1] + letter;
    // Other machines have other fonts: room is left for wider ones.
    if (context.measureText(line).width > width * 0.94) lines.push(letter);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

/**
 * The text of an SVG file that shows a picture as it is on the page now.
 * @param {Element} picture  on the page
 * @param {SVGSVGElement} whole  the drawing in it that is as large as the picture
 * @param {Words} words
 * @param {{ground: string, ink: string, soft: string}} colours  computed ones
 * @returns {string}
 */
export function pictureFile(picture, whole, words, colours) {
  const width = Number(whole.getAttribute('width'));
  const height = Number(whole.getAttribute('height'));
  const origin = whole.getBoundingClientRect();
  const scale = width / origin.width;
  const round = (/** @type {number} */ n) => Math.round(n * scale * 100) / 100;
  const family = getComputedStyle(whole).fontFamily;
  const root = svg('svg', {
    width, role: 'img', 'aria-labelledby': 'title desc', 'font-family': family,
  }, svg('title', { id: 'title' }, writable(words.title)),
  svg('desc', { id: 'desc' }, writable(words.description)));
  const ground = root.appendChild(svg('rect', { width, fill: colourOf(colours.ground)[0] }));
  const frame = root.appendChild(svg('svg', { width, height, overflow: 'hidden' }));
  collect(picture, frame, (seen) => {
    const { left, top, width: w, height: h } = seen.getBoundingClientRect();
    return {
      x: round(left - origin.left), y: round(top - origin.top), width: round(w), height: round(h),
    };
  });
  let y = height + MARGIN;
  /** @param {string} text @param {number} size @param {string} colour */
  const write = (text, size, colour) => {
    for (const line of linesOf(writable(text), width - 2 * MARGIN, size, family)) {
      root.append(svg('text', { x: MARGIN, y, 'font-size': size, fill: colourOf(colour)[0] }, line));
      y += LINE;
    }
  };
  write(words.caption, 14, colours.ink);
  if (words.foot) write(words.foot, 11, colours.soft);
  const total = Math.round(y);
  root.setAttribute('height', String(total));
  root.setAttribute('viewBox', `0 0 ${width} ${total}`);
  ground.setAttribute('height', String(total));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(root)}\n`;
}

/**
 * The same picture as a PNG.
 * @param {string} source  what pictureFile() has written
 * @param {number} scale  pixels of the file for each of the page
 * @returns {Promise<Blob>}
 * @throws {Error} the browser cannot draw it
 */
export async function pngOf(source, scale) {
  const address = URL.createObjectURL(new Blob([source], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    const times = Math.min(scale, Math.sqrt(MOST_PIXELS / (width * height)));
    const canvas = document.createElement('canvas');
    canvas.width = Math.floor(width * times);
    canvas.height = Math.floor(height * times);
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => {
      canvas.toBlob(resolve, 'image/png');
    });
    if (!blob) throw new Error('no PNG');
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}
