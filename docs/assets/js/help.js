/**
 * The table of keys, made when it is asked for first.
 */
import { html } from './dom.js';
import { style } from './styles.js';
import { iconButton } from './widgets.js';

const KEYS = [
  ['空格', '播放或暂停'], ['← →', '后退一轮，前进一轮'], ['Home End', '回到开头，跳到结尾'],
  ['+ −', '加快，放慢'], ['回车', '焦点在画面上时：看一块'], ['?', '打开这张表'],
  ['Esc', '关闭打开的东西'],
];

/**
 * Show the table of a player.
 * @param {HTMLElement} player  its box
 */
export async function showHelp(player) {
  await style();
  const known = /** @type {HTMLDialogElement | null} */ (player.querySelector(':scope > .cp-help'));
  (known ?? helpDialog(player)).showModal();
}

/**
 * @param {HTMLElement} player
 * @returns {HTMLDialogElement}
 */
function helpDialog(player) {
  const close = iconButton('cp-close', 'close', '关闭', () => dialog.close());
  const dialog = html('dialog', { class: 'cp-help', 'aria-label': '快捷键' },
    html('div', { class: 'cp-help-head' }, html('strong', {}, '快捷键'), close),
    html('ul', { class: 'cp-keys' }, ...KEYS.map(([keys, what]) => html('li', {},
      html('span', { class: 'cp-key-list' },
        ...keys.split(' ').map((key) => html('kbd', { class: 'cp-key' }, key))),
      html('span', {}, what)))));
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  // Its keys are its own: nothing may step behind it.
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  player.append(dialog);
  return dialog;
}
