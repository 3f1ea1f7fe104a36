/**
 * <quiz-form>: stands at the end of a question and makes a form of it, so that the reader can
 * answer. The form is loaded when the element first appears. Without scripts the question is a list
 * with its answers folded up; scripts/quiz_macros.py writes it.
 */

class QuizForm extends HTMLElement {
  async connectedCallback() {
    const question = this.closest('.quiz');
    if (!question || this.childElementCount) return;
    try {
      const { quizForm } = await import('./quiz-view.js');
      if (!this.isConnected || this.childElementCount) return;
      this.append(quizForm(question));
      question.classList.add('quiz-ready');
    } catch (error) {
      // The list of the page stays as it is, with its answers.
      if (this.isConnected) console.error(error);
    }
  }
}

if (!customElements.get('quiz-form')) customElements.define('quiz-form', QuizForm);
