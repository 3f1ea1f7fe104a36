/**
 * The tables of algorithms show the numbers counted at the N that the page's first player is at.
 * The numbers of every N are in the page already; see algorithm_table in schedule_macros.py.
 */

/** @param {string} counts  "2=1/2 M;3=2/3 M;..." @param {number} n */
function countedAt(counts, n) {
  const found = counts.split(';').find((entry) => entry.startsWith(`${n}=`));
  return found ? found.slice(found.indexOf('=') + 1) : `不支持 N = ${n}`;
}

document.addEventListener('roundchange', (event) => {
  const player = /** @type {HTMLElement & {ranks: number}} */ (event.target);
  if (player !== document.querySelector('collective-player') || !player.ranks) return;
  for (const node of document.querySelectorAll('[data-chosen-ranks]')) {
    node.textContent = String(player.ranks);
  }
  for (const node of document.querySelectorAll('[data-counted]')) {
    node.textContent = countedAt(node.getAttribute('data-counted') ?? '', player.ranks);
  }
});
