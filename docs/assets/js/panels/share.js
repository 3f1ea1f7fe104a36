/**
 * 分享与下载: the link to what is shown, the code that puts it into another page, and files of it.
 *
 * @typedef {import('../host.js').Host} Host
 */
import { bySlug, fileOf } from '../catalog.js';
import { html } from '../dom.js';
import { pictureFile, pngOf } from '../picture-file.js';
import { PRIMITIVES } from '../primitives.js';
import { scheduleData, writeJson } from '../schedule-file.js';
import { parseSchedule } from '../schedule.js';
import { pictureLabel, stepTitle } from '../text.js';
import { segments } from '../segments.js';

/** Milliseconds until a clipboard that does not answer is given up. */
const CLIPBOARD_PATIENCE = 3000;

/** Pixels of a PNG for each pixel of the page: sharp on a projector. */
const SCALE = 2;

/** What the colours of a picture are called. */
const PALETTES = { shown: '和画面一样', light: '浅色', dark: '深色' };

/** Where the player is, seen from the catalogue. */
const PLAYER = {
  script: '../player/collective-player.js', style: '../player/collective-player.css',
};

/** @param {string} text  to stand in an attribute */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  .replaceAll('<', '&lt;');

/** The name of a file of this schedule, without its ending. @param {Host} host */
function fileName({ shown: { schedule: { primitive, algorithm, ranks, root, parameters } } }) {
  const parts = [primitive, algorithm, `n${ranks}`,
    ...Object.entries(parameters).map(([name, value]) => `${name}${value}`),
    ...(root ? [`root${root}`] : [])];
  return parts.join('-').replace(/[^a-z0-9_-]+/gi, '-').slice(0, 80);
}

/**
 * What the reader is told the algorithm is called: the catalogue's name, else the file's.
 * @param {Host} host
 */
function titleOf({ catalog, shown: { schedule } }) {
  const entry = catalog && bySlug(catalog.entries, schedule.primitive);
  const algorithm = entry && bySlug(entry.algorithms, schedule.algorithm);
  return `${entry?.title ?? PRIMITIVES[schedule.primitive].title}，`
    + `${algorithm?.title ?? schedule.algorithm}，${schedule.ranks} 个 rank`;
}

/**
 * Where the chosen schedule is published, or null.
 * @param {Host} host
 */
function publishedAt({ catalog, choice }) {
  const entry = catalog && bySlug(catalog.entries, choice.primitive);
  const algorithm = entry && bySlug(entry.algorithms, choice.algorithm);
  return catalog && algorithm?.ranks.includes(choice.ranks)
    ? new URL(fileOf(algorithm, choice.ranks, choice.parameters), catalog.url) : null;
}

/**
 * The code of an iframe with the embed page in it, and a listener that gives it its height.
 * @param {Host} host @param {URL} catalog
 */
function frameCode(host, catalog) {
  const address = new URL(new URL(host.link).hash, new URL('../../embed/', catalog));
  const height = Math.ceil(host.node.getBoundingClientRect().height) + 54;
  return `<iframe src="${escaped(address.href)}"
  title="集合通信动画：${escaped(titleOf(host))}"
  width="100%" height="${height}" style="border: 0" loading="lazy"></iframe>
<script>
  addEventListener("message", ({ origin, source, data }) => {
    const frame = [...document.querySelectorAll("iframe")].find((f) => f.contentWindow === source);
    if (frame && origin === "${address.origin}" && data?.type === "collective-player:height") frame.height = data.height;
  });
</script>`;
}

/**
 * The code of the element itself.
 * @param {Host} host @param {URL} catalog
 */
function elementCode(host, catalog) {
  const { choice } = host;
  const at = (/** @type {string} */ path) => escaped(new URL(path, catalog).href);
  const controls = host.node.parentElement?.getAttribute('controls');
  const more = [
    host.round ? ` round="${host.round}"` : '',
    choice.root ? ` root="${choice.root}"` : '',
    choice.view === 'topology' ? '' : ` view="${choice.view}"`,
  ].join('');
  return `<link rel="stylesheet" href="${at(PLAYER.style)}">
<script type="module" src="${at(PLAYER.script)}"></script>
<collective-player src="${escaped(publishedAt(host)?.href ?? '')}"${
  controls ? ` controls="${escaped(controls)}"` : ''}${more}></collective-player>`;
}

/**
 * The schedule on the stage as a file: as it is published where it is published, else written.
 * @param {Host} host @param {AbortSignal} signal
 */
async function scheduleText(host, signal) {
  const { schedule } = host.shown;
  const address = publishedAt(host);
  try {
    const response = address && await fetch(address, { signal });
    const text = response?.ok ? await response.text() : '';
    if (text && JSON.stringify(parseSchedule(text)) === JSON.stringify(schedule)) return text;
  } catch {
    // Without the published file there is still what is shown.
  }
  return `${writeJson(scheduleData(schedule))}\n`;
}

