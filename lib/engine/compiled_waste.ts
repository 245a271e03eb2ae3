// Compiled statements that nobody uses any more. `node:sqlite` gives one back only when JavaScript collects its garbage,
// which knows nothing of what it holds inside SQLite: thousands of different texts in a row would fill the memory that
// SQLite may have, and then every statement of every database in this process fails as out of memory.

/** What a statement holds beside what grows with its text, in characters of text. */
const OVERHEAD = 200;
/** Characters compiled between two collections: measured, up to some 80 bytes of SQLite's memory each. */
const MAX_CHARACTERS = 1_000_000;

let characters = 0;

/** To be called where a tenant's text has been compiled. Takes a few milliseconds when it is time to collect. */
export function noteCompiled(sql: string): void {
  characters += sql.length + OVERHEAD;
  if (characters < MAX_CHARACTERS) return;
  characters = 0;
  collectGarbage();
}

/** There because the process is started with `--expose-gc`. */
function collectGarbage(): void {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect === "function") collect();
}
