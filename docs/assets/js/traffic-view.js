/**
 * The form of <training-traffic>: fields for the numbers, and the table that follows them.
 */
import { html } from './dom.js';
import { MODELS } from './models.js';
import { joined, sizeText, timeText } from './race.js';
import { PRIMITIVES, SCHEMES, traffic } from './traffic.js';

/**
 * The fields, in order: label, unit, limits, and the number to begin with where the model has none.
 * @type {Record<string, {label: string, most: number, least?: number, value?: number,
 *   choices?: number[], from?: boolean}>}
 */
const FIELDS = {
  parameters: { label: '参数个数', most: 1e14, from: true },
  layers: { label: '层数', most: 10000, from: true },
  hidden: { label: '宽度（hidden size）', most: 1e6, from: true },
  moe: { label: 'MoE 层数', most: 10000, least: 0, from: true },
  chosen: { label: '每个 token 选几个专家', most: 1000, least: 0, from: true },
  ranks: { label: '组里的 rank 数 N', most: 1e6, least: 2, value: 8 },
  tokens: { label: '每步的 token 数', most: 1e9, value: 8192 },
  gradient: { label: '一个梯度几字节', most: 8, value: 2, choices: [2, 4] },
  value: { label: '一个参数或激活几字节', most: 8, value: 2, choices: [1, 2, 4] },
  bandwidth: { label: '端口带宽，GB/s', most: 1e5, value: 50 },
};

/** Ids have to be unique on a page, which may hold several forms. */
let forms = 0;

/**
 * @param {string} model  slug of the model to begin with
 * @param {string[]} wanted  the schemes to show
 * @returns {HTMLElement[]}
 */
export function trafficForm(model, wanted) {
  const id = `traffic-${forms += 1}`;
  const schemes = Object.entries(SCHEMES).filter(([slug]) => wanted.includes(slug));
  const needed = new Set(['ranks', 'bandwidth', ...schemes.flatMap(([, { needs }]) => needs)]);
  const begin = MODELS.find(({ slug }) => slug === model) ?? MODELS[0];

  /** The numbers as last understood. @type {Record<string, number>} */
  const numbers = {};
  for (const [name, { value = 0, from }] of Object.entries(FIELDS)) {
    numbers[name] = from ? Number(Reflect.get(begin, name)) : value;
  }

  const body = html('tbody');
  const said = html('p', { class: 'traffic-said', role: 'status' });
  const table = html('div', { class: 'table-box', role: 'group', tabindex: 0, 'aria-label': '表格' },
    html('table', { class: 'table' },
      html('thead', {}, html('tr', {}, ...['做法', '原语', '一步几次', '一次的 M', '每个 rank 发出',
        '光传字节要'].map((text) => html('th', { scope: 'col' }, text)))),
      body));

  const calculate = () => {
    const work = /** @type {import('./traffic.js').Work} */ (/** @type {unknown} */ (numbers));
    const rows = traffic(work).filter(({ scheme }) => wanted.includes(scheme));
    const time = (/** @type {number} */ bytes) => timeText(bytes / (numbers.bandwidth * 1e9));
    body.replaceChildren(...rows.map((row) => html('tr', {},
      html('th', { scope: 'row' }, SCHEMES[row.scheme].title),
      ...[PRIMITIVES[row.primitive], String(row.calls), sizeText(row.size), sizeText(row.sent),
        time(row.sent)].map((text) => html('td', {}, text)))));
    const totals = schemes.map(([slug, { title }]) => ({
      title,
      sent: rows.filter(({ scheme }) => scheme === slug).reduce((sum, row) => sum + row.sent, 0),
    }));
    const most = totals.reduce((a, b) => (b.sent > a.sent ? b : a));
    const who = joined(totals.length > 1 ? '发得最多的是' : '', most.title);
    said.textContent = `${who}：每个 rank 每步 ${sizeText(most.sent)}，光传字节要 ${time(most.sent)}。`;
  };

  /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
  const inputs = {};
  const fields = Object.entries(FIELDS).filter(([name]) => needed.has(name))
    .map(([name, { label, most, least = 1, choices }]) => {
      const own = { id: `${id}-${name}`, name, 'aria-describedby': `${id}-${name}-wrong` };
      const input = inputs[name] = choices
        ? html('select', own, ...choices.map((n) => html('option', { value: n }, String(n))))
        : html('input', { ...own, type: 'text', inputmode: 'numeric', autocomplete: 'off' });
      input.value = String(numbers[name]);
      const wrong = html('span', { class: 'traffic-wrong', id: `${id}-${name}-wrong` });
      input.addEventListener('input', () => {
        const number = Number(input.value.replaceAll(/[\s,，]/g, '') || NaN);
        const whole = name === 'bandwidth' ? number > 0 : Number.isInteger(number);
        const right = whole && number <= most && (name === 'bandwidth' || number >= least);
        input.setAttribute('aria-invalid', String(!right));
        wrong.textContent = right ? '' : name === 'bandwidth'
          ? `要是不大于 ${most} 的正数` : `要是 ${least} 到 ${most} 的整数`;
        if (!right) return;
        numbers[name] = number;
        if (FIELDS[name].from) select.value = '';
        calculate();
      });
      return html('div', { class: 'traffic-field' },
        html('label', { for: own.id }, label), input, wrong);
    });

  const select = html('select', { id: `${id}-model` },
    ...MODELS.map(({ slug, title }) => html('option', { value: slug }, title)),
    html('option', { value: '' }, '自己填'));
  select.value = begin.slug;
  select.addEventListener('change', () => {
    const chosen = MODELS.find(({ slug }) => slug === select.value);
    if (!chosen) return;
    for (const [name, { from }] of Object.entries(FIELDS)) {
      if (!from) continue;
      numbers[name] = Number(Reflect.get(chosen, name));
      if (!inputs[name]) continue;
      inputs[name].value = String(numbers[name]);
      inputs[name].setAttribute('aria-invalid', 'false');
      (inputs[name].nextElementSibling ?? said).textContent = '';
    }
    calculate();
  });

  calculate();
  return [
    html('div', { class: 'traffic-fields', role: 'group', 'aria-label': '可以改的数' },
      html('div', { class: 'traffic-field' },
        html('label', { for: `${id}-model` }, '模型'), select,
        html('span', { class: 'traffic-wrong' })),
      ...fields),
    said, table,
  ];
}
