/**
 * Schedules back into files of format v1; the counterpart of parseSchedule().
 *
 * @typedef {import('./schedule.js').Schedule} Schedule
 */

/** Longer values go over several lines. */
const LINE = 120;

/**
 * A value in one line, with a space after every comma and colon.
 * @param {any} value
 * @returns {string}
 */
function inLine(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  const members = Object.entries(value).map(([key, item]) => (
    `${JSON.stringify(key)}: ${inLine(item)}`));
  return members.length ? `{ ${members.join(', ')} }` : '{}';
}

/**
 * JSON as one writes it by hand: what is short stands in one line, the rest is indented.
 * @param {any} value @param {string} [indent]
 * @returns {string}
 */
export function writeJson(value, indent = '') {
  const flat = inLine(value);
  const holdsObjects = Array.isArray(value) && value.some((item) => item?.constructor === Object);
  if (typeof value !== 'object' || value === null
    || (flat.length + indent.length < LINE && !holdsObjects)) return flat;
  const inner = `${indent}  `;
  const list = Array.isArray(value);
  const parts = Object.entries(value).map(([key, item]) => (
    `${inner}${list ? '' : `${JSON.stringify(key)}: `}${writeJson(item, inner)}`));
  return list ? `[\n${parts.join(',\n')}\n${indent}]` : `{\n${parts.join(',\n')}\n${indent}}`;
}

/**
 * A schedule as the data of a file; costs and bounds, which nobody has to believe, are left out.
 * @param {Schedule} schedule
 */
export const scheduleData = ({
  primitive, algorithm, ranks, root, ports, blocks, parameters, buffers, layout, phases, rounds,
}) => ({
  format: 'collective-schedule',
  version: 1,
  primitive, algorithm, ranks, root, ports, blocks,
  ...(Object.keys(parameters).length && { parameters }),
  buffers: Object.fromEntries(buffers.map(({ name, role, blocks: size, onRoot }) => (
    [name, { role, blocks: size, ...(onRoot && { on: 'root' }) }]))),
  layout,
  phases,
  rounds: rounds.map(({ phase, caption, transfers }) => ({
    phase,
    caption,
    transfers: transfers.map((t) => ({
      src: t.src, dst: t.dst, op: t.op, from: [t.fromBuffer, t.fromOffset],
      to: [t.toBuffer, t.toOffset], count: t.count,
    })),
  })),
});
