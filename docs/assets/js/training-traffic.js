/**
 * <training-traffic model schemes>: the bytes of a training step, worked out from numbers that the
 * reader changes. The form is loaded when the element first appears. Inside it stands a table for
 * readers without scripts. The pages docs/training/*.md explain it.
 */

class TrainingTraffic extends HTMLElement {
  /** Ends everything that a stay in the document has started. @type {AbortController | null} */
  #stay = null;

  connectedCallback() {
    this.#stay = new AbortController();
    this.#begin(this.#stay.signal);
  }

  disconnectedCallback() {
    this.#stay?.abort();
  }

  /** @param {AbortSignal} signal */
  async #begin(signal) {
    if (this.hasAttribute('ready')) return;
    try {
      const { trafficForm } = await import('./traffic-view.js');
      if (signal.aborted || this.hasAttribute('ready')) return;
      this.replaceChildren(...trafficForm(
        this.getAttribute('model') ?? '', (this.getAttribute('schemes') ?? '').split(/\s+/)));
      this.toggleAttribute('ready', true);
    } catch (error) {
      // The table of the page stays as it is: right for the numbers it names.
      if (!signal.aborted) console.error(error);
    }
  }
}

if (!customElements.get('training-traffic')) {
  customElements.define('training-traffic', TrainingTraffic);
}
