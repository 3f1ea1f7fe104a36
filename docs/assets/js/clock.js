/**
 * The player's clock: where it stands, counted in steps. 2.4 is 40 % into the third step. No DOM
 * and no timer: whoever owns it tells it how much time has passed.
 */

/** Seconds of one step at speed 1, and of a step without communication. */
const STEP = 2;
const LOCAL_STEP = 1.2;

/** Seconds that the end stays before a loop starts over. */
const REST = 1.5;

export const SPEEDS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4];

export class Clock {
  /** @param {boolean[]} local  per step, whether it is without communication */
  constructor(local) {
    this.durations = local.map((isLocal) => (isLocal ? LOCAL_STEP : STEP));
    this.position = 0;
    this.speed = 1;
    this.loop = false;
    this.playing = false;
    /** Where a single step stops. @type {number | null} */
    this.target = null;
    this.rested = 0;
    /** Asked before a step begins; true holds the clock. @type {(step: number) => boolean} */
    this.holds = () => false;
  }

  get steps() {
    return this.durations.length;
  }

  /** Completed steps. */
  get round() {
    return Math.floor(this.position);
  }

  /** Whether time has to pass at all. */
  get moving() {
    return this.playing || this.target !== null;
  }

  /** Start; from the beginning when at the end. */
  play() {
    this.target = null;
    this.rested = 0;
    if (this.position >= this.steps) this.position = 0;
    this.playing = this.steps > 0;
  }

  pause() {
    this.playing = false;
    this.target = null;
  }

  /** @param {number} position */
  seek(position) {
    this.target = null;
    this.rested = 0;
    this.position = Math.min(this.steps, Math.max(0, position));
  }

  /** Let the next step happen, then rest; pressed again, the step under way is finished at once. */
  forward() {
    const next = Math.min(this.steps, (this.target ?? this.round) + 1);
    if (this.target !== null) this.position = this.target;
    this.playing = false;
    this.target = next > this.position ? next : null;
  }

  /** To the end of the next step, without time passing. */
  skip() {
    this.pause();
    if (this.round < this.steps && !this.holds(this.round)) this.seek(this.round + 1);
  }

  /** To the beginning of the step under way, or to the one before. */
  back() {
    const to = Math.ceil(this.position) - 1;
    this.pause();
    this.seek(to);
  }

  /**
   * Let time pass.
   * @param {number} seconds
   */
  advance(seconds) {
    let left = seconds * this.speed;
    while (left > 0 && this.moving) {
      const stop = this.target ?? this.steps;
      if (this.position >= stop) {
        if (this.target !== null || !this.loop) {
          this.pause();
        } else if (this.rested < REST) {
          const rest = Math.min(left, REST - this.rested);
          this.rested += rest;
          left -= rest;
        } else {
          this.seek(0);
        }
        continue;
      }
      if (Number.isInteger(this.position) && this.holds(this.position)) {
        this.pause();
        return;
      }
      const end = Math.min(stop, this.round + 1);
      const duration = this.durations[this.round];
      const needed = (end - this.position) * duration;
      if (needed > left) {
        this.position += left / duration;
        left = 0;
      } else {
        this.position = end;
        left -= needed;
        if (end === stop && (this.target !== null || !this.loop)) this.pause();
      }
    }
  }
}
