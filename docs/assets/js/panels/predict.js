/**
 * 猜一猜: before a round plays, the reader says which block will move; then it plays. The clock is
 * held for that by the host's guard, so that playing, stepping and keys all come to the question.
 *
 * @typedef {import('../host.js').Host} Host
 * @typedef {import('../questions.js').Answer} Answer
 * @typedef {import('../questions.js').Place} Place
 * @typedef {import('../questions.js').Question} Question
 */
import { html } from '../dom.js';
import { answerAt, judge, questionOf } from '../questions.js';
import { stepTitle } from '../text.js';
import { setAvailable } from '../widgets.js';
import { action, identity, say } from './parts.js';

export class Predictor {
  /** @param {Host} host @param {AbortSignal} signal  its abort lets the clock run freely again */
  constructor(host, signal) {
    this.host = host;
    this.chosen = identity(host);
    /** Steps that are not asked about again. @type {Set<number>} */
    this.passed = new Set();
    this.right = 0;
    this.asked = 0;
    /** What is asked now. @type {Question | null} */
    this.question = null;
    /** What was said to it. @type {Answer | null} */
    this.answer = null;
    /** @type {Map<Answer, HTMLButtonElement>} */
    this.buttons = new Map();

    this.words = html('p', { class: 'cp-predict-question', tabindex: -1 });
    this.answers = html('div', { class: 'cp-row', role: 'group', 'aria-label': '答案' });
    this.hint = html('p', { class: 'cp-hint' });
    this.verdict = html('p', { class: 'cp-verdict', hidden: true });
    this.spoken = html('p', { class: 'cp-predict-spoken', 'aria-live': 'polite' });
    this.score = html('span', { class: 'cp-predict-score' });
    this.go = action('', () => this.play());
    this.skip = action('跳过', () => this.pass());
    this.again = action('重来', () => {
      this.reset();
      this.offer();
    });
    this.node = html('div', { class: 'cp-predict' },
      this.words, this.answers, this.hint,
      html('div', { 'aria-live': 'polite', 'aria-atomic': 'true' }, this.verdict),
      html('div', { class: 'cp-row cp-predict-row' }, this.go, this.skip, this.again, this.score),
      this.spoken);

    host.guard = (step) => this.holds(step);
    host.addEventListener('step', () => this.follow(), { signal });
    host.addEventListener('shown', () => this.shown(), { signal });
    host.addEventListener('pick', (event) => {
      this.pick(/** @type {CustomEvent<Place | null>} */ (event).detail);
    }, { signal });
    signal.addEventListener('abort', () => {
      host.guard = null;
      this.clearOutlines();
    });
    this.offer();
  }

  /** Ask about the next step at once, where the clock rests before one. */
  offer() {
    const { position, playing } = this.host;
    if (!playing && Number.isInteger(position)) this.holds(position);
    this.show();
  }

  /**
   * Whether a step has to wait for an answer.
   * @param {number} step
   */
  holds(step) {
    if (this.passed.has(step)) return false;
    if (this.question?.step !== step) {
      const { schedule, states, op, symbols } = this.host.shown;
      const question = questionOf(schedule, states, step, op, symbols);
      if (!question) return false;
      this.ask(question);
    }
    // The clock only asks while the player is in view; what holds it should be as well.
    this.node.scrollIntoView({ block: 'nearest' });
    return true;
  }

  /** @param {Question} question */
  ask(question) {
    const inside = this.node.contains(document.activeElement);
    this.question = question;
    this.answer = null;
    this.show();
    // Said once: by the focus where it comes to the question, else by the live region.
    if (inside && document.activeElement !== this.words) this.words.focus({ preventScroll: true });
    else say(this.spoken, question.text);
  }

  /** @param {Answer} answer */
  take(answer) {
    const { question } = this;
    if (!question || this.answer) return;
    const inside = this.node.contains(document.activeElement);
    // A step that was asked for a moment ago must not begin behind the verdict.
    this.host.pause();
    this.answer = answer;
    this.asked += 1;
    if (answer.right) this.right += 1;
    this.passed.add(question.step);
    this.show();
    if (inside) this.go.focus({ preventScroll: true });
    this.node.scrollIntoView({ block: 'nearest' });
  }

  /** Leave the question open and see what happens. */
  pass() {
    if (this.question) this.passed.add(this.question.step);
    this.play();
  }

  play() {
    this.withdraw();
    this.host.stage.scrollIntoView({ block: 'nearest' });
    this.host.play();
  }

