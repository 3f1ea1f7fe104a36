/**
 * The parts of the player below the choices: stage, words, transport, panel, ledger. They are made
 * once; what they show comes later.
 */
import { SPEEDS } from './clock.js';
import { html, svg } from './dom.js';
import { Timeline } from './timeline.js';
import { iconButton, iconNode, selectBox, setOptions } from './widgets.js';

/** A finger that moves further than this many pixels has swiped; less than the other, tapped. */
const SWIPE = 40;
const TAP = 8;

/**
 * @typedef {object} Actions  what the reader can do
 * @property {() => void} first
 * @property {() => void} back
 * @property {() => void} toggle  play or pause
 * @property {() => void} forward
 * @property {() => void} last
 * @property {() => void} loop
 * @property {(speed: number) => void} speed
 * @property {(by: 1 | -1) => void} faster  to the next speed
 * @property {(position: number) => void} scrub
 * @property {(step: number) => void} pick
 * @property {(x: number, y: number) => void} point  at a place of the stage, in its pixels
 * @property {() => void} look  at a block, by the keyboard
 */

/**
 * Keys, while the focus is inside. A select keeps the keys it needs, a button its space bar.
 * @param {KeyboardEvent} event @param {Actions} act @param {() => void} help
 */
function onKey(event, act, help) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowLeft: act.back, ArrowRight: act.forward, Home: act.first, End: act.last, ' ': act.toggle,
    '+': () => act.faster(1), '=': () => act.faster(1), '-': () => act.faster(-1), '?': help,
  };
  const target = /** @type {Element} */ (event.target);
  if (!Object.hasOwn(keys, event.key) || (event.key === ' ' && target.closest('button'))
    || (target.closest('select') && !['+', '-', '?'].includes(event.key))) return;
  event.preventDefault();
  event.stopPropagation();
  keys[event.key]();
}

/**
 * What a pointer does on the stage: a tap points at a block, a finger that swipes steps.
 * @param {HTMLElement} stage @param {Actions} act
 */
function listenToPointers(stage, act) {
  /** @type {PointerEvent | null} */
  let start = null;
  stage.addEventListener('pointerdown', (event) => {
    start = event.isPrimary && event.button === 0 ? event : null;
  });
  stage.addEventListener('pointercancel', () => { start = null; });
  stage.addEventListener('pointerup', (event) => {
    if (!start || event.pointerId !== start.pointerId) return;
    const [dx, dy] = [event.clientX - start.clientX, event.clientY - start.clientY];
    start = null;
    if (Math.hypot(dx, dy) < TAP) {
      const { left, top } = stage.getBoundingClientRect();
      act.point(event.clientX - left, event.clientY - top);
    } else if (event.pointerType === 'touch' && Math.abs(dx) > SWIPE
      && Math.abs(dx) > 2 * Math.abs(dy)) {
      if (dx < 0) act.forward();
      else act.back();
    }
  });
  stage.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target === stage) act.look();
  });
}

/** @typedef {ReturnType<typeof buildShell>} Shell */

/** @param {Actions} act */
export function buildShell(act) {
  const buttons = {
    first: iconButton('cp-first', 'first', '回到开头', act.first),
    back: iconButton('cp-back', 'back', '后退一轮', act.back),
    play: iconButton('cp-play', 'play', '播放', act.toggle),
    forward: iconButton('cp-forward', 'forward', '前进一轮', act.forward),
    last: iconButton('cp-last', 'last', '跳到结尾', act.last),
  };
  buttons.play.append(iconNode('pause'));
  const loop = iconButton('cp-loop', 'loop', '循环播放', act.loop);
  loop.setAttribute('aria-pressed', 'false');
  const speed = selectBox('速度', (value) => act.speed(Number(value)));
  speed.node.classList.add('cp-speed');
  setOptions(speed.select, SPEEDS.map((s) => ({ value: String(s), text: `${s}×` })), '1');
  const showHelp = async () => {
    (await import('./help.js')).showHelp(node);
  };
  const timeline = new Timeline(act);
  const picture = svg('svg', { class: 'cp-svg cp-draw', role: 'img', 'aria-label': '' });
  const stage = html('div', {
    class: 'cp-stage', tabindex: 0, role: 'group', 'aria-label': '画面，按回车逐块查看',
  });
  const flight = html('div', { class: 'cp-tokens', 'aria-hidden': 'true' });
  stage.append(picture, flight);
  listenToPointers(stage, act);
  const legend = html('div', { class: 'cp-legend' });
  const title = html('strong', { class: 'cp-title' });
  const words = html('span', { class: 'cp-words' });
  const example = html('p', { class: 'cp-example' });
  const caption = html('div', { class: 'cp-caption', 'aria-live': 'off', 'aria-atomic': 'true' },
    html('p', { class: 'cp-sentence' }, title, ' ', words), example);
  const ledger = html('div', { class: 'cp-ledger' });
  const problem = html('p', { class: 'cp-problem', role: 'alert', hidden: true });
  const slot = html('div', { class: 'cp-slot' });
  const node = html('div', { class: 'cp', tabindex: -1 }, problem, stage, legend, caption,
    html('div', { class: 'cp-transport', role: 'group', 'aria-label': '播放' },
      html('div', { class: 'cp-buttons' }, ...Object.values(buttons)),
      timeline.node,
      html('div', { class: 'cp-extras' }, speed.node, loop,
        iconButton('cp-help-button', 'help', '快捷键', showHelp))),
    slot, ledger);
  node.addEventListener('keydown', (event) => onKey(event, act, showHelp));
  return {
    node, problem, stage, picture, flight, legend, caption, title, words, example, buttons, timeline,
    speed: speed.select, loop, ledger, slot,
  };
}
