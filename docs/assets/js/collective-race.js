/**
 * <collective-race catalog primitive ranks algorithms>: some algorithms of a primitive race in one
 * clock. What it shows is loaded when it first appears. Inside it stands a table for readers
 * without scripts.
 * The page docs/compare.md explains it.
 */

/** Browsers refuse an address that changes more often than about three times a second. */
const ADDRESS_PAUSE = 400;

class CollectiveRace extends HTMLElement {
  /** Ends everything that a stay in the document has started. @type {AbortController | null} */
  #stay = null;
  /** @type {import('./race-view.js').RaceView | null} */
  #view = null;
  /** What was shown when it left the document. @type {import('./race.js').RaceState | null} */
  #left = null;
  #timer = 0;
  /** @type {typeof import('./race.js').formatRaceAddress | null} */
  #format = null;

  connectedCallback() {
    // A copy of an upgraded race brings the drawn parts along without what makes them work.
    for (const copy of this.querySelectorAll(':scope > .race, :scope > link')) copy.remove();
    this.removeAttribute('ready');
    this.removeAttribute('failed');
    this.#stay = new AbortController();
    this.#begin(this.#stay.signal);
  }

  disconnectedCallback() {
    this.#left = this.#view?.state ?? this.#left;
    this.#stay?.abort();
    this.#view = null;
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  /** Whether the address is this race's: no player on the page wants it, and it is the first. */
  get #ownsAddress() {
    return !document.querySelector('collective-player[controls]')
      && document.querySelector('collective-race') === this;
  }

  /** @param {AbortSignal} signal */
  async #begin(signal) {
    try {
      const [view, race, { loadCatalog }] = await Promise.all([
        import('./race-view.js'), import('./race.js'), import('./catalog-file.js')]);
      if (signal.aborted) return;
      this.#format = race.formatRaceAddress;
      const url = new URL(this.getAttribute('catalog') ?? '', document.baseURI);
      const { link, arrived } = view.stylesheet(signal);
      this.prepend(link);
      const [entries] = await Promise.all([loadCatalog(url), arrived]);
      if (signal.aborted) return;
      const asked = this.#ownsAddress ? race.parseRaceAddress(location.hash) : null;
      const shown = this.#view = new view.RaceView({
        catalog: { entries, url },
        state: asked ?? this.#left ?? this.#written(),
        changed: () => this.#writeAddress(),
        // Drawn in one go with the place it takes, so that nothing on the page moves twice.
        loaded: (done) => {
          if (!shown.node.isConnected) this.prepend(shown.node);
          this.toggleAttribute('ready', done);
          this.toggleAttribute('failed', !done);
        },
      }, signal);
      addEventListener('hashchange', () => {
        const wish = this.#ownsAddress ? race.parseRaceAddress(location.hash) : null;
        if (wish && location.hash !== this.#address()) shown.show({ stop: 0, ...wish });
      }, { signal });
    } catch (error) {
      if (signal.aborted) return;
      const known = error instanceof Error && error.name === 'ScheduleError';
      if (!known) console.error(error);
      const problem = document.createElement('p');
      problem.className = 'race-problem';
      problem.setAttribute('role', 'alert');
      problem.textContent = `现在不能比较。${known ? error.message : '程序没有载入。'}`;
      signal.addEventListener('abort', () => problem.remove(), { once: true });
      this.prepend(problem);
      this.toggleAttribute('failed', true);
    }
  }

  /** What the attributes say. */
  #written() {
    const machine = Number(this.getAttribute('bytes'));
    return {
      primitive: this.getAttribute('primitive') ?? '',
      ranks: Number(this.getAttribute('ranks') ?? 8),
      algorithms: (this.getAttribute('algorithms') ?? '').split(/\s+/).filter(Boolean),
      ...(machine > 0 && { machine: { bytes: machine } }),
    };
  }

  #address() {
    return this.#view && this.#format ? this.#format(this.#view.state) : '';
  }

  /** Keep the address up to date: after a pause, with what is then shown. */
  #writeAddress() {
    if (!this.#ownsAddress || this.#timer) return;
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      const address = this.#address();
      if (!address || !this.#ownsAddress || location.hash === address) return;
      history.replaceState(history.state, '', address);
    }, ADDRESS_PAUSE);
  }
}

if (!customElements.get('collective-race')) {
  customElements.define('collective-race', CollectiveRace);
}
