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
 * @typedef {import('./catalog.js').Choice} Choice
 * @typedef {object} Player  what the element lends to what is loaded later
 * @property {HTMLElement} element
 * @property {HTMLElement} node  the player's box
 * @property {SVGSVGElement} picture
 * @property {HTMLElement} stage
 * @property {HTMLElement} slot  for the open panel
 * @property {() => Shown | null} shown
 * @property {() => Schedule | null} original  the chosen schedule, whatever is performed
 * @property {() => Choice | null} choice
 * @property {() => boolean} published  whether the chosen schedule is a file of the site
 * @property {() => HTMLElement | null} bar  where the controls stand, named in its data-names
 * @property {(why: string) => void} withoutChoices  nothing can be chosen
 * @property {() => import('./draw.js').Picture | import('./spacetime.js').SpaceTime | null} drawing
 * @property {() => import('./clock.js').Clock} clock
 * @property {(change: () => void) => void} change  do something with the clock, then draw
 * @property {(schedule: Schedule | null) => void} perform
 * @property {(file: URL, choice: Choice, round: number | null, notice: string) => Promise<void>}
 *   load  round null: the clock goes on as it does
 * @property {(choice: Choice) => Promise<void>} look  at the same schedule in another way
 * @property {() => {op: 'sum', view: string, values: string}} usual  what is chosen where nobody
 *   chose
 * @property {(speed: number) => void} setSpeed
 * @property {(error: unknown) => Promise<string>} sentence
 */

export class Host extends EventTarget {
  /** @param {Player} player @param {import('./choices.js').Choices} choices */
  constructor(player, choices) {
    super();
    this.player = player;
    this.choices = choices;
    this.node = player.node;
    this.picture = player.picture;
    this.stage = player.stage;
    /**
     * Asked before a step starts to play or is stepped into; true holds the clock there.
     * @type {((step: number) => boolean) | null}
     */
    this.guard = null;
  }

  get shown() { return /** @type {Shown} */ (this.player.shown()); }

  /** The chosen schedule, proved, whatever is performed in its place. */
  get original() { return /** @type {Schedule} */ (this.player.original()); }

  get choice() { return /** @type {Choice} */ (this.player.choice()); }

  get catalog() { return this.choices.catalog; }

  /** The address of exactly this picture. */
  get link() {
    const { address } = this.choices;
    return address && new URL(address, location.href).href;
  }

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
  outline(places, kind) { this.choices.outline(places, kind); }

  /** The block at a point of the stage, in its pixels. @param {number} x @param {number} y */
  placeAt(x, y) { return this.choices.placeAt(x, y); }
}
