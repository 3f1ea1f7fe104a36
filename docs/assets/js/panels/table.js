/**
 * 状态表: what every rank holds after the step on the stage, as a table of numbers.
 *
 * @typedef {import('../host.js').Host} Host
 */
import { html } from '../dom.js';
import { cellText } from '../numbers.js';
import { sameCell } from '../replay.js';
import { buffersOf } from '../schedule.js';
import { stepTitle } from '../text.js';

/**
 * @param {Host} host @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function open(host, signal) {
  const caption = html('caption');
  const head = html('thead');
  const body = html('tbody');
  const box = html('div', {
    class: 'cp-table-box', tabindex: 0, role: 'region', 'aria-label': '状态表，可以滚动',
  }, html('table', { class: 'cp-table' }, caption, head, body));
  const show = () => {
    const { schedule, states, goal, op, symbols } = host.shown;
    const { round } = host;
    caption.textContent = round === 0 ? '起始状态' : `${stepTitle(schedule, round)}之后`;
    head.replaceChildren(html('tr', {}, html('th', { scope: 'col' }, 'rank'),
      ...schedule.buffers.map(({ name }) => html('th', { scope: 'col' }, name))));
    body.replaceChildren(...states[round].map((held, rank) => {
      const own = buffersOf(schedule, rank).map(({ name }) => name);
      return html('tr', {}, html('th', { scope: 'row' }, String(rank)),
        ...schedule.buffers.map(({ name }) => html('td', {}, own.includes(name)
          ? held[name].map((cell, block) => {
            const text = cell ? cellText(schedule, cell, op, symbols, 9) : '未定义';
            const required = goal[rank][name]?.[block];
            return required && sameCell(required, cell) ? `${text}（完成）` : text;
          }).join('，') : '没有')));
    }));
  };
  host.addEventListener('step', show, { signal });
  host.addEventListener('shown', show, { signal });
  show();
  return box;
}
