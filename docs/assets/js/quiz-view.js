/**
 * The form of a question: radio buttons, and a word on the answer once there is one.
 *
 * A pointer that chooses also answers. With the keyboard, arrows walk through the options and choose
 * each on their way, so there Enter or the button answers.
 */

import { html } from './dom.js';

/** @param {Element} node */
const copies = (node) => [...node.childNodes].map((child) => child.cloneNode(true));

/**
 * @param {Element} question  as scripts/quiz_macros.py writes it
 * @returns {HTMLFormElement}
 */
export function quizForm(question) {
  const asked = /** @type {Element} */ (question.querySelector('.quiz-asked'));
  const reasons = [...question.querySelectorAll('.quiz-reasons > li')];
  const said = html('div', { class: 'quiz-said', role: 'status' });
  const choices = [...question.querySelectorAll('.quiz-options > li')].map((option, index) => {
    const radio = html('input', { type: 'radio', name: 'choice', value: index });
    const verdict = html('span', { class: 'quiz-verdict' });
    const label = html('label', { class: 'quiz-choice' }, radio,
      html('span', {}, ...copies(option)), verdict);
    return { radio, verdict, label, right: option.classList.contains('quiz-right') };
  });
  const form = html('form', { class: 'quiz-form' },
    html('fieldset', {},
      html('legend', {}, ...copies(asked)),
      ...choices.map(({ label }) => label)),
    html('button', { type: 'submit' }, '看对不对'),
    said);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const index = choices.findIndex(({ radio }) => radio.checked);
    if (index < 0) {
      said.replaceChildren(html('p', {}, '先选一项。'));
      return;
    }
    const { label, verdict, right } = choices[index];
    label.classList.add(right ? 'quiz-was-right' : 'quiz-was-wrong');
    verdict.textContent = right ? '对' : '不对';
    said.replaceChildren(html('p', {}, ...copies(reasons[index]), right ? '' : '可以再选一次。'));
  });
  let pressed = false;
  form.addEventListener('pointerup', () => {
    pressed = true;
  });
  form.addEventListener('keydown', () => {
    pressed = false;
  });
  form.addEventListener('change', () => {
    said.replaceChildren();
    if (pressed) form.requestSubmit();
  });
  return form;
}
