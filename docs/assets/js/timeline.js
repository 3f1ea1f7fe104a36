/**
 * The timeline: one slider whose segments are the steps, coloured by phase.
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 */
import { html } from './dom.js';
import { stepTitle } from './text.js';

/** Width of a step without communication, in parts of a round's. */
const LOCAL_PART = 0.3;

/** A pointer that moves less than this many pixels has clicked. */
const CLICK = 4;

/**
 * Where each step begins and ends on the timeline, from 0 to 1.
 * @param {boolean[]} local  per step
 * @returns {number[]} one more than there are steps
 */
export function stops(local) {
  const ends = [0];
  for (const isLocal of local) ends.push(ends[ends.length - 1] + (isLocal ? LOCAL_PART : 1));
  const total = ends[ends.length - 1] || 1;
  return ends.map((end) => end / total);
}

/**
 * The step that a place on the timeline belongs to, with the part of it that has passed.
 * @param {number[]} ends @param {number} at  from 0 to 1
 */
export function positionAt(ends, at) {
  const step = ends.findIndex((end, i) => i > 0 && at < end) - 1;
  return step < 0 ? (at < 0 ? 0 : ends.length - 1)
    : step + Math.max(0, at - ends[step]) / (ends[step + 1] - ends[step]);
}

export class Timeline {
  /**
   * @param {object} on
   * @param {(position: number) => void} on.scrub  while the pointer drags
   * @param {(step: number) => void} on.pick  a segment was clicked
   */
  constructor({ scrub, pick }) {
    this.node = html('div', {
      class: 'cp-timeline', role: 'slider', tabindex: 0, 'aria-label': '进度（轮）',
      'aria-orientation': 'horizontal', 'aria-valuemin': 0,
    });
    /** @type {number[]} */
    this.ends = [0];
    /** @type {HTMLElement[]} */
    this.fills = [];
    /** @type {number[]} */
    this.filled = [];
    /** Per step, from 0. @type {string[]} */
    this.titles = [];
    this.now = -1;
    this.step = -1;
    /** @type {{x: number, dragged: boolean} | null} */
    let press = null;
    const where = (/** @type {PointerEvent} */ event) => {
      const { left, width } = this.node.getBoundingClientRect();
      return positionAt(this.ends, (event.clientX - left) / (width || 1));
    };
    this.node.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      press = { x: event.clientX, dragged: false };
      this.node.setPointerCapture(event.pointerId);
    });
    this.node.addEventListener('pointermove', (event) => {
      if (!press) return;
      press.dragged ||= Math.abs(event.clientX - press.x) >= CLICK;
      if (press.dragged) scrub(where(event));
    });
    this.node.addEventListener('pointerup', (event) => {
      if (press && !press.dragged) pick(Math.min(this.fills.length, Math.floor(where(event)) + 1));
      press = null;
    });
    this.node.addEventListener('pointercancel', () => { press = null; });
  }

  /**
   * Build the segments of a schedule.
   * @param {Schedule} schedule
   * @param {number} [steps]  that can be played; the others are marked
   */
  show(schedule, steps = schedule.rounds.length) {
    const { rounds } = schedule;
    this.titles = [0, ...rounds.keys()].map((_, step) => stepTitle(schedule, step));
    this.now = -1;
    this.ends = stops(rounds.map((round) => round.local));
    const phases = [...new Set(rounds.filter((r) => !r.local).map((r) => r.phase))];
    let number = 0;
    this.fills = [];
    this.filled = [];
    this.node.replaceChildren(...rounds.map((round, i) => {
      if (!round.local) number += 1;
      const fill = html('span', { class: 'cp-segment-fill' });
      this.fills.push(fill);
      this.filled.push(0);
      const kind = round.local ? 'cp-local' : `cp-phase-${phases.indexOf(round.phase) % 4}`;
      const segment = html('span', { class: `cp-segment ${kind}`, title: this.titles[i + 1] },
        fill, html('span', { class: 'cp-segment-text' }, round.local ? '本地' : String(number)));
      segment.classList.toggle('cp-refused', i >= steps);
      segment.style.left = `${this.ends[i] * 100}%`;
      segment.style.width = `${(this.ends[i + 1] - this.ends[i]) * 100}%`;
      return segment;
    }));
    this.node.classList.toggle('cp-dense', rounds.length > 20);
    this.node.setAttribute('aria-valuemax', String(steps));
  }

  /**
   * Numbers that do not fit into their segment are left out.
   * @param {number} width  of the timeline
   */
  resize(width) {
    for (const fill of this.fills) {
      const segment = /** @type {HTMLElement} */ (fill.parentElement);
      const room = (parseFloat(segment.style.width) / 100) * width;
      const needed = segment.classList.contains('cp-local') ? 30 : 20;
      segment.classList.toggle('cp-narrow', room < needed);
    }
  }

  /**
   * @param {number} position  in steps
   * @param {number} step  the step that is described
   */
  draw(position, step) {
    this.fills.forEach((fill, i) => {
      const part = Math.min(1, Math.max(0, position - i));
      if (part === this.filled[i]) return;
      this.filled[i] = part;
      fill.style.transform = `scaleX(${part})`;
      // A layer of its own while it grows, so that nothing else is painted again.
      fill.style.willChange = part > 0 && part < 1 ? 'transform' : '';
      fill.parentElement?.classList.toggle('cp-past', part > 0.5);
    });
    const now = Math.floor(position);
    if (now === this.now && step === this.step) return;
    this.now = now;
    this.step = step;
    this.node.setAttribute('aria-valuenow', String(now));
    this.node.setAttribute('aria-valuetext', this.titles[step]);
  }
}
