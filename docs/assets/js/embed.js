/**
 * What the page embed/ adds to the player in it: the wishes of the page around it, its height for
 * that page, and the way to the site.
 */

/** The type of the message to the page around. */
const MESSAGE = 'collective-player:height';

const wishes = new URLSearchParams(location.search);
const root = document.documentElement;
for (const [name, values] of Object.entries({ theme: ['light', 'dark'], controls: ['none'] })) {
  const wish = wishes.get(name) ?? '';
  if (values.includes(wish)) root.dataset[name] = wish;
}

const player = /** @type {HTMLElement & {address: string}} */ (
  document.querySelector('collective-player'));
const link = /** @type {HTMLAnchorElement} */ (document.querySelector('.embed-site'));

/** Lead to the page of the primitive that is shown, at the same step. */
function aim() {
  const { address } = player;
  const primitive = /^#op=([a-z]+)&/.exec(address)?.[1];
  link.href = primitive ? `../primitives/${primitive}/${address}` : '../';
}

player.addEventListener('roundchange', aim);
// Not every choice changes the step: the address is looked at once more before it is followed.
for (const type of ['pointerenter', 'focus', 'click']) link.addEventListener(type, aim);

if (parent !== window) {
  new ResizeObserver(() => {
    // A height is no secret, and who is around is not known.
    parent.postMessage({ type: MESSAGE, height: Math.ceil(document.body.offsetHeight) }, '*');
  }).observe(document.body);
}
