/** What scripts/search_aliases.py writes at every build, for the checks before the first one. */
export const WORDS: Record<string, string>;
export const NAMES: Record<string, string>;
