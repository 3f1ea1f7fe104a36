/**
 * 如果……: the reader loses, misdirects or repeats a transfer; the player performs the damaged
 * schedule, and the panel says which rule it breaks and what would come of it.
 *
 * @typedef {import('../host.js').Host} Host
 * @typedef {import('../schedule.js').Schedule} Schedule
 * @typedef {import('../whatif.js').Damage} Damage
 * @typedef {import('../whatif.js').Kind} Kind
 */
import { html } from '../dom.js';
import { stepTitle } from '../text.js';
import {
  RULES, consequences, damageName, damaged, transferName, troubleAt, wrongTargets,
} from '../whatif.js';
import { selectBox, setAvailable, setOptions } from '../widgets.js';
import '../words.js';
import { action, field, identity, say } from './parts.js';

/** So many mistakes at once still make a list that one can read. */
const MOST = 8;

/**
 * @param {Host} host @param {AbortSignal} signal  its abort puts the chosen schedule back
 * @returns {HTMLElement}
 */
export function open(host, signal) {
  /** @type {Damage[]} */
  let damages = [];
  /** @type {Schedule | null} */
  let performed = null;
  let chosen = identity(host);
  /** Whether the reader has chosen a step; until then it is the one on the stage. */
  let own = false;

  const steps = selectBox('要改哪一步', () => {
    own = true;
    showTransfers(0);
  });
  const transfers = selectBox('要改哪个传输', () => showTransfers(Number(transfers.select.value)));
  const targets = selectBox('改发给哪个 rank', () => {});
  const place = () => (
    { round: Number(steps.select.value), transfer: Number(transfers.select.value) });
  const chosenTransfer = () => {
    const { round, transfer } = place();
    return host.original.rounds[round].transfers[transfer];
  };

  /** @param {Kind} kind */
  const damage = (kind) => {
    const here = place();
    const kept = damages.filter((d) => d.round !== here.round || d.transfer !== here.transfer);
    const dst = Number(targets.select.value);
    damages = [...kept, kind === 'redirect' ? { kind, ...here, dst } : { kind, ...here }];
    perform();
    // What happens next on the stage should be the step that was changed.
    if (host.round > here.round) host.seek(here.round);
  };
  const ways = {
    drop: action('删掉', () => damage('drop')),
    redirect: action('改发给', () => damage('redirect')),
    twice: action('同一步里做两次', () => damage('twice')),
    again: action('下一步再做一次', () => damage('again')),
  };
  const limit = html('p', { class: 'cp-hint', hidden: true });
  const list = html('ul', { class: 'cp-whatif-list', 'aria-label': '改过的地方' });
  const rule = html('p');
  const outcome = html('p');
  const verdict = html('div', { class: 'cp-verdict', hidden: true }, rule, outcome);
  const jump = action('跳到出错的那一步', () => {
    host.seek(host.shown.states.length - 1);
    host.stage.scrollIntoView({ block: 'nearest' });
  });
  const restore = action('还原', () => {
    damages = [];
    perform();
  });

  const perform = () => {
    performed = damages.length ? damaged(host.original, damages) : null;
    host.perform(performed);
    show();
  };

  /** What the chosen transfer is about to take, and where the schedule on the stage gets stuck. */
  const mark = () => {
    const { schedule, states, refusal } = host.shown;
    const t = chosenTransfer();
    const now = host.round === place().round;
    host.outline(Array.from({ length: now ? t.count : 0 }, (_, i) => (
      { rank: t.src, buffer: t.fromBuffer, block: t.fromOffset + i })), 'picked');
    // A wrong end is marked by the player itself.
    const stuck = refusal && refusal.rule !== 'end-state' && host.round === states.length - 1;
    host.outline(stuck ? troubleAt(schedule, refusal) : [], 'wrong');
  };

  /** @param {number} wanted  transfer of the chosen step */
  const showTransfers = (wanted) => {
    const { original } = host;
    setOptions(transfers.select, original.rounds[place().round].transfers.map((t, i) => (
      { value: String(i), text: transferName(original, t) })), String(wanted));
    const others = wrongTargets(original, chosenTransfer());
    const before = Number(targets.select.value);
    const offered = others.map((rank) => ({ value: String(rank), text: `rank ${rank}` }));
    setOptions(targets.select, offered, String(others.includes(before) ? before : others[0]));
    targets.node.hidden = !others.length;
    const full = damages.length >= MOST;
    for (const [kind, button] of Object.entries(ways)) {
      const alone = kind === 'redirect' && !others.length;
      setAvailable(button, !full && !alone);
    }
    say(limit, full ? `已经改了 ${MOST} 处，先撤回一处。`
      : others.length ? '' : `只有 ${original.ranks} 个 rank，没有别人可发。`);
    limit.hidden = !limit.textContent;
    mark();
  };

  const showDamages = () => {
    const held = [...list.children].findIndex((item) => item.contains(document.activeElement));
    list.replaceChildren(...damages.map((d) => {
      const name = damageName(host.original, d);
      const undo = action('撤回', () => {
        damages = damages.filter((other) => other !== d);
        perform();
      });
      undo.setAttribute('aria-label', `撤回：${name}`);
      return html('li', {}, html('span', {}, name), undo);
    }));
    list.hidden = !damages.length;
    if (held < 0) return;
    const next = list.children[Math.min(held, damages.length - 1)]?.querySelector('button');
    (next ?? ways.drop).focus();
  };

  const show = () => {
    const { shown } = host;
    setAvailable(restore, damages.length > 0);
    setAvailable(jump, shown.refusal !== null);
    verdict.hidden = !performed;
    if (performed) {
      const { refusal, outcome: words } = consequences(performed, shown.op, shown.symbols);
      verdict.dataset.kind = refusal ? 'wrong' : 'right';
      say(rule, refusal ? `规则不许（${RULES[refusal.rule]}）：${refusal.message}`
        : '规则：都守住了，证明照样通过。');
      say(outcome, refusal ? `照做的话，${words}` : words);
    }
    showDamages();
    showTransfers(Number(transfers.select.value));
  };

  /** Begin with a schedule that has no mistakes. */
  const reset = () => {
    chosen = identity(host);
    damages = [];
    performed = null;
    own = false;
    const { original } = host;
    const step = Math.min(host.round, original.rounds.length - 1);
    setOptions(steps.select, original.rounds.map((_, i) => (
      { value: String(i), text: stepTitle(original, i + 1) })), String(step));
    setOptions(transfers.select, [{ value: '0', text: '' }], '0');
    show();
  };

  host.addEventListener('shown', () => {
    if (identity(host) !== chosen) reset();
    else if (host.shown.schedule !== (performed ?? host.original)) perform();
    else show();
  }, { signal });
  host.addEventListener('step', () => {
    if (host.shown.schedule !== (performed ?? host.original)) return;
    const next = String(Math.min(host.round, host.original.rounds.length - 1));
    if (!own && !damages.length && steps.select.value !== next) {
      steps.select.value = next;
      showTransfers(0);
    } else mark();
  }, { signal });
  host.addEventListener('pick', (event) => {
    const at = /** @type {CustomEvent<import('../whatif.js').Place | null>} */ (event).detail;
    if (!at) return;
    const all = host.original.rounds[place().round].transfers;
    const index = all.findIndex((t) => t.src === at.rank && t.fromBuffer === at.buffer
      && t.fromOffset <= at.block && at.block < t.fromOffset + t.count);
    if (index < 0) return;
    own = true;
    showTransfers(index);
  }, { signal });
  signal.addEventListener('abort', () => {
    host.perform(null);
    host.outline([], 'picked');
    host.outline([], 'wrong');
  });

  const node = html('div', { class: 'cp-whatif' },
    html('p', { class: 'cp-hint' }, '选一个传输，把它弄坏，看规则怎么说，结果又会错在哪里。'
      + '也可以在画面上点要发出的那一块。改几处都行。'),
    html('div', { class: 'cp-row cp-whatif-choice' },
      field('哪一步', steps.node), field('哪个传输', transfers.node)),
    html('div', { class: 'cp-row' }, ways.drop,
      html('span', { class: 'cp-whatif-to' }, ways.redirect, targets.node), ways.twice, ways.again),
    limit, list,
    html('div', { 'aria-live': 'polite', 'aria-atomic': 'true' }, verdict),
    html('div', { class: 'cp-row' }, jump, restore));
  reset();
  return node;
}
