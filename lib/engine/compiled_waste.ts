// Frees compiled statements that nobody uses any more. `node:sqlite` frees one only when JavaScript collects its garbage,
// and the collector does not see the memory inside SQLite: thousands of different texts in a row would fill SQLite's
// memory limit, and every statement of every database in this process would fail as out of memory.

/** The fixed cost of a statement, expressed in characters of text. */
const OVERHEAD = 200;
/** Characters compiled between two collections; each takes up to about 80 bytes of SQLite's memory (measured). */
const MAX_CHARACTERS = 1_000_000;

let characters = 0;

/** Call after compiling a tenant's text. A call that triggers a collection takes a few milliseconds. */
export function noteCompiled(sql: string): void {
  characters += sql.length + OVERHEAD;
  if (characters < MAX_CHARACTERS) return;
  characters = 0;
  collectGarbage();
}

/** Exists because the process is started with `--expose-gc`. */
function collectGarbage(): void {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect === "function") collect();
}