export class Sharing {
  /** @param {Host} host @param {AbortSignal} signal */
  constructor(host, signal) {
    this.host = host;
    this.signal = signal;
    this.palette = 'shown';
    this.said = html('p', { class: 'cp-share-said', role: 'status' });
    /** Addresses of files in memory. @type {string[]} */
    this.files = [];
    this.colours = segments('图片的颜色', PALETTES, (value) => {
      this.palette = value;
      this.colours.show(value);
    });
    this.colours.show(this.palette);
    this.link = this.field('链接', '复制链接', 2);
    this.frame = this.field('嵌入代码：iframe', '复制 iframe', 9);
    this.element = this.field('嵌入代码：自定义元素', '复制元素', 4);
    this.unlinked = html('p', { class: 'cp-hint' },
      '这个日程不在本站的目录里，所以没有链接和嵌入代码。把日程 JSON 发给别人，在演练场里就能打开。');
    this.changed = html('p', { class: 'cp-hint' },
      '画面上的日程被改过：链接和嵌入代码打开的是原来的那个，图片和日程 JSON 是改过的这个。');
    this.lost = html('p', { class: 'cp-hint' },
      '元素打开时是求和、演示值、1 倍速；要连这些一起带走，用链接或 iframe。');
    const button = (/** @type {string} */ text, /** @type {() => Promise<void>} */ act) => {
      const node = html('button', { type: 'button', class: 'cp-action' }, text);
      node.addEventListener('click', act);
      return node;
    };
    this.node = html('div', { class: 'cp-share' },
      this.said, this.unlinked, this.changed, this.link.node,
      html('div', { class: 'cp-row' },
        html('div', { class: 'cp-field' },
          html('span', { class: 'cp-label', 'aria-hidden': 'true' }, '图片的颜色'),
          this.colours.node),
        button('下载 SVG', () => this.saveSvg()), button('下载 PNG', () => this.savePng()),
        button('下载日程 JSON', () => this.saveSchedule())),
      this.frame.node, this.element.node, this.lost);
    for (const type of ['step', 'shown']) {
      host.addEventListener(type, () => this.show(), { signal });
    }
    signal.addEventListener('abort', () => this.forget());
    this.show();
  }

  /**
   * A text to take away: read-only, selectable, with a button that copies it.
   * @param {string} title @param {string} action @param {number} rows
   */
  field(title, action, rows) {
    const text = html('textarea', {
      class: 'cp-share-text', readonly: true, rows, 'aria-label': title, spellcheck: 'false',
    });
    // The keys that step through the rounds move the cursor here.
    text.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') event.stopPropagation();
    });
    const copy = html('button', { type: 'button', class: 'cp-action' }, action);
    copy.addEventListener('click', () => this.copy(title, text));
    const node = html('div', { class: 'cp-share-field' },
      html('span', { class: 'cp-label', 'aria-hidden': 'true' }, title), text, copy);
    return { node, text };
  }

  /** Bring links and code up to what is on the stage. */
  show() {
    const { host } = this;
    const { link, catalog, choice } = host;
    const known = link !== '' && catalog !== null && publishedAt(host) !== null;
    for (const { node } of [this.link, this.frame, this.element]) node.hidden = !known;
    this.unlinked.hidden = known;
    this.changed.hidden = !known || host.shown.schedule === host.original;
    this.lost.hidden = !known || (choice.op === 'sum' && choice.values === 'demo');
    if (!known) return;
    const texts = [
      /** @type {const} */ ([this.link, link]),
      /** @type {const} */ ([this.frame, frameCode(host, catalog.url)]),
      /** @type {const} */ ([this.element, elementCode(host, catalog.url)]),
    ];
    for (const [{ text }, value] of texts) if (text.value !== value) text.value = value;
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  /** @param {string} title @param {HTMLTextAreaElement} text */
  async copy(title, text) {
    try {
      await Promise.race([
        navigator.clipboard.writeText(text.value),
        new Promise((_, refuse) => { setTimeout(refuse, CLIPBOARD_PATIENCE); }),
      ]);
      this.say(`已复制：${title}。`);
    } catch {
      // No such interface on a plain http page, or the reader said no, or no answer.
      text.focus();
      text.select();
      this.say(`浏览器不让网页写剪贴板。${title}已选中，请按 Ctrl+C（macOS 上是 ⌘C）复制。`);
    }
  }

  /**
   * @param {string} name @param {Blob} blob
   */
  save(name, blob) {
    const address = URL.createObjectURL(blob);
    this.files.push(address);
    html('a', { href: address, download: name }).click();
    this.say(`已下载：${name}。`);
  }

  /** Files that were handed over need not be kept. */
  forget() {
    for (const address of this.files.splice(0)) URL.revokeObjectURL(address);
  }

  /** The picture as it is on the stage, in the colours that are chosen. */
  picture() {
    const { host } = this;
    const { node, stage, picture, link } = host;
    const { schedule, states } = host.shown;
    const title = titleOf(host);
    const scheme = node.style.colorScheme;
    if (this.palette !== 'shown') node.style.colorScheme = this.palette;
    try {
      const { backgroundColor, color } = getComputedStyle(node);
      return pictureFile(stage, picture, {
        title,
        description: pictureLabel(schedule, states, host.round),
        caption: `${title} · ${stepTitle(schedule, host.round)}`,
        foot: link,
      }, { ground: backgroundColor, ink: color, soft: getComputedStyle(this.said).color });
    } finally {
      node.style.colorScheme = scheme;
    }
  }

  /** The name of a picture of this step. @param {string} ending */
  pictureName(ending) {
    return `${fileName(this.host)}-step${this.host.round}.${ending}`;
  }

  async saveSvg() {
    this.save(this.pictureName('svg'), new Blob([this.picture()], { type: 'image/svg+xml' }));
  }

  async savePng() {
    const name = this.pictureName('png');
    try {
      const blob = await pngOf(this.picture(), SCALE);
      if (!this.signal.aborted) this.save(name, blob);
    } catch (error) {
      console.error(error);
      this.say('浏览器没能画出 PNG，请下载 SVG。');
    }
  }

  async saveSchedule() {
    const name = `${fileName(this.host)}.json`;
    const text = await scheduleText(this.host, this.signal);
    if (!this.signal.aborted) this.save(name, new Blob([text], { type: 'application/json' }));
  }
}

/**
 * @param {Host} host @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export const open = (host, signal) => new Sharing(host, signal).node;
