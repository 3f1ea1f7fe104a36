/**
 * Bundles and minifies the player; bundle_player.py runs it.
 *
 *     node bundle_player.mjs <docs> <target> <entry>.js... <stylesheet>.css...
 *
 * A module that is loaded with `import()` becomes a file of its own: panels/whatif.js becomes
 * panels-whatif.js.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transform } from 'lightningcss';
import { rolldown } from 'rolldown';

process.on('uncaughtException', (error) => {
  console.error(error.message);
  process.exit(1);
});

const [docs, target, ...files] = process.argv.slice(2).map((file) => path.resolve(file));
const published = path.join(docs, 'assets', 'player');
const stylesheets = files.filter((file) => file.endsWith('.css'));
const entries = files.filter((file) => file.endsWith('.js'));

/** `new URL('…', import.meta.url)`, the one way in which a module may speak of its own place. */
const ADDRESS = /new URL\((['"])(\.\.?\/[^'"]*)\1, import\.meta\.url\)/g;

/**
 * An address that is relative to a module of the sources, made relative to the bundle: there, all
 * modules and stylesheets lie in one folder.
 * @param {string} address @param {string} module  the file that holds it
 */
function seenFromBundle(address, module) {
  const file = path.resolve(path.dirname(module), address);
  const inside = stylesheets.includes(file) ? path.join(published, path.basename(file)) : file;
  const seen = path.relative(published, inside).replaceAll(path.sep, '/');
  return seen.startsWith('.') ? seen : `./${seen}`;
}

/**
 * The name of the file for a module that is loaded on demand; the folder is part of it, as two
 * modules may have the same name.
 * @param {string} module
 */
function nameOf(module) {
  const place = path.relative(path.join(docs, 'assets', 'js'), module);
  return place.replace(/\.js$/, '').replaceAll(path.sep, '-');
}

/** @param {string} name @param {string | Uint8Array} content */
function write(name, content) {
  writeFileSync(path.join(target, name), `${String(content).trimEnd()}\n`);
}

const bundle = await rolldown({
  input: entries,
  plugins: [{
    name: 'addresses',
    transform(code, module) {
      if (code.replaceAll(ADDRESS, '').includes('import.meta')) {
        throw new Error(`${module}: import.meta is only for new URL('./…', import.meta.url)`);
      }
      return code.replaceAll(ADDRESS, (_, quote, address) => (
        `new URL(${quote}${seenFromBundle(address, module)}${quote}, import.meta.url)`));
    },
  }],
});
const { output } = await bundle.generate({
  format: 'esm',
  minify: true,
  entryFileNames: '[name].js',
  chunkFileNames: ({ facadeModuleId: module, name }) => `${module ? nameOf(module) : name}.js`,
});
for (const chunk of output) {
  if (chunk.type !== 'chunk') throw new Error(`${chunk.fileName}: not a module`);
  write(chunk.fileName, chunk.code);
}

for (const file of stylesheets) {
  const { code, warnings } = transform({ filename: file, code: readFileSync(file), minify: true });
  if (warnings.length) throw new Error(`${file}: ${warnings[0].message}`);
  write(path.basename(file), code);
}
