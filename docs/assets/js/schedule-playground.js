/**
 * <schedule-playground catalog>: checks and plays a schedule that the reader brings. What it shows
 * is loaded when it first appears. Inside it stands a sentence for readers without scripts.
 * The page docs/playground.md explains it.
 */

class SchedulePlayground extends HTMLElement {
  /** Ends everything that a stay in the document has started. @type {AbortController | null} */
  #stay = null;
  /** @type {import('./playground.js').Playground | null} */
  #playground = null;

  connectedCallback() {
    this.#stay = new AbortController();
    this.#begin(this.#stay.signal);
  }

  disconnectedCallback() {
    this.#stay?.abort();
  }

  /** @param {AbortSignal} signal */
  async #begin(signal) {
    try {
      const { Playground, stylesheet } = await import('./playground.js');
      await customElements.whenDefined('collective-player');
      if (signal.aborted) return;
      const { link, arrived } = stylesheet(signal);
      this.prepend(link);
      await arrived;
      if (signal.aborted) return;
      this.#playground ??= new Playground(
        new URL(this.getAttribute('catalog') ?? '', document.baseURI));
      // A stylesheet that is taken out and put back is loaded anew, and the page jumps.
      while (link.nextSibling) link.nextSibling.remove();
      this.append(this.#playground.node);
      // Unseen until what can be chosen is there: it makes the fields wider, and they would move.
      await this.#playground.begin(signal);
      this.toggleAttribute('ready', true);
    } catch (error) {
      if (signal.aborted) return;
      console.error(error);
      const problem = document.createElement('p');
      problem.setAttribute('role', 'alert');
      problem.textContent = '演练场没有载入：网络不通，请稍后再试。';
      this.replaceChildren(problem);
      this.toggleAttribute('failed', true);
    }
  }
}

if (!customElements.get('schedule-playground')) {
  customElements.define('schedule-playground', SchedulePlayground);
}
