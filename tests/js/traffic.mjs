/**
 * The browser's half of the comparison with training_traffic.py: reads a JSON list of works from
 * standard input and writes the list of what is sent in each.
 */
import { readFileSync } from 'node:fs';

import { SCHEMES, traffic } from '../../docs/assets/js/traffic.js';

/** @type {import('../../docs/assets/js/traffic.js').Work[]} */
const works = JSON.parse(readFileSync(0, 'utf8'));
const titles = Object.fromEntries(
  Object.entries(SCHEMES).map(([slug, { title }]) => [slug, title]));
console.log(JSON.stringify({ titles, answers: works.map(traffic) }));
