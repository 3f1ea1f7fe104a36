/**
 * Leaves the search on the server until somebody searches.
 *
 * On every first visit Material starts a worker and fetches the index, which is more than all the
 * rest of a page. Both stay where they are until the reader turns to the search. Stands before
 * Material's own script, and steps aside once that has asked for the two.
 */
(() => {
  const form = document.querySelector('[data-md-component="search"]');
  const toggle = document.getElementById('__search');
  if (!form || !toggle) return;

  /** @type {Promise<unknown>} */
  const wanted = new Promise((resolve) => {
    // Words to mark on the page, or to search for, may stand in its address.
    if (/[?&][hq]=/.test(location.search)) resolve(undefined);
    toggle.addEventListener('change', resolve, { once: true });
    form.addEventListener('focusin', resolve, { once: true });
    form.addEventListener('pointerenter', resolve, { once: true });
  });
  wanted.then(() => import('./search-message.js'));

  const { open, send } = XMLHttpRequest.prototype;
  /**
   * @this {XMLHttpRequest}
   * @param {string} method
   * @param {string | URL} url
   */
  XMLHttpRequest.prototype.open = function (method, url) {
    if (String(url).endsWith('/search/search_index.json')) {
      XMLHttpRequest.prototype.open = open;
      this.send = (body) => void wanted.then(() => send.call(this, body));
    }
    open.call(this, method, url, true);
  };

  const RealWorker = window.Worker;
  class LaterWorker extends EventTarget {
    /**
     * @param {string | URL} url
     * @param {WorkerOptions} [options]
     */
    constructor(url, options) {
      super();
      window.Worker = RealWorker;
      this.worker = wanted.then(() => {
        const worker = new RealWorker(url, options);
        worker.addEventListener('message', ({ data }) => {
          this.dispatchEvent(new MessageEvent('message', { data }));
        });
        return worker;
      });
    }

    /** @param {unknown} message */
    postMessage(message) {
      this.worker.then((worker) => worker.postMessage(message));
    }
  }
  window.Worker = /** @type {typeof Worker} */ (/** @type {unknown} */ (LaterWorker));
})();