  /** The question is over. */
  withdraw() {
    const inside = this.node.contains(document.activeElement);
    this.question = null;
    this.answer = null;
    say(this.spoken, '');
    this.show();
    // The button that was pressed may be gone.
    if (inside) this.words.focus({ preventScroll: true });
  }

  /** Another step is described: a question about another one is out of date. */
  follow() {
    if (this.question && this.host.position !== this.question.step) this.withdraw();
    else if (!this.question) this.show();
  }

  /** Another schedule is on the stage, or the same one in another way. */
  shown() {
    const { question } = this;
    if (identity(this.host) !== this.chosen) {
      this.reset();
      this.offer();
    } else if (question) {
      const { schedule, states, op, symbols } = this.host.shown;
      const renewed = questionOf(schedule, states, question.step, op, symbols);
      const index = this.answer ? question.answers.indexOf(this.answer) : -1;
      this.question = renewed;
      if (this.answer) this.answer = renewed?.answers[index] ?? this.answer;
      this.show();
    }
  }

  /** Begin again: nothing is answered, the clock stands at the start. */
  reset() {
    this.chosen = identity(this.host);
    this.passed.clear();
    this.right = 0;
    this.asked = 0;
    this.question = null;
    this.answer = null;
    say(this.spoken, '');
    this.host.seek(0);
  }

  /** The reader chose a block on the stage. @param {Place | null} place */
  pick(place) {
    const { question, host } = this;
    if (!place || !question || this.answer) return;
    const { schedule, states } = host.shown;
    const answer = answerAt(schedule, states, question, place);
    if (answer) this.take(answer);
    else {
      say(this.hint, question.kind === 'block' ? `问的是 rank ${question.rank}：请点它的块。`
        : '请点收到数据的那个 rank。');
    }
  }

  clearOutlines() {
    for (const kind of /** @type {const} */ (['picked', 'right', 'wrong'])) {
      this.host.outline([], kind);
    }
  }

  show() {
    const { question, answer, host } = this;
    const open = question !== null && answer === null;
    this.go.hidden = open || (!question && (host.playing || this.ended));
    this.skip.hidden = !open;
    say(this.go, question ? '看这一轮' : host.round ? '继续' : '开始');
    say(this.score, this.asked ? `答对 ${this.right} / ${this.asked}` : '还没有回答');
    setAvailable(this.again, this.asked > 0 || this.passed.size > 0 || host.round > 0);
    say(this.words, question ? question.text : this.idleWords());
    say(this.hint, !open ? '' : question.kind === 'block' ? '也可以在画面上点那一块。'
      : '也可以在画面上点那个 rank 的任意一块。');
    this.showAnswers();
    const verdict = question && answer ? judge(question, answer) : null;
    this.verdict.hidden = !verdict;
    say(this.verdict, verdict?.text ?? '');
    if (verdict) this.verdict.dataset.kind = verdict.right ? 'right' : 'wrong';
    this.outline();
  }

  get ended() {
    const { round, shown } = this.host;
    return round === shown.states.length - 1;
  }

  idleWords() {
    const { host } = this;
    if (this.ended) return this.asked ? '放完了。' : '已经到结尾了，从头再来就有题。';
    const title = stepTitle(host.shown.schedule, Math.floor(host.position) + 1);
    return host.playing ? `正在放：${title}` : '接着放，下一轮开始之前先猜一猜。';
  }

  showAnswers() {
    const { question, answer } = this;
    const answers = question?.answers ?? [];
    if (answers.some((one) => !this.buttons.has(one)) || answers.length !== this.buttons.size) {
      this.buttons = new Map(answers.map((one) => [one, action(one.text, () => this.take(one))]));
      this.answers.replaceChildren(...this.buttons.values());
    }
    this.answers.hidden = !answers.length;
    for (const [one, button] of this.buttons) {
      const kind = !answer ? '' : one.right ? 'right' : one === answer ? 'wrong' : '';
      const marks = [one === answer && '你选的', kind === 'right' && '正确'].filter(Boolean);
      say(button, one.text + (marks.length ? `（${marks.join('，')}）` : ''));
      button.dataset.kind = kind;
      setAvailable(button, !answer);
    }
  }

  /** The blocks to choose from; then the right ones, and the wrong one that was chosen. */
  outline() {
    const { host, question, answer } = this;
    const places = question?.kind === 'block' ? question.answers.flatMap((one) => one.places)
      : question?.sent ?? [];
    host.outline(question && !answer ? places : [], 'picked');
    host.outline(question && answer ? question.sent : [], 'right');
    host.outline(answer && !answer.right ? answer.places : [], 'wrong');
  }
}

/**
 * @param {Host} host @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export const open = (host, signal) => new Predictor(host, signal).node;
