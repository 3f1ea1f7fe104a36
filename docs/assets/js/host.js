/**
 * What a panel may see of its player and do with it. It outlives schedules: `shown` is always what
 * is on the stage now. Events: `step` (another step is described), `shown` (another schedule is on
 * the stage), `pick` (the reader chose a block; `detail` is its place, or null).
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 * @typedef {import('./schedule.js').ScheduleError} ScheduleError
 * @typedef {import('./draw.js').Place} Place
 * @typedef {'picked' | 'followed' | 'right' | 'wrong'} Outline
 * @typedef {object} Shown  everything that belongs to the schedule on the stage
 * @property {Schedule} schedule
 * @property {import('./replay.js').State[]} states  before the first step and after each one; fewer
 *   where the schedule is refused
 * @property {import('./replay.js').State} goal
 * @property {import('./cost.js').Spent[]} spent
 * @property {import('./numbers.js').Op} op
 * @property {boolean} symbols  letters instead of the demo's numbers
 * @property {ScheduleError | null} refusal  the rule it breaks; only a panel may show such a one
 * @typedef {object} Player  what the element lends
 * @property {HTMLElement} node  the player's box
 * @property {SVGSVGElement} picture
 * @property {HTMLElement} stage
 * @property {() => Shown} shown
 * @property {() => Schedule} original
 * @property {() => import('./catalog.js').Choice} choice
 * @property {() => {entries: import('./catalog.js').PrimitiveEntry[], url: URL} | null} catalog
 * @property {() => string} link
 * @property {() => import('./clock.js').Clock} clock
 * @property {(change: () => void) => void} change  do something with the clock, then draw
 * @property {(schedule: Schedule | null) => void} perform
 * @property {(places: Place[], kind: Outline) => void} outline
 * @property {(x: number, y: number) => Place | null} placeAt
 */

export class Host extends EventTarget {
  /** @param {Player} player */
  constructor(player) {
    super();
    this.player = player;
    this.node = player.node;
    this.picture = player.picture;
    this.stage = player.stage;
    /**
     * Asked before a step starts to play or is stepped into; true holds the clock there.
     * @type {((step: number) => boolean) | null}
     */
    this.guard = null;
  }

  get shown() { return this.player.shown(); }

  /** The chosen schedule, proved, whatever is performed in its place. */
  get original() { return this.player.original(); }

  get choice() { return this.player.choice(); }

  get catalog() { return this.player.catalog(); }

  /** The address of exactly this picture. */
  get link() { return this.player.link(); }

  /** In steps: 2.4 is 40 % into the third one. */
  get position() { return this.player.clock().position; }

  /** Completed steps. */
  get round() { return this.player.clock().round; }

  get playing() { return this.player.clock().playing; }

  /** Pause, and go there. @param {number} position */
  seek(position) {
    this.player.change(() => {
      this.player.clock().pause();
      this.player.clock().seek(position);
    });
  }

  play() { this.player.change(() => this.player.clock().play()); }

  pause() { this.player.change(() => this.player.clock().pause()); }

  /** Let the next step happen. */
  forward() { this.player.change(() => this.player.clock().forward()); }

  /**
   * Put a schedule on the stage in place of the chosen one, null for the chosen one again. Where it
   * breaks a rule it plays up to that step; a wrong end is played, with the wrong blocks marked.
   * @param {Schedule | null} schedule
   */
  perform(schedule) { this.player.perform(schedule); }

  /**
   * Outline blocks on the stage until called again for the same kind.
   * @param {Place[]} places @param {Outline} kind
   */
  outline(places, kind) { this.player.outline(places, kind); }

  /** The block at a point of the stage, in its pixels. @param {number} x @param {number} y */
  placeAt(x, y) { return this.player.placeAt(x, y); }
}
